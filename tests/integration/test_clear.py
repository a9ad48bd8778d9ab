"""Clearing, the retention of history, and indexing anew."""

from __future__ import annotations

import pytest
from tests.consistency import assert_index_consistent

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_indexer.index import vectors
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.reindex import Reindexed, reindex
from reverie_indexer.text.passages import Rules
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace
from reverie_server.files.retention import prune_history
from reverie_server.forgettable import Selection
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.search.search import Search
from reverie_server.settings.agent import AgentSettings

MINE = Place("default", "wren", "personal", "user:1")
OTHER = Place("default", "wren", "personal", "user:2")
TEAM = Place("default", "wren", "team")


def select(older_than_days: int | None = None, path_prefix: str | None = None) -> Selection:
    return Selection(older_than_days, path_prefix, ("document",))


async def put(pipeline: Pipeline, path: str, text: str = "flour", place: Place = MINE) -> None:
    await pipeline.write(place, overwrite(path, text, by="user", reason="put"))


async def paths(workspace: Workspace, place: Place) -> list[str]:
    principal = Principal("default", "wren", place.owner_key)
    _, found = await workspace.listing(principal, prefix=None, after=None, limit=500)
    return sorted(d.path for d in found if d.scope == place.scope)


async def age(database: Database, path: str, days: int) -> None:
    """Make a file's last write so many days older."""
    async with database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        await connection.execute(
            "UPDATE documents SET updated_at = now() - make_interval(days => %s) WHERE path = %s", [days, path]
        )


async def test_what_fits_every_condition_is_cleared_for_good(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, database: Database, conninfo: str
) -> None:
    for path in ("a/old.md", "a/new.md", "b/old.md"):
        await put(pipeline, path)
        await put(pipeline, path, f"of the {path}")
    for path in ("a/old.md", "b/old.md"):
        await age(database, path, 31)
    dry = await runtime.clearing.clear(MINE, select(30, "a/"), dry_run=True)
    assert (dry.removed, await paths(workspace, MINE)) == ({"document": 1}, ["a/new.md", "a/old.md", "b/old.md"])
    done = await runtime.clearing.clear(MINE, select(30, "a/"), dry_run=False)
    assert (done.removed, await paths(workspace, MINE)) == ({"document": 1}, ["a/new.md", "b/old.md"])
    with pytest.raises(NotFound):
        await workspace.history(Principal("default", "wren", "user:1"), "a/old.md", None, before=None, limit=9)
    assert_index_consistent(conninfo)


async def test_a_daily_note_is_as_old_as_its_day(runtime: Runtime, pipeline: Pipeline, workspace: Workspace) -> None:
    for day in ("2020-01-01", "2999-01-01"):
        await put(pipeline, f"memory/{day}.md")
    await runtime.clearing.clear(MINE, select(30), dry_run=False)
    assert await paths(workspace, MINE) == ["memory/2999-01-01.md"]


async def test_a_deleted_file_loses_its_history_too(
    runtime: Runtime, pipeline: Pipeline, database: Database, conninfo: str
) -> None:
    await put(pipeline, "a.md")
    await pipeline.delete(MINE, "a.md", by="user", reason="delete")
    await runtime.clearing.clear(MINE, select(), dry_run=False)
    async with database.maintenance() as connection:
        rows = await (await connection.execute("SELECT FROM versions WHERE content LIKE '%flour%'")).fetchall()
        past = await (await connection.execute("SELECT FROM chunks WHERE valid_to IS NOT NULL")).fetchall()
    assert (rows, past) == ([], [])
    assert_index_consistent(conninfo)


async def test_one_owner_is_cleared_and_no_other(runtime: Runtime, pipeline: Pipeline, workspace: Workspace) -> None:
    for place in (MINE, OTHER, TEAM):
        await put(pipeline, "a.md", place=place)
    await runtime.clearing.clear(MINE, select(), dry_run=False)
    assert [await paths(workspace, place) for place in (MINE, OTHER)] == [[], ["a.md"]]
    assert "a.md" in await paths(workspace, TEAM)


async def test_all_owners_at_once_and_an_agent_still_knows_how_to_be(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, conninfo: str
) -> None:
    for place in (MINE, OTHER, TEAM):
        await put(pipeline, "a.md", place=place)
    done = await runtime.clearing.clear_everybody("default", "wren", select(), dry_run=False)
    # Three files, and two of the four seeds.
    assert done.removed == {"document": 5}
    assert [await paths(workspace, place) for place in (MINE, OTHER, TEAM)] == [[], [], ["AGENTS.md", "SOUL.md"]]
    assert_index_consistent(conninfo)


