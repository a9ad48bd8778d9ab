"""What a search reads for a model without constants, and what upkeep reads of a slice: its own rows by their keys."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.search.calibration import store

PASSAGES, NEIGHBOURS = 40, 60


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
async def test_nearness_and_sample_are_read_by_their_keys(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str, analyzed: bool
) -> None:
    assert models.ready is not None
    text = "\n\n".join(f"Passage {number} of the harbour." for number in range(PASSAGES))
    for number in range(NEIGHBOURS):
        place = Place("default", "wren", "personal", f"user:{number}")
        await pipeline.write(place, overwrite("notes.md", text, by="test", reason="test"))
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            b"INSERT INTO slice_nearness SELECT tenant_id, slice_id, %(model_id)s, 0.2, chunk_count FROM slices",
            {"model_id": models.ready.model_id},
        )
        if analyzed:
            connection.execute("VACUUM (ANALYZE)")

    async def explain(statement: bytes) -> list[dict[str, Any]]:
        assert models.ready is not None
        async with database.tenant("default", snapshot=True) as connection:
            slices = await visible_slices(connection, "default", "wren", "user:7")
            params = {
                "tenant_id": "default",
                "slice_ids": [s.slice_id for s in slices],
                "slice_id": next(s.slice_id for s in slices if s.owner_key),
                "model_id": models.ready.model_id,
                "partition_id": 0,
                "covered": True,
                "limit": 10,
            }
            return list(nodes(await explained(connection, statement, params)))

    [scan] = [node for node in await explain(store.SQL["nearness"]) if node.get("Relation Name") == "slice_nearness"]
    assert (scan["Index Name"], "slice_id" in scan["Index Cond"]) == ("slice_nearness_pkey", True)
    found = [node for node in await explain(store.SQL["sample"]) if node.get("Relation Name") == "vectors_0"]
    assert [node for node in found if node["Node Type"] == "Seq Scan"] == []
    if analyzed:
        [ids, each] = sorted(found, key=lambda node: node["Index Name"])
        assert (ids["Index Name"], ids["Actual Rows"]) == ("vectors_0_covering", PASSAGES)
        assert (each["Index Name"], each["Actual Loops"]) == ("vectors_0_pkey", 10)
