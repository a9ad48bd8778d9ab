"""What the clock makes due is deferred once for each slice and local day, and made up for where nothing ran."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.jobs import Recorded, deferred, jobs_of, stage_rows, with_stages

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model import Place
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs import schedule as cron_module
from reverie_server.jobs.model import Work
from reverie_server.jobs.schedule import Cron, NightlyDefaults
from reverie_server.long_term.compaction_text import THRESHOLD_CHARS
from reverie_server.runtime import Runtime

EVENING = datetime(2026, 4, 2, 18, 0, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = EVENING

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cron(database: Database, clock: Clock) -> Cron:
    return Cron(database, NightlyDefaults(from_chars=THRESHOLD_CHARS, time_zone="Europe/Berlin"), now=clock)


async def write(runtime: Runtime, owner: str | None, agent: str = "wren", text: str = "lantern") -> None:
    place = Place("default", agent, "personal" if owner else "team", owner)
    await runtime.pipeline.write(place, overwrite("MEMORY.md", text, by="t", reason="t"))


async def waiting(database: Database, stage: str = "emergence") -> list[tuple[str, str | None]]:
    """(agent, owner) of the jobs that wait, which are then no more."""
    found = [job for job in await jobs_of(database) if job["stage"] == stage and job["status"] == "todo"]
    assert {job["args"]["trigger"] for job in found} <= {"cron"}
    async with database.maintenance() as connection:
        await connection.execute("DELETE FROM procrastinate_jobs WHERE task_name = %s", [stage])
    return sorted(((job["args"]["agent_id"], job["args"]["owner_key"]) for job in found), key=lambda one: one[1] or "")


async def test_each_night_of_each_slice_is_deferred_once_by_the_agents_own_clock(
    runtime: Runtime, database: Database, cron: Cron, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cron_module, "PAGE", 2)
    for owner in (None, "user:1", "user:2"):
        await write(runtime, owner)
    for agent, settings in (
        ("nepal", {"time_zone": "Asia/Kathmandu"}),
        ("off", {"emergence_enabled": False}),
        ("asleep", {"memory_enabled": False}),
    ):
        await write(runtime, "user:1", agent)
        await runtime.agents.put("default", agent, None, None, settings)
    await runtime.agents.put("default", "member", None, "wren", {})
    # A slice that nobody has looked at yet has its first night after the first evening.
    assert await cron.defer_nightly() == 0
    clock.now = datetime(2026, 4, 2, 20, 14, tzinfo=UTC)
    assert await cron.defer_nightly() == 0
    clock.now = datetime(2026, 4, 2, 20, 15, tzinfo=UTC)  # two in the morning in Kathmandu
    # The team's slice of an agent has its seed files, of which there is nothing to think.
    assert await cron.defer_nightly() == 1
    assert await waiting(database) == [("nepal", "user:1")]
    clock.now = datetime(2026, 4, 3, 0, 0, tzinfo=UTC)  # and in Berlin, in summer
    done = await asyncio.gather(*(cron.defer_nightly() for _ in range(3)))
    assert sum(done) == 3
    assert await waiting(database) == [("wren", None), ("wren", "user:1"), ("wren", "user:2")]
    assert await cron.defer_nightly() == 0
    # Days in which nothing ran are made up for by one night.
    clock.now += timedelta(days=3, hours=5)
    assert await cron.defer_nightly() == 4
    assert len(await waiting(database)) == 4
    assert await cron.defer_nightly() == 0


async def test_a_long_memory_is_compacted_once_a_day_while_it_changes(
    runtime: Runtime, database: Database, cron: Cron, clock: Clock
) -> None:
    system = with_stages(runtime, {"compaction": Recorded()})
    await write(runtime, "user:1", text="# Long-term Memory\n\n" + "- The lantern is lit.\n" * 200)
    # Long in bytes, not in characters.
    await write(runtime, "user:2", text="# Long-term Memory\n\n" + "灯" * 2000 + "\n")
    await cron.defer_nightly()
    assert await waiting(database, "compaction") == [("wren", "user:1")]
    assert await cron.defer_nightly() == 0
    clock.now += timedelta(days=1)
    assert await cron.defer_nightly() > 0
    assert await drain(system) == 1 + len(await _others(database))
    # It was compacted, is long still, and nobody has changed it since.
    clock.now += timedelta(days=1)
    await cron.defer_nightly()
    assert await waiting(database, "compaction") == []
    await write(runtime, "user:1", text="# Long-term Memory\n\n" + "- The lantern is out.\n" * 200)
    await cron.defer_nightly()
    assert await waiting(database, "compaction") == [("wren", "user:1")]
    clock.now += timedelta(days=1)
    await runtime.agents.put("default", "wren", None, None, {"compaction_enabled": False})
    await cron.defer_nightly()
    assert await waiting(database, "compaction") == []


async def _others(database: Database) -> Sequence[object]:
    return [job for job in await jobs_of(database) if job["stage"] != "compaction"]


async def test_what_ended_long_ago_is_removed_and_what_failed_stays(runtime: Runtime, database: Database) -> None:
    system = with_stages(runtime, {"dedup": Recorded(), "semantic": Recorded(ValueError("poison"))})
    for number in range(5):
        await deferred(database, Work("dedup", "default", "wren", f"user:{number}"))
    await deferred(database, Work("semantic", "default", "wren", "user:1"))
    assert await drain(system, until=datetime.now(UTC) + timedelta(days=1)) == 8
    await deferred(database, Work("dedup", "default", "wren", "user:9"))
    await system.consolidation.queue.prune(7, at_once=2)
    assert len(await jobs_of(database)) == 7
    await write(runtime, "user:1")
    async with database.maintenance() as connection:
        await connection.execute("UPDATE procrastinate_events SET at = at - interval '8 days'")
        await connection.execute(
            "INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload, at) "
            "SELECT tenant_id, slice_id, agent_id, 'session.completed', '{}', now() - make_interval(days => d) "
            "FROM slices, generate_series(28, 32) d WHERE agent_id = 'wren' AND NOT past AND owner_key IS NOT NULL"
        )
    await system.consolidation.queue.prune(7, at_once=2)
    assert [(job["stage"], job["status"]) for job in await jobs_of(database)] == [
        ("semantic", "failed"),
        ("dedup", "todo"),
    ]
    async with database.maintenance() as connection:
        row = await (await connection.execute("SELECT count(*) AS n FROM events")).fetchone()
    assert (row or {})["n"] == 2
    assert {row["stage"] for row in await stage_rows(database)} == set()


async def test_an_agent_made_shortly_before_its_night_has_that_night(
    runtime: Runtime, database: Database, cron: Cron, clock: Clock
) -> None:
    """*(Found)*: the first look at a slice came with its night, and only marked it."""
    await write(runtime, "user:1")
    async with database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        await connection.execute("UPDATE documents SET created_at = '2026-04-02T23:58Z'")
    clock.now = datetime(2026, 4, 3, 0, 0, tzinfo=UTC)
    assert await cron.defer_nightly() > 0
    assert ("wren", "user:1") in await waiting(database)
    assert await cron.defer_nightly() == 0
