"""The made memory of the scale benchmark is one that real writes could have made."""

from __future__ import annotations

import psycopg
import pytest
from tests.consistency import assert_index_consistent

from reverie_bench.synthetic.fill import Owner, fill, material_of
from reverie_bench.synthetic.text import made_up_sentences, pool_of
from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.search.request import SearchRequest
from reverie_server.search.search import Search

OWNERS = [
    Owner(0, "first", "user:0", 45, (("rare", 0.25), ("notes", 0.75))),
    Owner(1, "second", "user:1", 20),
    Owner(2, "second", "user:2", 1),
]
ODD = ['He said "stop" to don\'t_know.txt at 9.', "The and of it was.", "Über C++ und naïve Größe 12."]


@pytest.fixture
async def filled(conninfo: str, models: ModelSlot) -> str:
    assert models.ready is not None
    pool = pool_of([*made_up_sentences(1, 40), *ODD], [])
    dimension = models.ready.embedder.identity.dimension
    material = material_of(pool, 7, models.ready.model_id, dimension)
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await fill(connection, material, OWNERS[:1])
        await fill(connection, material, OWNERS[1:], first_pair=OWNERS[0].chunks)
    return conninfo


async def test_chunks_postings_vectors_and_counts_agree_with_the_files(filled: str) -> None:
    assert_index_consistent(filled)
    with psycopg.connect(filled) as connection:
        counts = connection.execute("SELECT owner_key, chunk_count FROM slices ORDER BY slice_id").fetchall()
        cached = connection.execute("SELECT count(*) FROM embedding_cache").fetchone()
        folders = connection.execute(
            "SELECT split_part(path, '/', 1), count(*) FROM documents WHERE slice_id = 1 GROUP BY 1 ORDER BY 1"
        ).fetchall()
        forced = connection.execute(
            "SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity"
        ).fetchall()
    assert counts == [("user:0", 45), ("user:1", 20), ("user:2", 1)]
    assert cached == (66,)
    assert folders == [("notes", 2), ("rare", 1)]
    assert forced == []


async def test_each_owner_finds_their_own_and_new_writes_go_on(filled: str, database: Database, search: Search) -> None:
    for owner in OWNERS:
        request = SearchRequest("bench", owner.agent_id, "who moved the review", owner.owner_key, max_results=100)
        outcome = await search.search(request)
        assert {ranked.owner_key for ranked in outcome.results} == {owner.owner_key}
        assert len(outcome.results) == owner.chunks
