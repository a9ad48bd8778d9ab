"""Compaction of the text of a MEMORY.md without a model, and the guard over any compaction. Pure.

Compaction without a model loses nothing: equal entries become one, all others move to their sections.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from reverie_server.long_term.memory_text import STANDARD, TITLE, Searched
from reverie_server.text.markdown_blocks import (
    Block,
    blocks_of,
    bullet,
    escaped,
    folded,
    text_of,
    without_marker,
)
from reverie_server.text.markdown_edit import lines_of

THRESHOLD_CHARS = 3000
MIN_RESULT_CHARS = 50
MAX_LOSS = 0.25
# An entry of at most this length means something else under another heading.
_MAX_DEPENDENT_CHARS = 20
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_HEADER = f"# {TITLE}"
_NAMES = {folded([name]): name for name in STANDARD}


@dataclass
class _Section:
    """The blocks below a standard heading, each with whether it is an item, and those below its subheadings."""

    blocks: list[tuple[bool, list[str]]] = field(default_factory=list)
    below: list[list[str]] = field(default_factory=list)


def is_due(text: str, last: datetime | None, now: datetime, from_chars: int = THRESHOLD_CHARS) -> bool:
    """Whether a memory is due for compaction: it has `from_chars` characters, and had no compaction today.

    `last` is the time of the last compaction or None; a day is one of the time zone of `now`.
    """
    was_today = last is not None and last.astimezone(now.tzinfo).date() >= now.date()
    return len(text) >= from_chars and not was_today


def compact_text(text: str) -> str | None:
    """The text with equal entries merged and each in its section; None where that would change the meaning.

    Standard sections come first, in their order and without those that are empty; then all others, as they are. An
    entry keeps its section; of equal ones that in the first section stays. Entries above all sections go to Notes, and
    so do the paragraphs of a text without sections, as entries. Compacting twice changes nothing more.
    """
    lines, blocks = lines_of(text), blocks_of(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    parts = _Parts(lines, blocks)
    result = newline.join("\n\n".join(parts.rendered()).split("\n")) + newline
    kept = _contents(lines_of(result), blocks_of(result))
    return result if kept == _contents(lines, blocks) else None


def guard(before: str, after: str, explained: Collection[str] = ()) -> str | None:
    """Why a compaction is refused, or None. Entries that are `explained` do not count as lost.

    An entry of `before` counts as kept when `after` has each of its lines or sentences anywhere, with case and white
    space folded. Equal entries count once.
    """
    if len(after.strip()) < MIN_RESULT_CHARS:
        return f"the result has under {MIN_RESULT_CHARS} characters"
    if not any(block.kind == "heading" and _is_title(block) for block in blocks_of(after)):
        return f"the result lacks the header {_HEADER!r}"
    entries, whole = _entries(before), Searched(folded([after]))
    # Most sentences are in this set, which saves the search through the text.
    kept = {piece for entry in _entries(after) for piece in entry}
    explained_pieces = {tuple(pieces_of([entry])) for entry in explained}
    lost = sum(
        entry not in explained_pieces and not all(piece in kept or whole.contains(piece) for piece in entry)
        for entry in entries
    )
    if lost > MAX_LOSS * len(entries):
        return f"the result drops {lost} of {len(entries)} entries"
    return None


def _entries(text: str) -> set[tuple[str, ...]]:
    lines = lines_of(text)
    texts = (block for block in blocks_of(text) if block.kind not in ("heading", "front_matter"))
    return {tuple(pieces_of(text_of(block, lines))) for block in texts}


class _Parts:
    """A memory taken apart. Texts are lists of lines without their endings."""

    def __init__(self, lines: Sequence[str], blocks: Sequence[Block]) -> None:
        self._lines = lines
        self._top: list[list[str]] = []
        self._intro: list[tuple[Block, list[str]]] = []
        self._standard = {name: _Section() for name in STANDARD}
        self._others: list[list[str]] = []
        self._take(blocks)
        self._settle()

    def rendered(self) -> Iterator[str]:
        """The parts in their order, to be joined by blank lines."""
        seen: set[tuple[str, str]] = set()
        sections = {name: _merged(name, section, seen) for name, section in self._standard.items()}
        yield from ("\n".join(part) for part in self._top)
        yield _HEADER
        yield from ("\n".join(part) for _, part in self._intro)
        for name, texts in sections.items():
            if texts:
                yield "\n\n".join([f"## {name}", *texts])
        yield from ("\n".join(part) for part in self._others)

    def _take(self, blocks: Sequence[Block]) -> None:
        """Sort each block into its part. An unknown section ends at the next heading that is not below it."""
        section: _Section | None = None
        as_it_is: list[str] | None = None
        level, end = 0, 0
        for block in blocks:
            raw = [line.rstrip("\r\n") for line in self._lines[block.start : block.end]]
            gap = [line.rstrip("\r\n") for line in self._lines[end : block.start]]
            end = block.end
            if block.kind == "heading" and (as_it_is is None or block.level <= level):
                name = _NAMES.get(folded([block.title])) if block.level == 2 else None
                if _is_title(block) or name is not None:
                    section, as_it_is = self._standard[name] if name else None, None
                    continue
                # Blocks below a subheading stay there up to the next section, below another title up to the next one.
                as_it_is, level = raw, max(2, block.level) if block.level > 1 else 1
                (self._others if section is None or block.level <= 2 else section.below).append(as_it_is)
            elif as_it_is is not None:
                as_it_is += gap + raw
            else:
                self._take_own(block, raw, section)

    def _take_own(self, block: Block, raw: list[str], section: _Section | None) -> None:
        if section is not None:
            is_entry = block.kind == "item"
            section.blocks.append((is_entry, text_of(block, self._lines) if is_entry else raw))
        elif block.kind == "front_matter":
            self._top.append(raw)
        else:
            self._intro.append((block, raw))

    def _settle(self) -> None:
        """Move the entries above the first section into Notes; of a text without sections the other blocks, too."""
        is_structured = bool(self._others) or any(s.blocks or s.below for s in self._standard.values())
        moved: list[tuple[bool, list[str]]] = []
        for block, raw in self._intro:
            if block.kind == "item":
                moved.append((True, text_of(block, self._lines)))
            elif not is_structured and block.kind == "paragraph":
                moved.append((True, [raw[0].lstrip(" \t"), *raw[1:]]))
            elif not is_structured:
                moved.append((False, raw))
        self._intro = [part for part in self._intro if is_structured and part[0].kind != "item"]
        self._standard["Notes"].blocks[:0] = moved


def _merged(name: str, section: _Section, seen: set[tuple[str, str]]) -> list[str]:
    """A section's texts, to be joined by blank lines; of equal entries the first, and items in lists without gaps."""
    texts: list[str] = []
    in_list = False
    for is_entry, lines in section.blocks:
        if not is_entry:
            texts.append("\n".join(lines))
            in_list = False
            continue
        words = folded(lines)
        key = (name if len(words) <= _MAX_DEPENDENT_CHARS else "", words)
        if not words or key in seen:
            continue
        seen.add(key)
        item = "\n".join(bullet(escaped(lines)))
        if in_list:
            texts[-1] += f"\n{item}"
        else:
            texts.append(item)
        in_list = True
    return texts + ["\n".join(lines) for lines in section.below]


def _is_title(block: Block) -> bool:
    return block.level == 1 and folded([block.title]) == folded([TITLE])


def _contents(lines: Sequence[str], blocks: Sequence[Block]) -> set[tuple[str, int, str]]:
    """The contents of a memory: its entries, other blocks, and the headings that compaction does not add itself."""
    found: set[tuple[str, int, str]] = set()
    for block in blocks:
        is_made = block.kind == "heading" and (
            _is_title(block) or (block.level == 2 and folded([block.title]) in _NAMES)
        )
        kind = "item" if block.kind == "paragraph" else block.kind
        words = folded(text_of(block, lines))
        if words and not is_made:
            found.add((kind, block.level, words))
    return found


def pieces_of(lines: Sequence[str]) -> Iterator[str]:
    """The sentences of an entry, without bullets and final marks: all must be found in a new text."""
    for line in lines:
        for sentence in _SENTENCE_END.split(without_marker(line)):
            words = folded([sentence]).rstrip(".!?。！？ ")
            if any(character.isalnum() for character in words):
                yield words
