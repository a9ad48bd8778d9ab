"""Deleting an agent while others write to it leaves nothing half there."""

import asyncio

from tests.consistency import assert_index_consistent

from reverie_indexer.change import overwrite
from reverie_indexer.errors import Conflict, NotFound
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.runtime import Runtime


async def test_new_owners_write_while_their_agent_is_deleted(
    runtime: Runtime, pipeline: Pipeline, conninfo: str
) -> None:
    async def write(owner: int) -> None:
        place = Place("default", "wren", "personal", f"user:{owner}")
        for _ in range(5):
            try:
                await pipeline.write(place, overwrite("a.md", f"lantern {owner}", by="test", reason="test"))
            except (Conflict, NotFound):
                pass
            else:
                return

    async def delete() -> None:
        await asyncio.sleep(0.02)
        await runtime.agents.delete("default", "wren")

    for round_number in range(4):
        await pipeline.write(Place("default", "wren", "team"), overwrite("t.md", "lantern", by="test", reason="test"))
        await asyncio.gather(delete(), *(write(10 * round_number + n) for n in range(6)))
        assert_index_consistent(conninfo)
