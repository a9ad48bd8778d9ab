"""A text without stretches of it, however many they are. Pure.

Each character is looked at a bounded number of times: a text of a megabyte may hold what is to go a million times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Quotation marks, a bullet or a number, a box: what stands before the text of a line. Possessive: white space and marks
# may follow, and every way of parting them would be tried.
LEAD = r"[\s>]*+(?:(?:[-*+]|\d{1,9}[.)])\s++)?+(?:\[[ xX]\]\s++)?+"
_NOTHING_LEFT = re.compile(rf"{LEAD}[\W_]*+")
_BLANK_LINE = re.compile(r"[ \t]*+\r?\n")
_BLANK_LINES = re.compile(r"(?:[ \t]*+\r?\n)++")

Span = tuple[int, int]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same stretches from left to right, those that overlap as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def without_spans(text: str, spans: Sequence[Span]) -> str:
    """The text without stretches that are given from left to right and do not overlap."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def without_spans_by_line(text: str, spans: Sequence[Span]) -> str:
    """As `without_spans`, for markdown: a line of which only marks would be left goes with its stretches, and so does
    a blank line that then follows another; around a stretch one of two spaces goes."""
    kept = _Kept(text)
    for group in reversed(_by_lines(text, spans)):
        kept.take(group)
    return kept.joined()


def _by_lines(text: str, spans: Sequence[Span]) -> list[list[Span]]:
    """The stretches in groups: within one, a stretch begins on the line on which the one before ends."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and text.find("\n", groups[-1][-1][1], span[0]) < 0:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


class _Kept:
    """What is kept of a text, of which stretches are taken from the end to the beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        # From the last one to the first; before `_start` nothing was taken yet.
        self._pieces: list[Span] = []
        self._start = len(text)
        # Where a line begins that was found not to be blank.
        self._not_blank = -1

    def joined(self) -> str:
        """What is left."""
        self._keep(0, self._start)
        self._start = 0
        return "".join(self._text[start:end] for start, end in reversed(self._pieces))

    def take(self, group: Sequence[Span]) -> None:
        """Take a group of stretches; those of the groups behind it are taken."""
        text = self._text
        line_start = text.rfind("\n", 0, group[0][0]) + 1
        line_end = text.find("\n", group[-1][1])
        line_end = len(text) if line_end < 0 else line_end
        of_line = [(start - line_start, end - line_start) for start, end in group]
        if _NOTHING_LEFT.fullmatch(without_spans(text[line_start:line_end], of_line)):
            self._keep(line_end + 1, self._start)
            self._start = line_start
            if self._follows_blank_line(line_start):
                self._drop_blank_lines()
            return
        for start, end in reversed(group):
            self._keep(end, self._start)
            self._start = self._without_space(start)

    def _keep(self, start: int, end: int) -> None:
        if start < end:
            self._pieces.append((start, end))

    def _without_space(self, start: int) -> int:
        """Where a stretch begins with one of the two spaces that are around it, or with all before the end of its
        line."""
        before = self._text[start - 1 : start]
        after = self._text[self._pieces[-1][0]] if self._pieces else "\n"
        if before not in (" ", "\t") or not after.isspace():
            return start
        if after not in "\r\n":
            return start - 1
        while start > 0 and self._text[start - 1] in " \t":
            start -= 1
        return start

    def _follows_blank_line(self, line_start: int) -> bool:
        before = self._text.rfind("\n", 0, max(0, line_start - 1)) + 1
        return line_start == 0 or _BLANK_LINE.fullmatch(self._text, before, line_start) is not None

    def _drop_blank_lines(self) -> None:
        """Drop the blank lines with which what is kept begins."""
        while self._pieces and self._pieces[-1][0] != self._not_blank:
            start, end = self._pieces.pop()
            blank = _BLANK_LINES.match(self._text, start, end)
            self._keep(blank.end() if blank else start, end)
            if self._pieces and self._pieces[-1][1] == end:
                self._not_blank = self._pieces[-1][0]
