"""What is read into memory is read by the indexes of the slice: its own rows, and no neighbour's."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes
from tests.plans.test_search_plans import FILES, fill, scans

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.search.evidence import LABEL_CHARS
from reverie_server.search.hot import answer, cache, load
from reverie_server.search.request import ALL_TIERS

OWN = FILES * 20
STATEMENTS = {
    "places": (load.SQL["places"], {"documents": {"documents_tenant_id_slice_id_path_session_key_key"}}),
    "documents": (load.SQL["documents"], {"documents": {"documents_tenant_id_slice_id_path_session_key_key"}}),
    "traits": (load.SQL["traits"], {"chunks": {"chunks_pkey"}}),
    "postings": (load.SQL["postings"], {"postings": {"postings_pkey"}}),
    "postings_of_chunks": (load.SQL["postings_of_chunks"], {"postings": {"postings_pkey"}, "chunks": {"chunks_pkey"}}),
    "vectors": (load.SQL["vectors"], {"vectors_0": {"vectors_0_pkey"}}),
    "texts": (answer.SQL["texts"], {"chunks": {"chunks_pkey"}}),
}


async def explain(database: Database, models: ModelSlot, statement: bytes) -> list[dict[str, Any]]:
    assert models.ready is not None
    async with database.tenant("default", snapshot=True) as connection:
        slices = await visible_slices(connection, "default", "wren", "user:1")
        own = next(s.slice_id for s in slices if s.owner_key == "user:1")
        cursor = await connection.execute("SELECT chunk_id FROM chunks WHERE slice_id = %s ORDER BY chunk_id", [own])
        parameters = {
            "tenant_id": "default",
            "slice_id": own,
            "model_id": models.ready.model_id,
            "partition_id": 0,
            "chunk_ids": [row["chunk_id"] for row in await cursor.fetchall()],
            "tiers": list(ALL_TIERS),
            "label_chars": LABEL_CHARS,
        }
        if statement in (load.SQL["places"], load.SQL["documents"]):
            await connection.execute(load.SQL["in_index_order"])
        return list(nodes(await explained(connection, statement, parameters)))


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
@pytest.mark.parametrize("name", STATEMENTS)
async def test_a_slice_is_read_by_its_indexes(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str, name: str, analyzed: bool
) -> None:
    await fill(pipeline)
    if analyzed:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    statement, expected = STATEMENTS[name]
    found = await explain(database, models, statement)
    for table, indexes in expected.items():
        of_table = scans(found, table)
        assert {node["Index Name"] for node in of_table} == indexes
        read = sum(
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in of_table
        )
        # Of forty neighbours with the same words none is looked at.
        words = 12 if table == "postings" else 1
        assert 0 < read <= OWN * words


async def test_revisions_are_looked_up_by_key(database: Database, pipeline: Pipeline) -> None:
    await fill(pipeline)
    async with database.maintenance() as connection:
        parameters = {"tenant_ids": ["default", "other"], "slice_ids": [1, 2]}
        found = list(nodes(await explained(connection, cache.SQL["revisions"], parameters)))
    assert {node["Index Name"] for node in scans(found, "slices")} == {"slices_pkey"}
