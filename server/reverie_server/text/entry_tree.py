"""The entries of a note or a memory, each with what belongs to it, line by line. Pure.

`markdown_blocks` reads texts as CommonMark does, where a numbered list is one block and a line of the daily log below
an item is a part of it. Who leaves out entries of a text wants each of them, and what says nothing without it: what is
indented below an item, the list behind a line that leads up to it, the section of a heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reverie_server.text.markdown_blocks import fenced

Kind = Literal["root", "heading", "item", "logged", "text"]
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])(?:[ \t]|$)")
_LOGGED = re.compile(r"\[\d\d:\d\d\][ \t]")
_LEADS_UP = (":", "：")
# What is nested deeper is text of the innermost entry, so that no text makes a deep tree.
_MAX_NESTED_ITEMS = 6
# Without a list above it, what is indented so far is code.
_CODE_INDENT = 4


@dataclass(slots=True)
class Entry:
    """The lines from `start` to `end` (0-based, half-open), of which those from `head_end` on are the `inner` entries.

    The last line is not blank. `level` is a heading's, `indent` that of the first line, in columns. `has_code`: some of
    the head is in a fence. `leads_up`: the head is text that ends with a colon.
    """

    kind: Kind
    start: int
    head_end: int
    end: int
    level: int = 0
    indent: int = 0
    has_code: bool = False
    leads_up: bool = False
    inner: list[Entry] = field(default_factory=list)


def entries_of(lines: Sequence[str]) -> list[Entry]:
    """The outermost entries of a text, in order. Each line that is not blank is in exactly one head. Linear."""
    tree = _Tree()
    # Blank lines in a fence are code.
    is_after_blank = True
    for number, (line, closing) in enumerate(zip(lines, fenced(lines), strict=True)):
        if closing is None and not line.strip():
            is_after_blank = True
            continue
        is_code = closing is not None
        if is_code or not tree.begins_entry(number, line, is_after_blank=is_after_blank):
            tree.add_text(number, line, is_after_blank=is_after_blank, is_code=is_code)
        is_after_blank = False
    return tree.closed()


def walk(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries and all that is in them, in order."""
    for entry in entries:
        yield entry
        yield from walk(entry.inner)


class _Tree:
    """The entries so far; those that may go on are open, the outermost first."""

    def __init__(self) -> None:
        self._open = [Entry("root", 0, 0, 0)]

    def begins_entry(self, number: int, line: str, *, is_after_blank: bool) -> bool:
        """Whether the line begins a heading, an item or a line of the log, which is added then."""
        if (heading := _HEADING.match(line)) is not None:
            level = len(heading[1])
            self._close(lambda entry: entry.kind != "heading" or entry.level >= level)
            self._add(Entry("heading", number, number + 1, number + 1, level=level))
        elif _LOGGED.match(line):
            self._close(lambda entry: entry.kind != "heading")
            self._add(Entry("logged", number, number + 1, number + 1))
        elif (item := _ITEM.match(line)) is not None:
            return self._begins_item(number, _columns(item[1]), is_after_blank=is_after_blank)
        else:
            return False
        return True

    def _begins_item(self, number: int, indent: int, *, is_after_blank: bool) -> bool:
        if indent >= _CODE_INDENT and all(entry.kind != "item" for entry in self._open):
            return False
        self._close(
            lambda entry: (
                (entry.kind == "item" and entry.indent > indent - 2)
                or entry.kind == "logged"
                # A line of text has the list that follows at once, or that it leads up to.
                or (
                    entry.kind == "text"
                    and (entry.indent > indent or not (entry.inner or entry.leads_up or not is_after_blank))
                )
            )
        )
        if sum(entry.kind == "item" for entry in self._open) >= _MAX_NESTED_ITEMS:
            return False
        self._add(Entry("item", number, number + 1, number + 1, indent=indent))
        return True

    def add_text(self, number: int, line: str, *, is_after_blank: bool, is_code: bool) -> None:
        """Add a line that begins no entry of a kind: it goes on with the last one, or is text of its own."""
        last = self._open[-1]
        if is_after_blank or last.kind in ("root", "heading"):
            indent = _columns(line[: len(line) - len(line.lstrip(" \t"))])
            self._close(lambda entry: entry.kind != "heading" and not (entry.kind == "item" and entry.indent < indent))
            last = Entry("text", number, number, number, indent=indent)
            self._add(last)
        last.head_end = last.end = number + 1
        last.has_code |= is_code
        last.leads_up = not is_code and line.rstrip().endswith(_LEADS_UP)

    def closed(self) -> list[Entry]:
        """The outermost entries, when all lines have been added."""
        root = self._open[0]
        self._close(lambda _: True)
        return root.inner

    def _add(self, entry: Entry) -> None:
        self._open[-1].inner.append(entry)
        self._open.append(entry)

    def _close(self, ends: Callable[[Entry], bool]) -> None:
        """Close the innermost entries that end; the first that does not end keeps all around it open."""
        while len(self._open) > 1 and ends(self._open[-1]):
            closed = self._open.pop()
            around = self._open[-1]
            around.end = max(around.end, closed.end)


def _columns(indentation: str) -> int:
    return len(indentation.expandtabs(4))
