"""Cuts a markdown text into passages: one a paragraph, list item, table, code block, quotation. Pure.

The structure is markdown-it-py's (CommonMark with tables and front matter). Its tokens carry line numbers, so
lines are counted as it counts them: they end at `\\n`, `\\r\\n` or `\\r`, and at no other character.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from reverie_indexer.model import Chunk
from reverie_indexer.text.blocks import LINE_BREAK, Block, blocks_of, line_starts_of
from reverie_indexer.text.split import grapheme_floor, split

# The embedder reads a few hundred tokens: the context must leave most of them to the text.
MAX_CONTEXT_HEADING_CHARS = 80

# A text that falls into more passages than this, and into more than one for each so many characters, is packed: nothing
# that a person writes is so full of blocks, and each passage costs rows, a vector and time under the slice's lock.
MAX_SPARSE_CHUNKS = 2000
MIN_MEAN_CHARS = 50

_HEADING_MARKS = "# \t\ufeff"
# The day of a note, or one of several notes of the day: `2023-05-04.md`, `2023-05-04-02.md`.
_DAILY_NOTE = re.compile(r"(?:.*/)?([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-[0-9]{1,3})?\.md", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Passage:
    """A text that becomes one chunk, or several if it is over the cap. Its headings end before `body_start`."""

    start: int
    body_start: int
    end: int
    by_lines: bool
    heading_path: tuple[str, ...]


def chunk(
    text: str,
    *,
    max_chars: int = 1000,
    max_chunks: int = MAX_SPARSE_CHUNKS,
    blocks: Sequence[Block] | None = None,
) -> list[Chunk]:
    """Cut `text` into chunks of at most `max_chars` code points (≥ 1, or ValueError), in source order.

    Where that makes more than `max_chunks`, and more than one for each MIN_MEAN_CHARS characters, neighbours are packed
    into chunks as long as `max_chars` allows, each under the headings of its first: the number of chunks is bounded by
    the length of the text, whatever it is made of.

    Every character that is not white space (`str.isspace`) lies in exactly one chunk; white space at the ends
    of a chunk is left out. A heading opens the chunk of the text below it, together with headings above that
    have no text of their own. Link reference definitions, thematic breaks and a byte order mark belong to the
    block after them, or, where a heading or the end follows, to the one before. Lines are 1-based and
    inclusive. A text of white space alone gives no chunk.

    `blocks` are those of the text, where they are known already.
    """
    if max_chars < 1:
        raise ValueError(f"max_chars is {max_chars}, it must be at least 1")
    line_starts = line_starts_of(text)
    if blocks is None:
        blocks = blocks_of(text)
    chunks: list[Chunk] = []
    for passage in _passages(_absorb(blocks, max_chars), max_chars):
        spans = split(
            text,
            passage.start,
            passage.end,
            max_chars=max_chars,
            body_start=passage.body_start,
            by_lines=passage.by_lines,
        )
        for start, end in spans:
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    text=text[start:end],
                    start_line=bisect_right(line_starts, start),
                    end_line=bisect_right(line_starts, end - 1),
                    char_start=start,
                    char_end=end,
                    heading_path=passage.heading_path,
                )
            )
    if len(chunks) > max(max_chunks, len(text) // MIN_MEAN_CHARS):
        return _packed(text, chunks, max_chars)
    return chunks


def _packed(text: str, chunks: Sequence[Chunk], max_chars: int) -> list[Chunk]:
    """The chunks with neighbours put together up to `max_chars` code points, the white space between them included."""
    packed: list[Chunk] = []
    first, last = chunks[0], chunks[0]

    def close() -> None:
        together = replace(
            first,
            ordinal=len(packed),
            text=text[first.char_start : last.char_end],
            end_line=last.end_line,
            char_end=last.char_end,
        )
        packed.append(together)

    for each in chunks[1:]:
        if each.char_end - first.char_start > max_chars:
            close()
            first = each
        last = each
    close()
    return packed


def context_line(path: str, chunk: Chunk) -> str:
    """The headings above the chunk, joined by ` > `: what is embedded before its text.

    Headings that stand in the chunk's text on a line of their own are left out, and one that only repeats the
    date of a daily note; long ones are shortened to `MAX_CONTEXT_HEADING_CHARS`. Empty if there is nothing to say.
    """
    lines = {line.strip(_HEADING_MARKS) for line in LINE_BREAK.split(chunk.text)}
    if (day := note_date(path)) is not None:
        lines.add(day.isoformat())
    words = " ".join(chunk.text.split())
    above = (
        _shortened(title)
        for title in chunk.heading_path
        if title.strip(_HEADING_MARKS) not in lines and not _opens_underlined(words, title)
    )
    return " > ".join(above)


def _opens_underlined(words: str, title: str) -> bool:
    """Whether the text begins with a setext heading, which may run over several lines."""
    return words.startswith((f"{title} -", f"{title} ="))


def note_date(path: str) -> date | None:
    """The day of a daily note, or None for another file or a day that never was.

    A daily note is `…/YYYY-MM-DD.md`, or `…/YYYY-MM-DD-NN.md` where a day has several.
    """
    match = _DAILY_NOTE.fullmatch(path)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def _shortened(title: str) -> str:
    if len(title) <= MAX_CONTEXT_HEADING_CHARS:
        return title
    return title[: grapheme_floor(title, 0, MAX_CONTEXT_HEADING_CHARS - 1)].rstrip() + "…"


def _absorb(blocks: Sequence[Block], max_chars: int) -> list[Block]:
    """Join fillers to the block after them, or to the one before, unless that would go over the cap.

    They stay in their section: one before a heading goes to the text above it. A rule between headings counts
    as part of one; references that find no text are the text of their section.
    """
    joined: list[Block] = []
    for index in range(len(blocks) - 1, -1, -1):
        block, following = blocks[index], joined[-1] if joined else None
        is_first = index == 0 or blocks[index - 1].kind == "front"
        if following is not None and _joins_following(block, following, is_first, max_chars):
            rule_takes_on_reference = following.kind == "rule" and block.kind == "reference"
            kind = "reference" if rule_takes_on_reference else following.kind
            joined[-1] = replace(following, start=block.start, kind=kind)
        else:
            joined.append(block)
    result: list[Block] = []
    for block in reversed(joined):
        if result and _joins_previous(block, result[-1], max_chars):
            result[-1] = replace(result[-1], end=block.end)
        else:
            result.append(replace(block, kind="lines") if block.is_filler else block)
    return result


def _joins_following(block: Block, following: Block, is_first: bool, max_chars: int) -> bool:
    if not block.is_filler or following.end - block.start > max_chars:
        return False
    if following.kind == "heading":
        return is_first and block.kind == "rule"
    return following.kind != "front"


def _joins_previous(block: Block, previous: Block, max_chars: int) -> bool:
    if not block.is_filler or block.end - previous.start > max_chars:
        return False
    return previous.is_text or (previous.kind == "heading" and block.kind == "rule")


def _passages(blocks: Sequence[Block], max_chars: int) -> Iterator[_Passage]:
    """Give each text its headings: its own and those above it that have no text of their own."""
    section: list[Block] = []
    pending: list[tuple[Block, tuple[str, ...]]] = []
    for block in blocks:
        if block.kind == "heading":
            section = [heading for heading in section if heading.level < block.level] + [block]
            pending.append((block, _titles(section)))
            continue
        start = block.start
        if pending:
            above = pending[-1][0].end - pending[0][0].start
            if block.end - pending[0][0].start > max_chars and above > max_chars // 2:
                yield from _headings_alone(pending[:-1], max_chars)
                pending = pending[-1:]
            start = pending[0][0].start
        yield _Passage(start, block.start, block.end, block.kind != "prose", _titles(section))
        pending = []
    yield from _headings_alone(pending, max_chars)


def _headings_alone(headings: Sequence[tuple[Block, tuple[str, ...]]], max_chars: int) -> Iterator[_Passage]:
    """Headings with no text below, as many to a passage as fit, under the path of the last."""
    passage: _Passage | None = None
    for heading, path in headings:
        if passage is not None and heading.end - passage.start <= max_chars:
            passage = replace(passage, end=heading.end, heading_path=path)
            continue
        if passage is not None:
            yield passage
        passage = _Passage(heading.start, heading.start, heading.end, False, path)
    if passage is not None:
        yield passage


def _titles(section: Sequence[Block]) -> tuple[str, ...]:
    return tuple(heading.title for heading in section if heading.title)