async def test_clearing_an_unknown_agent_makes_none(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        await runtime.clearing.clear(MINE, select(), dry_run=False)


async def versions(workspace: Workspace, path: str) -> list[int]:
    principal = Principal("default", "wren", "user:1")
    _, found = await workspace.history(principal, path, None, before=None, limit=99)
    return [version.version for version in found]


async def test_the_newest_versions_are_kept_and_what_as_of_finds_goes_with_the_rest(
    pipeline: Pipeline, workspace: Workspace, database: Database, search: Search, conninfo: str
) -> None:
    for number in range(5):
        await put(pipeline, "a.md", f"flour number {number}")
    assert await prune_history(database, keep_days=None, keep_count=3) == 2
    assert await versions(workspace, "a.md") == [5, 4, 3]
    async with database.maintenance() as connection:
        past = await (
            await connection.execute("SELECT text FROM chunks WHERE valid_to IS NOT NULL ORDER BY chunk_id")
        ).fetchall()
    assert [row["text"] for row in past] == ["flour number 2", "flour number 3"]
    assert_index_consistent(conninfo)
    outcome = await search.search(SearchRequest("default", "wren", "flour", "user:1"))
    assert "flour number 4" in [ranked.text for ranked in outcome.results]


async def test_versions_are_kept_for_days_after_they_were_replaced(
    pipeline: Pipeline, workspace: Workspace, database: Database
) -> None:
    for number in range(3):
        await put(pipeline, "a.md", f"flour {number}")
    async with database.maintenance() as connection:
        await connection.execute("UPDATE versions SET at = now() - interval '40 days' WHERE version < 3")
    assert await prune_history(database, keep_days=30, keep_count=None) == 1
    assert await versions(workspace, "a.md") == [3, 2]


async def test_an_agents_own_retention_comes_first_and_without_any_all_is_kept(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, database: Database
) -> None:
    for number in range(3):
        await put(pipeline, "a.md", f"flour {number}")
    assert await prune_history(database, keep_days=None, keep_count=None) == 0
    own = AgentSettings(version_keep_count=None)
    await runtime.agents.put("default", "wren", None, None, own.model_dump(include={"version_keep_count"}))
    assert await prune_history(database, keep_days=None, keep_count=1) == 0
    await runtime.agents.put("default", "wren", None, None, {"version_keep_count": 1})
    assert await prune_history(database, keep_days=None, keep_count=None) == 2
    assert await versions(workspace, "a.md") == [3]


async def test_indexing_anew_by_the_same_rules_changes_nothing(
    database: Database, pipeline: Pipeline, workspace: Workspace, conninfo: str
) -> None:
    for number in range(40):
        await put(pipeline, f"{number}.md", f"flour {number}\n\nharbour {number}")
    await put(pipeline, "state.json", "{}")
    assert await reindex(database, pipeline, MINE) == Reindexed(documents=41, chunks=80, embedded=0, reused=80)
    assert await versions(workspace, "7.md") == [1]
    assert_index_consistent(conninfo)


async def test_indexing_anew_follows_new_rules(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str
) -> None:
    await put(pipeline, "a.md", "flour " * 100)
    smaller = Rules(chunk_max_chars=200)
    done = await reindex(database, Pipeline(database, models, smaller), MINE)
    assert (done.documents, done.chunks, done.embedded, done.reused) == (1, 4, 4, 0)
    assert_index_consistent(conninfo, smaller)


async def test_an_unknown_agent_cannot_be_indexed_anew(database: Database, pipeline: Pipeline) -> None:
    with pytest.raises(NotFound):
        await reindex(database, pipeline, MINE)


async def test_the_cache_forgets_passages_that_nobody_has_any_more(
    pipeline: Pipeline, database: Database, conninfo: str
) -> None:
    await put(pipeline, "a.md", "flour\n\nharbour")
    await put(pipeline, "memory/2026-04-03.md", "lantern")
    await put(pipeline, "memory/2026-04-03.md", "trumpet")
    assert await vectors.prune_cache(database, keep_days=7) == 0
    async with database.maintenance() as connection:
        await connection.execute("UPDATE embedding_cache SET created_at = now() - interval '8 days'")
    # Of a daily note no past is kept: its first passage is nobody's.
    assert await vectors.prune_cache(database, keep_days=7) == 1
    assert await vectors.prune_cache(database, keep_days=7) == 0
    assert_index_consistent(conninfo)
