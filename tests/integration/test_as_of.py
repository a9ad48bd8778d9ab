"""Search as of a time: files as they were then, daily notes by their day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.consistency import assert_index_consistent

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

PLACE = Place("default", "wren", "personal", "user:1")
TEAM = Place("default", "wren", "team")
OLD, NEW = "Ada lives in Leeds.", "Ada lives in Porto."
RULES = SearchRules()


async def write(pipeline: Pipeline, text: str, path: str = "MEMORY.md", place: Place = PLACE) -> None:
    await pipeline.write(place, overwrite(path, text, by="user", reason="put"))


async def found(
    search: Search, query: str, as_of: datetime | None, owner: str | None = "user:1", **more: Any
) -> list[str]:
    request = SearchRequest("default", "wren", query, owner, as_of=as_of, max_results=100, **more)
    outcome = await search.search(request, RULES)
    # Without the seeds, which every agent has.
    return [r.text for r in outcome.results if r.scope == "personal" or owner != "user:1"]


async def now(database: Database) -> datetime:
    """The database's clock, which stamps versions."""
    async with database.maintenance() as connection:
        row = await (await connection.execute("SELECT clock_timestamp() AS at")).fetchone()
    assert row is not None
    return row["at"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
async def test_a_file_is_found_as_it_was_then(
    pipeline: Pipeline, search: Search, database: Database, conninfo: str, mode: str
) -> None:
    before = await now(database)
    await write(pipeline, OLD)
    first = await now(database)
    await write(pipeline, NEW)
    second = await now(database)
    await pipeline.delete(PLACE, "MEMORY.md", by="user", reason="delete")
    third = await now(database)
    await write(pipeline, OLD)
    assert await found(search, "where does Ada live", None, mode=mode) == [OLD]
    assert await found(search, "where does Ada live", before, mode=mode) == []
    assert await found(search, "where does Ada live", first, mode=mode) == [OLD]
    assert await found(search, "where does Ada live", second, mode=mode) == [NEW]
    assert await found(search, "where does Ada live", third, mode=mode) == []
    assert await found(search, "where does Ada live", await now(database), mode=mode) == [OLD]
    assert_index_consistent(conninfo)


async def test_the_moment_of_a_version_belongs_to_it(pipeline: Pipeline, search: Search, database: Database) -> None:
    await write(pipeline, OLD)
    await write(pipeline, NEW)
    async with database.maintenance() as connection:
        rows = await (await connection.execute("SELECT at FROM versions WHERE by = 'user' ORDER BY version")).fetchall()
    assert await found(search, "Ada", rows[0]["at"]) == [OLD]
    assert await found(search, "Ada", rows[1]["at"]) == [NEW]
    assert await found(search, "Ada", rows[1]["at"] - timedelta(microseconds=1)) == [OLD]


async def test_a_passage_that_stayed_is_found_once_at_every_time(
    pipeline: Pipeline, search: Search, database: Database
) -> None:
    await write(pipeline, f"Ada plays chess.\n\n{OLD}")
    first = await now(database)
    await write(pipeline, f"{NEW}\n\nAda plays chess.")
    assert sorted(await found(search, "Ada", first)) == [OLD, "Ada plays chess."]
    assert sorted(await found(search, "Ada", None)) == [NEW, "Ada plays chess."]


async def test_daily_notes_go_by_their_day_in_the_agents_time_zone(pipeline: Pipeline, search: Search) -> None:
    for day in ("2026-04-02", "2026-04-03", "2026-04-04"):
        await write(pipeline, f"Ada walked on {day}.", f"memory/{day}.md")
    evening = datetime(2026, 4, 3, 23, 30, tzinfo=UTC)
    notes = await found(search, "walked", evening)
    assert sorted(notes) == ["Ada walked on 2026-04-02.", "Ada walked on 2026-04-03."]
    outcome = await search.search(
        SearchRequest("default", "wren", "walked", "user:1", as_of=evening), SearchRules(time_zone="Asia/Tokyo")
    )
    assert len(outcome.results) == 3


async def test_an_edited_daily_note_leaves_nothing_behind(
    pipeline: Pipeline, search: Search, database: Database, conninfo: str
) -> None:
    await write(pipeline, "Ada walked.", "memory/2026-04-02.md")
    first = await now(database)
    await write(pipeline, "Ada ran.", "memory/2026-04-02.md")
    assert await found(search, "Ada", first) == ["Ada ran."]
    async with database.maintenance() as connection:
        rows = await (await connection.execute("SELECT FROM chunks WHERE valid_to IS NOT NULL")).fetchall()
    assert rows == []
    assert_index_consistent(conninfo)


async def test_the_past_is_as_private_as_the_present(pipeline: Pipeline, search: Search, database: Database) -> None:
    await write(pipeline, "Ada's code is 4711.")
    first = await now(database)
    await write(pipeline, "nothing")
    await write(pipeline, "Team code is 1234.", "notes.md", TEAM)
    for other in ("user:2", None):
        assert not [text for text in await found(search, "code", first, other) if "code" in text]
    assert await found(search, "code", first) == ["Ada's code is 4711."]


async def test_the_prefix_and_the_present_file_do_not_disturb_the_past(
    pipeline: Pipeline, search: Search, database: Database
) -> None:
    await write(pipeline, OLD, "people/ada.md")
    await write(pipeline, OLD.replace("Ada", "Bob"), "people/bob.md")
    first = await now(database)
    await pipeline.delete(PLACE, "people/ada.md", by="user", reason="delete")
    assert await found(search, "lives in Leeds", first, path_prefix="people/a") == [OLD]
    assert await found(search, "lives in Leeds", None, path_prefix="people/a") == []


async def test_the_edges_of_the_calendar_are_no_fault(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, OLD)
    rules = SearchRules(time_zone="Pacific/Auckland")
    for year, count in ((1, 0), (9999, 1)):
        edge = datetime(year, 12 if year > 1 else 1, 31 if year > 1 else 1, 23 if year > 1 else 0, tzinfo=UTC)
        outcome = await search.search(SearchRequest("default", "wren", "Ada", "user:1", as_of=edge), rules)
        assert len([r for r in outcome.results if r.scope == "personal"]) == count


async def test_since_and_until_go_by_the_file_as_it_was_then(
    pipeline: Pipeline, search: Search, database: Database
) -> None:
    before = await now(database)
    await write(pipeline, OLD)
    first = await now(database)
    await write(pipeline, NEW)
    second = await now(database)
    for as_of, since, until, expected in (
        (first, None, first, [OLD]),
        (first, before, first, [OLD]),
        (first, first, None, []),
        (first, None, before, []),
        (second, first, second, [NEW]),
        (second, None, first, []),
        (None, first, None, [NEW]),
        (None, None, first, []),
    ):
        assert await found(search, "where does Ada live", as_of, since=since, until=until) == expected


async def test_a_file_has_the_tags_that_it_had_then(pipeline: Pipeline, search: Search, database: Database) -> None:
    text = "---\ntags: [{}]\n---\n\nThe osprey nests in the tower.\n"
    nest = ["The osprey nests in the tower."]

    async def tagged(as_of: datetime | None, tag: str) -> list[str]:
        return [text for text in await found(search, "osprey", as_of, tags=[tag]) if text in nest]

    before = await now(database)
    await write(pipeline, text.format("alpha"))
    first = await now(database)
    await write(pipeline, text.format("beta"))
    second = await now(database)
    await pipeline.delete(PLACE, "MEMORY.md", by="user", reason="delete")
    third = await now(database)
    for as_of, tags in ((before, []), (first, ["alpha"]), (second, ["beta"]), (third, []), (None, [])):
        assert [tag for tag in ("alpha", "beta") if await tagged(as_of, tag) == nest] == tags


async def test_a_daily_note_has_its_tags_of_now_at_every_time(
    pipeline: Pipeline, search: Search, database: Database
) -> None:
    for tag in ("alpha", "beta"):
        await write(pipeline, f"---\ntags: [{tag}]\n---\n\nAda walked.\n", "memory/2026-04-02.md")
    at = datetime(2026, 4, 2, 12, tzinfo=UTC)
    assert await found(search, "walked", at, tags=["alpha"]) == []
    assert "Ada walked." in await found(search, "walked", at, tags=["beta"])
