"""Nodes are killed at any instant while tenants write: what was acknowledged is there, and jobs are as their causes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.citus.failures import causes_and_jobs, node_of, prepared, tell, wait_until
from tests.citus.memories import Tenant, tenants
from tests.citus.nodes import Nodes

NAMES = ("acme", "birch", "cedar", "elm")


@pytest.fixture
def recovering(distributed: str) -> Iterator[str]:
    """A distributed database where Citus itself ends what is prepared, every second."""
    tell(distributed, "ALTER SYSTEM SET citus.recover_2pc_interval = 1000", "SELECT pg_reload_conf()")
    yield distributed
    tell(distributed, "ALTER SYSTEM RESET citus.recover_2pc_interval", "SELECT pg_reload_conf()")


@dataclass
class Writer:
    """Writes one conversation after the other, and completes each; a request is repeated until it is answered well."""

    tenant: Tenant
    said: list[str] = field(default_factory=list)
    refused: list[tuple[int, str | None]] = field(default_factory=list)

    async def write(self, ending: asyncio.Event) -> None:
        """Until `ending` is set, and then to the end of the conversation."""
        while not ending.is_set():
            session = f"web:{len(self.said)}"
            message = {"id": "m1", "role": "user", "content": f"The heron of {self.tenant.name} was seen at {session}."}
            await self._until_done(f"sessions/{session}/messages", messages=[message])
            await self._until_done(f"sessions/{session}/complete", trigger_source="api")
            self.said.append(session)

    async def _until_done(self, path: str, **body: object) -> None:
        while (answer := await self.tenant.ask("POST", path, **body)).status_code >= 300:
            self.refused.append((answer.status_code, answer.headers.get("retry-after")))
            await asyncio.sleep(0.1)


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
