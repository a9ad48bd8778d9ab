"""The line of the memory that an entry of a report became, and the memory with that line changed. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie_indexer.errors import ValidationFailed
from reverie_server.heuristics.statements import Statement, restates, statement
from reverie_server.long_term.memory_text import Entry, entry_of
from reverie_server.text.markdown_blocks import Block, blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.remove_spans import Span, without_spans_by_line
from reverie_server.text.statement_spans import statement_spans, statements

_BULLET = re.compile(r"(?P<marker>[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)(?:\[[ xX]\][ \t]+)?")
_FULL_STOPS = ".!?。！？…"


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

    def saying(self, entry: str, language: str) -> list[str]:
        """What says an entry, as it stands; of every block that has its words or restates it."""
        sought = statement(entry, language)
        texts: list[str] = []
        for block, known in zip(self.blocks, self.statements, strict=True):
            if known.essence == sought.essence or restates(known, sought):
                inside = "".join(self.lines[block.start : block.end])
                texts += [inside[slice(*span)] for span in _saying(inside, entry, language)]
        return list(dict.fromkeys(texts))


def with_line(text: str, entry: str, content: str, language: str) -> str | None:
    """The memory with what says an entry replaced by new content; None where the entry has left the memory.

    What else stands there stays: nested items, other lines, other sentences of the line. Raises ValidationFailed for
    content that is empty or too long, or that would break up the paragraph around it.
    """
    memory = MemoryLines.of(text, language)
    block = memory.find(entry, language)
    if block is None:
        return None
    inside = "".join(memory.lines[block.start : block.end])
    spans = _saying(inside, entry, language)
    if not spans:
        return None
    # The first span takes the content; it stays where it is, since what goes is behind it.
    inside = without_spans_by_line(inside, spans[1:])
    newline = "\r\n" if "\r\n" in text else "\n"
    written = _written(inside, spans[0], entry_of(content), newline, is_item=block.kind == "item")
    changed = "".join([*memory.lines[: block.start], written, *memory.lines[block.end :]])
    if block.kind == "paragraph" and inside[slice(*spans[0])] != inside.strip():
        kinds = [[each.kind for each in blocks_of(whole)] for whole in (text, changed)]
        if kinds[0] != kinds[1]:
            raise ValidationFailed("the content would break up the paragraph around the entry")
    return changed


def _saying(text: str, entry: str, language: str) -> list[Span]:
    """The spans of a block that say an entry, in order; none where only more than the entry says it.

    That is the statement with its words; else those that have its words and no other, together; else the first that
    restates it; else those that restate one of its statements. Neighbours with nothing between them are one span.
    """
    sought = statement(entry, language)
    parts = [(span, statement(text[slice(*span)], language)) for span in statement_spans(text)]
    identical = [span for span, part in parts if part.essence == sought.essence]
    if identical:
        return identical[:1]
    within = [(span, part) for span, part in parts if part.terms <= sought.terms and part.denials <= sought.denials]
    if sought.terms and sought.terms <= frozenset().union(*(part.terms for _, part in within)):
        return _joined(text, [span for span, part in within if part.terms])
    restating = [span for span, part in parts if restates(part, sought)]
    if restating:
        return restating[:1]
    said = [statement(each, language) for each in statements(entry)]
    return _joined(text, [span for span, part in parts if any(restates(part, each) for each in said)])


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, of which neighbours with nothing but white space between them are one."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _written(inside: str, span: Span, entry: Entry, newline: str, *, is_item: bool) -> str:
    """A block with an entry in place of a span: below the bullet of a line that is all of it, else within the line."""
    before, old, behind = inside[: span[0]], inside[slice(*span)], inside[span[1] :]
    line_start = max(before.rfind("\n"), before.rfind("\r")) + 1
    lead = before[line_start:]
    is_alone = not before.strip() and not behind.strip()
    bullet = _BULLET.fullmatch(lead) if is_item else _BULLET.fullmatch("- ") if is_alone else None
    if bullet is None or behind.lstrip(" \t")[:1] not in ("", "\r", "\n"):
        new = " ".join(" ".join(line for item in entry.items for line in item).split())
    else:
        before = before[:line_start]
        indent = re.sub(r"[^\t]", " ", bullet["marker"])
        items = [
            [f"{bullet[0]}{first}", *(indent + line if line else "" for line in rest)] for first, *rest in entry.items
        ]
        new = newline.join(line for item in items for line in item)
    # Without it the sentence would run into the next one.
    is_ended = old[-1] in _FULL_STOPS and behind.strip() and newline not in new and new[-1] not in _FULL_STOPS
    return f"{before}{new}{old[-1] if is_ended else ''}{behind}"


def present_entries(text: str, entries: Sequence[str], language: str) -> list[bool]:
    """Whether each of some entries is still in a memory."""
    memory = MemoryLines.of(text, language)
    return [bool(entry.strip()) and memory.find(entry, language) is not None for entry in entries]
