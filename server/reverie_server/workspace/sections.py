"""Edits of markdown text: append, replace a section, upsert keys, replace a passage. Pure.

Headings are those of CommonMark, so that a `#` inside a fence is none. The file's own line ending is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

from reverie_indexer.errors import AmbiguousMatch, NotFound, ValidationFailed

_MARKDOWN = MarkdownIt("commonmark")
_DAILY_NOTE = re.compile(r"(?:^|/)(\d{4}-\d{2}-\d{2})\.md$")
_KEY_VALUE = re.compile(r"^(?P<lead>\s*(?:[-*+]\s+)?)(?P<key>[^\s:][^:\n]*?)\s*:(?:\s+(?P<value>.*))?$")


@dataclass(frozen=True, slots=True)
class _Heading:
    """`line` and `end` are 0-based, half-open, and cover the heading itself."""

    title: str
    level: int
    line: int
    end: int


def append(text: str | None, addition: str, path: str) -> str:
    """The text with `addition` at its end, one blank line between; a new daily note begins with its date."""
    if not addition.strip():
        raise ValidationFailed("there is nothing to append")
    newline = _newline(text or "")
    addition = _with_newline(addition.strip("\r\n"), newline)
    if not (text or "").strip():
        note = _DAILY_NOTE.search(path)
        is_dated = note is not None and not addition.startswith(f"# {note[1]}")
        text = f"# {note[1]}" if note is not None and is_dated else ""
    base = (text or "").rstrip()
    return f"{base}{newline * 2 if base else ''}{addition}{newline}"


def replace_section(text: str | None, content: str, section: str | None) -> str:
    """The text with one section replaced, or with the section at its end where there is none.

    The section is the first whose heading equals `section` (with or without `#`), or else the first `## `
    heading of `content`; it ends before the next heading of the same or a higher level. Content without that
    heading replaces what stands below it.
    """
    newline = _newline(text or content)
    content = _with_newline(content.strip("\r\n"), newline)
    own = _headings(content)
    wanted = _wanted(section, own)
    has_heading = bool(own) and own[0].line == _first_text_line(content) and own[0].title == wanted.title
    body = content if has_heading else f"{'#' * wanted.level} {wanted.title}{newline * 2}{content}"
    if not (text or "").strip():
        return f"{body.rstrip()}{newline}"
    lines = _lines(text or "")
    headings = _headings(text or "")
    for index, heading in enumerate(headings):
        is_level = section is None or not section.lstrip().startswith("#") or heading.level == wanted.level
        if heading.title != wanted.title or not is_level:
            continue
        end = next((h.line for h in headings[index + 1 :] if h.level <= heading.level), len(lines))
        if not has_heading:
            body = "".join(lines[heading.line : heading.end]).rstrip() + newline * 2 + content
        after = "".join(lines[end:])
        return "".join(lines[: heading.line]) + body.rstrip() + newline * (2 if after else 1) + after
    return f"{(text or '').rstrip()}{newline * 2}{body.rstrip()}{newline}"


def upsert_kv(text: str | None, content: str) -> str:
    """The text with each `key: value` line of `content` in place of the line with that key, or at the end.

    Keys are compared exactly, lines inside fences are left alone. ValidationFailed for a line of `content`
    that is no `key: value`.
    """
    pairs: dict[str, str] = {}
    for line in content.splitlines():
        if not line.strip():
            continue
        match = _KEY_VALUE.match(line)
        if match is None:
            raise ValidationFailed("every line of an upsert is `key: value`")
        pairs[match["key"]] = (match["value"] or "").strip()
    if not pairs:
        raise ValidationFailed("there is no `key: value` line to upsert")
    newline = _newline(text or "")
    lines = _lines(text or "")
    fenced = _fenced_lines(text or "")
    leads = {match["lead"] for line in lines if (match := _KEY_VALUE.match(line.rstrip("\r\n")))}
    for number, line in enumerate(lines):
        match = _KEY_VALUE.match(line.rstrip("\r\n"))
        if match is not None and number not in fenced and match["key"] in pairs:
            ending = line[len(line.rstrip("\r\n")) :] or newline
            lines[number] = f"{match['lead']}{match['key']}: {pairs.pop(match['key'])}".rstrip() + ending
    if pairs and lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    lead = leads.pop() if len(leads) == 1 else ""
    return "".join([*lines, *(f"{lead}{key}: {value}".rstrip() + newline for key, value in pairs.items())])


def replace_text(text: str, old: str, new: str, *, replace_all: bool) -> tuple[str, int]:
    """The text with `old` replaced, and how often.

    NotFound for no occurrence, AmbiguousMatch for several unless all are meant.
    """
    if not old:
        raise ValidationFailed("old_text is empty")
    if old == new:
        raise ValidationFailed("old_text and new_text are the same")
    count = text.count(old)
    if count == 0:
        raise NotFound("old_text does not occur in the file; it must match exactly")
    if count > 1 and not replace_all:
        raise AmbiguousMatch(
            f"old_text occurs {count} times; give more of its surroundings, or replace_all", count=count
        )
    return text.replace(old, new), count


def _wanted(section: str | None, own: list[_Heading]) -> _Heading:
    if section is not None:
        parsed = _headings(section.strip())
        title = parsed[0].title if parsed else section.strip()
        if not title or "\n" in section.strip():
            raise ValidationFailed("section is one heading")
        return _Heading(title, parsed[0].level if parsed else 2, 0, 1)
    for heading in own:
        if heading.level == 2:
            return heading
    raise ValidationFailed("replace_section needs `section`, or a `## ` heading in the content")


def _headings(text: str) -> list[_Heading]:
    tokens = _MARKDOWN.parse(text)
    return [
        _Heading(tokens[i + 1].content.strip(), int(token.tag[1]), token.map[0], token.map[1])
        for i, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]


def _fenced_lines(text: str) -> set[int]:
    return {
        line
        for token in _MARKDOWN.parse(text)
        if token.type in ("fence", "code_block") and token.map is not None
        for line in range(*token.map)
    }


def _lines(text: str) -> list[str]:
    """Lines with their endings, as CommonMark counts them: U+2028 and form feed end none."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def _first_text_line(text: str) -> int:
    return next((number for number, line in enumerate(_lines(text)) if line.strip()), 0)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with_newline(text: str, newline: str) -> str:
    return re.sub(r"\r\n|\r|\n", newline, text)
