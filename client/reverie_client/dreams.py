"""Answers of the routes of emergence and dreaming, and the envelopes in which the server sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from reverie_client.derived import Method, Status

Ended: TypeAlias = Literal["success", "skipped", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The outcome of a run by hand; `report_id` names its report if it left one."""

    status: Status
    report_id: str | None = None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """The envelope of a run."""

    data: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamingStatus:
    """The state of emergence. `cron` is in the agent's time zone; `next_run` is None where it is switched off.

    `pending_candidates` would pass all gates now; `promoted` counts what entered MEMORY.md in all runs.
    """

    enabled: bool
    cron: str
    last_run: datetime | None = None
    next_run: datetime | None = None
    last_status: Ended | None = None
    latest_entry: str | None = None
    pending_candidates: int
    promoted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAnswer:
    """The envelope of the status."""

    data: DreamingStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The value of a candidate and the value it needs: numbers, or True and False for a condition."""

    value: float
    needed: float
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entry of the notes that may enter MEMORY.md, with the parts of its score, each in 0..1, and its gates."""

    source: str
    snippet: str
    score: float
    parts: Mapping[str, float]
    gates: Mapping[str, Gate]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesAnswer:
    """The envelope of candidates."""

    data: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run of emergence, of dreaming or of SOUL.md (modes `dreaming`, `soul`): what it saw, concluded and changed.

    `path` at `version_before` is what to restore; None: there was no such file. `fallback` is why a configured model
    was not used.
    """

    id: str
    mode: Literal["full", "focused", "dreaming", "soul"]
    topic: str | None = None
    trigger: Literal["event", "cron", "api", "retry"]
    started_at: datetime
    ended_at: datetime | None = None
    status: Ended
    reason: str
    seen: Mapping[str, Any]
    promoted: tuple[Mapping[str, Any], ...]
    rejected: tuple[Mapping[str, Any], ...]
    diff: str
    method: Method | None = None
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None
    fallback: str | None = None
    path: str | None = None
    version_before: int | None = None
    version_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAnswer:
    """The envelope of a report."""

    data: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportList:
    """Reports, newest first."""

    reports: tuple[Report, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """The envelope of a page of reports, newest first."""

    data: ReportList

    @property
    def items(self) -> tuple[Report, ...]:
        """The items of the page."""
        return self.data.reports

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page, None on the last one."""
        return self.data.next_cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedMonth:
    """A month (yyyy-mm) of reports older than 30 days: how many, by status, and how many entries they promoted."""

    month: str
    reports: int
    success: int
    skipped: int
    failed: int
    promoted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The months of the archive, newest first."""

    months: tuple[ArchivedMonth, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveAnswer:
    """The envelope of the archive."""

    data: Archive


@dataclass(frozen=True, slots=True, kw_only=True)
class CardEntry:
    """Something that entered MEMORY.md, and where it comes from."""

    key: str
    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardAnswer:
    """The envelope of the morning card; None: there is nothing to see."""

    data: tuple[CardEntry, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryAnswer:
    """The envelope of an entry of the morning card."""

    data: CardEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenEntry:
    """An entry that was forgotten, by its key, and in how many things it stood."""

    key: str
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenEntryAnswer:
    """The envelope of a forgotten entry."""

    data: ForgottenEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """How many entries the card had that was seen."""

    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAnswer:
    """The envelope of that."""

    data: Seen
