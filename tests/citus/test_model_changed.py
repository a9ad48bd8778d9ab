"""From one embedding model to another on three nodes, while one tenant writes and searches and another does not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import psycopg
from tests.citus.failures import node_of
from tests.citus.memories import fill, tenants
from tests.citus.test_moved import in_use
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.embedding import migrate
from reverie_indexer.index import vectors
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

NAMES = ("acme", "birch")
QUESTION = "Where does the heron keep its lantern?"
VECTORS = "SELECT tenant_id, model_id FROM vectors"
CHUNKS = "SELECT tenant_id FROM chunks"
LARGE = "SELECT slice_id FROM slices WHERE tenant_id = 'birch' AND NOT past ORDER BY chunk_count DESC LIMIT 1"


async def test_a_model_is_changed_while_a_tenant_writes_and_searches(distributed: str, tmp_path: Path) -> None:
    assert {node_of(distributed, name) for name in NAMES} == {"east", "west"}
    async with tenants(distributed, tmp_path, NAMES) as (runtime, [acme, birch]):
        database = runtime.database
        for tenant in (acme, birch):
            await fill(tenant)
        # One memory has an index of its own for each model.
        [large] = await database.maintenance_query(LARGE.encode(), {})
        await vectors.promote_slice(database, "birch", large["slice_id"])
        slow = await filled_slot(database, MoodyEmbedder(32, delay_seconds=0.3), check_active=False)
        assert slow.ready is not None
        async with in_use([acme]):
            embedded = await migrate(database, slow.ready)
        # Another program, that has the new model, takes what the old one could only search by words.
        pipeline = Pipeline(database, slow, Rules())
        while await pipeline.backfill():
            pass
        with psycopg.connect(distributed) as connection:
            connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
            chunks = Counter(tenant for (tenant,) in connection.execute(CHUNKS))
            given = Counter(connection.execute(VECTORS.encode()).fetchall())
        assert given == {(name, slow.ready.model_id): chunks[name] for name in NAMES}
        assert 0 < chunks["birch"] < embedded
        search = Search(database, slow, SearchRules())
        for name in NAMES:
            found = await search.search(SearchRequest(name, "wren", QUESTION, owner_key="user:1"))
            assert (found.mode, found.warnings) == ("hybrid", [])
            assert all(result.similarity is not None for result in found.results)
            assert f"The heron of {name} keeps" in found.results[0].text
    assert_index_consistent(distributed)
