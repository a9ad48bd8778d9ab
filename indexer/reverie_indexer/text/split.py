"""Cuts a passage that is over the cap: at lines, sentences, words, graphemes, at last at the cap itself. Pure.

All positions are code points in the source; spans are half-open. White space is what `str.isspace` says,
which is also what `\\s` of `re` matches.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_NOT_SPACE = re.compile(r"\S")
# Each boundary is where a match ends: the white space (or the next sentence) follows.
_LINE_END = re.compile(r"(?=[\r\n])")
_WORD_END = re.compile(r"(?=\s)")
_SENTENCE_END = re.compile(
    # Marks that also occur inside words and numbers need white space behind them. A run of marks is taken
    # whole and once (possessive, and not from its middle): backtracking in it would be quadratic.
    r"(?<![.!?…‥؟۔։])[.!?…‥؟۔։]++[\"'’”»›)\]}*_~`]*+(?=\s)"
    # Marks of scripts that write no spaces between words, and the dandas, end a sentence by themselves.
    r"|(?:[。！？｡।॥။។៕።፧፨།᠃]|．(?!\d))++[」』）】〉》〕］｝”’\"'*_]*+"
)
# How far past the window the closing marks of a sentence are looked for.
_CLOSING_CHARS = 16

_PROSE = (_SENTENCE_END, _WORD_END)
_LINES = (_LINE_END, _SENTENCE_END, _WORD_END)


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space at its ends, or None where it holds nothing else."""
    first = _NOT_SPACE.search(text, start, end)
    if first is None:
        return None
    while text[end - 1].isspace():
        end -= 1
    return first.start(), end


def split(
    text: str, start: int, end: int, *, max_chars: int, body_start: int, by_lines: bool
) -> Iterator[tuple[int, int]]:
    """Yield the spans of `text[start:end]`, each at most `max_chars` long, in order, white space trimmed off.

    `text[start:end]` neither begins nor ends with white space. Filling is greedy from the front, so that a
    longer end changes only the last pieces. A cut is made at the last boundary that fits, of the first kind
    that has one: line end (only if `by_lines`), sentence end, word end, grapheme. The first piece reaches
    beyond `body_start` where it can, so that a heading is not parted from its text.
    """
    kinds = _LINES if by_lines else _PROSE
    while end - start > max_chars:
        cut = _cut(text, start, body_start, end, max_chars, kinds)
        piece = trim(text, start, cut)
        rest = trim(text, cut, end)
        assert piece is not None
        assert rest is not None
        yield piece
        start = rest[0]
    yield start, end


def _cut(text: str, start: int, body_start: int, end: int, max_chars: int, kinds: tuple[re.Pattern[str], ...]) -> int:
    """Where the piece that begins at `start` ends; more than `max_chars` are left.

    A boundary in the first quarter is passed over when the unit behind it is over the cap and would be cut
    anyway: the marker of a list item or the opening line of a fence makes no piece of its own.
    """
    limit = start + max_chars
    floor = body_start if start < body_start < limit else start
    for kind in kinds:
        cut = _last(kind, text, floor, limit)
        if cut is not None and (cut - start >= max_chars // 4 or _unit_fits(kind, text, cut, end, max_chars)):
            return cut
    return grapheme_floor(text, floor, limit)


def _last(kind: re.Pattern[str], text: str, floor: int, limit: int) -> int | None:
    """The last boundary of this kind in (floor, limit] that parts no grapheme."""
    found = None
    for match in kind.finditer(text, floor, min(limit + _CLOSING_CHARS, len(text))):
        at = match.end()
        if at > limit:
            break
        if at > floor and (text[at].isspace() or is_grapheme_boundary(text, at, floor)):
            found = at
    return found


def _unit_fits(kind: re.Pattern[str], text: str, cut: int, end: int, max_chars: int) -> bool:
    """Whether the line, sentence or word behind `cut` is at most `max_chars` long."""
    rest = trim(text, cut, end)
    if rest is None or rest[1] - rest[0] <= max_chars:
        return True
    return _last(kind, text, rest[0], rest[0] + max_chars) is not None


def grapheme_floor(text: str, floor: int, limit: int) -> int:
    """The last place in (floor, limit] that parts no grapheme cluster, or `limit` where there is none.

    `floor` must itself be the start of a cluster for flags (regional indicators) to be paired rightly.
    """
    for at in range(limit, floor, -1):
        if is_grapheme_boundary(text, at, floor):
            return at
    return limit


def is_grapheme_boundary(text: str, at: int, floor: int) -> bool:
    """Whether a cut before `text[at]` leaves what a reader sees as one character whole.

    The rules of Unicode's UAX #29 without its tables: combining marks, joiners, emoji modifiers and tags,
    CRLF, pairs of regional indicators counted from `floor`, Hangul syllables, consonants joined by a virama.
    """
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if before == "\u200d" or _extends(after):
        return False
    if _is_regional(after):
        run = at
        while run > floor and _is_regional(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 0
    if "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c":
        return not ("\uac00" <= after <= "\ud7a3" or "\u1100" <= after <= "\u115f")
    return not (unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo")


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _extends(char: str) -> bool:
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or char in "\u200c\u200d\uff9e\uff9f\u0e33\u0eb3"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        # Vowels and final consonants of Hangul in parts.
        or "\u1160" <= char <= "\u11ff"
        or "\ud7b0" <= char <= "\ud7fb"
    )
