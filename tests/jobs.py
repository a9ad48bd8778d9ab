"""Stages that do as they are told, and what the queue says of jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Outcome, Runs, Stage, Work
from reverie_server.jobs.queue import JobRules, Queue
from reverie_server.jobs.runner import StageRunner
from reverie_server.runtime import Runtime

DONE = Outcome("completed", "done", "extractive")


@dataclass
class Recorded:
    """A stage that notes what it was given, and raises what it is told to, the first so many times."""

    error: BaseException | None = None
    failures: int = 1_000_000
    outcome: Outcome = DONE
    ran: list[Work] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event | None = None

    async def run(self, work: Work) -> Outcome:
        self.ran.append(work)
        self.began.set()
        if self.may_end is not None:
            await self.may_end.wait()
        if self.error is not None and len(self.ran) <= self.failures:
            raise self.error
        return self.outcome


def with_stages(runtime: Runtime, stages: Mapping[Stage, Runs], rules: JobRules | None = None) -> Runtime:
    """The same system with other stages."""
    queue = Queue(runtime.database, rules or JobRules(max_attempts=3, retry_seconds=15))
    consolidation = replace(runtime.consolidation, stages=stages, queue=queue, runner=StageRunner(queue, stages))
    return replace(runtime, consolidation=consolidation)


async def jobs_of(database: Database) -> list[DictRow]:
    """All jobs of stages, in order; not those of `facts`, which follow from every message and every write."""
    async with database.maintenance() as connection:
        cursor = await connection.execute(
            "SELECT j.id, task_name AS stage, status::text, attempts, args, scheduled_at, worker_id, queueing_lock, "
            "error, deaths FROM procrastinate_jobs j "
            "LEFT JOIN job_errors e ON e.job_id = j.id WHERE queue_name <> 'reverie-cron' AND task_name <> 'facts' "
            "ORDER BY j.id"
        )
        return await cursor.fetchall()


async def stage_rows(database: Database) -> list[DictRow]:
    """What the stages last did, by slice."""
    async with database.maintenance() as connection:
        return await (await connection.execute("SELECT * FROM stages ORDER BY tenant_id, slice_id, stage")).fetchall()


async def deferred(database: Database, work: Work, *, after_seconds: float = 0.0) -> int:
    """The id of a job deferred in a transaction of its own."""
    async with database.tenant(work.tenant_id) as connection:
        return (await defer(connection, work, after_seconds=after_seconds)).job_id


def without_facts(runtime: Runtime) -> Runtime:
    """The same system, in which no job follows from a write or a message."""

    async def nothing(_connection: object, _place: object, _changes: object) -> None:
        return

    runtime.pipeline.on_change = nothing
    return runtime
