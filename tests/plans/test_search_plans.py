"""The hot query uses the indexes it was built for, as the unprivileged role, with and without statistics.

Time is never asserted: the index used and the rows read are.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from psycopg import sql
from tests.plans.plan_nodes import explained, nodes

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.index import vectors
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.search import store as search_store
from reverie_server.search.request import SearchRequest
from reverie_server.search.search import Search

NEIGHBOURS = 40
FILES = 12


async def fill(pipeline: Pipeline) -> None:
    """One agent to search, among many others that share its words."""
    for number in range(NEIGHBOURS):
        place = Place("default" if number % 2 else "other", f"agent-{number}", "team")
        text = "\n\n".join(f"Passage {n} about flour, harbour {number} and lantern {n}." for n in range(60))
        await pipeline.write(place, overwrite("notes.md", text, by="test", reason="test"))
    place = Place("default", "wren", "personal", "user:1")
    changes = [
        overwrite(
            f"notes/{number}.md",
            "\n\n".join(f"Note {n} of {number}: flour and lantern {n}." for n in range(20)),
            by="test",
            reason="test",
        )
        for number in range(FILES)
    ]
    await pipeline.write_many(place, changes)


async def explain(database: Database, models: ModelSlot, statement: bytes, **extra: Any) -> list[dict[str, Any]]:
    """The nodes of a statement's plan, run as the program runs it: same role, settings and parameters."""
    assert models.ready is not None
    vector = await models.ready.queries.embed("flour lantern")
    async with database.tenant("default", snapshot=True) as connection:
        slices = await visible_slices(connection, "default", "wren", "user:1")
        ids = [s.slice_id for s in slices]
        parameters = {
            "tenant_id": "default",
            "slice_ids": ids,
            "exact_slice_ids": ids,
            "terms": ["flour", "lantern", "7"],
            "idfs": [0.1, 0.1, 2.0],
            "producers": ["flour", "7"],
            "others": ["lantern"],
            "tiers": ["document", "episodic", "message"],
            "expired": [],
            "now": datetime.now(UTC),
            "path_prefix": None,
            "within": None,
            "as_of": None,
            "as_of_day": None,
            "mean_length": 8.0,
            "k1": 1.2,
            "b": 0.75,
            "with_context": True,
            "label_chars": 80,
            "partition_ids": [],
            "text_limit": 50,
            "vector_limit": 50,
            "embedding": HalfVector(vector),
            "model_id": models.ready.model_id,
            "covered": True,
            "nearest_of_large": [],
            **extra,
        }
        await connection.execute(search_store.SQL["join_by_hash"])
        return list(nodes(await explained(connection, statement, parameters)))


def scans(found: list[dict[str, Any]], table: str) -> list[dict[str, Any]]:
    return [node for node in found if node.get("Relation Name") == table]


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
async def test_each_part_of_a_search_reads_its_own_index_only(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str, analyzed: bool
) -> None:
    await fill(pipeline)
    if analyzed:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    found = await explain(database, models, search_store.SQL["candidates"])
    assert {node["Index Name"] for node in scans(found, "postings")} == {"postings_pkey"}
    assert all(node["Node Type"] == "Index Only Scan" for node in scans(found, "postings"))
    assert {node["Index Name"] for node in scans(found, "chunks")} == {"chunks_pkey", "chunks_of_document"}
    # Neighbours are looked up by their place, not by reading their file.
    assert all(
        "ordinal" in node["Index Cond"] for node in scans(found, "chunks") if node["Index Name"] == "chunks_of_document"
    )
    assert {node["Index Name"] for node in scans(found, "documents")} == {"documents_pkey"}
    slice_scan = [node for node in scans(found, "vectors_0") if node["Alias"] == "v"]
    if analyzed:
        assert [node["Index Name"] for node in slice_scan] == ["vectors_0_covering"]
        assert [node["Node Type"] for node in slice_scan] == ["Index Only Scan"]


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
async def test_a_search_as_of_a_time_reads_the_passages_of_its_own_files(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str, analyzed: bool
) -> None:
    await fill(pipeline)
    if analyzed:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    now = datetime.now(UTC)
    found = await explain(database, models, search_store.SQL["candidates"], as_of=now, as_of_day=now.date())
    assert {node["Index Name"] for node in scans(found, "chunks")} == {"chunks_pkey", "chunks_of_document"}
    of_document = [node for node in scans(found, "chunks") if node["Index Name"] == "chunks_of_document"]
    [of_files] = [node for node in of_document if "ordinal" not in node["Index Cond"]]
    # The own files' passages and the seeds', not those of forty neighbours.
    assert FILES * 20 <= of_files["Actual Rows"] * of_files["Actual Loops"] <= FILES * 20 + 60
    assert {node["Index Name"] for node in scans(found, "postings")} == {"postings_pkey"}


