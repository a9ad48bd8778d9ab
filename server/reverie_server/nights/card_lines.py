"""The line of the memory that an entry of a report became, and the memory with that line changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie_server.heuristics.statements import Statement, restates, statement
from reverie_server.long_term.memory_text import entry_of
from reverie_server.text.markdown_blocks import Block, blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of


@dataclass(frozen=True, slots=True)
class MemoryLines:
    """The entries of a memory, read once: their blocks, and their statements in the same order."""

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    statements: tuple[Statement, ...]

    @classmethod
    def of(cls, text: str, language: str) -> MemoryLines:
        """The items and paragraphs of a memory."""
        lines = lines_of(text)
        blocks = tuple(block for block in blocks_of(text) if block.kind in ("item", "paragraph"))
        statements = tuple(statement(" ".join(text_of(block, lines)), language) for block in blocks)
        return cls(tuple(lines), blocks, statements)

    def find(self, entry: str, language: str) -> Block | None:
        """The block with the words of an entry, else the first that restates it; None where the entry has left."""
        sought = statement(entry, language)
        known = list(zip(self.blocks, self.statements, strict=True))
        identical = next((block for block, each in known if each.essence == sought.essence), None)
        return identical or next((block for block, each in known if restates(each, sought)), None)


def with_line(text: str, entry: str, content: str, language: str) -> str | None:
    """The memory with the line of an entry replaced by new content; None where the entry has left the memory.

    Raises ValidationFailed for content that is empty or too long.
    """
    memory = MemoryLines.of(text, language)
    block = memory.find(entry, language)
    if block is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    ending = newline if memory.lines[block.end - 1].endswith(("\n", "\r")) else ""
    new = newline.join(entry_of(content).lines) + ending
    return "".join([*memory.lines[: block.start], new, *memory.lines[block.end :]])


def present_entries(text: str, entries: Sequence[str], language: str = "english") -> list[bool]:
    """Whether each of some entries is still in a memory."""
    memory = MemoryLines.of(text, language)
    return [bool(entry.strip()) and memory.find(entry, language) is not None for entry in entries]
