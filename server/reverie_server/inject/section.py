"""The section of a turn's prompt that holds what is recalled: what goes in, within a budget, and how it reads. Pure.

<memory-context>
## Memory Context
(one sentence, from prompts/sections/memory_context.md)
- (2026-04-03, memory/2026-04-03.md) Ada moved the review to Thursday.
</memory-context>
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from reverie_indexer.model import Tier
from reverie_indexer.text.analyse import fold
from reverie_server.sessions.daily_log import parts_of, repeats
from reverie_server.text.fences import CLOSE_FENCE, HEADER, OPEN_FENCE, for_prompt
from reverie_server.text.tokens import CountTokens

_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(?P<title>[^\n]*)")
_SPACE = re.compile(r"\s*")
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage as it was found; `relevance` is absolute, 0..1, `score` orders what is equally relevant."""

    chunk_id: int
    tier: Tier
    path: str
    day: date
    text: str
    relevance: float
    score: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate with its text as it reads in the section: on one line, without marks of markdown before it."""

    candidate: Candidate
    text: str

    @property
    def line(self) -> str:
        """The line of the section."""
        return f"- ({self.candidate.day.isoformat()}, {_one_line(self.candidate.path)}) {self.text}"


@dataclass(frozen=True, slots=True)
class Held:
    """What a prompt holds already: texts, and passages and files by id or path."""

    texts: Sequence[str] = ()
    named: Collection[str] = ()


def select(candidates: Iterable[Candidate], threshold: float, held: Held) -> list[Entry]:
    """Those that are relevant enough and new to the prompt, best first; order is total.

    Left out: what is in a text of the prompt (white space and case folded), a line of the daily log of which a part is
    such a text, what `held.named` names, and of two of which one contains the other, the worse.
    """
    ordered = sorted(candidates, key=lambda c: (-c.relevance, -c.score, -c.chunk_id))
    relevant = [c for c in ordered if c.relevance >= threshold]
    folded_prompt = [_folded(text) for text in held.texts] if relevant else []
    chosen: list[Entry] = []
    bodies: list[str] = []
    for candidate in relevant:
        text = shown_text(candidate.text, candidate.day)
        body = _folded(_without_marks(candidate.text)[1])
        if not text or not body or candidate.path in held.named or str(candidate.chunk_id) in held.named:
            continue
        if _is_held(candidate.text, body, folded_prompt, held.texts) or any(_overlap(body, other) for other in bodies):
            continue
        chosen.append(Entry(candidate, text))
        bodies.append(body)
    return chosen


def fit(entries: Sequence[Entry], notice: str, max_tokens: int, count: CountTokens) -> list[Entry]:
    """The entries that fit together into a section of at most `max_tokens`, in order; one that does not is skipped."""
    taken: list[Entry] = []
    for entry in entries:
        if count(section([*taken, entry], notice)) <= max_tokens:
            taken.append(entry)
    return taken


def section(entries: Sequence[Entry], notice: str) -> str:
    """The section with these entries; "" without any."""
    if not entries:
        return ""
    return "\n".join([OPEN_FENCE, HEADER, notice, *(entry.line for entry in entries), CLOSE_FENCE])


def shown_text(text: str, day: date) -> str:
    """A passage on one line and without fences; its headings before it, but for one that is only the day."""
    titles, body = _without_marks(text)
    shown = [title for title in titles if title and title != day.isoformat()]
    return _one_line(": ".join([*shown, body] if body else shown))


def notice_of(source: str) -> str:
    """The sentence in a file of `prompts/sections/`: what follows its front matter."""
    return _one_line(source.rpartition("\n---\n")[2])


def _without_marks(text: str) -> tuple[list[str], str]:
    """The titles of the headings that a passage begins with, and the rest without a list marker before it."""
    titles = []
    rest = text.lstrip()
    start = 0
    while match := _HEADING.match(rest, start):
        titles.append(match["title"].rstrip(" \t#"))
        space = _SPACE.match(rest, match.end())
        assert space is not None
        start = space.end()
    rest = rest[start:]
    marker = _MARKER.match(rest)
    body = rest[marker.end() :] if marker else rest
    # Nothing but headings: the last of them is what it says.
    return (titles, body.strip()) if body.strip() else (titles[:-1], titles[-1] if titles else "")


def _one_line(text: str) -> str:
    return " ".join(for_prompt(" ".join(text.split())).split())


def _folded(text: str) -> str:
    return " ".join(fold(for_prompt(text)).split())


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def _is_held(text: str, body: str, folded_prompt: Sequence[str], prompt_texts: Sequence[str]) -> bool:
    if any(body in held for held in folded_prompt):
        return True
    passage = text.strip()
    return parts_of(passage) is not None and any(repeats(passage, held) for held in prompt_texts)
