"""Edits of the text of a MEMORY.md: add an entry to its section, correct or delete a passage. Pure.

An entry is an item of a bullet list. Its headings, fences and comments stay inside of it: an entry can neither open a
section nor swallow the text after it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.errors import AmbiguousMatch, DuplicateDetected, NotFound, ValidationFailed
from reverie_indexer.text.analyse import LETTER
from reverie_server.text.markdown_blocks import (
    Block,
    blocks_of,
    bullet,
    escaped,
    fenced,
    folded,
    text_of,
    without_marker,
)
from reverie_server.text.markdown_edit import lines_of

TITLE = "Long-term Memory"
SECTIONS: Mapping[str, str] = {
    "profile": "User Profile",
    "preferences": "Preferences",
    "interests": "Interests",
    "workflow": "Workflow",
    "projects": "Projects",
    "notes": "Notes",
}
STANDARD = tuple(SECTIONS.values())
MAX_CONTENT_CHARS = 5000
# A content of at most this length may be part of another entry without saying the same.
MAX_UNCHECKED_CHARS = 20
PREVIEW_CHARS = 500
# A thousand sentences in a text of 100,000 characters, or fewer in a longer one.
MAX_SEARCHED_CHARS = 100_000_000
# The cost of a character where the words are first found inside longer words, so that a pattern has to search.
_PATTERN_COST = 100

_BLANK = " \t\r\n"
_END_OF_LIST = "<!-- -->"
_LETTER = re.compile(LETTER)
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
# White space, invisible characters, and the marks of headings, lists, fences and rules.
_NO_WORDS = re.compile(r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff\-*+_=#`~>|]*")
# A heading, its underline, or the end of front matter.
_HEADING_LOOK = re.compile(r"([ \t]*)(?:#{1,6}(?:[ \t]|$)|-{3,}[ \t]*$)")
_BARE_BULLET = re.compile(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]*(?:\[[ xX]\][ \t]*)?)?")
_STARTS_ANEW = re.compile(r"([ \t]*)(?:(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)|#{1,6}(?:[ \t]|$))")


@dataclass(frozen=True, slots=True)
class Entry:
    """A content as it is stored: one list item, or several where the content is a list.

    `plain` is the content as it came, without its first bullet.
    """

    items: tuple[tuple[str, ...], ...]
    plain: str

    @property
    def lines(self) -> list[str]:
        """The lines of the items, bullets included."""
        return [line for item in self.items for line in bullet(item)]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place for an entry: before line `line`, counted from 0. `follows_item`: no blank line above, as the next item.

    `needs_end_comment`: a comment follows the entry; else indented text below would belong to the list.
    """

    line: int
    follows_item: bool = False
    new_section: bool = False
    needs_end_comment: bool = False


def preview_of(text: str) -> str:
    """The first 500 characters of what is stored; the total count too where there are more."""
    if len(text) <= PREVIEW_CHARS:
        return text
    return f"{text[:PREVIEW_CHARS]}… (truncated, {len(text)} chars total)"


def section_of(category: str | None) -> str:
    """The section of a category; Notes where the category is None or unknown."""
    return SECTIONS.get((category or "").strip().casefold(), SECTIONS["notes"])


def entry_of(content: str) -> Entry:
    """The content as an entry. ValidationFailed when it is empty, nothing but marks, or over 5,000 characters."""
    if len(content) > MAX_CONTENT_CHARS:
        raise ValidationFailed(f"an entry has at most {MAX_CONTENT_CHARS} characters; this one has {len(content)}")
    content = _LINE_BREAK.sub("\n", content.lstrip("\ufeff").rstrip())
    if _NO_WORDS.fullmatch(content):
        raise ValidationFailed("content is empty: there is nothing to remember")
    lines = _without_blank_edges(textwrap.dedent(content).split("\n"))
    items: list[list[str]] = []
    for block in blocks_of("\n".join(lines)):
        if block.kind != "item":
            items.append([lines[block.start].lstrip(" \t"), *lines[block.start + 1 :]])
            break
        items.append(text_of(block, lines))
    plain = "\n".join([without_marker(lines[0]), *lines[1:]])
    return Entry(tuple(tuple(_harmless(item)) for item in items if "".join(item).strip()), plain)


