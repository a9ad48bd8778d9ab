"""Edits of markdown text: append, replace a section, upsert keys, replace a passage; and the diff of two. Pure.

Headings are those of CommonMark, so that a `#` inside a fence is none. The file's own line ending is kept. Each
edit but append is idempotent.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reverie_indexer.errors import AmbiguousMatch, NotFound, PayloadTooLarge, ValidationFailed
from reverie_indexer.text.markdown_parser import parse_commonmark

# No text of a request is longer than this, and no edit makes a longer one of it.
MAX_RESULT_CHARS = 8 * 1024 * 1024
# With more pairs of changed lines a diff is one block: the time for the best one grows with their product.
MAX_DIFF_PAIRS = 4_000_000
# With more pairs it is the shortest diff, found bit-parallel. difflib's reads better, but may take cubic time.
_MAX_READABLE_PAIRS = 10_000

_DAILY_NOTE = re.compile(r"(?:^|/)([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-[0-9]{1,3})?\.md$")
_LEAD = re.compile(r"[ \t]*(?:[-*+][ \t]+)*")
_BLANK = " \t\r\n"
_Tag = Literal["replace", "delete", "insert", "equal"]


@dataclass(frozen=True, slots=True)
class _Heading:
    """`line` and `end` are 0-based, half-open, and cover the heading itself."""

    title: str
    level: int
    line: int
    end: int

    def moved(self, lines: int) -> _Heading:
        return replace(self, line=self.line + lines, end=self.end + lines)


@dataclass(frozen=True, slots=True)
class _Target:
    """The heading of the section to replace; `level` None: of any level."""

    title: str
    level: int | None

    def matches(self, heading: _Heading) -> bool:
        return heading.title == self.title and self.level in (None, heading.level)


@dataclass(frozen=True, slots=True)
class _KeyValue:
    """A `key: value` line; `lead` is its indentation and bullet."""

    lead: str
    key: str
    value: str


def append(text: str | None, addition: str, path: str) -> str:
    """The text with `addition` at its end, one blank line between; a new daily note begins with its date."""
    if not addition.strip():
        raise ValidationFailed("there is nothing to append")
    newline = _newline(text or "")
    base = _without_blank_end(text or "")
    addition = _with_newline(_without_blank_edges(addition), newline)
    note = _DAILY_NOTE.search(path)
    if not base and note is not None and not re.match(rf"# {note[1]}(?![\w-])", addition):
        base = f"# {note[1]}"
    return f"{base}{newline * 2 if base else ''}{addition}{newline}"


def replace_section(text: str | None, content: str, section: str | None) -> str:
    """The text with one section replaced, or with the section added at the end.

    The section is the first with the heading `section` (with `#`s: of that level; without: of any level). Without
    `section` it is the first with the `## ` heading at the beginning of `content`. A section ends before the next
    heading of the same or a higher level. Content without the heading replaces the text below the heading.
    ValidationFailed for content that is not one section: a second write would add the rest of it again.
    """
    old = text or ""
    newline = _newline(old or content)
    content = _with_newline(_without_blank_edges(content), newline)
    content_headings = _headings(content)
    target = _target(section, content_headings)
    lines, headings = lines_of(old), _headings(old)
    index = next((i for i, heading in enumerate(headings) if target.matches(heading)), len(headings))
    present = headings[index] if index < len(headings) else None
    block = _section_block(content, content_headings, present, lines, target, newline)
    if present is None:
        base = _without_blank_end(old)
        before, after, end = f"{base}{newline * 2 if base else ''}", "", len(lines)
    else:
        end = next((h.line for h in headings[index + 1 :] if h.level <= present.level), len(lines))
        before, after = "".join(lines[: present.line]), "".join(lines[end:])
    result = f"{before}{block}{newline * (2 if after else 1)}{after}"
    offset = len(lines_of(before))
    grown = len(lines_of(result)) - len(lines)
    expected = [*headings[:index], *(h.moved(offset) for h in _headings(block))]
    expected += [h.moved(grown) for h in headings[index:] if h.line >= end]
    if _headings(result) != expected:
        raise ValidationFailed(
            "a fence, comment or list that is left open would swallow a heading: close it in the content or the file"
        )
    return result


def upsert_kv(text: str | None, content: str) -> str:
    """The text with each `key: value` line of `content` in place of the first line with that key, or at the end.

    Keys are compared exactly, lines inside fences are left alone. A new key takes the bullet that all such lines
    of the text have, or else its own. ValidationFailed for a line of `content` that is no `key: value`.
    """
    pairs: dict[str, _KeyValue] = {}
    for line in lines_of(content):
        pair = _key_value(line)
        if pair is not None:
            pairs[pair.key] = pair
        elif line.strip():
            raise ValidationFailed("every line of an upsert is `key: value`")
    if not pairs:
        raise ValidationFailed("there is no `key: value` line to upsert")
    newline = _newline(text or "")
    lines = lines_of(text or "")
    fenced = _fenced_lines(text or "")
    leads = set()
    for number, line in enumerate(lines):
        present = None if number in fenced else _key_value(line)
        if present is None:
            continue
        leads.add(present.lead.strip())
        if new := pairs.pop(present.key, None):
            ending = line[len(line.rstrip("\r\n")) :] or newline
            lines[number] = f"{present.lead}{new.key}: {new.value}".rstrip() + ending
    if not pairs:
        return "".join(lines)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    bullet = leads.pop() if len(leads) == 1 else None
    added = [_added(pair, bullet) + newline for pair in pairs.values()]
    result = "".join([*lines, *added])
    if not _fenced_lines(result).isdisjoint(range(len(lines), len(lines) + len(added))):
        raise ValidationFailed("the file ends inside a fence that is left open: close it first")
    return result


def replace_text(text: str, old: str, new: str, *, replace_all: bool) -> tuple[str, int]:
    """The text with `old` replaced by `new`, and the number of replacements.

    NotFound for no occurrence, AmbiguousMatch for several without `replace_all`, PayloadTooLarge for a result that no
    file can hold.
    """
    if not old:
        raise ValidationFailed("old_text is empty")
    if old == new:
        raise ValidationFailed("old_text and new_text are the same")
    count = text.count(old)
    if count == 0:
        raise NotFound("old_text does not occur in the file; it must match exactly")
    # Overlapping occurrences are ambiguous, too.
    if not replace_all and text.find(old, text.find(old) + 1) >= 0:
        count = max(count, 2)
        raise AmbiguousMatch(
            f"old_text occurs {count} times; give more of its surroundings, or replace_all", count=count
        )
    # Checked before the replacement: a file of 1 MiB and a new_text of 1 MiB could make a terabyte.
    if len(text) + count * (len(new) - len(old)) > max(MAX_RESULT_CHARS, len(text)):
        raise PayloadTooLarge(f"replacing {count} occurrences makes the file too large")
    return text.replace(old, new), count


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """The difference from `old` to `new`, as `diff -u` writes it; "" for equal texts.

    Texts with very many different lines give one removed and one added block.
    """
    a, b = re.findall(r"[^\n]*\n|[^\n]+$", old), re.findall(r"[^\n]*\n|[^\n]+$", new)
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    changed_a, changed_b = len(a) - start - end, len(b) - start - end
    if changed_a * changed_b <= _MAX_READABLE_PAIRS:
        found = difflib.unified_diff(a, b, old_name, new_name)
    elif changed_a * changed_b <= MAX_DIFF_PAIRS:
        found = iter(_shortest_diff(a, b, (start, end), (old_name, new_name)))
    else:
        found = iter(_block_diff(a, b, (start, end), (old_name, new_name)))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)


def lines_of(text: str) -> list[str]:
    """Lines with their endings, as CommonMark counts them: U+2028 and form feed end none."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def _section_block(
    content: str,
    content_headings: Sequence[_Heading],
    present: _Heading | None,
    lines: Sequence[str],
    target: _Target,
    newline: str,
) -> str:
    """The new section with its heading, without a line ending. The heading in the file stays where it can."""
    first = content_headings[0] if content_headings else None
    first = first if first and first.line == 0 and target.matches(first) else None
    new_level = present.level if present else first.level if first else target.level or 2
    if any(heading.level <= new_level for heading in content_headings if heading is not first):
        raise ValidationFailed(
            f"the content of a section of level {new_level} has no further heading of that or a higher level: "
            "write one section at a time, beginning with its heading"
        )
    if first and first.level == new_level:
        return content
    new_heading = f"{'#' * new_level} {target.title}"
    heading = "".join(lines[present.line : present.end]).rstrip("\r\n") if present else new_heading
    below = _without_blank_edges("".join(lines_of(content)[first.end :])) if first else content
    return f"{heading}{newline * 2}{below}" if below else heading


