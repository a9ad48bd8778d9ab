"""Writers, readers, back-fills, promotions and migrations at once: no unexpected error, and a sound index."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embedding import migrate
from reverie_indexer.errors import EmbedderUnavailable, NotFound
from reverie_indexer.index.vectors import promote_large_slices
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

PLACES = [
    Place(tenant, agent, scope, owner)
    for tenant in ("acme", "umbra")
    for agent in ("wren", "finch")
    for scope, owner in (("team", None), ("personal", "user:1"), ("global", None))
]
WORDS = ["lantern", "poison", "gate", "amber", "birch", "cedar", "same"]


def some_text(source: random.Random) -> str:
    return "\n\n".join(" ".join(source.choices(WORDS, k=source.randint(1, 4))) for _ in range(source.randint(0, 6)))


@pytest.mark.parametrize("seconds", [4, pytest.param(40, marks=pytest.mark.slow)])
async def test_everything_at_once(conninfo: str, seconds: int) -> None:
    async with Database(conninfo, pool_size=12) as database:
        await _storm(database, seconds)
        assert_index_consistent(conninfo)


async def _storm(database: Database, seconds: int) -> None:
    def moody(dimension: int) -> MoodyEmbedder:
        return MoodyEmbedder(dimension, rejects=lambda text: "poison poison" in text)

    embedders = [moody(64), moody(32)]
    slots = [await filled_slot(database, embedders[0])]
    slots.append(await filled_slot(database, embedders[1], check_active=False))
    pipelines = [Pipeline(database, slot, Rules(embed_wait_seconds=0.2, batch_size=3)) for slot in slots]
    until = asyncio.get_running_loop().time() + seconds
    done: dict[str, int] = {}

    async def repeat(name: str, job: object, pause: float) -> None:
        assert callable(job)
        source = random.Random(f"{name} {random.random()}")
        while asyncio.get_running_loop().time() < until:
            with suppress(NotFound, EmbedderUnavailable):
                await job(source)
                done[name] = done.get(name, 0) + 1
            await asyncio.sleep(pause * source.random())

    async def write(source: random.Random) -> None:
        path, text = f"notes/{source.randint(0, 4)}.md", some_text(source)
        pipeline, place = source.choice(pipelines), source.choice(PLACES)
        match source.randint(0, 3):
            case 0:
                await pipeline.write(place, Change(path, lambda old: f"{old or ''}\n\n{text}"[-500:], "user", "add"))
            case 1:
                await pipeline.delete(place, path, by="user", reason="delete")
            case 2:
                changes = [overwrite(f"notes/{n}.md", text, by="user", reason="put") for n in range(3)]
                await pipeline.write_many(place, changes)
            case _:
                await pipeline.write(place, overwrite(path, text, by="user", reason="put"))

    async def read(source: random.Random) -> None:
        place = source.choice(PLACES)
        search = Search(database, source.choice(slots), SearchRules())
        await search.search(SearchRequest(place.tenant_id, place.agent_id, "lantern gate", "user:1", max_results=50))

    async def fill(source: random.Random) -> None:
        await source.choice(pipelines).backfill(limit=7)

    async def break_down(source: random.Random) -> None:
        source.choice(embedders).down = source.random() < 0.3

    async def promote(source: random.Random) -> None:
        await promote_large_slices(database, exact_max_chunks=15, max_partitions=6)

    async def move(source: random.Random) -> None:
        await migrate(database, _ready(source.choice(slots)))

    jobs = [("write", write, 0.01)] * 5 + [("read", read, 0.01)] * 2 + [("fill", fill, 0.05)] * 2
    jobs += [("break", break_down, 0.3), ("promote", promote, 0.5), ("migrate", move, 1.0)]
    await asyncio.gather(*(repeat(*job) for job in jobs))
    assert all(done.get(name, 0) > 0 for name in ("write", "read", "fill", "promote")), done
    for embedder in embedders:
        embedder.down = False
    for slot in slots:
        await migrate(database, _ready(slot))


def _ready(slot: ModelSlot) -> Ready:
    assert slot.ready is not None
    return slot.ready
