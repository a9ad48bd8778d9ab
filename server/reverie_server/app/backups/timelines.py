"""Which base backup and which timeline of PostgreSQL lead to a point in time. Pure.

A restore begins a timeline: PostgreSQL goes on from an earlier place of its log, and writes other segments from there.
What was served at a time is on the timeline that was in use then, which need not be the last one: after a restore to
Monday, on Thursday, what was served on Tuesday is on the timeline before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from reverie_indexer.postgres.archive import Restored
from reverie_server.app.backups.backup_file import LogMark


class Base(BaseModel):
    """What a base backup is. `at` is when it was whole: it can be brought to this time and later ones.

    It is of PostgreSQL's `timeline`, whose log it needs from the place `begin` on and is consistent with at `end`.
    `forgotten` is the log of what was forgotten, as it was found before.
    """

    model_config = ConfigDict(extra="forbid")
    at: datetime
    timeline: int
    begin: int
    end: int
    segment_bytes: int
    forgotten: LogMark

    @property
    def first_segment(self) -> str:
        """The segment of the log that it begins in."""
        return segment_name(self.timeline, self.begin // self.segment_bytes, self.segment_bytes)


@dataclass(frozen=True, slots=True)
class Route:
    """The timelines that lead to one, each with the place where the next one begins, and in the end that one."""

    ends: Mapping[int, int]
    timeline: int

    def has(self, base: Base) -> bool:
        """Whether a base can be brought to it."""
        return base.timeline == self.timeline or base.end <= self.ends.get(base.timeline, -1)

    def segment(self, number: int, segment_bytes: int) -> str:
        """The name of a segment by its number. One in which a timeline begins is that one's."""
        over = (number + 1) * segment_bytes
        timeline = next((each for each, end in self.ends.items() if over <= end), self.timeline)
        return segment_name(timeline, number, segment_bytes)

    def missing(self, segments: Collection[str], first: int, segment_bytes: int) -> Iterator[str]:
        """The segments, from one on, that are missing before the last one that there is."""
        numbers = [_number(name, segment_bytes) for name in segments]
        for number in range(first, max(numbers, default=first)):
            name = self.segment(number, segment_bytes)
            later = (self.segment(each, segment_bytes) in segments for each in numbers if each > number)
            if name not in segments and any(later):
                yield name


def timeline_at(restores: Sequence[Restored], bases: Sequence[Base], at: datetime) -> int | None:
    """The timeline that was served from at a time; None before the first base. Restores and bases are by their time."""
    begun = [restored.timeline for restored in restores if restored.at <= at]
    return begun[-1] if begun else next((base.timeline for base in reversed(bases) if base.at <= at), None)


def route_to(timeline: int, history: str) -> Route:
    """The route to a timeline by its history as PostgreSQL writes it: a line has a timeline, its end, and a reason."""
    lines = [line.split() for line in history.splitlines()]
    return Route({int(line[0]): place_of(line[1]) for line in lines if len(line) > 1}, timeline)


def place_of(lsn: str) -> int:
    """A place in the log (`16/B374D848`) as a number of bytes."""
    high, low = lsn.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def segment_name(timeline: int, number: int, segment_bytes: int) -> str:
    """The name of a segment of the log, which are numbered from the log's beginning."""
    per_file = (1 << 32) // segment_bytes
    return f"{timeline:08X}{number // per_file:08X}{number % per_file:08X}"


def _number(name: str, segment_bytes: int) -> int:
    return int(name[8:16], 16) * ((1 << 32) // segment_bytes) + int(name[16:], 16)
