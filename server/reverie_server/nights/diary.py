"""The text of DREAMS.md, the diary of the nights: the inputs, conclusions and changes of each run. Pure.

An entry begins with a heading of the second level, which sums it up in one line:

    ## 2026-04-03 02:00 emergence: 1 of 14 candidates entered MEMORY.md (report 5f2c9a01d4b7e683)

Past its cap older entries move whole to the archive of their month, and their heading stays. When headings alone are
too long, those of the oldest months become one line a month. Text of anybody else stays with the entry above it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

PATH = "DREAMS.md"
MAX_CHARS = 20_000
# The share of the cap that is left after entries moved, so that not every night moves some.
_KEPT_SHARE = 0.75
_TITLE = "# Dreams"
_ENTRY = re.compile(r"^## (?=\d{4}-\d\d(?:-\d\d \d\d:\d\d | — ))", re.MULTILINE)
_MONTH = re.compile(r"## (?P<month>\d{4}-\d\d) — (?P<count>\d+) entries")


@dataclass(frozen=True, slots=True)
class DiaryEntry:
    """The diary's entry of a run: `summary` is one line, `details` are pairs of a label and a text, each a line.

    `at` is in the agent's time zone.
    """

    at: datetime
    stage: str
    summary: str
    report_id: str
    details: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Rolled:
    """The diary, and by month the whole entries that move to its archive, oldest first."""

    text: str
    moved: Mapping[str, Sequence[str]] = field(default_factory=dict)


def archive_path(month: str) -> str:
    """The path of the archive of a month, `YYYY-MM`. It is no daily note, and in no prompt."""
    return f"memory/dreams/{month}.md"


def render_entry(entry: DiaryEntry) -> str:
    """The markdown of an entry."""
    heading = f"## {entry.at:%Y-%m-%d %H:%M} {entry.stage}: {_line(entry.summary)} (report {entry.report_id})"
    # One paragraph is one passage. As list items, each conclusion would be found next to the entry that it is about.
    body = "\n".join(f"{label}: {_line(text)}" for label, text in entry.details)
    return f"{heading}\n\n{body}\n" if body else f"{heading}\n"


def written(diary: str | None, entry: str, *, max_chars: int = MAX_CHARS) -> Rolled:
    """The diary with an entry at its end, within its cap, unless the newest entry and the text above all entries alone
    exceed it."""
    base = (diary or f"{_TITLE}\n").rstrip()
    text = f"{base}\n\n{entry}" if base else entry
    return rolled(text, max_chars) if len(text) > max_chars else Rolled(text)


def rolled(text: str, max_chars: int = MAX_CHARS) -> Rolled:
    """The diary with its older entries shortened to headings, oldest first, until it is well under the cap."""
    top, texts = _parted(text)
    target = int(max_chars * _KEPT_SHARE)
    moved: dict[str, list[str]] = {}
    entry_texts = [_EntryText(entry) for entry in texts]
    length = len(top) + sum(one.length for one in entry_texts)
    for at, one in enumerate(entry_texts[:-1]):
        if length <= target:
            break
        if one.has_body:
            moved.setdefault(one.month, []).append(one.text)
            entry_texts[at] = replace(one, text=f"{one.heading}\n", is_archived=True)
            length += entry_texts[at].length - one.length
    months: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(entry_texts):
        months[one.month].append(at)
    lines: dict[int, _EntryText | None] = {}
    for month in sorted(months.keys() - {entry_texts[-1].month if entry_texts else ""}):
        if length <= target:
            break
        of_month = [entry_texts[at] for at in months[month]]
        # Entries that were shortened just now go to the archive whole already.
        moved.setdefault(month, []).extend(one.text for one in of_month if not one.is_archived and not one.is_month)
        line = _EntryText(_month_line(month, sum(one.count for one in of_month)))
        length += line.length - sum(one.length for one in of_month)
        # The month's line takes the place of its first entry; the others are removed.
        lines |= {**dict.fromkeys(months[month]), months[month][0]: line}
    remaining = [lines.get(at, old) for at, old in enumerate(entry_texts)]
    parts = [top.rstrip(), *(one.text.rstrip() for one in remaining if one is not None)]
    return Rolled("\n\n".join(part for part in parts if part) + "\n", {m: whole for m, whole in moved.items() if whole})


def archived(archive: str | None, month: str, entries: Sequence[str]) -> str:
    """The archive of a month with entries, in the order of their times. Lines that it has already are not repeated."""
    top, present = _parted(archive or f"# Dreams of {month}\n")
    by_heading = {_heading(entry): [entry] for entry in present}
    known = {heading: set(_lines(entry)) for heading, [entry] in by_heading.items()}
    for entry in entries:
        heading, body = _heading(entry), _body(entry)
        parts = by_heading.setdefault(heading, [f"{heading}\n"])
        # The heading alone of an archived entry comes later, when its month becomes a line.
        if body and not known.setdefault(heading, set()).issuperset(_lines(body)):
            parts.append(body)
            known[heading].update(_lines(body))
    ordered = [_with_bodies(*by_heading[heading]) for heading in sorted(by_heading)]
    return "\n\n".join(part.rstrip() for part in [top, *ordered] if part.strip()) + "\n"


def latest(text: str) -> str | None:
    """The newest entry of a diary; None where there is none."""
    _, entries = _parted(text)
    return entries[-1].strip() if entries else None


@dataclass(frozen=True, slots=True)
class _EntryText:
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
    """The text above all entries, and the entries."""
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
    # Whole: what is cut is not found again by who forgets it.
    return " ".join(text.split())
