"""Requests to remember with why, and where what they mean stands: "Keep this, because they get it wrong: …". Pure."""

from __future__ import annotations

import re
from itertools import pairwise

from reverie_server.heuristics.requests.memory_requests import clauses, has_number, is_idle, read_request
from reverie_server.heuristics.requests.request_patterns import SAYS_SOMETHING, patterns

_COLON = re.compile("[:：]")
_OTHERWISE = re.compile(r"(?<!\w)(?:otherwise|sonst|si no)(?!\w)|不然|否则")
_MAX_CHARS = 120
_MAX_TAIL_CLAUSES, _MAX_MIDDLE_CLAUSES = 3, 6


def has_reason_alone(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]`, from `aligned`, asks to remember what stands elsewhere and says no more than why."""
    known = patterns()
    reason = known.because.search(text, start, min(end, start + _MAX_CHARS))
    parts = [(start + a, start + b) for a, b in clauses(text[start : reason.start() if reason is not None else end])]
    if not parts or (reason is None and len(parts) == 1):
        return False
    (first, last), *rest = parts
    asked = read_request(text, first, last)
    if asked is None or asked.kind != "remember" or known.pointing.search(text, first, last) is None:
        return False
    return all(is_idle(text, *part) or known.reason.match(text, *part) is not None for part in rest)


def statement_behind_reason(text: str, start: int, end: int) -> int:
    """Where what is to be remembered begins behind a request with its reason, 0 without one.

    That is behind a colon ("Keep this, because they get it wrong: …"), or what has a number behind a clause that asks
    ("They want a number, so that you know it next time, it is 20871").
    """
    colon = _COLON.search(text, start, min(end, start + _MAX_CHARS))
    if colon is not None and has_reason_alone(text, start, colon.start()):
        return colon.end()
    parts = [(start + first, start + last) for first, last in clauses(text[start:end])]
    for (first, last), (following, _) in pairwise(parts[1 : _MAX_MIDDLE_CLAUSES + 1]):
        asked = read_request(text, first, last)
        if asked is not None and asked.kind == "remember":
            is_behind = has_number(text, following, end) and not has_number(text, start, first)
            return following if is_behind else 0
    return 0


def end_before_request(text: str, start: int, end: int) -> int:
    """Where the last clauses of `text[start:end]` that ask to remember what stands before them begin; `end` without
    such ones."""
    parts = [(start + first, start + last) for first, last in clauses(text[start:end])]
    kept = len(parts)
    known = patterns()
    for index in range(1, len(parts) - 1):
        # "The code is 4471, remember that, please, or I mix it up": behind the request stands the reason. In "the blood
        # thing, keep hold of it for me, I never know it" what stands before it names what was said before.
        asked = read_request(text, *parts[index])
        is_asked = asked is not None and asked.kind == "remember"
        is_told = has_number(text, *parts[0]) or SAYS_SOMETHING.search(text, *parts[0]) is not None
        if not is_asked or known.pointing.search(text, *parts[index]) is None or not is_told:
            continue
        if all(is_idle(text, *part) or _is_reason(text, *part) for part in parts[index + 1 :]):
            return parts[index - 1][1]
    for index in range(len(parts) - 1, max(-1, len(parts) - _MAX_TAIL_CLAUSES - 1), -1):
        asked = read_request(text, *parts[index], needs_object=index == 0)
        if asked is not None and asked.kind == "remember":
            kept = index
        elif asked is not None or not is_idle(text, *parts[index]):
            break
    return end if kept == len(parts) else parts[kept - 1][1] if kept else start


def _is_reason(text: str, start: int, end: int) -> bool:
    return patterns().reason.match(text, start, end) is not None or _OTHERWISE.search(text, start, end) is not None
