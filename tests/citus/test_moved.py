"""Shards are moved to another node while their tenants write and search: nothing is lost, and no answer is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from tests.citus.failures import node_of
from tests.citus.memories import Tenant, fill, tenants
from tests.citus.writers import Writer

from reverie_indexer.database.distributing import distribute

MOVE = """
SELECT citus_move_shard_placement(
    shardid, here.nodename, here.nodeport, there.nodename, there.nodeport, 'auto')
FROM pg_dist_placement p JOIN pg_dist_node here USING (groupid), pg_dist_node there
WHERE p.shardid = get_shard_id_for_distribution_column('agents', %s::text)
  AND there.groupid NOT IN (0, here.groupid)"""
TAKES_SHARDS = """
SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', %s) FROM pg_dist_node
WHERE nodename ~ '/east/run$'"""
PLACEMENTS = """
SELECT substring(nodename FROM '/([a-z]+)/run$'), count(*) FROM citus_shards WHERE table_name = 'chunks'::regclass
GROUP BY 1"""


@dataclass
class Reader:
    """Searches until it is told to end, and keeps what was not answered as it should be."""

    tenant: Tenant
    others: Sequence[str]
    searches: int = 0
    wrong: list[str] = field(default_factory=list)
    refused: list[tuple[int, str | None]] = field(default_factory=list)

    async def read(self, ending: asyncio.Event) -> None:
        """Until `ending` is set."""
        while not ending.is_set():
            answer = await self.tenant.ask("POST", "memory/search", query="Where does the heron keep its lantern?")
            if answer.status_code != 200:
                self.refused.append((answer.status_code, answer.headers.get("retry-after")))
            elif f"The heron of {self.tenant.name} keeps" not in answer.text or any(
                n in answer.text for n in self.others
            ):
                self.wrong.append(answer.text)
            self.searches += 1
            await asyncio.sleep(0.05)


def move(conninfo: str, tenant: str) -> None:
    """Move the shards with a tenant's rows to the other worker, while they are read and written."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(MOVE.encode(), [tenant])


def let_east_take_shards(conninfo: str, *, does: bool) -> None:
    """Whether new shards, and those of a rebalance, may go to the node `east`."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(TAKES_SHARDS.encode(), [does])


def placements(conninfo: str) -> dict[str, int]:
    """The number of shards of each node that has any."""
    with psycopg.connect(conninfo) as connection:
        return dict(connection.execute(PLACEMENTS.encode()).fetchall())


def rebalance(conninfo: str) -> str:
    """Let Citus spread the shards over the nodes as it does by itself; the state in which that ends."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT citus_rebalance_start()")
        connection.execute("SELECT citus_rebalance_wait()")
        [state] = connection.execute("SELECT state FROM citus_rebalance_status()").fetchone() or [""]
    return str(state)


@asynccontextmanager
async def in_use(memories: Sequence[Tenant]) -> AsyncIterator[None]:
    """Each tenant writes and searches meanwhile: all that was acknowledged is there, and no answer was wrong; what was
    refused was to be tried again."""
    writers = [Writer(tenant) for tenant in memories]
    readers = [Reader(tenant, [other.name for other in memories if other is not tenant]) for tenant in memories]
    ending = asyncio.Event()
    using = asyncio.gather(*(w.write(ending) for w in writers), *(r.read(ending) for r in readers))
    try:
        yield
    finally:
        ending.set()
        await using
    assert [reader.wrong for reader in readers] == [[]] * len(memories)
    assert all(reader.searches for reader in readers)
    refused = {each for user in (*readers, *writers) for each in user.refused}
    assert {(status, wait is not None) for status, wait in refused} <= {(503, True)}, refused
    for writer in writers:
        assert writer.said
        for session in writer.said:
            messages = (await writer.tenant.do("GET", f"sessions/{session}/messages"))["messages"]
            assert [each["id"] for each in messages] == ["m1"], (writer.tenant.name, session)
        assert f"was seen at {writer.said[-1]}." in await writer.tenant.found(f"seen at {writer.said[-1]}")


async def test_a_move_loses_no_write_and_makes_no_answer_wrong(distributed: str, tmp_path: Path) -> None:
    names = ("acme", "birch")
    async with tenants(distributed, tmp_path, names) as (_, memories):
        for tenant in memories:
            await fill(tenant)
        places = [node_of(distributed, name) for name in names]
        async with in_use(memories):
            await asyncio.to_thread(move, distributed, "acme")
            moved = [node_of(distributed, name) for name in names]
            await asyncio.to_thread(move, distributed, "acme")
    assert (places, moved) == (["east", "west"], ["west", "west"])
    assert [node_of(distributed, name) for name in names] == places


@pytest.mark.slow
async def test_a_rebalance_spreads_the_tenants_of_one_node_while_they_are_served(
    nodes_conninfo: str, tmp_path: Path
) -> None:
    names = ("acme", "birch", "cedar", "elm")
    let_east_take_shards(nodes_conninfo, does=False)
    assert (await distribute(nodes_conninfo)).workers == 1
    let_east_take_shards(nodes_conninfo, does=True)
    # As after a worker was added: it is told what it is to know.
    assert (await distribute(nodes_conninfo)).workers == 2
    assert placements(nodes_conninfo) == {"west": 4}
    async with tenants(nodes_conninfo, tmp_path, names) as (_, memories):
        for tenant in memories:
            await fill(tenant)
        async with in_use(memories):
            assert await asyncio.to_thread(rebalance, nodes_conninfo) == "finished"
    assert placements(nodes_conninfo) == {"east": 2, "west": 2}
    assert {node_of(nodes_conninfo, name) for name in names} == {"east", "west"}
