"""Removes spans from a text, in time linear in the text however many spans there are. Pure.

A span is (start, end), half-open. A text of a megabyte may have a million of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# The marks before the text of a line: quotation marks, a bullet or a number, a checkbox. Possessive: white space and
# marks may follow, and a backtracking pattern would try every split of them. A longer number is one that is said.
LEAD = r"[\s>]*+(?:(?:[-*+]|\d{1,3}[.)])\s++)?+(?:\[[ xX]\]\s++)?+"
_NOTHING_LEFT = re.compile(rf"{LEAD}[\W_]*+")
_BLANK_LINE = re.compile(r"[ \t]*+\r?\n")
_BLANK_LINES = re.compile(r"(?:[ \t]*+\r?\n)++")

Span = tuple[int, int]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans from left to right; overlapping ones become one."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def without_spans(text: str, spans: Sequence[Span]) -> str:
    """The text without the spans, which come from left to right and do not overlap."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def without_spans_by_line(text: str, spans: Sequence[Span]) -> str:
    """As `without_spans`, for markdown.

    A line of which only marks would remain is removed, and so is a blank line that then follows another. Of two spaces
    around a span one is removed.
    """
    remaining = _Remaining(text)
    for group in reversed(_by_lines(text, spans)):
        remaining.remove(group)
    return remaining.joined()


def _by_lines(text: str, spans: Sequence[Span]) -> list[list[Span]]:
    """The spans in groups: within a group, each span begins on the line on which the one before it ends."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and text.find("\n", groups[-1][-1][1], span[0]) < 0:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


class _Remaining:
    """The remaining pieces of a text from which spans are removed, from the end to the beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        # The pieces from the last to the first. Nothing before `_start` has been removed yet.
        self._pieces: list[Span] = []
        self._start = len(text)
        # The beginning of a line that is known not to be blank.
        self._not_blank = -1

    def joined(self) -> str:
        """The remaining text."""
        self._keep(0, self._start)
        self._start = 0
        return "".join(self._text[start:end] for start, end in reversed(self._pieces))

    def remove(self, group: Sequence[Span]) -> None:
        """Remove a group of spans. The groups behind it have been removed."""
        text = self._text
        line_start = text.rfind("\n", 0, group[0][0]) + 1
        line_end = text.find("\n", group[-1][1])
        line_end = len(text) if line_end < 0 else line_end
        in_line = [(start - line_start, end - line_start) for start, end in group]
        if _NOTHING_LEFT.fullmatch(without_spans(text[line_start:line_end], in_line)):
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
        """The beginning of a span together with one of the two spaces around it, or, at the end of a line, with all
        spaces before it.
        """
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
        """Drop the blank lines at the beginning of the remaining text."""
        while self._pieces and self._pieces[-1][0] != self._not_blank:
            start, end = self._pieces.pop()
            blank = _BLANK_LINES.match(self._text, start, end)
            self._keep(blank.end() if blank else start, end)
            if self._pieces and self._pieces[-1][1] == end:
                self._not_blank = self._pieces[-1][0]
