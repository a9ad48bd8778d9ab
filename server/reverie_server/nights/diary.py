"""DREAMS.md, the diary of the nights: what was seen, concluded and rewritten. Pure.

An entry begins with a heading of the second level that says in one line what it comes to:

    ## 2026-04-03 02:00 emergence: 1 of 14 candidates entered MEMORY.md (report 5f2c9a01d4b7e683)

Past its cap older entries move whole to the archive of their month, and their heading stays. When headings alone are
too much, those of the oldest months become one line a month. What anybody else wrote stays with the entry above it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

PATH = "DREAMS.md"
MAX_CHARS = 20_000
# So much is left when it was over the cap, so that not every night moves something.
_KEPT_SHARE = 0.75
_TITLE = "# Dreams"
_ENTRY = re.compile(r"^## (?=\d{4}-\d\d(?:-\d\d \d\d:\d\d | — ))", re.MULTILINE)
_MONTH = re.compile(r"## (?P<month>\d{4}-\d\d) — (?P<count>\d+) entries")
_LINE_CHARS = 200


@dataclass(frozen=True, slots=True)
class DiaryEntry:
    """What the diary says of a run: `summary` is one line, `details` are pairs of a label and a text, each a line.

    `at` is in the agent's time zone.
    """

    at: datetime
    stage: str
    summary: str
    report_id: str
    details: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Rolled:
    """The diary, and what moves to which month's archive, whole entries oldest first."""

    text: str
    moved: Mapping[str, Sequence[str]] = field(default_factory=dict)


def archive_path(month: str) -> str:
    """The archive of a month, `YYYY-MM`. No daily note, and in no prompt."""
    return f"memory/dreams/{month}.md"


def render_entry(entry: DiaryEntry) -> str:
    """The markdown of an entry."""
    heading = f"## {entry.at:%Y-%m-%d %H:%M} {entry.stage}: {_line(entry.summary)} (report {entry.report_id})"
    # One paragraph, which is one passage: as items of a list each conclusion would be found beside what it is about.
    body = "\n".join(f"{label}: {_line(text)}" for label, text in entry.details)
    return f"{heading}\n\n{body}\n" if body else f"{heading}\n"


def written(diary: str | None, entry: str, *, max_chars: int = MAX_CHARS) -> Rolled:
    """The diary with an entry at its end, within its cap as far as the newest entry and a person's text above all
    entries leave room."""
    base = (diary or f"{_TITLE}\n").rstrip()
    text = f"{base}\n\n{entry}" if base else entry
    return rolled(text, max_chars) if len(text) > max_chars else Rolled(text)


def rolled(text: str, max_chars: int = MAX_CHARS) -> Rolled:
    """The diary with its older entries summarised, oldest first, until it is well under the cap."""
    top, entries = _parted(text)
    target = int(max_chars * _KEPT_SHARE)
    moved: dict[str, list[str]] = {}
    shown = [_Shown(entry) for entry in entries]
    length = len(top) + sum(one.length for one in shown)
    for at, one in enumerate(shown[:-1]):
        if length <= target:
            break
        if one.has_body:
            moved.setdefault(one.month, []).append(one.text)
            shown[at] = replace(one, text=f"{one.heading}\n", is_archived=True)
            length += shown[at].length - one.length
    months: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(shown):
        months[one.month].append(at)
    lines: dict[int, _Shown | None] = {}
    for month in sorted(months.keys() - {shown[-1].month if shown else ""}):
        if length <= target:
            break
        own = [shown[at] for at in months[month]]
        # Those that moved just now are there whole already.
        moved.setdefault(month, []).extend(one.text for one in own if not one.is_archived and not one.is_month)
        line = _Shown(_month_line(month, sum(one.count for one in own)))
        length += line.length - sum(one.length for one in own)
        # In place of the first one.
        lines |= {**dict.fromkeys(months[month]), months[month][0]: line}
    left = [lines.get(at, old) for at, old in enumerate(shown)]
    parts = [top.rstrip(), *(one.text.rstrip() for one in left if one is not None)]
    return Rolled("\n\n".join(part for part in parts if part) + "\n", {m: texts for m, texts in moved.items() if texts})


def archived(archive: str | None, month: str, entries: Sequence[str]) -> str:
    """The archive of a month with entries, in the order of their times; what it has of one already, once."""
    top, present = _parted(archive or f"# Dreams of {month}\n")
    by_heading = {_heading(entry): [entry] for entry in present}
    known = {heading: set(_lines(entry)) for heading, [entry] in by_heading.items()}
    for entry in entries:
        heading, body = _heading(entry), _body(entry)
        held = by_heading.setdefault(heading, [f"{heading}\n"])
        # Of what is there whole, the heading alone comes later, when its month becomes a line.
        if body and not known.setdefault(heading, set()).issuperset(_lines(body)):
            held.append(body)
            known[heading].update(_lines(body))
    ordered = [_with_bodies(*by_heading[heading]) for heading in sorted(by_heading)]
    return "\n\n".join(part.rstrip() for part in [top, *ordered] if part.strip()) + "\n"


def latest(text: str) -> str | None:
    """The newest entry of a diary; None where there is none."""
    _, entries = _parted(text)
    return entries[-1].strip() if entries else None


@dataclass(frozen=True, slots=True)
class _Shown:
    text: str
    is_archived: bool = False

    @property
    def heading(self) -> str:
        return _heading(self.text)

    @property
    def month(self) -> str:
        return self.text[3:10]

    @property
    def has_body(self) -> bool:
        return bool(_body(self.text))

    @property
    def is_month(self) -> bool:
        return _MONTH.match(self.text) is not None

    @property
    def count(self) -> int:
        month = _MONTH.match(self.text)
        return int(month["count"]) if month else 1

    @property
    def length(self) -> int:
        # With the blank line before it.
        return len(self.text.rstrip()) + 2


def _parted(text: str) -> tuple[str, list[str]]:
    """What stands above all entries, and the entries."""
    starts = [match.start() for match in _ENTRY.finditer(text)]
    if not starts:
        return text, []
    return text[: starts[0]], [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _heading(entry: str) -> str:
    return entry.partition("\n")[0].rstrip()


def _body(entry: str) -> str:
    return entry.partition("\n")[2].strip()


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.split("\n")) if line]


def _with_bodies(entry: str, *bodies: str) -> str:
    if not bodies:
        return entry
    gap = "\n" if _body(entry) else "\n\n"
    return f"{entry.rstrip()}{gap}" + "\n".join(bodies) + "\n"


def _month_line(month: str, count: int) -> str:
    return f"## {month} — {count} entries, in {archive_path(month)}\n"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1].rstrip()}…"