async def test_a_search_reads_the_rows_of_its_slice_and_no_others(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str
) -> None:
    """Forty neighbours hold the same words; what is read is bounded by the slice, before any filter."""
    await fill(pipeline)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        own = connection.execute(
            "SELECT chunk_count FROM slices WHERE agent_id = 'wren' AND owner_key = 'user:1'"
        ).fetchone()
    assert own == (FILES * 20,)
    found = await explain(database, models, search_store.SQL["candidates"])
    read = [
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in scans(found, "vectors_0")
        if node["Alias"] == "v"
    ]
    # The own chunks and the seeds of the team's slice, which are visible too.
    assert FILES * 20 <= sum(read) <= FILES * 20 + 60
    postings = [node for node in scans(found, "postings") if node["Alias"] == "p"]
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in postings) <= FILES * 20 + FILES + 60


async def test_document_frequencies_come_from_the_index_alone(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str
) -> None:
    await fill(pipeline)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
    found = await explain(database, models, search_store.SQL["term_frequencies"])
    [scan] = scans(found, "postings")
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Only Scan", "postings_pkey")
    assert "term = ANY" in scan["Index Cond"]


async def clustered_slice(database: Database, models: ModelSlot, count: int) -> np.ndarray:
    """An agent with `count` chunks whose vectors stand in clusters, straight into the tables; the vectors."""
    assert models.ready is not None
    generator = np.random.default_rng(7)
    dimension = models.ready.embedder.identity.dimension
    centres = generator.normal(size=(50, dimension))
    points = centres[generator.integers(0, 50, count)] + 0.6 * generator.normal(size=(count, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    async with database.maintenance() as connection:
        await connection.execute(
            "INSERT INTO agents (tenant_id, agent_id, name) VALUES ('default', 'large', 'large');"
            "INSERT INTO slices (tenant_id, agent_id, owner_key) VALUES ('default', 'large', NULL);"
            "INSERT INTO documents (tenant_id, slice_id, path, enabled, sort_order, version)"
            " SELECT 'default', slice_id, p, false, 1, 1 FROM slices, unnest(ARRAY['a/x.md', 'b/x.md']) p"
            " WHERE agent_id = 'large'"
        )
        await connection.execute(
            "INSERT INTO chunks (tenant_id, slice_id, tier, document_id, ordinal, start_line, end_line, char_start,"
            " char_end, heading_path, text, context, passage_sha256, terms, term_count, embedded)"
            " SELECT 'default', d.slice_id, 'document', d.document_id, n, n, n, 0, 1, '{}', 'point ' || n,"
            " '', '', '{}', 1, true"
            " FROM generate_series(1, %(count)s::int) n JOIN documents d ON (d.path = 'a/x.md') = (n %% 50 <> 0)"
            " WHERE d.tenant_id = 'default' AND d.path IN ('a/x.md', 'b/x.md') ORDER BY n",
            {"count": count},
        )
        rows = await (
            await connection.execute("SELECT chunk_id, slice_id, document_id FROM chunks ORDER BY ordinal")
        ).fetchall()
        await connection.cursor().executemany(
            "INSERT INTO vectors VALUES ('default', %s, %s, %s, 0, %s, 'document', true, %s)",
            [
                (row["slice_id"], row["chunk_id"], row["document_id"], models.ready.model_id, HalfVector(point))
                for row, point in zip(rows, points, strict=True)
            ],
        )
        await connection.execute("UPDATE slices SET chunk_count = %s WHERE agent_id = 'large'", (count,))
    return points


class FixedQuery:
    """Gives a query the vector a test chose."""

    def __init__(self, models: ModelSlot) -> None:
        assert models.ready is not None
        self._cache = models.ready.queries._vectors

    def set(self, query: str, vector: np.ndarray) -> None:
        self._cache[query] = vector.astype(np.float32)


async def nearest(search: Search, query: str, **more: Any) -> list[int]:
    outcome = await search.search(SearchRequest("default", "large", query, max_results=10, mode="vector", **more))
    return [ranked.chunk_id for ranked in outcome.results]


async def test_exact_and_hnsw_agree_on_a_clustered_slice(
    database: Database, models: ModelSlot, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recall@10 of the HNSW plan against the exact one is at least 0.99, and it gives as many results."""
    points = await clustered_slice(database, models, 6000)
    queries = FixedQuery(models)
    generator = np.random.default_rng(11)
    chosen = generator.integers(0, len(points), 40)
    for number in chosen:
        noisy = points[number] + 0.3 * generator.normal(size=points.shape[1]) / np.sqrt(points.shape[1])
        queries.set(f"q{number}", noisy / np.linalg.norm(noisy))
    exact = {number: await nearest(search, f"q{number}") for number in chosen}
    exact_prefix = {number: await nearest(search, f"q{number}", path_prefix="b/") for number in chosen[:10]}
    assert await vectors.promote_large_slices(database, exact_max_chunks=5000, max_partitions=10) == 1
    hits = 0
    for number in chosen:
        found = await nearest(search, f"q{number}")
        assert len(found) == 10
        hits += len(set(found) & set(exact[number]))
    assert hits / (10 * len(chosen)) >= 0.99
    # Under a path with few passages each is compared: an index of the whole would find some of them only.
    for number, expected in exact_prefix.items():
        assert await nearest(search, f"q{number}", path_prefix="b/") == expected
        outcome = await search.search(SearchRequest("default", "large", f"q{number}", mode="vector", path_prefix="b/"))
        assert {result.plan for result in outcome.results} == {"exact"}
    monkeypatch.setattr(search_store, "EXACT_UNDER_PATH", 50)
    for number, expected in exact_prefix.items():
        found = await nearest(search, f"q{number}", path_prefix="b/")
        assert len(found) == len(expected) == 10
        assert len(set(found) & set(expected)) >= 9


async def test_a_promoted_slice_is_searched_by_the_hnsw_index_of_its_partition(
    database: Database, models: ModelSlot, search: Search, conninfo: str
) -> None:
    await clustered_slice(database, models, 6000)
    await vectors.promote_large_slices(database, exact_max_chunks=5000, max_partitions=10)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        row = connection.execute("SELECT slice_id, partition_id FROM slices WHERE agent_id = 'large'").fetchone()
        left = connection.execute("SELECT count(*) FROM vectors_0").fetchone()
    assert row is not None
    assert left == (0,)
    assert models.ready is not None
    async with database.tenant("default", snapshot=True) as connection:
        await visible_slices(connection, "default", "large", None)
        statement = sql.SQL(search_store.SQL["hnsw_candidates"].decode()).format(dimension=sql.Literal(64))
        cursor = await connection.execute(
            sql.SQL("EXPLAIN (FORMAT JSON) {}").format(statement),
            {
                "tenant_id": "default",
                "slice_id": row[0],
                "partition_id": row[1],
                "model_id": models.ready.model_id,
                "tiers": ["document"],
                "expired": [],
                "path_prefix": None,
                "within": None,
                "as_of": None,
                "as_of_day": None,
                "embedding": HalfVector(np.ones(64) / 8),
                "vector_limit": 50,
            },
        )
        found = (await cursor.fetchone() or {})["QUERY PLAN"]
    plan = json.loads(found) if isinstance(found, str) else found
    used = [node["Index Name"] for node in nodes(plan[0]["Plan"]) if "Index Name" in node]
    assert len(used) == 1
    assert used[0].startswith(f"vectors_{row[0]}_")
    assert "embedding" in used[0]
