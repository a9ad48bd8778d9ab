"""Workers run what is deferred, at once and one at a time for a unit, whatever happens to them and to PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs
from tests.jobs import DONE, Recorded, deferred, jobs_of, with_stages

from reverie_indexer.database.database import Database
from reverie_indexer.errors import DatabaseUnavailable
from reverie_server.jobs.defer import defer
from reverie_server.jobs.liveness import Liveness
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.worker import SHUTDOWN_SECONDS, Periodic, Worker, WorkerRules
from reverie_server.runtime import Runtime

# Nothing here waits for the queue to be looked at: what wakes a worker must wake it.
LONG_SECONDS = 600.0


@asynccontextmanager
async def at_work(
    system: Runtime,
    *,
    periodic: Iterable[Periodic] = (),
    poll_seconds: float = LONG_SECONDS,
    shutdown_seconds: float = SHUTDOWN_SECONDS,
) -> AsyncIterator[None]:
    """A worker over the system, which is ended as one is that is told to."""
    jobs = system.consolidation
    worker = Worker(system.database, jobs.queue, jobs.runner, periodic, WorkerRules(3, poll_seconds, shutdown_seconds))
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        assert not task.done()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    while True:
        # A connection that was cut may be found out in the middle of asking.
        with suppress(DatabaseUnavailable):
            if await condition():
                return
        await asyncio.sleep(0.02)


async def ended(database: Database) -> bool:
    return {job["status"] for job in await jobs_of(database)} <= {"succeeded", "failed"}


@dataclass
class Overlapping:
    """A stage that sees whether two runs for one unit overlap."""

    runs: Counter[str] = field(default_factory=Counter)
    now: set[str] = field(default_factory=set)
    most: int = 0
    overlapped: bool = False

    async def run(self, work: Work) -> Outcome:
        self.overlapped |= work.unit in self.now
        self.now.add(work.unit)
        self.most = max(self.most, len(self.now))
        await asyncio.sleep(0.01)
        self.now.discard(work.unit)
        self.runs[work.unit] += 1
        return DONE


async def test_two_workers_run_each_job_once_and_those_of_a_unit_after_each_other(
    runtime: Runtime, database: Database
) -> None:
    stage = Overlapping()
    system = with_stages(runtime, {"dedup": stage})
    works = [Work("dedup", "default", "wren", f"user:{n % 6}") for n in range(24)]
    ids = set()
    async with at_work(system), at_work(system):
        for work in works:
            ids.add(await deferred(database, work))
        await until(lambda: ended(database))
        # Two that wait for each other: the second is not left until the queue is looked at again.
        gate = stage.runs["default/wren/user:0"]
        async with database.tenant("default") as connection:
            await defer(connection, works[0])
        await until(lambda: _ran(stage, "default/wren/user:0", gate + 1))
    assert not stage.overlapped
    assert sum(stage.runs.values()) == len(ids) + 1
    assert (await runtime.consolidation.health.totals()).workers == 0


async def _defers(database: Database) -> bool:
    return await deferred(database, Work("dedup", "default", "wren", "user:2")) > 0


async def _lives(system: Runtime) -> bool:
    return (await system.consolidation.health.totals()).workers == 1


async def _ran(stage: Overlapping, unit: str, times: int) -> bool:
    return stage.runs[unit] >= times


async def test_a_worker_that_is_told_to_end_puts_back_what_it_runs(runtime: Runtime, database: Database) -> None:
    stage = Recorded(may_end=asyncio.Event())
    system = with_stages(runtime, {"dedup": stage})
    async with at_work(system, shutdown_seconds=0.05):
        await deferred(database, Work("dedup", "default", "wren", "user:1"))
        await stage.began.wait()
        assert (await jobs_of(database))[0]["status"] == "doing"
    (job,) = await jobs_of(database)
    assert (job["status"], job["attempts"], job["error"]) == ("todo", 0, None)
    assert stage.may_end is not None
    stage.may_end.set()
    async with database.maintenance() as connection:
        await connection.execute("SELECT procrastinate_register_worker_v1()")  # of one that was killed long ago
    async with at_work(system):
        await until(lambda: ended(database))
    assert (await jobs_of(database))[0]["status"] == "succeeded"
    async with database.maintenance() as connection:
        assert await (await connection.execute("SELECT id FROM procrastinate_workers")).fetchall() == []


@pytest.mark.parametrize("method", ["enter", "renew"])
async def test_a_worker_ends_although_its_cancellation_is_swallowed(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    waits, original = asyncio.Event(), getattr(Liveness, method)

    async def swallow_once(liveness: Liveness) -> Any:
        if not waits.is_set():
            waits.set()
            # As `asyncio.wait_for` does before Python 3.12, where what it waits for comes at the same moment.
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(LONG_SECONDS)
        return await original(liveness)

    monkeypatch.setattr(Liveness, method, swallow_once)
    jobs = runtime.consolidation
    worker = Worker(runtime.database, jobs.queue, jobs.runner, (), WorkerRules(poll_seconds=0.05))
    working = asyncio.create_task(worker.run())
    await waits.wait()
    working.cancel()
    _, unfinished = await asyncio.wait({working}, timeout=15)
    working.cancel()
    await asyncio.wait({working})
    assert not unfinished


async def test_a_worker_outlives_its_connections(runtime: Runtime, database: Database, conninfo: str) -> None:
    stage = Recorded(may_end=asyncio.Event())
    system = with_stages(runtime, {"dedup": stage})
    async with at_work(system, poll_seconds=0.2):
        await deferred(database, Work("dedup", "default", "wren", "user:1"))
        await stage.began.wait()
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert stage.may_end is not None
        stage.may_end.set()
        await until(lambda: ended(database))
        await until(lambda: _defers(database))
        await until(lambda: ended(database))
        # Nobody takes it for dead.
        await until(lambda: _lives(system))
        assert await system.consolidation.queue.rescue() == 0
    assert {work.owner_key for work in stage.ran} == {"user:1", "user:2"}
    assert {job["status"] for job in await jobs_of(database)} == {"succeeded"}


async def test_what_runs_by_the_clock_runs_once_for_all_workers_and_its_failures_end_nothing(
    runtime: Runtime, database: Database
) -> None:
    ticks: list[int] = []
    ticked = asyncio.Event()

    async def tick() -> None:
        ticks.append(len(ticks))
        if len(ticks) >= 2:
            ticked.set()
        raise ValueError("the lantern code is 4711")

    every_second = [Periodic("tick", "* * * * * *", tick)]
    with capture_logs() as logs:
        async with at_work(runtime, periodic=every_second), at_work(runtime, periodic=every_second):
            await ticked.wait()
    async with database.maintenance() as connection:
        cursor = await connection.execute("SELECT DISTINCT args FROM procrastinate_jobs WHERE task_name = 'tick'")
        assert len(await cursor.fetchall()) >= len(ticks)
    assert {line["error"] for line in logs if line["event"] == "periodic_failed"} == {"ValueError"}
    assert "lantern" not in str(logs)