def add_entry(text: str | None, section: str, entry: Entry) -> str:
    """The text with the entry behind the other entries of its section. A missing section is added.

    No text gives a new memory with all sections. DuplicateDetected when the text holds the entry already,
    ValidationFailed when the text has no place for a list item: all of it stands in a fence that is left open.
    """
    if text is not None and _has_entry(text, entry):
        raise DuplicateDetected("the memory holds this already; to correct it use update_memory")
    mark = "\ufeff" if text is not None and text.startswith("\ufeff") else ""
    text = (text or "").removeprefix(mark)
    if not text.strip():
        text = new_memory()
    newline = "\r\n" if "\r\n" in text else "\n"
    if text.startswith("---") and blocks_of(text)[0].kind != "front_matter":
        # A rule on the first line, and dashes in the entry, would make front matter of all between.
        text = newline + text
    lines, blocks = lines_of(text), blocks_of(text)
    contents = _contents(lines, blocks)
    for spot in _spots(blocks, section, len(lines)):
        heading = [f"## {section}", ""] if spot.new_section else []
        end = ["", _END_OF_LIST] if spot.needs_end_comment else []
        result = _spliced(lines, spot, [*heading, *entry.lines, *end], newline)
        new: list[tuple[str, int, str]] = [("item", 0, folded(item)) for item in entry.items]
        new = [("heading", 2, folded(heading)), *new] if heading else new
        new = [*new, ("other", 0, _END_OF_LIST)] if end else new
        index = sum(block.start < spot.line for block in blocks)
        if _contents(lines_of(result), blocks_of(result)) == [*contents[:index], *new, *contents[index:]]:
            return mark + result
    raise ValidationFailed(
        "a fence or comment that is left open swallows the whole memory: close it with update_memory first"
    )


def new_memory() -> str:
    """A memory without entries: the title and all sections."""
    return "\n\n".join([f"# {TITLE}", *(f"## {section}" for section in STANDARD)]) + "\n"


def check_update(old_text: str, new_text: str) -> None:
    """ValidationFailed for an empty `old_text` or equal texts, white space at their ends aside."""
    if not old_text.strip():
        raise ValidationFailed("old_text is empty")
    if old_text.strip() == new_text.strip():
        raise ValidationFailed("old_text and new_text are the same")


def update_text(text: str, old_text: str, new_text: str) -> str:
    """The text with the one occurrence of `old_text` replaced, or deleted where `new_text` is empty.

    Both are trimmed, and take the text's line ending. An item that is left without text goes with its bullet.
    Two and more empty lines in a row become one, except in fences. NotFound, AmbiguousMatch.
    """
    check_update(old_text, new_text)
    newline = "\r\n" if "\r\n" in text else "\n"
    old, new = old_text.strip(), _LINE_BREAK.sub(newline, new_text.strip())
    if old not in text:
        old = _LINE_BREAK.sub(newline, old)
    start = text.find(old)
    if start < 0:
        raise NotFound("old_text does not occur in the memory; it must match exactly")
    if text.find(old, start + 1) >= 0:
        count = max(2, text.count(old))
        raise AmbiguousMatch(f"old_text occurs {count} times; give more of its surroundings", count=count)
    before, after = text[:start], text[start + len(old) :]
    if not new:
        before, after = _without_bare_line(before, after)
    return _without_gaps(before + new + after)


def contains(text: str, words: str) -> bool:
    """Whether a folded text holds folded words, not as a part of a longer word."""
    start = text.find(words)
    return start >= 0 and (_is_whole(text, start, words) or _contains_behind(text, start, words))


def _is_whole(text: str, start: int, words: str) -> bool:
    return not (_is_inside_word(text, start) or _is_inside_word(text, start + len(words)))


def _contains_behind(text: str, start: int, words: str) -> bool:
    if not words:
        return False
    # The words stand first in the pattern and by themselves: the time is linear whatever they repeat.
    after = f"(?!{LETTER})" if _LETTER.match(words[-1]) else ""
    before = f"(?<!{LETTER}.{{{len(words)}}})" if _LETTER.match(words[0]) else ""
    return re.compile(re.escape(words) + after + before, re.DOTALL).search(text, start) is not None


