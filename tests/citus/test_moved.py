"""A shard is moved to another node while its tenants write and search: nothing is lost, and no answer is wrong."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from tests.citus.failures import node_of
from tests.citus.memories import Tenant, fill, tenants
from tests.citus.writers import Writer

NAMES = ("acme", "birch")
MOVE = """
SELECT citus_move_shard_placement(
    shardid, here.nodename, here.nodeport, there.nodename, there.nodeport, 'auto')
FROM pg_dist_placement p JOIN pg_dist_node here USING (groupid), pg_dist_node there
WHERE p.shardid = get_shard_id_for_distribution_column('agents', %s::text)
  AND there.groupid NOT IN (0, here.groupid)"""


@dataclass
class Reader:
    """Searches until it is told to end, and keeps what was not answered as it should be."""

    tenant: Tenant
    searches: int = 0
    wrong: list[str] = field(default_factory=list)
    refused: list[tuple[int, str | None]] = field(default_factory=list)

    async def read(self, ending: asyncio.Event) -> None:
        """Until `ending` is set."""
        others = [name for name in NAMES if name != self.tenant.name]
        while not ending.is_set():
            answer = await self.tenant.ask("POST", "memory/search", query="Where does the heron keep its lantern?")
            if answer.status_code != 200:
                self.refused.append((answer.status_code, answer.headers.get("retry-after")))
            elif f"The heron of {self.tenant.name} keeps" not in answer.text or any(n in answer.text for n in others):
                self.wrong.append(answer.text)
            self.searches += 1
            await asyncio.sleep(0.05)


def move(conninfo: str, tenant: str) -> None:
    """Move the shards with a tenant's rows to the other worker, while they are read and written."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(MOVE.encode(), [tenant])


async def test_a_move_loses_no_write_and_makes_no_answer_wrong(distributed: str, tmp_path: Path) -> None:
    async with tenants(distributed, tmp_path, NAMES) as (_, memories):
        for tenant in memories:
            await fill(tenant)
        places = [node_of(distributed, name) for name in NAMES]
        writers = [Writer(tenant) for tenant in memories]
        readers = [Reader(tenant) for tenant in memories]
        ending = asyncio.Event()
        using = asyncio.gather(*(w.write(ending) for w in writers), *(r.read(ending) for r in readers))
        try:
            await asyncio.to_thread(move, distributed, "acme")
            moved = [node_of(distributed, name) for name in NAMES]
            await asyncio.to_thread(move, distributed, "acme")
        finally:
            ending.set()
            await using
        assert (places, moved) == (["east", "west"], ["west", "west"])
        assert [node_of(distributed, name) for name in NAMES] == places
        assert [reader.wrong for reader in readers] == [[], []]
        assert all(reader.searches for reader in readers)
        refused = {each for user in (*readers, *writers) for each in user.refused}
        assert {(status, wait is not None) for status, wait in refused} <= {(503, True)}, refused
        for writer in writers:
            assert writer.said
            for session in writer.said:
                messages = (await writer.tenant.do("GET", f"sessions/{session}/messages"))["messages"]
                assert [each["id"] for each in messages] == ["m1"], (writer.tenant.name, session)
            assert f"was seen at {writer.said[-1]}." in await writer.tenant.found(f"seen at {writer.said[-1]}")
