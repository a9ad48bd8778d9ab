"""Entries of a memory that other entries say already, as far as words tell. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reverie_server.heuristics.statement_index import TermIndex
from reverie_server.heuristics.statements import Statement, entails, statement
from reverie_server.text.markdown_blocks import blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of


@dataclass(frozen=True, slots=True)
class WithoutRepeats:
    """A memory without the entries `dropped`, each as it stood there, without its bullet."""

    text: str
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    """An entry of one line: its place among the lines, and its statement."""

    line: int
    statement: Statement
    is_machine: bool


def without_repeats(text: str, is_machine: Callable[[str], bool], language: str) -> WithoutRepeats:
    """The memory without the machine-made entries of one line that are said elsewhere in it.

    Of two that say the same the fuller one stays, of equals the later one. `is_machine` returns whether the server or a
    tool wrote a line: an entry of a person stays.
    """
    lines = lines_of(text)
    items = _items(text, lines, is_machine, language)
    # The same words again go first, so that a thousand copies of an entry are not compared with each other.
    stands_for: dict[str, _Item] = {}
    for item in items:
        known = stands_for.get(item.statement.essence)
        if known is None or item.is_machine <= known.is_machine:
            stands_for[item.statement.essence] = item
    gone = {item.line for item in items if item.is_machine and stands_for[item.statement.essence] is not item}
    others = [item for item in items if item.line not in gone]
    index = TermIndex(item.statement for item in others)
    for item in others:
        if item.is_machine and any(
            other is not item and other.line not in gone and _replaces(other, item)
            for other in map(others.__getitem__, index.alike(item.statement))
        ):
            gone.add(item.line)
    if not gone:
        return WithoutRepeats(text)
    kept = "".join(line for at, line in enumerate(lines) if at not in gone)
    return WithoutRepeats(kept, tuple(item.statement.text for item in items if item.line in gone))


def _items(text: str, lines: Sequence[str], is_machine: Callable[[str], bool], language: str) -> list[_Item]:
    found: list[_Item] = []
    for block in blocks_of(text):
        if block.kind == "item" and block.end == block.start + 1:
            entry = " ".join(text_of(block, lines))
            found.append(_Item(block.start, statement(entry, language), is_machine(entry)))
    return found


def _replaces(other: _Item, item: _Item) -> bool:
    """Whether another entry may stand for one: it says all of it, and is fuller, or later, or a person's."""
    if not entails(other.statement, item.statement):
        return False
    is_mutual = entails(item.statement, other.statement)
    return not is_mutual or not other.is_machine or _rank(other) > _rank(item)


def _rank(item: _Item) -> tuple[int, int, int]:
    return len(item.statement.terms), len(item.statement.words), item.line
