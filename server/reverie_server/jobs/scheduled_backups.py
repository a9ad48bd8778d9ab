"""How the backups by the clock stand: when the next is due, when the last good one was made, and whether one failed.

There are two kinds: dumps, each of which is the whole database, and bases, on which the archive of WAL is replayed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
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
# So long a finished segment waits for the archiver at most when all is well.
WAL_LATE_AFTER = timedelta(minutes=10)

Kind = Literal["dump", "base"]
Standing = Literal["ok", "failed", "late", "none"]
_WORST_FIRST: tuple[Standing, ...] = ("failed", "late", "none", "ok")


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
    """The state of the backups of a kind, which is the database's: workers write it, and servers show it.

    `schedule` is when they are due; None: never. `now` gives the time, with its zone.
    """

    def __init__(
        self,
        database: Database,
        schedule: str | None,
        kind: Kind = "dump",
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._began_at = now()
        self.schedule = schedule
        self.kind = kind
        self.now = now

    async def state(self) -> BackupState:
        """How they stand. Raises DatabaseUnavailable."""
        rows = await self._database.maintenance_query(SQL["state"], {"kind": self.kind})
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
        """Whether no other process makes such a backup of this database; none begins one while the block runs."""
        async with await psycopg.AsyncConnection.connect(self._database.conninfo, autocommit=True) as connection:
            row = await (await connection.execute(SQL["lock"], {"kind": self.kind})).fetchone()
            try:
                yield bool(row and row[0])
            finally:
                with suppress(psycopg.OperationalError):
                    await connection.execute(SQL["unlock"])

    async def succeeded(self, taken_at: datetime, size: int) -> None:
        """Note a good backup as of `taken_at`, of `size` bytes."""
        await self._note("succeeded", {"taken_at": taken_at, "ended_at": self.now(), "bytes": size})

    async def failed(self, error: str) -> None:
        """Note that a backup failed, and why: a code."""
        await self._note("failed", {"failed_at": self.now(), "error": error})

    async def _note(self, name: str, params: dict[str, object]) -> None:
        async with self._database.maintenance() as connection:
            await connection.execute(SQL[name], {"kind": self.kind, **params})


@dataclass(frozen=True, slots=True)
class ArchiverState:
    """How PostgreSQL's archiver stands: when it last archived a segment, when it last failed to, and for how long the
    oldest finished segment has waited for it. `is_on`: whether the server that runs archives at all.
    """

    is_on: bool
    archived_at: datetime | None
    failed_at: datetime | None
    waiting_seconds: float

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt failed, or none is made."""
        if not self.is_on:
            return True
        return self.failed_at is not None and (self.archived_at is None or self.failed_at > self.archived_at)


@dataclass(frozen=True, slots=True)
class BackupStates:
    """How dumps and bases stand, and the archiver; None where there is to be no archive."""

    dumps: BackupState = BackupState()
    bases: BackupState = BackupState()
    archiver: ArchiverState | None = None


class BackupHealth:
    """How all backups of a database stand: `bases` have no schedule where there is no archive of WAL."""

    def __init__(self, database: Database, dumps: ScheduledBackups, bases: ScheduledBackups) -> None:
        self._database = database
        self.dumps = dumps
        self.bases = bases

    @property
    def are_made(self) -> bool:
        """Whether any are to be made."""
        return self.dumps.schedule is not None or self.bases.schedule is not None

    async def states(self) -> BackupStates:
        """How each stands. Raises DatabaseUnavailable."""
        dumps = await self.dumps.state()
        if self.bases.schedule is None:
            return BackupStates(dumps)
        [row] = await self._database.maintenance_query(SQL["archiver"], {})
        return BackupStates(dumps, await self.bases.state(), ArchiverState(**row))

    def standing(self, states: BackupStates) -> Standing | None:
        """How they stand in a word, that of the worst; None where none are to be made."""
        found = {self.dumps.standing(states.dumps), self.bases.standing(states.bases)}
        if states.archiver is not None and states.archiver.has_failed:
            found.add("failed")
        if states.archiver is not None and states.archiver.waiting_seconds > WAL_LATE_AFTER.total_seconds():
            found.add("late")
        return next((each for each in _WORST_FIRST if each in found), None)

    def reasons(self, states: BackupStates) -> list[str]:
        """A sentence for each thing that is wrong with them, with what to do; no path, name or error is in it."""
        kinds = ((self.dumps, states.dumps, "backup"), (self.bases, states.bases, "base backup"))
        found = [
            f"the last {what} failed: `backup_failed` in the log of a worker says why"
            if backups.standing(state) == "failed"
            else f"the next {what} is late: see that a worker with its directory runs, and what its log says"
            for backups, state, what in kinds
            if backups.standing(state) in ("failed", "late")
        ]
        archiver = states.archiver
        if archiver is None:
            return found
        if not archiver.is_on:
            found.append("PostgreSQL runs without its archive: a program without REVERIE_WAL_ARCHIVE_DIR started it")
        elif archiver.has_failed or archiver.waiting_seconds > WAL_LATE_AFTER.total_seconds():
            found.append(
                f"the log (WAL) has not been archived for {archiver.waiting_seconds:.0f} s: see postgres.log in the "
                "data directory, and the disk of the archive"
            )
        return found
