"""The queue of jobs as a worker sees it: taking a job, recording its outcome, rescuing the jobs of dead workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_server.access.audit import add, by_system
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.stage_runs import bucket_of

SQL = Queries(__file__)
log = structlog.get_logger()
# The queue of stages, and the queue of periodic jobs.
STAGE_QUEUE = "reverie"
CRON_QUEUE = "reverie-cron"
# Jobs that a process died with. Each runs alone in a process of its own, so that another death has one cause.
QUARANTINE_QUEUE = "reverie-quarantine"
QUEUES = (STAGE_QUEUE, CRON_QUEUE)
# Backups by the clock: of the workers that know where backups go.
BACKUP_QUEUE = "reverie-backup"
ALL_QUEUES = (*QUEUES, QUARANTINE_QUEUE, BACKUP_QUEUE)
PRUNED_AT_ONCE = 5000
EVENTS_KEEP_DAYS = 30

Settled = Literal["done", "failed", "put_back"]


@dataclass(frozen=True, slots=True)
class Job:
    """A job that a worker has taken. `attempts` is the number of attempts before."""

    job_id: int
    stage: str
    args: Mapping[str, Any]
    attempts: int
    lock: str | None
    worker_id: int


@dataclass(frozen=True, slots=True)
class JobRules:
    """The limits of a job: attempts in all, seconds before the second attempt, seconds of a run, and how many processes
    may die of it.
    """

    max_attempts: int = 6
    retry_seconds: float = 15.0
    timeout_seconds: float = 600.0
    max_deaths: int = 3

    def is_last(self, attempts: int) -> bool:
        """Whether the attempt that follows after `attempts` is the last."""
        return attempts + 1 >= self.max_attempts

    def wait_seconds(self, attempts: int) -> float:
        """The seconds to wait after a failure that `attempts` came before: doubled each time, a day at most."""
        return min(self.retry_seconds * 2.0 ** min(attempts, 30), 86_400.0)


class Queue:
    """The jobs of all tenants. A worker's report on a job that it no longer has changes nothing."""

    def __init__(self, database: Database, rules: JobRules) -> None:
        self._database = database
        self.rules = rules

    async def take(self, worker_id: int, queues: Sequence[str] = (STAGE_QUEUE, QUARANTINE_QUEUE)) -> Job | None:
        """Take the next job of a stage that is due; None where there is none. Raises DatabaseUnavailable."""
        async with self._database.maintenance() as connection:
            params = {"queues": list(queues), "worker_id": worker_id}
            row = await (await connection.execute(SQL["take"], params)).fetchone()
        if row is None or row["id"] is None:
            return None
        return Job(row["id"], row["task_name"], row["args"], row["attempts"], row["lock"], worker_id)

    async def started(self, work: Work) -> None:
        """Note that a stage begins on its slice, once what caused its job can be read. Raises DatabaseUnavailable."""
        async with self._database.maintenance() as connection, connection.pipeline():
            await connection.execute(SQL["cause"], _whose(work))
            await connection.execute(SQL["started"], _whose(work))

    async def done(self, job: Job, work: Work, outcome: Outcome, seconds: float = 0.0) -> bool:
        """Record the outcome and time of a run, which ends the job; whether the job was still this worker's."""
        async with self._database.maintenance() as connection:
            ending = {"status": outcome.status, "reason": outcome.reason, "method": outcome.method}
            error = outcome.reason if outcome.status == "failed" else None
            if outcome.status == "completed":
                await add(connection, work.tenant_id, [by_system(work.tenant_id, work.agent_id, work.owner_key)])
            await connection.execute(SQL["ended"], {**_whose(work), **ending, "error": error})
            was_ours = await self._settle(connection, "done", job, {})
            await _count(connection, work.stage, outcome.status, outcome.method, seconds)
            return was_ours

    async def failed(self, job: Job, work: Work | None, error: str, seconds: float = 0.0) -> bool:
        """Record that a run failed: the job is tried again later, or, after its last attempt, stays as failed.

        `work` is None for a job that this server cannot read.
        """
        async with self._database.maintenance() as connection:
            if work is not None:
                ending = {"status": "failed", "reason": None, "method": None, "error": error}
                await connection.execute(SQL["ended"], {**_whose(work), **ending})
            details = {
                "error": error,
                "is_last": self.rules.is_last(job.attempts),
                "wait_seconds": self.rules.wait_seconds(job.attempts),
            }
            was_ours = await self._settle(connection, "failed", job, details)
            await _count(connection, job.stage, "failed", None, seconds)
            return was_ours

    async def put_back(self, job: Job) -> bool:
        """Put an unfinished job back, as if it had never been taken."""
        async with self._database.maintenance() as connection:
            return await self._settle(connection, "put_back", job, {})

    async def rescue(self) -> int:
        """Put back the jobs of dead workers at once; how many jobs. 0 while another rescue runs."""
        async with self._database.maintenance() as connection:
            row = await (await connection.execute(SQL["lock_rescue"])).fetchone()
            if not (row or {})["held"]:
                return 0
            params = {
                "queues": list(ALL_QUEUES),
                "max_deaths": self.rules.max_deaths,
                "retry_seconds": self.rules.retry_seconds,
            }
            rows = await (await connection.execute(SQL["rescue"], params)).fetchall()
        for row in rows:
            _log_rescued(row)
        return len(rows)

    async def overran(self, job: Job) -> None:
        """Record that this worker dies of a job that cannot be stopped, and put back its other jobs."""
        async with self._database.maintenance() as connection:
            rules = {"max_deaths": self.rules.max_deaths, "retry_seconds": self.rules.retry_seconds}
            params = {"job_id": job.job_id, "worker_id": job.worker_id, **rules}
            await connection.execute(SQL["overran"], params)
            await connection.execute(SQL["put_all_back"], {"worker_id": job.worker_id})
            await connection.execute(SQL["wake_all"])

    async def has_quarantined(self) -> bool:
        """Whether a job in quarantine is due."""
        async with self._database.maintenance() as connection:
            row = await (await connection.execute(SQL["quarantined"])).fetchone()
        return bool((row or {})["due"])

    async def remove_dead_workers(self) -> None:
        """Remove the rows of dead workers whose jobs were rescued."""
        async with self._database.maintenance() as connection:
            await connection.execute(SQL["remove_dead_workers"])

    async def bring_forward(self, until: datetime) -> None:
        """Make the jobs due that are scheduled up to a time."""
        async with self._database.maintenance() as connection:
            await connection.execute(SQL["bring_forward"], {"until": until})

    async def prune(self, keep_days: int, *, at_once: int = PRUNED_AT_ONCE) -> None:
        """Remove the rows of jobs that ended `keep_days` days ago, and old events; `at_once` in one transaction."""
        for step, days in (("prune", keep_days), ("prune_events", EVENTS_KEEP_DAYS)):
            removed = at_once
            while removed == at_once:
                async with self._database.maintenance() as connection:
                    params = {"keep_days": days, "limit": at_once}
                    removed = len(await (await connection.execute(SQL[step], params)).fetchall())

    async def _settle(self, connection: Connection, how: Settled, job: Job, details: Mapping[str, Any]) -> bool:
        params = {"job_id": job.job_id, "worker_id": job.worker_id, **details}
        row = await (await connection.execute(SQL[how], params)).fetchone()
        await connection.execute(SQL["wake"], {"lock": job.lock})
        return row is not None


async def _count(connection: Connection, stage: str, status: str, method: str | None, seconds: float) -> None:
    """Count a run, last in its transaction: all workers count in the same rows."""
    run = {"stage": stage, "status": status, "method": method or "none", "seconds": seconds}
    await connection.execute(SQL["ran"], {**run, "buckets": bucket_of(seconds)})


def _whose(work: Work) -> dict[str, Any]:
    return {name: getattr(work, name) for name in ("tenant_id", "agent_id", "owner_key", "stage")}


def _log_rescued(row: DictRow) -> None:
    owner = {name: row["args"].get(name) for name in ("tenant_id", "agent_id") if isinstance(row["args"], dict)}
    rescued = {"job": row["id"], "stage": row["task_name"], "status": row["status"], "deaths": row["deaths"]}
    log.warning("job_rescued", **rescued, **owner)
