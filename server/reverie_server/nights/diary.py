"""The text of DREAMS.md, the diary of the nights: the inputs, conclusions and changes of each run. Pure.

An entry begins with a heading of the second level, which sums it up in one line:

    ## 2026-04-03 02:00 emergence: 1 of 14 candidates entered MEMORY.md (report 5f2c9a01d4b7e683)

Past its cap older entries move whole to the archive of their month, and their heading stays. When headings alone are
too long, those of the oldest months become one line a month, then those of the newest month one line a day. Text of
anybody else stays with the entry above it. The archive of a month has parts, so that none grows with the month: each
write of it would else write the month again, and a file has a limit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie_server.text.numbered_parts import part_path

PATH = "DREAMS.md"
MAX_CHARS = 20_000
# The share of the cap that is left after entries moved, so that not every night moves some.
_KEPT_SHARE = 0.75
_TITLE = "# Dreams"
# An archive of this length gets no further entry.
PART_CHARS = 50_000
_ENTRY = re.compile(r"^## (?=\d{4}-\d\d(?:-\d\d \d\d:\d\d |(?:-\d\d)? — ))", re.MULTILINE)
# The line of a month, or of a day.
_FOLDED = re.compile(r"## \d{4}-\d\d(?P<day>-\d\d)? — (?P<count>\d+) entries")


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


def archive_stem(month: str) -> str:
    """The path of the archive of a month, `YYYY-MM`, without its ending: it may have several parts."""
    return f"memory/dreams/{month}"


def archive_path(month: str, part: int = 1) -> str:
    """The path of a part of the archive of a month. It is no daily note, and in no prompt."""
    return part_path(archive_stem(month), part)


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
    rolling = _Rolling(top, texts, int(max_chars * _KEPT_SHARE))
    rolling.shorten()
    newest = rolling.entries[-1].month if rolling.entries else ""
    rolling.fold(lambda entry: entry.month if entry.month != newest else None)
    rolling.fold(lambda entry: entry.day if entry.month == newest else None)
    return rolling.rolled()


class _Rolling:
    """A diary that is made shorter until its length is the `target`; the newest entry stays as it is."""

    def __init__(self, top: str, texts: Sequence[str], target: int) -> None:
        self._top = top
        self._target = target
        self._moved: dict[str, list[str]] = {}
        self.entries = [_EntryText(text) for text in texts]
        self._length = len(top) + sum(one.length for one in self.entries)

    def shorten(self) -> None:
        """Leave of entries their headings, the oldest first."""
        for at, one in enumerate(self.entries[:-1]):
            if self._length <= self._target:
                break
            if one.has_body:
                self._moved.setdefault(one.month, []).append(one.text)
                self.entries[at] = replace(one, text=f"{one.heading}\n", is_archived=True)
                self._length += self.entries[at].length - one.length

    def fold(self, period_of: Callable[[_EntryText], str | None]) -> None:
        """Make one line of the entries of a period, the oldest period first; those without a period stay."""
        periods: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(self.entries[:-1]):
            if (period := period_of(one)) is not None:
                periods[period].append(at)
        lines: dict[int, _EntryText | None] = {}
        for period in sorted(periods):
            if self._length <= self._target:
                break
            of_period = [self.entries[at] for at in periods[period]]
            line = _EntryText(_folded_line(period, sum(one.count for one in of_period)))
            # Entries that were shortened just now go to the archive whole already.
            whole = [one.text for one in of_period if not one.is_archived and not one.is_folded]
            self._moved.setdefault(line.month, []).extend(whole)
            self._length += line.length - sum(one.length for one in of_period)
            # The line takes the place of the period's first entry; the others are removed.
            lines |= {**dict.fromkeys(periods[period]), periods[period][0]: line}
        self.entries = [kept for at, old in enumerate(self.entries) if (kept := lines.get(at, old)) is not None]

    def rolled(self) -> Rolled:
        """The diary as it is now, and what left it."""
        parts = [self._top.rstrip(), *(one.text.rstrip() for one in self.entries)]
        text = "\n\n".join(part for part in parts if part) + "\n"
        return Rolled(text, {month: whole for month, whole in self._moved.items() if whole})


def archived(parts: Mapping[int, str], month: str, entries: Sequence[str]) -> dict[int, str]:
    """Those parts of the archive of a month that change when entries come to it, by their numbers.

    An entry that a part has already gets what it lacks there; lines are not repeated. Others go to the last part, or to
    a new one where that is full. The entries of a part are in the order of their times.
    """
    archive = {number: _Part(text) for number, text in sorted(parts.items())}
    part_with = {heading: part for part in archive.values() for heading in part.headings}
    for entry in entries:
        heading = _heading(entry)
        if heading not in part_with:
            last = max(archive, default=0)
            if not last or archive[last].length + len(entry) > PART_CHARS:
                last += 1
                archive[last] = _Part(f"# Dreams of {month}" + (f", part {last}" if last > 1 else "") + "\n")
            part_with[heading] = archive[last]
        part_with[heading].add(heading, _body(entry))
    return {number: part.text for number, part in archive.items() if part.is_changed}


class _Part:
    """A part of an archive, to which entries come."""

    def __init__(self, text: str) -> None:
        self._top, present = _parted(text)
        self._bodies = {_heading(entry): [entry] for entry in present}
        self._known = {heading: set(_lines(entry)) for heading, [entry] in self._bodies.items()}
        self.length = len(text)
        self.is_changed = False

    @property
    def headings(self) -> list[str]:
        """The headings of its entries."""
        return list(self._bodies)

    def add(self, heading: str, body: str) -> None:
        """Take an entry, or what an entry lacks that is here already.

        The heading alone of such an entry comes later, when its month or its day becomes a line.
        """
        if heading not in self._bodies:
            self._bodies[heading], self._known[heading] = [f"{heading}\n"], set()
            self.length += len(heading)
            self.is_changed = True
        if body and not self._known[heading].issuperset(_lines(body)):
            self._bodies[heading].append(body)
            self._known[heading].update(_lines(body))
            self.length += len(body)
            self.is_changed = True

    @property
    def text(self) -> str:
        """Its text, with the entries in the order of their times."""
        ordered = [_with_bodies(*self._bodies[heading]) for heading in sorted(self._bodies)]
        return "\n\n".join(part.rstrip() for part in [self._top, *ordered] if part.strip()) + "\n"


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
    def day(self) -> str | None:
        """Its day; None for the line of a month."""
        folded = _FOLDED.match(self.text)
        return None if folded and not folded["day"] else self.text[3:13]

    @property
    def is_folded(self) -> bool:
        return _FOLDED.match(self.text) is not None

    @property
    def count(self) -> int:
        folded = _FOLDED.match(self.text)
        return int(folded["count"]) if folded else 1

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


def _folded_line(period: str, count: int) -> str:
    return f"## {period} — {count} entries, in {archive_path(period[:7])}\n"


def _line(text: str) -> str:
    # Whole: what is cut is not found again by who forgets it.
    return " ".join(text.split())
