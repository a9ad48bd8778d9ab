"""What has expired is left out of a search inside its indexes: the plans are those of a search without it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
from tests.plans.test_search_plans import explain, fill, scans

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.search import store as search_store


async def test_expired_documents_are_left_out_by_the_covering_indexes(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str
) -> None:
    await fill(pipeline)
    async with database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        # As many as a pruning every six hours may leave, and of every slice some that have not expired.
        await connection.execute(
            "UPDATE documents SET expires_at = now() + CASE WHEN document_id % 2 = 0 THEN interval '1 day' "
            "ELSE interval '-1 day' END WHERE path LIKE 'notes/%'"
        )
        cursor = await connection.execute(
            "SELECT document_id FROM documents WHERE expires_at < now() ORDER BY document_id"
        )
        expired = [row["document_id"] for row in await cursor.fetchall()]
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
    assert len(expired) >= 5
    found = await explain(
        database, models, search_store.SQL["candidates"], expired=[*expired, *range(10**9, 10**9 + 500)]
    )
    assert {node["Index Name"] for node in scans(found, "postings")} == {"postings_pkey"}
    assert all(node["Node Type"] == "Index Only Scan" for node in scans(found, "postings"))
    assert all("document_id" in node["Filter"] for node in scans(found, "postings") if node["Alias"] == "p")
    [scan] = [node for node in scans(found, "vectors_0") if node["Alias"] == "v"]
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Only Scan", "vectors_0_covering")
    assert "document_id" in scan["Filter"]
    # What is left out is counted there, and is fetched nowhere.
    assert scan["Rows Removed by Filter"] >= 20 * len(expired)
    assert {node["Index Name"] for node in scans(found, "chunks")} == {"chunks_pkey", "chunks_of_document"}
    assert {node["Index Name"] for node in scans(found, "documents")} == {"documents_pkey"}


async def test_which_documents_have_expired_comes_from_an_index_alone(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str
) -> None:
    await fill(pipeline)
    async with database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        await connection.execute("UPDATE documents SET expires_at = now() - interval '1 day' WHERE path = 'notes/3.md'")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
    now = datetime.now(UTC)
    for name in ("expired", "term_frequencies"):
        found = await explain(database, models, search_store.SQL[name], now=now)
        [scan] = scans(found, "documents")
        assert scan["Index Name"] == "documents_expiring"
        assert scan["Node Type"] == "Index Only Scan"
        assert scan["Actual Rows"] == 1
        earlier = await explain(database, models, search_store.SQL[name], now=now - timedelta(days=2))
        assert [node["Actual Rows"] for node in scans(earlier, "documents")] == [0]
    found = await explain(database, models, search_store.SQL["term_frequencies"], now=now)
    [scan] = scans(found, "postings")
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Only Scan", "postings_pkey")