def _target(section: str | None, content_headings: Sequence[_Heading]) -> _Target:
    """The section to replace, by its name or by the first `## ` heading of the content."""
    if section is None:
        first = next((heading for heading in content_headings if heading.level == 2), None)
        if first is None:
            raise ValidationFailed("replace_section needs `section`, or a `## ` heading in the content")
        if first.line != 0:
            raise ValidationFailed("without `section` the content begins with its `## ` heading")
        return _Target(first.title, 2)
    name = section.strip()
    # The name is parsed as a heading of the file: `C #` is the title `C`, since a heading may end in `#`.
    with_level, as_title = _headings(name), _headings(f"## {name}")
    parsed = with_level or as_title
    if not parsed or not parsed[0].title or len(lines_of(name)) != 1:
        raise ValidationFailed("section is one heading")
    return _Target(parsed[0].title, parsed[0].level if with_level else None)


def _key_value(line: str) -> _KeyValue | None:
    found = _LEAD.match(line)
    lead = found[0] if found else ""
    key, colon, value = line[len(lead) :].partition(":")
    if not colon or not key or key[0].isspace() or (value and not value[0].isspace()):
        return None
    return _KeyValue(lead, key.rstrip(), value.strip())


def _added(pair: _KeyValue, bullet: str | None) -> str:
    mark = pair.lead.strip() if bullet is None else bullet
    return f"{mark} {pair.key}: {pair.value}".strip()


