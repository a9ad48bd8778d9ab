"""A stretch of a conversation is complete once: when somebody says so, or when nobody says anything for a while."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import pytest
from tests.conversations import ADA, BO, SESSION, TEAM, append, grant_of, place_of, principal_of, user

from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_server.app.upkeep import upkeep
from reverie_server.app.wiring import assemble
from reverie_server.jobs.defer import Delays
from reverie_server.runtime import Runtime
from reverie_server.sessions.completion import complete_idle_sessions
from reverie_server.settings.server import Settings


async def events(database: Database) -> list[Mapping[str, Any]]:
    async with database.maintenance() as connection:
        cursor = await connection.execute("SELECT tenant_id, kind, payload FROM events ORDER BY event_id")
        return await cursor.fetchall()


async def test_each_stretch_is_published_once(runtime: Runtime, database: Database) -> None:
    await append(runtime, user("one"), user("two"))
    jobs = await runtime.sessions.complete(ADA, SESSION, "web")
    assert [job.stage for job in jobs] == ["facts", "episodic", "extraction"]
    assert await runtime.sessions.complete(ADA, SESSION, "web") == []
    await append(runtime, user("three"))
    again = await runtime.sessions.complete(ADA, SESSION, "cron")
    assert [job.job_id for job in again] == [job.job_id for job in jobs]  # they wait still: one run is enough
    key = (await runtime.sessions.find(ADA, SESSION)).session_key
    common = {"session_key": key, "session_id": SESSION, "owner_key": "user:1", "compactions": 0}
    assert [(row["kind"], row["payload"]) for row in await events(database)] == [
        ("session.completed", {**common, "trigger_source": "web", "from_seq": 1, "through_seq": 2}),
        ("session.completed", {**common, "trigger_source": "cron", "from_seq": 3, "through_seq": 3}),
    ]


async def test_of_many_at_once_one_publishes(runtime: Runtime, database: Database) -> None:
    await append(runtime, user("one"))
    done = await asyncio.gather(
        *(runtime.sessions.complete(ADA, SESSION, "api") for _ in range(6)),
        complete_idle_sessions(database, Delays(), idle_seconds=0),
    )
    assert sum(one if isinstance(one, int) else len(one) // 2 for one in done) == 1
    assert len(await events(database)) == 1


async def test_stretches_meet_whoever_speaks_meanwhile(runtime: Runtime, database: Database) -> None:
    async def complete() -> None:
        for _ in range(4):
            with contextlib.suppress(NotFound):
                await runtime.sessions.complete(ADA, SESSION, "api")

    said = (append(runtime, user(f"{n} a"), user(f"{n} b")) for n in range(8))
    await asyncio.gather(*said, complete(), complete())
    await runtime.sessions.complete(ADA, SESSION, "api")
    stretches = [(row["payload"]["from_seq"], row["payload"]["through_seq"]) for row in await events(database)]
    assert [first for first, _ in stretches] == [1, *(last + 1 for _, last in stretches[:-1])]
    assert stretches[-1][1] == 16


async def test_what_has_nothing_to_complete(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        await runtime.sessions.complete(ADA, SESSION, "api")
    await runtime.sessions.put(grant_of(ADA), place_of(ADA), SESSION, state=None, metadata=None)
    assert await runtime.sessions.complete(ADA, SESSION, "api") == []
    await append(runtime, user("one"))
    with pytest.raises(NotFound):
        await runtime.sessions.complete(BO, SESSION, "api")
    await runtime.sessions.clear(ADA, SESSION)
    assert await runtime.sessions.complete(ADA, SESSION, "api") == []


async def test_silent_sessions_of_every_tenant_are_complete(runtime: Runtime, database: Database) -> None:
    elsewhere = principal_of("user:9", "finch", "acme")
    await append(runtime, user("one"), principal=TEAM)
    for number in range(4):
        await append(runtime, user("one"), session_id=f"web:{number}")
    await append(runtime, user("one"), principal=elsewhere)
    assert await complete_idle_sessions(database, Delays(), idle_seconds=3600) == 0
    async with database.maintenance() as connection:
        await connection.execute(
            "UPDATE sessions SET updated_at = now() - interval '2 hours' WHERE session_id <> 'web:3'"
        )
    assert await complete_idle_sessions(database, Delays(), idle_seconds=3600, page_sessions=2) == 5
    assert await complete_idle_sessions(database, Delays(), idle_seconds=3600) == 0
    found = await events(database)
    assert {(row["tenant_id"], row["payload"]["session_id"]) for row in found} == {
        *(("default", f"web:{n}") for n in range(3)),
        ("default", SESSION),
        ("acme", SESSION),
    }
    assert {row["payload"]["trigger_source"] for row in found} == {"idle"}
    # Somebody speaks again, and falls silent.
    await append(runtime, user("two"), session_id="web:0")
    assert await complete_idle_sessions(database, Delays(), idle_seconds=0) == 2


async def test_a_server_sees_to_it(runtime: Runtime, database: Database) -> None:
    settings = Settings(embedder="hashing", session_idle_seconds=0.001, backfill_interval_seconds=0.05)
    system = assemble(settings, database, runtime.models)
    await append(system, user("one"))
    task = asyncio.create_task(upkeep(system))
    while not await events(database):
        assert not task.done()
        await asyncio.sleep(0.02)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
