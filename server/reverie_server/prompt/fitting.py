"""The entries of a text that fit into a prompt, whole, with what says whose they are above them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie_server.text.entry_tree import Entry, entries_of
from reverie_server.text.markdown_blocks import fenced
from reverie_server.text.tokens import CountTokens

_REST = "(The rest of this file has no room in the prompt. It is found by memory_search.)"


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


def shortened(texts: Sequence[str], max_tokens: int, count: CountTokens) -> list[str]:
    """The texts as they are where they fit together, else the longest of them with their beginnings only.

    All that are cut have the same room. Of a cut text the first entries stay, and a line says where the rest is; where
    not even that has room nothing stays.
    """
    # A token has at least one byte: most files need no counting.
    if sum(len(text.encode(errors="replace")) for text in texts) <= max_tokens:
        return list(texts)
    sizes = [count(text) for text in texts]
    if sum(sizes) <= max_tokens:
        return list(texts)
    each = _room_of_each(sizes, max_tokens)
    return [text if size <= each else _beginning(text, each, count) for text, size in zip(texts, sizes, strict=True)]


def _room_of_each(sizes: Sequence[int], room: int) -> int:
    """The size of which no text has more, where the shorter ones leave the longer ones what they do not need."""
    for number, size in enumerate(sorted(sizes)):
        each = room // (len(sizes) - number)
        if size > each:
            return each
        room -= size
    return max(sizes, default=0)


def _beginning(text: str, max_tokens: int, count: CountTokens) -> str:
    room = max_tokens - count(_REST)
    if room < 0:
        return ""
    begin = _fitting(text.splitlines(), room, count, is_newest=False).text
    return f"{begin}\n\n{_REST}" if begin else _REST


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
        self._max_tokens = self.room = room
        # Whether the beginning of the text has its end.
        self._is_full = False
        self.kept: set[int] = set()

    def take(self, entries: Sequence[Entry]) -> bool:
        """Take the entries that fit; whether all did."""
        is_whole = True
        for entry in reversed(entries) if self._is_newest else entries:
            if self._is_full:
                return False
            if not self._take_lines(entry.start, entry.end):
                self._take_inner(entry)
                is_whole = False
        return is_whole

    def _take_inner(self, entry: Entry) -> None:
        """Take what fits of an entry below its head."""
        kept, room = len(self.kept), self.room
        if not self._take_lines(entry.start, entry.head_end):
            # What fits nowhere, such as a long paste, does not end the beginning of a text.
            size = self._size(entry.start, entry.head_end)
            self._is_full = not self._is_newest and size <= self._max_tokens
            return
        self.take(entry.inner)
        if len(self.kept) == kept + entry.head_end - entry.start:
            self.kept.difference_update(range(entry.start, entry.head_end))
            self.room = room

    def _take_lines(self, start: int, end: int) -> bool:
        size = self._size(start, end)
        if size > self.room:
            return False
        self.kept.update(range(start, end))
        self.room -= size
        return True

    def _size(self, start: int, end: int) -> int:
        return self._count("\n".join([*self._lines[start:end], "", ""]))


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
