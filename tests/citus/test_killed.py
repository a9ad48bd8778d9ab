"""Nodes are killed at any instant while tenants write: what was acknowledged is there, and jobs are as their causes."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from tests.citus.failures import causes_and_jobs, node_of, prepared, wait_until
from tests.citus.memories import tenants
from tests.citus.nodes import Nodes
from tests.citus.writers import Writer

NAMES = ("acme", "birch", "cedar", "elm")


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
async def test_nothing_acknowledged_is_lost_and_no_job_is_without_its_cause(
    recovering: str, database_name: str, nodes: Nodes, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    assert {node_of(recovering, name) for name in NAMES} == {"east", "west"}
    async with tenants(recovering, tmp_path, NAMES) as (_, memories):
        writers = [Writer(tenant) for tenant in memories]
        ending = asyncio.Event()
        writing = asyncio.gather(*(writer.write(ending) for writer in writers))
        for number in range(kills):
            await asyncio.sleep(chance.uniform(0.5, 2.0))
            node = ("west", "coordinator", "east", "coordinator")[number % 4]
            await asyncio.to_thread(nodes.kill, node)
            await asyncio.sleep(chance.uniform(0.0, 0.5))
            await asyncio.to_thread(nodes.start, node)
        ending.set()
        await writing
        await asyncio.to_thread(
            wait_until, lambda: not any(prepared(nodes, database_name).values()), "Citus ends what is prepared"
        )
        refused = {each for writer in writers for each in writer.refused}
        assert refused
        assert {(status, wait is not None) for status, wait in refused} == {(503, True)}
        for writer in writers:
            for session in writer.said:
                messages = (await writer.tenant.do("GET", f"sessions/{session}/messages"))["messages"]
                assert [each["id"] for each in messages] == ["m1"], (writer.tenant.name, session)
                assert f"seen at {session}." in messages[0]["content"]
        causes, jobs = causes_and_jobs(recovering)
        assert causes == jobs
        counts = {name: sum(tenant == name for tenant, _ in causes) for name in NAMES}
        assert counts == {writer.tenant.name: len(writer.said) for writer in writers}
        assert all(counts.values())
