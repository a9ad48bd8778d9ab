"""The entries of a text that fit into a prompt, whole, with what says whose they are above them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie_server.text.entry_tree import Entry, entries_of
from reverie_server.text.markdown_blocks import fenced
from reverie_server.text.tokens import CountTokens


@dataclass(frozen=True, slots=True)
class Fitted:
    """What fits of a text, the room that is left, in tokens, and whether it is all of the text."""

    text: str
    room: int
    is_whole: bool


def newest_fitting(lines: Sequence[str], max_tokens: int, count: CountTokens) -> Fitted:
    """The last entries of a text that fit. An entry that does not fit is skipped, and shorter ones before it may fit.

    Of a section, and of an item with others below it, what fits is taken with the heading or the first line, and
    without that nothing.
    """
    return _fitting(lines, max_tokens, count, is_newest=True)


def _fitting(lines: Sequence[str], max_tokens: int, count: CountTokens, *, is_newest: bool) -> Fitted:
    choice = _Choice(lines, max_tokens, count, is_newest=is_newest)
    is_whole = choice.take(entries_of(lines))
    return Fitted(_joined(lines, choice.kept), choice.room, is_whole)


class _Choice:
    """The numbers of the lines that are `kept`, and the `room` for others."""

    def __init__(self, lines: Sequence[str], room: int, count: CountTokens, *, is_newest: bool) -> None:
        self._lines = lines
        self._count = count
        self._is_newest = is_newest
        self.room = room
        self.kept: set[int] = set()

    def take(self, entries: Sequence[Entry]) -> bool:
        """Take the entries that fit; whether all did."""
        is_whole = True
        for entry in reversed(entries) if self._is_newest else entries:
            if not self._take_lines(entry.start, entry.end):
                self._take_inner(entry)
                is_whole = False
        return is_whole

    def _take_inner(self, entry: Entry) -> None:
        """Take what fits of an entry below its head."""
        kept, room = len(self.kept), self.room
        if not entry.inner or not self._take_lines(entry.start, entry.head_end):
            return
        self.take(entry.inner)
        if len(self.kept) == kept + entry.head_end - entry.start:
            self.kept.difference_update(range(entry.start, entry.head_end))
            self.room = room

    def _take_lines(self, start: int, end: int) -> bool:
        size = self._count("\n".join([*self._lines[start:end], "", ""]))
        if size > self.room:
            return False
        self.kept.update(range(start, end))
        self.room -= size
        return True


def _joined(lines: Sequence[str], kept: set[int]) -> str:
    """The lines that are kept, with one blank line where there was any."""
    joined: list[str] = []
    is_after_blank = False
    for number, (line, closing) in enumerate(zip(lines, fenced(lines), strict=True)):
        if closing is None and not line.strip():
            is_after_blank = True
        elif number in kept:
            if is_after_blank and joined:
                joined[-1:] = [joined[-1].rstrip(), ""]
            joined.append(line)
            is_after_blank = False
    return "\n".join(joined).rstrip()
