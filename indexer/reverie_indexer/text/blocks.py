"""The blocks of a markdown text, and those of an edited text from those of the text before the edit. Pure.

markdown-it reads a text from the front: where it is between two blocks of the outermost level, what it finds depends on
the rest of the text alone. `kept_after_edit` says up to where the blocks of a text before its edit still hold.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markdown_it.token import Token

from reverie_indexer.text.markdown_parser import parse_blocks, parse_rest
from reverie_indexer.text.split import trim

# A longer "heading" is a paragraph that happens to be underlined: as part of every heading path below it, it
# would cost more than it tells.
MAX_HEADING_CHARS = 300

LINE_BREAK = re.compile(r"\r\n|\r|\n")
# A list is told by its items; `inline` is the text of the heading or paragraph before it.
_NOT_BLOCKS = ("inline", "bullet_list_open", "ordered_list_open")
# What makes markdown-it read lines twice, a number that it counts over the whole text: a quotation in a list or another
# quotation, and one that is followed by a line without its mark.
_REREAD = re.compile(
    r"(?:\A|(?<=[\n\r]))"
    r"(?:(?! {0,3}+>(?![ \t\-+*0-9.)]*+>))[ \t\-+*0-9.)>]*>"
    r"| {0,3}+>[^\n\r]*+(?:\r\n|\r|\n)(?! {0,3}+>|[ \t]*+(?:[\r\n]|\Z)))"
)

Kind = Literal["heading", "prose", "lines", "front", "reference", "rule"]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the source, white space trimmed off. `level` and `title` are a heading's.

    `is_outermost`: a token of markdown-it's outermost level, which an item of a list is not.
    """

    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""
    is_outermost: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is text: a paragraph, or what is cut by lines."""
        return self.kind in ("prose", "lines")

    @property
    def is_filler(self) -> bool:
        """Whether it is a link reference definition or a thematic break."""
        return self.kind in ("reference", "rule")


def line_starts_of(text: str) -> list[int]:
    """Where the lines begin, as markdown-it counts them."""
    return [0, *(match.end() for match in LINE_BREAK.finditer(text))]


@dataclass(frozen=True, slots=True)
class Kept:
    """The blocks of the first `end` characters of a text, which need not be read again."""

    blocks: Sequence[Block] = ()
    end: int = 0


NOTHING_KEPT = Kept()


def blocks_of(text: str, kept: Kept = NOTHING_KEPT) -> list[Block]:
    """The blocks of the outermost level (list items, not lists), and the text between them, in order.

    Together they hold every character that is not white space, each once. What is `kept` is not read again.
    """
    if kept.end:
        return [*kept.blocks, *_blocks(text, kept.end, parse_rest(text[kept.end :]))]
    return _blocks(text, 0, parse_blocks(text.removeprefix("\ufeff")))


def without_titles(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks as places in a text, with nothing of its words: enough for `kept_after_edit`."""
    return tuple(replace(block, title="") if block.title else block for block in blocks)


def kept_after_edit(text: str, before: str, blocks: Sequence[Block]) -> Kept:
    """The blocks of the text `before`, with or without titles, that an edited text keeps; linear in the texts."""
    count = _count_kept(text, before, blocks)
    titled = _titled(text, blocks[:count])
    return Kept(titled, blocks[count].start) if titled else NOTHING_KEPT


def _count_kept(text: str, before: str, blocks: Sequence[Block]) -> int:
    """How many blocks the edited text has as the text before had them: those before the last safe place; 0 for none.

    A place is safe where a block of the outermost level begins with a line that was not edited, in its first column,
    behind an empty line: whatever went before, but a quotation that reads ahead and front matter without an end, has
    read no further than that line. A definition before it would be one with a definition that begins there.
    """
    if text.startswith(("---", "\ufeff---")) and (not blocks or blocks[0].kind != "front"):
        return 0
    common = _common_prefix(text, before)
    index = bisect_right(blocks, common, key=lambda block: block.start) - 1
    while index > 0 and not _is_safe(text, blocks[index - 1], blocks[index], common):
        index -= 1
    return index if index > 0 and _REREAD.search(text) is None else 0


def _is_safe(text: str, previous: Block, block: Block, common: int) -> bool:
    if not block.is_outermost or previous.is_filler:
        return False
    line_end = LINE_BREAK.search(text, block.start, common)
    return line_end is not None and line_end.end() < common and _follows_empty_line(text, block.start)


def _follows_empty_line(text: str, start: int) -> bool:
    """Whether a line begins at `start`, and the one before it is empty."""
    if text[start - 1] not in "\n\r":
        return False
    at = start - 2 if text[start - 2 : start] == "\r\n" else start - 1
    while at > 0 and text[at - 1] in " \t":
        at -= 1
    return at > 0 and text[at - 1] in "\n\r"


def _common_prefix(text: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _titled(text: str, blocks: Sequence[Block]) -> list[Block] | None:
    """The blocks with their titles, each heading read by itself; None where one is no heading by itself."""
    titled: list[Block] = []
    line_starts = line_starts_of(text)
    for block in blocks:
        if block.kind != "heading":
            titled.append(block)
            continue
        # The whole lines: what else is white space, and was trimmed off, counts in the rules of headings.
        first, last = bisect_right(line_starts, block.start), bisect_right(line_starts, block.end - 1)
        lines = text[line_starts[first - 1] : line_starts[last] if last < len(line_starts) else len(text)]
        tokens = parse_rest(lines.removeprefix("\ufeff") if first == 1 else lines)
        if not tokens or tokens[0].type != "heading_open" or tokens[0].tag != f"h{block.level}":
            return None
        titled.append(replace(block, title=_title_of(tokens[1])))
    return titled


def _blocks(text: str, offset: int, tokens: Sequence[Token]) -> list[Block]:
    """The blocks of a text from `offset` on, which are those tokens."""
    line_starts = [offset, *(match.end() for match in LINE_BREAK.finditer(text, offset))]
    blocks: list[Block] = []
    covered = offset
    for index, token in enumerate(tokens):
        if token.map is None or token.type in _NOT_BLOCKS:
            continue
        start = max(covered, line_starts[token.map[0]])
        end = line_starts[token.map[1]] if token.map[1] < len(line_starts) else len(text)
        blocks += _between(text, covered, start)
        span = trim(text, start, end)
        if span is not None:
            title = _title_of(tokens[index + 1]) if token.type == "heading_open" else ""
            blocks.append(_block(token, span, title))
        covered = max(covered, end)
    blocks += _between(text, covered, len(text))
    return blocks


def _between(text: str, start: int, end: int) -> Iterator[Block]:
    """The text without tokens: link reference definitions, and a byte order mark alone on its line."""
    span = trim(text, start, end)
    if span is not None:
        yield Block("rule" if text[slice(*span)] == "\ufeff" else "reference", *span)


def _title_of(inline: Token) -> str:
    return " ".join(inline.content.split())


def _block(token: Token, span: tuple[int, int], title: str) -> Block:
    is_outermost = token.level == 0
    match token.type:
        case "heading_open" if len(title) <= MAX_HEADING_CHARS:
            return Block("heading", *span, level=int(token.tag[1:]), title=title, is_outermost=is_outermost)
        case "heading_open" | "paragraph_open":
            return Block("prose", *span, is_outermost=is_outermost)
        case "front_matter":
            return Block("front", *span, is_outermost=is_outermost)
        case "hr":
            return Block("rule", *span, is_outermost=is_outermost)
        case _:
            return Block("lines", *span, is_outermost=is_outermost)
