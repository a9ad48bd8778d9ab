"""From one embedding model to another while the memory is read and written."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence

import psycopg
import pytest
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embed import Embedder
from reverie_indexer.embedding import migrate
from reverie_indexer.errors import EmbedderUnavailable, ModelMismatch
from reverie_indexer.index import vectors
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.request import SearchOutcome, SearchRequest, SearchRules
from reverie_server.search.search import Search

TEAM = Place("default", "wren", "team")


def put(text: str, path: str = "notes/a.md") -> Change:
    return overwrite(path, text, by="user", reason="put")


def note(number: int) -> Change:
    text = "\n\n".join(f"lantern {number} of row {row}" for row in range(5))
    return put(text, f"notes/{number}.md")


async def look(database: Database, slot: ModelSlot, query: str = "lantern") -> SearchOutcome:
    search = Search(database, slot, SearchRules())
    return await search.search(SearchRequest("default", "wren", query, max_results=50, path_prefix="notes/"))


def models_of_vectors(conninfo: str) -> list[int]:
    with psycopg.connect(conninfo) as connection:
        return [row[0] for row in connection.execute("SELECT DISTINCT model_id FROM vectors ORDER BY 1").fetchall()]


def count(conninfo: str, statement: str) -> int:
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return int(row[0])


async def test_another_model_at_start_is_an_error_that_names_both_and_the_command(database: Database) -> None:
    await filled_slot(database, MoodyEmbedder(64))
    other = ModelSlot(_loader(MoodyEmbedder(32)))
    await other.fill(database)
    assert isinstance(other.error, ModelMismatch)
    for part in ("trigrams@1 (64-d)", "trigrams@1 (32-d)", "`reverie embeddings migrate`"):
        assert part in other.error.detail
    assert other.state == "failed"


def _loader(embedder: MoodyEmbedder) -> Callable[[], Awaitable[Embedder]]:
    async def load() -> MoodyEmbedder:
        return embedder

    return load


async def test_programs_that_start_together_with_different_models_agree_on_one(database: Database) -> None:
    slots = [ModelSlot(_loader(MoodyEmbedder(32 * (1 + number % 2)))) for number in range(6)]
    await asyncio.gather(*(slot.fill(database) for slot in slots))
    ready = {slot.ready.model_id for slot in slots if slot.ready}
    assert len(ready) == 1
    assert sorted(slot.state for slot in slots) == ["failed"] * 3 + ["ready"] * 3


async def test_search_and_writes_go_on_until_the_switch(database: Database, conninfo: str) -> None:
    old = await filled_slot(database, MoodyEmbedder(64))
    pipeline = Pipeline(database, old, Rules())
    for number in range(20):
        await pipeline.write(TEAM, note(number))
    slow = MoodyEmbedder(32, delay_seconds=0.05)
    new = await filled_slot(database, slow, check_active=False)
    assert new.ready
    migrating = asyncio.create_task(migrate(database, new.ready))
    seen = {"old": 0, "switched": 0}

    async def read() -> None:
        while not migrating.done():
            outcome = await look(database, old)
            if outcome.warnings:
                assert "restart" in outcome.warnings[0]
                assert outcome.mode == "text"
                seen["switched"] += 1
            else:
                # Whole: every passage is compared by its vector of the old model.
                assert outcome.results
                assert all(result.similarity is not None for result in outcome.results)
                seen["old"] += 1

    async def write() -> None:
        for number in range(8):
            await pipeline.write(TEAM, put(f"lantern written meanwhile, take {number}", f"notes/new{number % 3}.md"))

    await asyncio.gather(read(), write(), migrating)
    assert seen["old"] > 3
    assert (await look(database, old)).warnings
    outcome = await look(database, new)
    assert (outcome.mode, outcome.warnings) == ("hybrid", [])
    assert all(result.similarity is not None for result in outcome.results)
    assert models_of_vectors(conninfo) == [new.ready.model_id]
    assert_index_consistent(conninfo)
    restarted = await filled_slot(database, MoodyEmbedder(32))
    assert restarted.ready
    assert restarted.ready.model_id == new.ready.model_id


async def test_an_interrupted_migration_goes_on_where_it_stopped(database: Database, conninfo: str) -> None:
    old = await filled_slot(database, MoodyEmbedder(64))
    pipeline = Pipeline(database, old, Rules())
    for number in range(60):
        await pipeline.write(TEAM, note(number))
    await vectors.promote_large_slices(database, exact_max_chunks=50, max_partitions=5)
    chunk_count = count(conninfo, "SELECT count(*) FROM chunks")
    embedder = MoodyEmbedder(32, down_after=3)
    new = await filled_slot(database, embedder, check_active=False)
    assert new.ready
    # The first batches are kept; then the provider goes down.
    with pytest.raises(EmbedderUnavailable):
        await migrate(database, new.ready)
    assert (await look(database, old)).mode == "hybrid"
    assert_index_consistent(conninfo)
    embedder.down_after = None
    kept = count(conninfo, f"SELECT count(*) FROM embedding_cache WHERE model_id = {new.ready.model_id}")
    assert 0 < kept < chunk_count
    embedder.texts.clear()
    await migrate(database, new.ready)
    assert len(embedder.texts) == chunk_count - kept
    assert count(conninfo, "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'") == 2
    assert_index_consistent(conninfo)


async def test_what_an_old_server_writes_after_the_switch_is_embedded_by_the_new_one(
    database: Database, conninfo: str
) -> None:
    """A server that has not been restarted yet must not file away vectors that nobody compares with."""
    stale = MoodyEmbedder(64)
    old = await filled_slot(database, stale)
    old_pipeline = Pipeline(database, old, Rules())
    await old_pipeline.write(TEAM, note(0))
    new = await filled_slot(database, MoodyEmbedder(32), check_active=False)
    assert new.ready
    await migrate(database, new.ready)
    written = await old_pipeline.write(TEAM, put("a late lantern"))
    assert not written.embedded
    assert_index_consistent(conninfo)
    # Nothing for it to do, or its upkeep would go round and round.
    assert await old_pipeline.backfill() == 0
    assert await Pipeline(database, new, Rules()).backfill() == 1
    outcome = await look(database, new, "a late lantern")
    assert outcome.results[0].text == "a late lantern"
    assert outcome.results[0].similarity is not None
    assert models_of_vectors(conninfo) == [new.ready.model_id]
    assert_index_consistent(conninfo)


async def test_what_the_old_model_refused_is_offered_to_the_new_one(database: Database, conninfo: str) -> None:
    picky = MoodyEmbedder(64, rejects=lambda text: "poison" in text)
    old = await filled_slot(database, picky)
    pipeline = Pipeline(database, old, Rules())
    await pipeline.write(TEAM, put("good\n\npoison for the old\n"))
    while await pipeline.backfill():
        pass
    new = await filled_slot(database, MoodyEmbedder(32, rejects=lambda text: "good" in text), check_active=False)
    assert new.ready
    await migrate(database, new.ready)
    pipeline = Pipeline(database, new, Rules())
    while await pipeline.backfill():
        pass
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute(
            "SELECT text, embedded, embed_error IS NULL FROM chunks c JOIN documents d USING (tenant_id, document_id)"
            " WHERE path = 'notes/a.md' ORDER BY ordinal"
        ).fetchall()
    assert rows == [("good", False, False), ("poison for the old", True, True)]
    assert_index_consistent(conninfo)


async def test_a_migration_ends_although_writers_never_pause(database: Database, conninfo: str) -> None:
    old = await filled_slot(database, MoodyEmbedder(64))
    pipeline = Pipeline(database, old, Rules())
    await pipeline.write(TEAM, note(0))
    new = await filled_slot(database, MoodyEmbedder(32, delay_seconds=0.02), check_active=False)
    assert new.ready
    migrating = asyncio.create_task(migrate(database, new.ready))

    async def write(part: int) -> None:
        number = 0
        while not migrating.done():
            number += 1
            await pipeline.write(TEAM, put(f"lantern {part} take {number}", f"notes/{part}.md"))

    async with asyncio.timeout(25):
        await asyncio.gather(migrating, *(write(part) for part in range(4)))
    while await Pipeline(database, new, Rules()).backfill():
        pass
    assert count(conninfo, "SELECT count(*) FROM chunks WHERE NOT embedded") == 0
    assert_index_consistent(conninfo)


async def test_a_slice_promoted_during_the_migration_has_an_index_for_the_new_model(
    database: Database, conninfo: str
) -> None:
    old = await filled_slot(database, MoodyEmbedder(64))
    pipeline = Pipeline(database, old, Rules())
    for number in range(30):
        await pipeline.write(TEAM, note(number))
    embedder = MoodyEmbedder(32, delay_seconds=0.3)
    new = await filled_slot(database, embedder, check_active=False)
    assert new.ready
    migrating = asyncio.create_task(migrate(database, new.ready))
    await embedder.called.wait()
    assert await vectors.promote_large_slices(database, exact_max_chunks=50, max_partitions=5) == 1
    await migrating
    definitions = f"SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%model_id = {new.ready.model_id}%'"
    assert count(conninfo, definitions) == 1
    outcome = await look(database, new)
    assert len(outcome.results) == 50
    assert all(result.similarity is not None for result in outcome.results)
    assert_index_consistent(conninfo)


def run_cli(conninfo: str, arguments: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    return subprocess.run(
        [sys.executable, "-m", "reverie_server.cli.main", *arguments],
        env={**given, "REVERIE_DATABASE_URL": conninfo, "REVERIE_EMBEDDER": "hashing", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def test_the_server_refuses_to_start_with_another_model_and_the_command_mends_it(
    database: Database, conninfo: str
) -> None:
    slot = await filled_slot(database, MoodyEmbedder(64))
    await Pipeline(database, slot, Rules()).write(TEAM, note(0))
    refused = await asyncio.to_thread(run_cli, conninfo, ["serve", "--port", "0"], REVERIE_EMBEDDER_DIMENSION="32")
    assert refused.returncode == 1
    # A worker may have been about to start: its line can come after.
    (reason,) = [line for line in refused.stderr.splitlines() if line.startswith("reverie: ")]
    assert "(64-d)" in reason
    assert "(32-d) is configured" in reason
    assert "reverie embeddings migrate" in reason
    done = await asyncio.to_thread(run_cli, conninfo, ["embeddings", "migrate"], REVERIE_EMBEDDER_DIMENSION="32")
    assert (done.returncode, "Restart running servers" in done.stdout) == (0, True), done.stderr
    found = await asyncio.to_thread(
        run_cli, conninfo, ["search", "lantern", "--agent", "wren"], REVERIE_EMBEDDER_DIMENSION="32"
    )
    assert (found.returncode, "lantern 0 of row" in found.stdout, found.stderr) == (0, True, "")
    assert_index_consistent(conninfo)
