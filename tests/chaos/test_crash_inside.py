"""A program dies by SIGKILL at a known instant inside a write: nothing half is there, and the next try succeeds."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import psycopg
import pytest
from tests.chaos.crash_child import NEW, OLD, TEAM, append_turn, forget_new, sessions_of
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embedding import migrate
from reverie_indexer.errors import NotFound
from reverie_indexer.index import vectors
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

ROOT = Path(__file__).parents[2]
PRINCIPAL = Principal("default", "wren", None)


async def die(conninfo: str, work: str, instant: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.chaos.crash_child", conninfo, work, instant), cwd=ROOT
    )
    assert await process.wait() == -signal.SIGKILL


async def found(database: Database, embedder: MoodyEmbedder) -> list[tuple[str, bool]]:
    """Text and whether it has a vector, of what search finds."""
    slot = await filled_slot(database, embedder)
    search = Search(database, slot, SearchRules())
    outcome = await search.search(SearchRequest("default", "wren", "lantern stays", path_prefix="notes/"))
    return sorted((r.text, r.similarity is not None) for r in outcome.results)


def parts(text: str) -> list[tuple[str, bool]]:
    return sorted((part, True) for part in text.strip().split("\n\n"))


@pytest.fixture
async def pipeline(database: Database) -> Pipeline:
    slot = await filled_slot(database, MoodyEmbedder(64))
    pipeline = Pipeline(database, slot, Rules())
    await pipeline.write(TEAM, overwrite("notes/a.md", OLD, by="user", reason="put"))
    return pipeline


@pytest.mark.parametrize(
    "instant",
    ["embed", "remember", "document_index.retire_chunks", "document_index.add_postings"]
    + [
        pytest.param(name, marks=pytest.mark.slow)
        for name in (
            "store.add_version",
            "document_index.retire_vectors",
            "document_index.add_chunks",
            "document_index.count_slice",
        )
    ],
)
async def test_a_write_that_dies_leaves_the_old_version_whole(
    pipeline: Pipeline, database: Database, conninfo: str, instant: str
) -> None:
    await die(conninfo, "write", instant)
    workspace = Workspace(database, pipeline)
    assert (await workspace.read(PRINCIPAL, "notes/a.md")).content == OLD
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)
    written = await pipeline.write(TEAM, overwrite("notes/a.md", NEW, by="user", reason="put"))
    assert (written.version, written.embedded) == (2, True)
    assert await found(database, MoodyEmbedder(64)) == parts(NEW)
    assert_index_consistent(conninfo)


@pytest.mark.slow
async def test_a_deletion_that_dies_leaves_the_file_whole(
    pipeline: Pipeline, database: Database, conninfo: str
) -> None:
    await die(conninfo, "delete", "document_index.retire_vectors")
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)
    assert await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete") == 2
    assert_index_consistent(conninfo)


@pytest.mark.parametrize(
    "instant",
    ["appending.count_messages"]
    + [
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("embed", "appending.add_messages", "transcript.open_document", "document_index.add_chunks")
    ],
)
async def test_an_append_that_dies_has_said_nothing_and_is_said_once_the_next_time(
    pipeline: Pipeline, database: Database, conninfo: str, instant: str
) -> None:
    await die(conninfo, "append", instant)
    sessions = sessions_of(database, pipeline)
    with pytest.raises(NotFound):
        await sessions.find(PRINCIPAL, "web:1")
    workspace = Workspace(database, pipeline)
    assert await workspace.present(TEAM, ["memory/2026-04-03.md"]) == {}
    assert_index_consistent(conninfo)
    for stored in (2, 0):
        assert (await append_turn(database, pipeline)).stored == stored
    [(_, text)] = (await workspace.present(TEAM, ["memory/2026-04-03.md"])).values()
    assert text == "# 2026-04-03\n\n[09:30] User: the lantern? | Assistant: the harbour\n"
    assert_index_consistent(conninfo)


@pytest.mark.parametrize(
    "instant",
    ["tombstones.add"]
    + [pytest.param(name, marks=pytest.mark.slow) for name in ("store.add_version", "document_index.remove_chunks")],
)
async def test_forgetting_that_dies_has_forgotten_nothing_and_does_it_whole_the_next_time(
    pipeline: Pipeline, database: Database, conninfo: str, instant: str
) -> None:
    await die(conninfo, "forget", instant)
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)
    search = Search(database, await filled_slot(database, MoodyEmbedder(64)), SearchRules())
    receipt = await forget_new(database, pipeline, search)
    assert receipt.removed["document"].files == 1
    assert await found(database, MoodyEmbedder(64)) == parts("stays as it is")
    assert_index_consistent(conninfo)


@pytest.mark.slow
async def test_clearing_that_dies_has_cleared_nothing(pipeline: Pipeline, database: Database, conninfo: str) -> None:
    del pipeline
    await die(conninfo, "clear", "document_index.remove_documents")
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)


@pytest.mark.parametrize(
    "instant", ["vectors.move_slice", pytest.param("vectors.leave_shared_partition", marks=pytest.mark.slow)]
)
async def test_a_promotion_that_dies_leaves_no_partition(
    pipeline: Pipeline, database: Database, conninfo: str, instant: str
) -> None:
    await die(conninfo, "promote", instant)
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)
    with psycopg.connect(conninfo) as connection:
        tables = connection.execute("SELECT relname FROM pg_class WHERE relname ~ '^vectors_[1-9]'").fetchall()
    assert tables == []
    assert await vectors.promote_large_slices(database, exact_max_chunks=1, max_partitions=5) == 1
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)


@pytest.mark.parametrize(
    "instant",
    ["vectors.remove_other_vectors"]
    + [
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("remember", "vectors.attach_vectors", "vectors.deactivate_models", "vectors.remark_embedded")
    ],
)
@pytest.mark.usefixtures("pipeline")
async def test_a_migration_that_dies_leaves_the_old_model_and_goes_on_later(
    database: Database, conninfo: str, instant: str
) -> None:
    await die(conninfo, "migrate", instant)
    assert await found(database, MoodyEmbedder(64)) == parts(OLD)
    assert_index_consistent(conninfo)
    embedder = MoodyEmbedder(32)
    new = await filled_slot(database, embedder, check_active=False)
    assert new.ready is not None
    await migrate(database, new.ready)
    # What was embedded before the crash is not embedded again.
    assert embedder.texts == []
    assert await found(database, MoodyEmbedder(32)) == parts(OLD)
    assert_index_consistent(conninfo)
