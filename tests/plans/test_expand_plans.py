"""The statements that show a passage's surroundings read that passage's file and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.plans.plan_nodes import explained, nodes

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.browse import expand

PLACE = Place("default", "wren", "team")


@pytest.mark.parametrize("statement", ["passage", "neighbours"])
async def test_a_passage_and_its_neighbours_are_read_by_their_keys(
    pipeline: Pipeline, database: Database, statement: str
) -> None:
    text = "\n\n".join(f"Passage {n} about flour." for n in range(40))
    await pipeline.write_many(
        PLACE, [overwrite(f"notes/{n}.md", f"{n}\n\n{text}", by="test", reason="test") for n in range(20)]
    )
    async with database.tenant("default", snapshot=True) as connection:
        slices = await visible_slices(connection, "default", "wren", None)
        cursor = await connection.execute(
            "SELECT chunk_id, document_id FROM chunks ORDER BY chunk_id LIMIT 1 OFFSET 99"
        )
        params = {
            "now": datetime.now(UTC),
            "tenant_id": "default",
            "slice_ids": [s.slice_id for s in slices],
            **(await cursor.fetchone() or {}),
            "first": 10,
            "last": 18,
        }
        plan = await explained(connection, expand.SQL[statement], params)
    scans = [node for node in nodes(plan) if "Relation Name" in node]
    of_chunks = [node for node in scans if node["Relation Name"] == "chunks"]
    assert [node["Index Name"] for node in of_chunks] == [
        "chunks_pkey" if statement == "passage" else "chunks_of_document"
    ]
    read = sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in of_chunks)
    assert read == (1 if statement == "passage" else 9)
    assert all("Index" in node["Node Type"] for node in scans)
