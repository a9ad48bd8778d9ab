"""The statements of a text: where each sentence stands, and which of them a removal would leave as a stump. Pure.

A statement is a sentence, or what a semicolon ends. A heading, a row of a table and an entry of a list are one each
where they have no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from reverie_indexer.text.analyse import CJK, SOUTH_EAST
from reverie_server.text.remove_spans import LEAD, Span, merged
from reverie_server.text.sentence_ends import FACE_ENDS, SHORT_FORM_CHARS, is_within_sentence

_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
# The marks, the time and the speaker before what a line says; the last two are of the daily log and of summaries.
_LEAD = re.compile(rf"{LEAD}(?:#{{1,6}}[ \t]++)?+(?:\[\d\d:\d\d\][ \t]++)?+(?:(?:User|Assistant):[ \t]*+)?+")
_OPENS_BLOCK = re.compile(r"[ \t]*+(?:[-*+•>|#]|\d{1,3}[.)]\s|\[\d\d:\d\d\]|```|~~~)")
_ANSWER = re.compile(r" ?\| Assistant:[ \t]*+")
_END = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]*_`]*+\s++|(?<=;)\s++|(?<=[。！？；])[」』）”’]*+\s*+|(?<=[\u4e00-\u9fff][～〜])(?![～〜])\s*+"
    rf"|{FACE_ENDS}"
)
# "Am 12. Mai": the number may be an ordinal.
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.$")
# A date, a source or another remark in brackets behind a sentence belongs to it.
_REMARK = re.compile(r"[(\[][^()\[\]\n]{0,60}[)\]][.*_]*")
_FINISHED = re.compile(r"[.!?…:;。！？：；][\"'”’»)\]*_`]*[ \t]*$|  $|\\$")
# Only a line this long is wrapped; a shorter one ends what it says.
_WRAPPED_CHARS = 40
_SEPARATES = re.compile(
    r"\s*+[,;:–—，；、]\s*+(?:(?:and|but|und|aber|y|pero|e|et|mais|so|also)\s++)?+|\s++(?:and|but|und|aber|y|pero|et|mais)\s++",
    re.IGNORECASE,
)
_SEPARATED_CHARS = 20
_LETTERS = re.compile(r"\w+")
_FEWEST_WORDS, _FEWEST_UNSPACED = 3, 6


def statement_spans(text: str) -> list[Span]:
    """The spans of the statements of a text, from left to right; marks, times and speakers before them left out."""
    return [span for block in _blocks(text) for span in _statements(text, *block)]


def statements(text: str) -> list[str]:
    """The statements of a text, in order."""
    return [text[start:end] for start, end in statement_spans(text)]


def without_stumps(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, each widened to the statements that it would leave as stumps. They come from left to right.

    A clause that stands for itself beside another goes alone. In JSON a span grows within its string only.
    """
    found = _strings(text) if text.lstrip()[:1] in ("{", "[") and '"' in text else statement_spans(text)
    widened: list[Span] = list(spans)
    first = 0
    for start, end in found:
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        inside: list[Span] = []
        index = first
        while index < len(spans) and spans[index][0] < end:
            inside.append((max(start, spans[index][0]), min(end, spans[index][1])))
            index += 1
        # A span over several statements is looked at again in the next of them.
        first = max(first, index - 1)
        if inside:
            widened += _widened(text, (start, end), inside)
    return merged(_with_leads(text, merged(widened)))


def with_what_goes_along(text: str, spans: Sequence[Span], goes_along: Callable[[str], bool]) -> list[Span]:
    """The spans, each with the statements after it of which `goes_along` says that they mean nothing without it.

    They come from left to right, and so do those of the answer. Only whole statements are looked at that follow a whole
    one.
    """
    found = statement_spans(text)
    ends = {end: number for number, (_, end) in enumerate(found)}
    widened: list[Span] = []
    for start, end in spans:
        if widened and end <= widened[-1][1]:
            continue
        number = ends.get(start + len(text[start:end].rstrip()))
        while number is not None and number + 1 < len(found) and goes_along(text[slice(*found[number + 1])]):
            number += 1
            end = found[number][1]
        widened.append((start, end))
    return merged(widened)


def _widened(text: str, statement: Span, removed: Sequence[Span]) -> list[Span]:
    """The parts of a statement that go when some spans are removed."""
    start, end = statement
    ends = [start, *(stop for _, stop in removed)]
    starts = [*(begin for begin, _ in removed), end]
    left = [text[a:b] for a, b in zip(ends, starts, strict=True)]
    if not any(any(map(str.isalnum, part)) for part in left):
        return [statement]
    if not is_statement("".join(left)):
        return [statement]
    clauses: list[Span] = []
    for begin, stop in removed:
        clause = _clause(text, statement, (begin, stop))
        if clause is None:
            return [statement]
        clauses.append(clause)
    return clauses


def _clause(text: str, statement: Span, span: Span) -> Span | None:
    """The span with a separator on one side, where it is a clause of a statement; None where it is a part of one."""
    start, end = _without_separators(text, statement, span)
    if not is_statement(text[start:end]):
        return None
    before = _separator_before(text, statement[0], start)
    after = _SEPARATES.match(text, end, statement[1])
    ends_here = not any(map(str.isalnum, text[end : min(statement[1], end + _SEPARATED_CHARS)]))
    if start == statement[0] and after is not None:
        return start, after.end()
    if before is not None and (after is not None or ends_here):
        return before, end
    return None


