"""A job is on the coordinator and its cause on a node: both are there or neither, whatever is killed, and when."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psycopg
import pytest
from tests.citus.failures import (
    causes_and_jobs,
    held,
    held_before_commit,
    let_go,
    node_of,
    prepared,
    recover,
    tell,
    wait_until,
)
from tests.citus.memories import OWNER, Tenant, fill, tenants
from tests.citus.nodes import Nodes

from reverie_indexer.database.database import visible_slices
from reverie_indexer.errors import DatabaseUnavailable
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.defer import Delays, publish
from reverie_server.jobs.model import Event

SINGLE = """
SELECT (SELECT count(*) FROM events WHERE kind = 'episodic.created'),
       (SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'semantic')"""
LOCKED = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def unrecovered(distributed: str) -> Iterator[str]:
    """A distributed database where prepared transactions stay until the test ends them."""
    tell(distributed, "ALTER SYSTEM SET citus.recover_2pc_interval = -1", "SELECT pg_reload_conf()")
    yield distributed
    tell(distributed, "ALTER SYSTEM RESET citus.recover_2pc_interval", "SELECT pg_reload_conf()")


async def complete(tenant: Tenant) -> httpx.Response:
    """The answer to: what the session has said is complete."""
    return await tenant.ask("POST", "sessions/web:1/complete", trigger_source="api")


async def test_a_coordinator_killed_before_its_part_is_committed_has_neither_cause_nor_job(
    unrecovered: str, database_name: str, nodes: Nodes, tmp_path: Path
) -> None:
    async with tenants(unrecovered, tmp_path, ["acme"]) as (_, [acme]):
        await fill(acme)
        node = node_of(unrecovered, "acme")
        with held_before_commit(unrecovered) as a_commit_is_held:
            completing = asyncio.create_task(complete(acme))
            await asyncio.to_thread(a_commit_is_held)
            was_prepared = prepared(nodes, database_name)
            await asyncio.to_thread(nodes.kill, "coordinator")
            await asyncio.to_thread(nodes.start, "coordinator")
        answer = await completing
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        await asyncio.to_thread(recover, nodes, database_name)
        assert causes_and_jobs(unrecovered) == ([], [])
        assert was_prepared == {"coordinator": 0, "east": 0, "west": 0} | {node: 1}
        assert (await complete(acme)).status_code == 202
        causes, jobs = causes_and_jobs(unrecovered)
        assert (causes, len(jobs)) == (jobs, 1)


async def test_a_cause_of_a_single_row_is_not_there_without_its_job(
    unrecovered: str, database_name: str, nodes: Nodes, tmp_path: Path
) -> None:
    """Such a transaction, of one node and the coordinator's own tables, Citus would commit in one phase."""
    async with tenants(unrecovered, tmp_path, ["acme"]) as (runtime, [acme]):
        await fill(acme)

        async def cause() -> None:
            async with runtime.database.tenant("acme") as connection:
                slices = await visible_slices(connection, "acme", "wren", OWNER)
                [own] = [each.slice_id for each in slices if each.owner_key == OWNER]
                event = Event("episodic.created", "acme", "wren", OWNER, own, {"episode_id": 1})
                await publish(connection, event, Delays())

        def there() -> tuple[int, int]:
            with psycopg.connect(unrecovered) as connection:
                connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
                [causes, jobs] = connection.execute(SINGLE.encode()).fetchone() or (-1, -1)
            return causes, jobs

        with held_before_commit(unrecovered) as a_commit_is_held:
            causing = asyncio.create_task(cause())
            await asyncio.to_thread(a_commit_is_held)
            await asyncio.to_thread(nodes.kill, "coordinator")
            await asyncio.to_thread(nodes.start, "coordinator")
        with pytest.raises(DatabaseUnavailable):
            await causing
        await asyncio.to_thread(recover, nodes, database_name)
        assert there() == (0, 0)
        await cause()
        assert there() == (1, 1)


async def test_a_coordinator_killed_after_its_part_is_committed_has_both_when_it_is_back(
    unrecovered: str, database_name: str, nodes: Nodes, tmp_path: Path
) -> None:
    async with tenants(unrecovered, tmp_path, ["acme"]) as (_, [acme]):
        await fill(acme)
        # A commit is in the log, and waits for a standby that there is not.
        tell(unrecovered, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
        try:
            completing = asyncio.create_task(complete(acme))
            await asyncio.to_thread(
                wait_until,
                lambda: any(prepared(nodes, database_name).values()) and bool(held(unrecovered, "IPC", "SyncRep")),
                "the commit is held",
            )
            [committing] = held(unrecovered, "IPC", "SyncRep")
            # First: without its postmaster it would wait no longer, and go on to the nodes.
            os.kill(committing, signal.SIGKILL)
            await asyncio.to_thread(nodes.kill, "coordinator")
            await asyncio.to_thread(nodes.start, "coordinator")
        finally:
            let_go(unrecovered)
        assert (await completing).status_code == 503
        assert sum(prepared(nodes, database_name).values()) == 1
        await asyncio.to_thread(recover, nodes, database_name)
        causes, jobs = causes_and_jobs(unrecovered)
        assert (causes, len(jobs)) == (jobs, 1)


async def test_a_node_killed_between_the_phases_keeps_what_was_acknowledged_and_its_job_waits_for_it(
    unrecovered: str, database_name: str, nodes: Nodes, tmp_path: Path
) -> None:
    async with tenants(unrecovered, tmp_path, ["acme"]) as (runtime, [acme]):
        await fill(acme)
        node = node_of(unrecovered, "acme")
        with held_before_commit(unrecovered) as a_commit_is_held:
            completing = asyncio.create_task(complete(acme))
            await asyncio.to_thread(a_commit_is_held)
            await asyncio.to_thread(nodes.kill, node)
        assert (await completing).status_code == 202
        await asyncio.to_thread(nodes.start, node)
        assert prepared(nodes, database_name)[node] == 1
        causes, jobs = causes_and_jobs(unrecovered)
        assert (len(causes), len(jobs)) == (0, 1)

        # Others would wait for its locks by themselves.
        tell(unrecovered, "UPDATE procrastinate_jobs SET priority = 1 WHERE task_name = 'episodic'")
        working = asyncio.create_task(drain(runtime, until=datetime.now(UTC) + timedelta(hours=1)))

        def has_begun() -> bool:
            with psycopg.connect(nodes.of(node, database_name)) as connection:
                return working.done() or connection.execute(LOCKED).fetchone() != (0,)

        await asyncio.to_thread(wait_until, has_begun, "a job waits for its cause")
        assert not working.done()
        await asyncio.to_thread(recover, nodes, database_name)
        with suppress(TimeoutError):
            await asyncio.wait_for(working, 120)
        assert len((await acme.do("GET", "episodes"))["episodes"]) == 1
        failed = (await acme.do("GET", "pipeline"))["stages"]
        assert {name: stage["failed"] for name, stage in failed.items()} == dict.fromkeys(failed, 0)
        assert len(causes_and_jobs(unrecovered)[0]) == 1
