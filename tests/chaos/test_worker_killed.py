"""Workers die by SIGKILL at any instant: what they did is taken over at once, and done once."""

from __future__ import annotations

import asyncio
import itertools
import random
from multiprocessing.context import ForkServerProcess

import pytest
from tests.chaos.worker_child import start_worker
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot
from tests.jobs import jobs_of
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

OWNERS = ("user:1", "user:2", None)
STAGE_SECONDS = 0.04
FOR_EVER_SECONDS = 1e6


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
async def test_each_stretch_of_each_session_is_summarised_once(database: Database, conninfo: str, kills: int) -> None:
    system = assemble(Settings(embedder="hashing"), database, await filled_slot(database, MoodyEmbedder(64)))
    await talk(system, "web:0", "user:1")
    workers = [start_worker(conninfo, FOR_EVER_SECONDS)]
    try:
        await until_doing(database, 1)
        workers[0].kill()
        for number in range(1, kills):
            while len(alive := [each for each in workers if each.is_alive()]) < 2:
                workers.append(start_worker(conninfo, STAGE_SECONDS))
            await talk(system, f"web:{number}", OWNERS[number % 3])
            await talk(system, f"web:{random.randrange(number)}", None)
            await until_doing(database, 1)
            await asyncio.sleep(random.uniform(0, 4 * STAGE_SECONDS))
            random.choice(alive).kill()
        workers.append(start_worker(conninfo, 0.0))
        await until_idle(database)
    finally:
        await end(workers)
    async with database.maintenance() as connection:
        cursor = await connection.execute(
            "SELECT s.session_key, s.last_seq, s.summarised_through, e.from_seq, e.through_seq FROM sessions s "
            "LEFT JOIN episodes e ON e.session_key = s.session_key ORDER BY s.session_key, e.from_seq"
        )
        rows = await cursor.fetchall()
        cursor = await connection.execute(
            "SELECT count(*) AS n FROM procrastinate_events WHERE type = 'deferred_for_retry'"
        )
        assert (await cursor.fetchone() or {})["n"] >= 1
    for _, found in itertools.groupby(rows, key=lambda row: row["session_key"]):
        stretches = list(found)
        assert [row["from_seq"] for row in stretches] == [1, *(row["through_seq"] + 1 for row in stretches[:-1])]
        assert {row["last_seq"] for row in stretches} == {stretches[-1]["through_seq"]}
        assert {row["summarised_through"] for row in stretches} == {stretches[-1]["through_seq"]}
    assert [job for job in await jobs_of(database) if job["status"] == "failed"] == []
    assert_index_consistent(conninfo)


async def talk(system: Runtime, session_id: str, owner_key: str | None) -> None:
    """Something is said, by whoever the session is, and that is all for now."""
    here = Talk(system, session_id, owner_key)
    await here.say("We decided to use the tall lantern in the harbour.", "Noted, the tall one it is.")
    await system.sessions.complete(here.principal, session_id, "api")


async def until_doing(database: Database, count: int) -> None:
    while sum(job["status"] == "doing" for job in await jobs_of(database)) < count:  # noqa: ASYNC110  # it is a row
        await asyncio.sleep(0.01)


async def until_idle(database: Database) -> None:
    """Nothing waits that is not debounced: extraction has its cooldown, dreaming its episodes to wait for."""
    while any(  # noqa: ASYNC110  # it is a row that is waited for
        job["status"] == "doing" or (job["status"] == "todo" and job["stage"] == "episodic")
        for job in await jobs_of(database)
    ):
        await asyncio.sleep(0.05)


async def end(workers: list[ForkServerProcess]) -> None:
    for worker in workers:
        worker.kill()
        await asyncio.to_thread(worker.join)
        worker.close()