def _without_separators(text: str, statement: Span, span: Span) -> Span:
    """The span of a clause that was named with the words which join it to the rest, without them."""
    start, end = span
    before = text[max(statement[0], start - _SEPARATED_CHARS) : start]
    behind = text[end : min(statement[1], end + _SEPARATED_CHARS)]
    opening = _SEPARATES.match(text, start - (len(before) - len(before.rstrip())), end)
    closing = _separator_before(text, start, end + len(behind) - len(behind.lstrip()))
    return (opening.end() if opening and opening.end() > start else start), (end if closing is None else closing)


def _separator_before(text: str, low: int, start: int) -> int | None:
    """Where the separator that ends at `start` begins; None where another text stands before it."""
    low = max(low, start - _SEPARATED_CHARS)
    return next((each.start() for each in _SEPARATES.finditer(text, low, start) if each.end() == start), None)


def is_statement(text: str) -> bool:
    """Whether a text has enough words to state something."""
    words = _LETTERS.findall(text)
    return len(words) >= _FEWEST_WORDS or len(_UNSPACED.findall(text)) >= _FEWEST_UNSPACED


def _with_leads(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, joined over white space; with all that a line says its time and its speaker go, too.

    With what the user says in a line of the daily log an answer of a word or two goes.
    """
    joined: list[Span] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip(" \t"):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    result: list[Span] = []
    line_start, lead_end, seen = 0, -1, 0
    for span in joined:
        new_line = text.rfind("\n", seen, span[0]) + 1
        if new_line or not seen:
            # Only the first span of a line can follow its lead.
            line_start = new_line or line_start
            lead_end = _lead_end(text, line_start, span[0])
        result.append(_with_lead(text, line_start, span) if lead_end == span[0] else span)
        seen, lead_end = span[1], -1
    return result


def _lead_end(text: str, line_start: int, end: int) -> int:
    lead = _LEAD.match(text, line_start, end)
    return lead.end() if lead else line_start


def _with_lead(text: str, line_start: int, span: Span) -> Span:
    """A span that follows the marks, the time and the speaker of its line, with these where nothing is left."""
    start, end = span
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    if not any(map(str.isalnum, text[line_start:start])):
        # What follows begins the line.
        return start, end + len(text[end:line_end]) - len(text[end:line_end].lstrip(" \t"))
    answer = _ANSWER.match(text, end, line_end)
    left = text[answer.end() if answer else end : line_end]
    if not any(map(str.isalnum, left)) or (answer and not is_statement(left)):
        return line_start, line_end
    return span


def _strings(text: str) -> Iterator[Span]:
    """The spans between the quotation marks of JSON."""
    opened: int | None = None
    for mark in re.finditer(r'\\.|"', text, re.DOTALL):
        if mark.group() != '"':
            continue
        if opened is None:
            opened = mark.end()
        else:
            yield opened, mark.start()
            opened = None


def _blocks(text: str) -> Iterator[Span]:
    """The spans of lines that belong together: one line, or a paragraph or an entry that was wrapped."""
    block: Span | None = None
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        if block is not None and _continues(text, block, line):
            block = block[0], end
        else:
            if block is not None:
                yield block
            block = (start, end) if line.strip() else None
        start = end
    if block is not None:
        yield block


def _continues(text: str, block: Span, line: str) -> bool:
    """Whether a line goes on with the sentence of the line before it."""
    stripped = line.strip()
    if not stripped or _OPENS_BLOCK.match(line) or not (stripped[0].islower() or stripped[0].isdigit()):
        return False
    last_start = text.rfind("\n", block[0], block[1] - 1) + 1 if block[1] - 1 > block[0] else block[0]
    last = text[max(last_start, block[0]) : block[1]].rstrip("\r\n")
    if _FINISHED.search(last[-40:]) or last.lstrip()[:1] in ("#", "|"):
        return False
    is_entry = _OPENS_BLOCK.match(text, block[0], block[1]) is not None
    return (is_entry and line[:2].isspace()) or len(last) >= _WRAPPED_CHARS


def _statements(text: str, start: int, end: int) -> Iterator[Span]:
    """The statements of a block."""
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    if text[start : start + 1] == "|":
        yield from _stripped(text, start, end)
        return
    answer = _ANSWER.search(text, start, end)
    for low, high in ((start, answer.start()), (answer.end(), end)) if answer else ((start, end),):
        yield from _sentences(text, low, high)


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for stop in _END.finditer(text, start, end):
        if stop.start() < begin:
            continue
        remark = _REMARK.match(text, stop.end(), end)
        if remark is not None:
            yield from _stripped(text, begin, remark.end())
            begin = remark.end()
            continue
        before = text[max(begin, stop.start() - SHORT_FORM_CHARS) : stop.start()]
        behind = text[stop.start() : stop.end() + 1]
        is_within = is_within_sentence(before, behind) or _ORDINAL.search(before) is not None
        if is_within and before[-1:] not in (";", "；"):
            continue
        yield from _stripped(text, begin, stop.end())
        begin = stop.end()
    yield from _stripped(text, begin, end)


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    """The span without white space at its ends; none where nothing is left."""
    part = text[start:end]
    if stripped := part.strip():
        begin = start + len(part) - len(part.lstrip())
        yield begin, begin + len(stripped)
