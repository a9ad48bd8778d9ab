"""A slice that outgrows the exact scan moves to a partition with an HNSW index while it is read and written."""

from __future__ import annotations

import asyncio
import hashlib

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from pgvector import HalfVector
from tests.consistency import assert_index_consistent

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embed import Embedding, Role
from reverie_indexer.index import vectors
from reverie_indexer.model import ModelIdentity, Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

TEAM = Place("default", "wren", "team")
PERSONAL = Place("default", "wren", "personal", "user:1")
DIMENSION = 64
CLUSTERS = 60


class ClusteredEmbedder:
    """Texts `c<cluster> p<number>` lie around their cluster's centre; distances within a cluster are alike."""

    identity = ModelIdentity("test", "clusters", "1", DIMENSION, True)

    def __init__(self) -> None:
        self._centres = np.random.default_rng(1).normal(size=(CLUSTERS, DIMENSION))

    async def embed(self, texts: list[str], role: Role = "passage") -> list[Embedding]:
        del role
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        raw = self._centres[seed % CLUSTERS] + 0.6 * np.random.default_rng(seed).normal(size=DIMENSION)
        return (raw / np.linalg.norm(raw)).astype(np.float32)

    def familiarity(self, text: str) -> float:
        del text
        return 1.0

    async def aclose(self) -> None:
        """Nothing to release."""


def put(text: str, path: str) -> Change:
    return overwrite(path, text, by="user", reason="put")


def texts_of(folder: str, file: int, rows: int) -> str:
    return "\n\n".join(f"lantern {folder} {file} {row}" for row in range(rows))


@pytest.fixture
async def models(database: Database) -> ModelSlot:
    async def load() -> ClusteredEmbedder:
        return ClusteredEmbedder()

    slot = ModelSlot(load)
    await slot.fill(database)
    return slot


async def fill(pipeline: Pipeline, place: Place, folder: str, files: int, rows: int) -> None:
    changes = [put(texts_of(folder, file, rows), f"{folder}/{file}.md") for file in range(files)]
    for start in range(0, files, 10):
        await pipeline.write_many(place, changes[start : start + 10])


def exact_nearest(conninfo: str, query: NDArray[np.float32], prefix: str, limit: int) -> list[str]:
    """The truth: all vectors, no index."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off")
        rows = connection.execute(
            "SELECT c.text FROM vectors v JOIN chunks c USING (tenant_id, chunk_id)"
            " JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id"
            " WHERE starts_with(d.path, %s) ORDER BY (v.embedding <=> %s::text::halfvec) + 0 LIMIT %s",
            (prefix, HalfVector(query).to_text(), limit),
        ).fetchall()
    return [row[0] for row in rows]


async def nearest(search: Search, query: str, prefix: str | None, limit: int = 10) -> list[str]:
    request = SearchRequest("default", "wren", query, "user:1", max_results=limit, path_prefix=prefix, mode="vector")
    return [result.text for result in (await search.search(request)).results]


async def test_hnsw_agrees_with_the_exact_scan_and_gives_full_counts(
    database: Database, models: ModelSlot, conninfo: str
) -> None:
    """6,000 clustered vectors; also under a path that holds 2 % of them, and beside a small, exact slice."""
    pipeline = Pipeline(database, models, Rules())
    await fill(pipeline, TEAM, "big", 59, 100)
    await fill(pipeline, TEAM, "few", 1, 120)
    await fill(pipeline, PERSONAL, "own", 1, 30)
    assert await vectors.promote_large_slices(database, exact_max_chunks=5000, max_partitions=10) == 1
    assert await vectors.promote_large_slices(database, exact_max_chunks=5000, max_partitions=10) == 0
    assert_index_consistent(conninfo)
    search = Search(database, models, SearchRules())
    embedder = ClusteredEmbedder()
    for prefix, limit in (("", 10), ("big/", 10), ("few/", 10), ("", 40)):
        hits = 0
        for number in range(30):
            query = f"query {prefix} {number}"
            # Boost and context change the order, not who is a candidate: they are left out.
            expected = exact_nearest(conninfo, embedder.vector(query), prefix, limit)
            actual = await nearest(Search(database, models, _by_vector_alone()), query, prefix or None, limit)
            assert len(actual) == limit
            if prefix:
                assert all(text.startswith(f"lantern {prefix.rstrip('/')} ") for text in actual)
            hits += len(set(expected) & set(actual))
        assert hits / (30 * limit) >= 0.99, (prefix, limit)
    assert len(await nearest(search, "query", "own/", 30)) == 30


def _by_vector_alone() -> SearchRules:
    rules = SearchRules()
    return SearchRules(weights=type(rules.weights)(user_boost=1.0, context=0.0))


async def test_readers_and_writers_go_on_while_a_slice_moves(
    database: Database, models: ModelSlot, conninfo: str
) -> None:
    pipeline = Pipeline(database, models, Rules())
    await fill(pipeline, TEAM, "big", 20, 60)
    search = Search(database, models, SearchRules())
    moving = True
    seen = 0

    async def read() -> None:
        nonlocal seen
        while moving:
            results = await nearest(search, f"lantern stays {seen}", "big/")
            assert len(results) == len(set(results)) == 10
            # A file that is never written to is always there, whole, by meaning alone.
            assert len(await nearest(search, "lantern", "big/19.md", 60)) == 60
            seen += 1

    async def write(part: int) -> None:
        number = 0
        while moving:
            number += 1
            await pipeline.write(TEAM, put(texts_of("edit", number, 5), f"edit/{part}.md"))
            if number % 4 == 0:
                await pipeline.delete(TEAM, f"edit/{part}.md", by="user", reason="delete")

    tasks = [asyncio.create_task(job) for job in (read(), read(), write(0), write(1))]
    await asyncio.sleep(0.3)
    before = seen
    # Two programs that both find the slice too large.
    promoted = await asyncio.gather(
        *(vectors.promote_large_slices(database, exact_max_chunks=1000, max_partitions=10) for _ in range(2))
    )
    await asyncio.sleep(0.5)
    moving = False
    await asyncio.gather(*tasks)
    assert max(promoted) == 1
    assert seen > before
    assert_index_consistent(conninfo)
    with psycopg.connect(conninfo) as connection:
        partitions = connection.execute(
            "SELECT DISTINCT s.past, v.partition_id <> 0 FROM vectors v JOIN slices s USING (tenant_id, slice_id)"
            " ORDER BY 1"
        ).fetchall()
    # What the edits left behind stays in the shared partition.
    assert partitions == [(False, True), (True, False)]


async def test_no_more_partitions_than_allowed_and_the_largest_first(
    database: Database, models: ModelSlot, conninfo: str
) -> None:
    pipeline = Pipeline(database, models, Rules())
    for owner, rows in (("user:1", 10), ("user:2", 60), ("user:3", 50)):
        place = Place("default", "wren", "personal", owner)
        await pipeline.write(place, put(texts_of("x", 1, rows), "x.md"))
    for _ in range(2):
        await vectors.promote_large_slices(database, exact_max_chunks=5, max_partitions=2)
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute(
            "SELECT chunk_count FROM slices WHERE partition_id > 0 ORDER BY chunk_count DESC"
        ).fetchall()
    assert rows == [(60,), (50,)]
    assert_index_consistent(conninfo)
