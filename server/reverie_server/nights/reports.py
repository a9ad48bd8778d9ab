"""Reports: what each run of emergence and dreaming saw, concluded and changed, and why.

Functions that take a connection work inside the caller's transaction.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.jobs.model import Trigger
from reverie_server.llm.generation import Generation

SQL = Queries(__file__)
Mode = Literal["full", "focused", "dreaming", "soul"]
Status = Literal["success", "skipped", "failed"]
# From this age on a report is in the archive of its month.
ARCHIVED_AFTER = timedelta(days=30)
_MAX_MONTHS = 1200
_TRIMMED_AT_ONCE = 5000
# A report keeps the best rejected candidates, and their number in `seen`.
MAX_REJECTED = 50


@dataclass(frozen=True, slots=True)
class Report:
    """A run. `reason` is for people; `seen` has counts and sources, never texts.

    `promoted` and `rejected` are candidates as JSON; `path` is the file that was written, from `version_before` (None:
    it was not there) to `version_after`, and `diff` what changed in it. `night` is the local day of the night.
    """

    report_id: str
    mode: Mode
    topic: str | None
    trigger: Trigger
    night: date
    started_at: datetime
    ended_at: datetime
    status: Status
    reason: str
    seen: Mapping[str, Any] = field(default_factory=dict)
    promoted: Sequence[Mapping[str, Any]] = ()
    rejected: Sequence[Mapping[str, Any]] = ()
    diff: str = ""
    path: str | None = None
    version_before: int | None = None
    version_after: int | None = None
    method: Literal["llm", "extractive"] | None = None
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None
    fallback: str | None = None

    def generated_by(self, generation: Generation, fallback: str | None) -> Report:
        """The report with the way in which its conclusions were generated."""
        return replace(
            self,
            method=generation.method,
            prompt=generation.prompt,
            prompt_version=generation.prompt_version,
            model=generation.model,
            fallback=fallback,
        )


@dataclass(frozen=True, slots=True)
class EmergenceStatus:
    """The last run of emergence that was about no topic, and the number of entries that all runs promoted."""

    last_run: datetime | None
    last_status: Status | None
    promoted: int


@dataclass(frozen=True, slots=True)
class ArchivedMonth:
    """How many reports of nights of a month, told by its first day, are in the archive: in all, and by status."""

    month: date
    reports: int
    success: int
    skipped: int
    failed: int
    promoted: int


_NAMES = tuple(f.name for f in fields(Report))
_JSON = ("seen", "promoted", "rejected")


def new_report_id() -> str:
    """An id for a report that is still to be written: the diary entry of the same write names it."""
    return secrets.token_hex(8)


async def add_report(connection: Connection, tenant_id: str, slice_id: int, report: Report) -> bool:
    """Keep a report; False, and nothing kept, where a night by cron has one already."""
    params: dict[str, Any] = {name: getattr(report, name) for name in _NAMES}
    params["rejected"] = report.rejected[:MAX_REJECTED]
    params |= {name: Jsonb(_plain(params[name])) for name in _JSON}
    cursor = await connection.execute(SQL["add"], {**params, "tenant_id": tenant_id, "slice_id": slice_id})
    return await cursor.fetchone() is not None


async def is_night_done(connection: Connection, place: Place, night: date) -> bool:
    """Whether a night by cron has its report."""
    params = {"tenant_id": place.tenant_id, "slice_ids": await own_slices(connection, place), "night": night}
    return await (await connection.execute(SQL["is_done"], params)).fetchone() is not None


async def trim_reports(database: Database, *, now: datetime | None = None) -> int:
    """Leave of the reports of the archive, of all tenants, what entered and why, some thousands at once; of how many.

    What did not enter is of no use after a month, and what changed is in the versions of the file.
    """
    params = {"before": (now or datetime.now(UTC)) - ARCHIVED_AFTER, "limit": _TRIMMED_AT_ONCE}
    async with database.maintenance() as connection:
        return (await connection.execute(SQL["trim"], params)).rowcount


class Reports:
    """Reads the reports of places. `now` gives the time, with its zone.

    The archive is the same rows, a month of nights at a time and without what was rejected and changed: nothing is
    moved, and what forgets, exports and deletes reports does so with those of the archive.
    """

    def __init__(self, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def page(
        self, place: Place, *, before: tuple[datetime, str] | None, limit: int, month: date | None = None
    ) -> list[Report]:
        """A page of a place's reports, newest first, after the one that began at a time and has an id.

        `month` is the first day of a month of the archive; None: all reports, of the archive too.
        """
        at, report_id = before or (None, None)
        more = {"before_at": at, "before_id": report_id, "limit": limit, "month": month, "older_than": self._archived}
        return [_report(row) for row in await self._rows(place, "page", more)]

    async def months(self, place: Place) -> list[ArchivedMonth]:
        """The months of a place's archive, newest first."""
        rows = await self._rows(place, "months", {"older_than": self._archived, "limit": _MAX_MONTHS})
        return [ArchivedMonth(**row) for row in rows]

    @property
    def _archived(self) -> datetime:
        return self._now() - ARCHIVED_AFTER

    async def report(self, place: Place, report_id: str) -> Report:
        """One report of a place; NotFound."""
        found = await self._rows(place, "report", {"report_id": report_id})
        if not found:
            raise NotFound(f"there is no report {report_id[:100]!r}")
        return _report(found[0])

    async def emergence_status(self, place: Place) -> EmergenceStatus:
        """The last run of emergence, and the number of entries that all runs promoted."""
        [row] = await self._rows(place, "standing", {})
        return EmergenceStatus(row["started_at"], row["status"], row["promoted"])

    async def _rows(self, place: Place, name: str, more: Mapping[str, Any]) -> list[DictRow]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            params = {"tenant_id": place.tenant_id, "slice_ids": slice_ids, **more}
            return await (await connection.execute(SQL[name], params)).fetchall()


def _report(row: DictRow) -> Report:
    return Report(**{name: row[name] for name in _NAMES})


def _plain(value: Any) -> Any:
    """A JSON value with lists for other sequences."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
