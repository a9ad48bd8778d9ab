"""The blocks of a markdown text: headings, list items, paragraphs and others. Pure.

Blocks are those of CommonMark, so that a `#` inside a fence is no heading. Lines are counted as `lines_of` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markdown_it.token import Token

from reverie_indexer.text.analyse import fold
from reverie_indexer.text.markdown_parser import parse_blocks
from reverie_server.text.markdown_edit import lines_of

Kind = Literal["heading", "item", "paragraph", "front_matter", "other"]
# A longer text is parsed anew each time.
_MAX_KEPT_CHARS = 32_768
_BLANK = " \t\r\n"
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+])(?P<space>[ \t]*)(?P<rest>.*)", re.DOTALL)
_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)*(?P<fence>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the outermost level, or an item of a bullet list there.

    `start` and `end` are 0-based lines, half-open; the first and the last one are not blank. `level` and `title`
    are a heading's.
    """

    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""


def blocks_of(text: str) -> list[Block]:
    """The blocks in order. Every line that is not blank lies in exactly one of them."""
    return list(_parsed(text) if len(text) <= _MAX_KEPT_CHARS else _parse(text))


@lru_cache(maxsize=4)
def _parsed(text: str) -> tuple[Block, ...]:
    """The blocks of one of the last texts: what checks a new memory compares the same two texts many times."""
    return tuple(_parse(text))


def _parse(text: str) -> list[Block]:
    lines = lines_of(text)
    tokens = parse_blocks(text.removeprefix("\ufeff"))
    blocks: list[Block] = []
    covered = 0
    is_bullets = False
    for index, token in enumerate(tokens):
        if token.map is None or token.type == "inline":
            continue
        if token.level == 0:
            is_bullets = token.type == "bullet_list_open"
        # The items of a bullet list are blocks of their own; any other list is one block.
        if is_bullets if token.level == 0 else not is_bullets:
            continue
        start, end = max(covered, token.map[0]), min(token.map[1], len(lines))
        blocks += _trimmed(Block("other", covered, start), lines)
        if token.type == "heading_open":
            title = " ".join(tokens[index + 1].content.split())
            blocks += _trimmed(Block("heading", start, end, int(token.tag[1:]), title), lines)
        else:
            blocks += _trimmed(Block(_kind(token), start, end), lines)
        covered = max(covered, end)
    blocks += _trimmed(Block("other", covered, len(lines)), lines)
    return blocks


def text_of(block: Block, lines: Sequence[str]) -> list[str]:
    """The lines of a block without their endings; of an item, without its bullet and indentation.

    A byte order mark at the beginning of the text is left out.
    """
    bare = [line.rstrip("\r\n") for line in lines[block.start : block.end]]
    if block.start == 0:
        bare[0] = bare[0].removeprefix("\ufeff")
    return _item_text(bare) if block.kind == "item" else bare


def bullet(text: Sequence[str]) -> list[str]:
    """The lines of a bullet item with these lines inside; the first must not be blank."""
    first, *others = text
    return [f"- {first}", *(f"  {line}" if line.strip(_BLANK) else "" for line in others)]


def escaped(text: Sequence[str]) -> list[str]:
    """The lines, escaped where a bullet before them would make something else than an item of them."""
    if [block.kind for block in blocks_of("\n".join(bullet(text)))] == ["item"]:
        return list(text)
    first, *others = text
    # Dashes would be a rule, and a cell of a table its second one.
    return [f"\\{first}" if not first.strip("- \t") else first.replace("|", "\\|"), *others]


def folded(lines: Sequence[str]) -> str:
    """The text of the lines in the form for comparisons: case-folded, with single spaces."""
    return " ".join(fold("\n".join(lines)).split())


def without_marker(line: str) -> str:
    """The line without its indentation and its bullet or number."""
    found = _MARKER.match(line)
    return line[found.end() if found else 0 :].strip()


def fenced(lines: Sequence[str]) -> Iterator[str | None]:
    """For each line of a fenced block, its first and last included, the line that closes the block; None for others.

    Fences are recognised line by line, in lists too. That is enough to leave code as it is, where a mistake does no
    harm.
    """
    closing: str | None = None
    mark = ""
    for line in lines:
        found = _FENCE.match(line)
        if closing is not None:
            yield closing
            if found and found["fence"].startswith(mark) and not found["info"].strip():
                closing = None
            continue
        # A backtick after the fence makes it code inside a line.
        if found and not (found["fence"][0] == "`" and "`" in found["info"]):
            mark = found["fence"]
            closing = " " * len(line[: found.start("fence")].expandtabs(4)) + mark
        yield closing


def _kind(token: Token) -> Kind:
    match token.type:
        case "list_item_open":
            return "item"
        case "paragraph_open":
            return "paragraph"
        case "front_matter":
            return "front_matter"
        case _:
            return "other"


def _trimmed(block: Block, lines: Sequence[str]) -> Iterator[Block]:
    """The block without blank lines at its ends; nothing when all its lines are blank."""
    # A byte order mark alone makes no text of the first line.
    inside = [n for n in range(block.start, block.end) if lines[n].strip(_BLANK + "\ufeff" * (n == 0))]
    if inside:
        yield Block(block.kind, inside[0], inside[-1] + 1, block.level, block.title)


def _item_text(lines: Sequence[str]) -> list[str]:
    """The lines of an item without bullet and indentation."""
    found = _ITEM.match(lines[0])
    if found is None:
        # An item may begin with a line that only its list explains; what is in it stays as it is.
        return list(lines)
    marker_end = len((found["indent"] + found["marker"]).expandtabs(4))
    text_start = len((found["indent"] + found["marker"] + found["space"]).expandtabs(4))
    width = text_start - marker_end
    if not found["rest"] or width > 4:
        # What follows more than four columns is indented code, of which one column is the bullet's.
        text_start, first = marker_end + 1, " " * (width - 1) + found["rest"] if found["rest"] else ""
    else:
        first = found["rest"]
    text = [first, *(_outdented(line, text_start) for line in lines[1:])]
    if not found["rest"] and len(text) > 1:
        # An item may begin below its bullet. Code there is still code beside it.
        text = [text[1] if text[1].startswith("    ") else text[1].lstrip(" "), *text[2:]]
    return text


def _outdented(line: str, columns: int) -> str:
    if line.startswith(" " * columns):
        # Tabs behind them, in code for one, stay tabs.
        return line[columns:]
    rest = line.lstrip(" \t")
    indent = len(line[: len(line) - len(rest)].expandtabs(4))
    return " " * max(0, indent - columns) + rest if rest else ""
