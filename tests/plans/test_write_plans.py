"""What a write costs does not grow with what is there: it looks up by key, with and without statistics."""

from __future__ import annotations

import os
from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes, tell_plans, told

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.index import document_index, vectors
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules

PLACE = Place("default", "wren", "team")
FILES, PASSAGES = 40, 10
ON_NODES = bool(os.environ.get("REVERIE_TEST_ON_NODES"))


async def rows_read(database: Database, statement: bytes, parameters: dict[str, Any]) -> dict[str, int]:
    """How many rows a statement reads of each table, those that a filter then drops included."""
    read: dict[str, int] = {}
    for node in nodes(await taken_back(database, statement, parameters)):
        if "Scan" in node["Node Type"] and "Relation Name" in node:
            rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            table = node["Relation Name"]
            read[table] = read.get(table, 0) + round(rows * node["Actual Loops"])
    return read


async def taken_back(database: Database, statement: bytes, parameters: dict[str, Any]) -> Any:
    """The plan of a statement that was run as a writer of PLACE runs it, and then taken back."""
    async with database.tenant("default") as connection:
        await lock_slice(connection, PLACE)
        found = await (told if ON_NODES else explained)(connection, statement, parameters)
        await connection.rollback()
    return found


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
async def test_a_write_reads_its_own_passages_of_the_cache_and_of_the_index(
    database: Database, models: ModelSlot, conninfo: str, monkeypatch: pytest.MonkeyPatch, analyzed: bool
) -> None:
    pipeline = Pipeline(database, models, Rules())
    texts = ["\n\n".join(f"Passage {n} of {file}." for n in range(PASSAGES)) for file in range(FILES)]
    changes = [overwrite(f"{n}.md", text, by="test", reason="test") for n, text in enumerate(texts)]
    await pipeline.write_many(PLACE, changes)
    if analyzed:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    sent: dict[bytes, dict[str, Any]] = {}
    execute = psycopg.AsyncConnection.execute

    async def noting(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        sent[query] = params
        return await execute(self, query, params, **options)

    monkeypatch.setattr(psycopg.AsyncConnection, "execute", noting)
    without_model = Pipeline(database, ModelSlot(None), Rules())
    await without_model.write(PLACE, overwrite("waits.md", "Two passages.\n\nThat wait.", by="test", reason="test"))
    await pipeline.write(PLACE, overwrite("new.md", "Two passages.\n\nThat are new.", by="test", reason="test"))
    await pipeline.backfill()
    monkeypatch.undo()
    if ON_NODES:
        tell_plans(conninfo)
    async with Database(conninfo, pool_size=1) as measured:
        of_write = await rows_read(measured, document_index.SQL["add_chunks"], sent[document_index.SQL["add_chunks"]])
        assert of_write["embedding_cache"] <= 4
        postings = sent[document_index.SQL["add_postings"]]
        others = {**postings, "terms": [f"{term} of another passage" for term in postings["terms"]]}
        assert await rows_read(measured, document_index.SQL["add_postings"], others) == {}
        of_backfill = await rows_read(measured, vectors.SQL["embed_chunks"], sent[vectors.SQL["embed_chunks"]])
        assert of_backfill.get("chunks", 0) <= 2
        assert of_backfill.get("embedding_cache", 0) <= 4