def _headings(text: str) -> list[_Heading]:
    tokens = parse_commonmark(text)
    return [
        _Heading(tokens[i + 1].content.strip(), int(token.tag[1]), token.map[0], token.map[1])
        for i, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]


def _fenced_lines(text: str) -> set[int]:
    return {
        line
        for token in parse_commonmark(text)
        if token.type in ("fence", "code_block") and token.map is not None
        for line in range(*token.map)
    }


class _Edits(difflib.SequenceMatcher[str]):
    """Known edits, for difflib to group."""

    def __init__(self, edits: list[tuple[_Tag, int, int, int, int]]) -> None:
        super().__init__(None, (), ())
        self.opcodes = edits


def _shortest_diff(
    a: Sequence[str], b: Sequence[str], common: tuple[int, int], names: tuple[str, str]
) -> Iterator[str]:
    # Imported here, so that the start of a server does not wait for it.
    from rapidfuzz.distance import Indel

    start, end = common
    edits: list[tuple[_Tag, int, int, int, int]] = [("equal", 0, start, 0, start)]
    for found in Indel.opcodes(a[start : len(a) - end], b[start : len(b) - end]):
        i1, i2, j1, j2 = (
            start + found.src_start,
            start + found.src_end,
            start + found.dest_start,
            start + found.dest_end,
        )
        if found.tag == "equal":
            edits.append(("equal", i1, i2, j1, j2))
        elif edits[-1][0] != "equal":
            edits[-1] = ("replace", edits[-1][1], i2, edits[-1][3], j2)
        else:
            edits.append(("replace", i1, i2, j1, j2))
    edits.append(("equal", len(a) - end, len(a), len(b) - end, len(b)))
    yield f"--- {names[0]}\n"
    yield f"+++ {names[1]}\n"
    for group in _Edits([edit for edit in edits if edit[1] < edit[2] or edit[3] < edit[4]]).get_grouped_opcodes(3):
        yield f"@@ -{_span_of(group[0][1], group[-1][2])} +{_span_of(group[0][3], group[-1][4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in a[i1:i2])
                continue
            yield from (f"-{line}" for line in a[i1:i2])
            yield from (f"+{line}" for line in b[j1:j2])


def _span_of(start: int, end: int) -> str:
    """A range of lines in the header of a unified diff: 1-based; an empty range is the line before it."""
    length = end - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


def _block_diff(a: Sequence[str], b: Sequence[str], common: tuple[int, int], names: tuple[str, str]) -> list[str]:
    start, end = common
    above, below = min(start, 3), min(end, 3)
    removed, added = a[start : len(a) - end], b[start : len(b) - end]
    first = start - above + 1
    spans = [f"{first},{above + len(lines) + below}" for lines in (removed, added)]
    return [
        f"--- {names[0]}\n",
        f"+++ {names[1]}\n",
        f"@@ -{spans[0]} +{spans[1]} @@\n",
        *(f" {line}" for line in a[start - above : start]),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in a[len(a) - end : len(a) - end + below]),
    ]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _without_blank_end(text: str) -> str:
    """The text up to the end of its last line that is not blank, without that line's ending."""
    lines = lines_of(text)
    while lines and not lines[-1].strip(_BLANK):
        lines.pop()
    return "".join(lines).rstrip("\r\n")


def _without_blank_edges(text: str) -> str:
    lines = lines_of(text)
    first = next((number for number, line in enumerate(lines) if line.strip(_BLANK)), len(lines))
    return _without_blank_end("".join(lines[first:]))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with_newline(text: str, newline: str) -> str:
    return re.sub(r"\r\n|\r|\n", newline, text)