class Searched:
    """A folded text that is searched for many pieces. Beyond MAX_SEARCHED_CHARS a piece counts as not there."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = MAX_SEARCHED_CHARS

    def contains(self, words: str) -> bool:
        """As `contains`."""
        self._left -= len(self._text) + len(words)
        if self._left < 0:
            return False
        start = self._text.find(words)
        if start < 0 or _is_whole(self._text, start, words):
            return start >= 0
        self._left -= _PATTERN_COST * (len(self._text) + len(words))
        return self._left >= 0 and _contains_behind(self._text, start, words)


def _is_inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _LETTER.match(text[at - 1]) is not None and _LETTER.match(text[at]) is not None


def _contents(lines: Sequence[str], blocks: Sequence[Block]) -> list[tuple[str, int, str]]:
    """The blocks of a text as they are compared before and after an edit: kind, level and folded words."""
    return [(block.kind, block.level, folded(text_of(block, lines))) for block in blocks]


def _has_entry(text: str, entry: Entry) -> bool:
    if len(" ".join(entry.plain.split())) <= MAX_UNCHECKED_CHARS:
        return False
    forms: list[Sequence[str]] = [[entry.plain], entry.lines, *(entry.items if len(entry.items) == 1 else ())]
    whole = folded([text])
    return any(contains(whole, folded(form)) for form in forms)


def _spots(blocks: Sequence[Block], section: str, line_count: int) -> Iterator[_Spot]:
    """The places for an entry of a section, best first. The later ones are for texts with an unclosed fence."""
    headings = [block for block in blocks if block.kind == "heading"]
    heading = next((h for h in headings if h.level == 2 and folded([h.title]) == folded([section])), None)
    if heading is not None:
        end = next((h.start for h in headings if h.start > heading.start), line_count)
        last = [block for block in blocks if heading.start <= block.start < end][-1]
        yield _Spot(last.end, follows_item=last.kind == "item")
        yield _Spot(heading.end)
        yield _Spot(heading.end, needs_end_comment=True)
        return
    rank = {folded([name]): number for number, name in enumerate(STANDARD)}
    number = rank[folded([section])]
    later = (h for h in headings if h.level == 2 and rank.get(folded([h.title]), -1) > number)
    if (following := next(later, None)) is not None:
        yield _Spot(following.start, new_section=True)
    yield _Spot(line_count, new_section=True)
    # A heading block never stands inside a fence.
    yield from (_Spot(heading.start, new_section=True) for heading in headings[-1:])
    top = blocks[0].end if blocks and blocks[0].kind == "front_matter" else 0
    yield _Spot(top, new_section=True)
    yield _Spot(top, new_section=True, needs_end_comment=True)


def _spliced(lines: Sequence[str], spot: _Spot, added: Sequence[str], newline: str) -> str:
    """The text of `lines` with `added` at the spot. One blank line replaces the old blank lines around the spot."""
    above = list(lines[: spot.line])
    while above and not above[-1].strip(_BLANK):
        above.pop()
    first = next((n for n in range(spot.line, len(lines)) if lines[n].strip(_BLANK)), len(lines))
    below = list(lines[first:])
    parts = [line + newline for line in added]
    if above:
        last = above.pop()
        above.append(last if last.endswith(("\n", "\r")) else last + newline)
        parts = [*above, *([] if spot.follows_item else [newline]), *parts]
    if below:
        if not spot.needs_end_comment and re.match(" {1,3}[^ \t]", below[0]):
            # Indented, a heading below a list would belong to its last item.
            below[0] = below[0].lstrip(" ")
        parts = [*parts, newline, *below]
    return "".join(parts)


def _without_bare_line(before: str, after: str) -> tuple[str, str]:
    """The texts before and after a deleted passage, without its line where only the bullet of that line remains."""
    start = max(before.rfind("\n"), before.rfind("\r")) + 1
    ending = _LINE_BREAK.search(after)
    rest, below = (after[: ending.start()], after[ending.end() :]) if ending else (after, "")
    lead = before[start:]
    if rest.strip(_BLANK) or not _BARE_BULLET.fullmatch(lead):
        return before, after
    following = below[: found.start()] if (found := _LINE_BREAK.search(below)) else below
    if lead.strip(_BLANK) and following.strip(_BLANK):
        # Nested items and further lines of the same item would otherwise become those of the one before.
        anew = _STARTS_ANEW.match(following)
        if anew is None or len(anew[1].expandtabs(4)) > len(lead) - len(lead.lstrip(" \t")):
            return before, after
    return before[:start], below


def _without_gaps(text: str) -> str:
    """The text with at most one empty line in a row, two at its beginning; those in fences stay."""
    lines = lines_of(text)
    kept: list[str] = []
    for line, fence in zip(lines, fenced([line.rstrip("\r\n") for line in lines]), strict=True):
        is_empty = not line.strip("\r\n")
        is_third_break = is_empty and len(kept) > 1 and not kept[-1].strip("\r\n")
        if not is_third_break or fence is not None:
            kept.append(line)
    return "".join(kept)


def _harmless(item: Sequence[str]) -> list[str]:
    """The lines of an item, with lines that look like headings escaped and an unclosed fence closed.

    Markdown keeps both inside of the item anyway; readers that go by the look of a line would not.
    """
    *fences, after = fenced([*item, ""])
    safe = [line if fence else _escaped_heading(line) for line, fence in zip(item, fences, strict=True)]
    return escaped(safe if after is None else [*safe, after])


def _escaped_heading(line: str) -> str:
    found = _HEADING_LOOK.match(line)
    return f"{found[1]}\\{line[found.end(1) :]}" if found else line


def _without_blank_edges(lines: Sequence[str]) -> list[str]:
    inside = [number for number, line in enumerate(lines) if line.strip(_BLANK)]
    return list(lines[inside[0] : inside[-1] + 1]) if inside else []
