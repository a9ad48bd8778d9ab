"""How the backups by the clock stand: when the next is due, when the last good one was made, and whether one failed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import psycopg

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries

SQL = Queries(__file__)
# What failed is tried again after this time, or when the next is due.
RETRY_AFTER = timedelta(minutes=15)
# A backup that is overdue for longer is late: one of a large memory takes its time.
LATE_AFTER = timedelta(hours=6)

Standing = Literal["ok", "failed", "late", "none"]


@dataclass(frozen=True, slots=True)
class BackupState:
    """The last good backup: as of when it is, when it was whole, and its bytes; None before the first.

    `failed_at` and `error`, a code, are of a failure since.
    """

    taken_at: datetime | None = None
    ended_at: datetime | None = None
    bytes: int | None = None
    failed_at: datetime | None = None
    error: str | None = None


def next_after(schedule: str, at: datetime) -> datetime:
    """The first time of a schedule (cron's five fields, in UTC) after an instant. Pure."""
    from croniter import croniter

    found: datetime = croniter(schedule, at.astimezone(UTC)).get_next(datetime)
    return found


class ScheduledBackups:
    """The state of the backups, which is the database's: workers write it, and servers show it.

    `schedule` is when they are due; None: never. `now` gives the time, with its zone.
    """

    def __init__(
        self, database: Database, schedule: str | None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._began_at = now()
        self.schedule = schedule
        self.now = now

    async def state(self) -> BackupState:
        """How they stand. Raises DatabaseUnavailable."""
        rows = await self._database.maintenance_query(SQL["state"], {})
        return BackupState(**rows[0]) if rows else BackupState()

    def overdue(self, state: BackupState) -> timedelta:
        """For how long the next backup has been due; zero before that. The first is due at once."""
        if self.schedule is None:
            return timedelta()
        due_at = self._began_at if state.ended_at is None else next_after(self.schedule, state.ended_at)
        return max(timedelta(), self.now() - due_at)

    def is_due(self, state: BackupState) -> bool:
        """Whether a backup is to be made now."""
        if self.schedule is None:
            return False
        due_at = None if state.ended_at is None else next_after(self.schedule, state.ended_at)
        if state.failed_at is not None:
            again_at = min(state.failed_at + RETRY_AFTER, next_after(self.schedule, state.failed_at))
            due_at = again_at if due_at is None else max(due_at, again_at)
        return due_at is None or due_at <= self.now()

    def standing(self, state: BackupState) -> Standing | None:
        """How they stand in a word; `none`: the first is not there yet. None where none are to be made."""
        if self.schedule is None:
            return None
        if state.failed_at is not None:
            return "failed"
        if self.overdue(state) > LATE_AFTER:
            return "late"
        return "none" if state.ended_at is None else "ok"

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[bool]:
        """Whether no other process makes a backup of this database; none begins one while the block runs."""
        async with await psycopg.AsyncConnection.connect(self._database.conninfo, autocommit=True) as connection:
            row = await (await connection.execute(SQL["lock"])).fetchone()
            yield bool(row and row[0])

    async def succeeded(self, taken_at: datetime, size: int) -> None:
        """Note a good backup as of `taken_at`, of `size` bytes."""
        await self._note("succeeded", {"taken_at": taken_at, "ended_at": self.now(), "bytes": size})

    async def failed(self, error: str) -> None:
        """Note that a backup failed, and why: a code."""
        await self._note("failed", {"failed_at": self.now(), "error": error})

    async def _note(self, name: str, params: dict[str, object]) -> None:
        async with self._database.maintenance() as connection:
            await connection.execute(SQL[name], params)
