"""What readers see while writers write, and what is left when writers meet."""

from __future__ import annotations

import asyncio

import pytest
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import (
    DatabaseUnavailable,
    NotFound,
    PayloadTooLarge,
    ReverieError,
    StaleVersion,
    ValidationFailed,
)
from reverie_indexer.index.vectors import promote_large_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

TEAM = Place("default", "wren", "team")
PRINCIPAL = Principal("default", "wren", None)


def put(text: str, path: str = "notes/a.md") -> Change:
    return overwrite(path, text, by="user", reason="put")


def version_text(name: str) -> str:
    return "\n\n".join(f"The lantern of {name} hangs at gate {name}{number}." for number in range(8)) + "\n"


def passages(text: str) -> frozenset[str]:
    return frozenset(text.strip().split("\n\n"))


async def found(search: Search, query: str = "lantern", **request: object) -> list[str]:
    outcome = await search.search(
        SearchRequest("default", "wren", query, max_results=50, path_prefix="notes/", **request)
    )
    return [result.text for result in outcome.results]


@pytest.mark.parametrize("large", [False, True], ids=["exact", "hnsw"])
async def test_readers_see_exactly_one_version_at_every_instant(
    pipeline: Pipeline, search: Search, workspace: Workspace, conninfo: str, database: Database, large: bool
) -> None:
    """Two writers turn one file between two texts without a passage in common; readers never see neither or both.

    A large slice is searched by two statements, the nearest first and then what they are: in one snapshot.
    """
    texts = [version_text("amber"), version_text("birch")]
    allowed = {passages(text) for text in texts}
    await pipeline.write(TEAM, put(texts[0]))
    if large:
        assert await promote_large_slices(database, exact_max_chunks=1, max_partitions=1) == 1
    writing = True
    seen: list[frozenset[str]] = []
    read: list[str] = []

    async def write(first: int) -> None:
        for number in range(40):
            await pipeline.write(TEAM, put(texts[(first + number) % 2]))

    async def look() -> None:
        while writing:
            results = await found(search, mode="vector" if large else "hybrid")
            assert len(results) == len(set(results))
            seen.append(frozenset(results))

    async def open_file() -> None:
        while writing:
            read.append((await workspace.read(PRINCIPAL, "notes/a.md")).content)

    readers = [asyncio.create_task(task) for task in (look(), look(), open_file())]
    await asyncio.gather(write(0), write(1))
    writing = False
    await asyncio.gather(*readers)
    assert set(seen) == allowed
    assert set(read) == set(texts)
    assert_index_consistent(conninfo)


async def test_a_deleted_file_is_found_whole_or_not_at_all(
    pipeline: Pipeline, search: Search, workspace: Workspace, conninfo: str
) -> None:
    text = version_text("cedar")
    await pipeline.write(TEAM, put(text))
    writing = True
    seen: set[frozenset[str]] = set()

    async def look() -> None:
        while writing:
            seen.add(frozenset(await found(search)))

    readers = [asyncio.create_task(look()) for _ in range(2)]
    for _ in range(15):
        await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete")
        with pytest.raises(NotFound):
            await workspace.read(PRINCIPAL, "notes/a.md")
        assert await found(search) == []
        await pipeline.write(TEAM, put(text))
        assert frozenset(await found(search)) == passages(text)
    writing = False
    await asyncio.gather(*readers)
    assert seen <= {frozenset(), passages(text)}
    assert_index_consistent(conninfo)


async def test_several_files_of_one_write_become_visible_together(
    pipeline: Pipeline, search: Search, conninfo: str
) -> None:
    names = ["amber", "birch"]

    def changes(name: str) -> list[Change]:
        return [put(f"The lantern of {name}, part {part}.", f"notes/{part}.md") for part in range(4)]

    await pipeline.write_many(TEAM, changes(names[0]))
    writing = True

    async def look() -> int:
        count = 0
        while writing:
            results = await found(search)
            assert len(results) == 4
            assert len({text.split(",")[0] for text in results}) == 1
            count += 1
        return count

    reader = asyncio.create_task(look())
    for number in range(30):
        await pipeline.write_many(TEAM, changes(names[number % 2]))
    writing = False
    assert await reader > 0
    assert_index_consistent(conninfo)


async def test_two_hundred_rewrites_by_two_writers_leave_200_versions_and_the_chunks_of_the_last(
    pipeline: Pipeline, workspace: Workspace, conninfo: str, database: Database
) -> None:
    async def write(name: str) -> None:
        for number in range(100):
            await pipeline.write(TEAM, put(f"# Round {number}\n\n{version_text(f'{name}{number}')}"))

    await asyncio.gather(write("amber"), write("birch"))
    document, versions = await workspace.history(PRINCIPAL, "notes/a.md", None, before=None, limit=500)
    assert (document.version, [v.version for v in versions]) == (200, list(range(200, 0, -1)))
    # Compares the chunks with those of the text of version 200.
    assert_index_consistent(conninfo)


async def test_edits_by_two_programs_all_arrive(database: Database, pipeline: Pipeline, conninfo: str) -> None:
    """Two pipelines share no lock in memory: only the version check orders their edits."""
    other = Pipeline(database, pipeline._models, Rules())

    async def add(writer: Pipeline, name: str) -> None:
        for number in range(15):
            line = f"- {name} {number}\n"
            await writer.write(TEAM, Change("notes/a.md", lambda text, line=line: (text or "") + line, "user", "add"))

    await asyncio.gather(add(pipeline, "ada"), add(other, "bo"), add(other, "cy"))
    workspace = Workspace(database, pipeline)
    lines = (await workspace.read(PRINCIPAL, "notes/a.md")).content.splitlines()
    expected = [f"- {name} {number}" for name in ("ada", "bo", "cy") for number in range(15)]
    assert sorted(lines) == sorted(expected)
    assert_index_consistent(conninfo)


async def test_first_writers_of_an_agent_make_it_once_with_its_seed_files(
    pipeline: Pipeline, workspace: Workspace, conninfo: str
) -> None:
    places = [TEAM, Place("default", "wren", "personal", "user:1"), Place("default", "wren", "global")]
    await asyncio.gather(*(pipeline.write(places[n % 3], put("text", f"notes/{n}.md")) for n in range(12)))
    principal = Principal("default", "wren", "user:1")
    count, files = await workspace.listing(principal, prefix=None, after=None, limit=100)
    assert count == 12 + 4
    assert [f.path for f in files][:4] == ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"]
    assert_index_consistent(conninfo)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (Change("notes/a.md", lambda text: "x", "user", "r", if_version=7), StaleVersion),
        (Change("notes/a.md", lambda text: "x" * 2_000_000, "user", "r"), PayloadTooLarge),
        (Change("notes/a.md", lambda text: "\x00", "user", "r"), ValidationFailed),
        (Change("notes/a.md", lambda text: "\ud800", "user", "r"), ValidationFailed),
    ],
)
async def test_a_refused_change_leaves_nothing_of_its_group(
    pipeline: Pipeline, workspace: Workspace, conninfo: str, change: Change, error: type[ReverieError]
) -> None:
    with pytest.raises(error):
        await pipeline.write_many(TEAM, [put("good", "notes/b.md"), change])
    with pytest.raises(NotFound):
        await workspace.listing(PRINCIPAL, prefix=None, after=None, limit=1)
    assert_index_consistent(conninfo)


async def test_the_same_path_twice_in_one_write_is_refused(pipeline: Pipeline, conninfo: str) -> None:
    with pytest.raises(ValidationFailed):
        await pipeline.write_many(TEAM, [put("one"), put("two")])
    assert_index_consistent(conninfo)


async def test_no_connection_is_held_while_the_model_is_called(conninfo: str) -> None:
    """With one connection in all, reads go on while a slow model embeds a write."""
    async with Database(conninfo, pool_size=1, patience_seconds=1) as database:
        embedder = MoodyEmbedder()
        slot = await filled_slot(database, embedder)
        pipeline = Pipeline(database, slot, Rules())
        workspace = Workspace(database, pipeline)
        search = Search(database, slot, SearchRules())
        await pipeline.write(TEAM, put("The lantern of amber."))
        embedder.delay_seconds = 1.5
        embedder.called.clear()
        writing = asyncio.create_task(pipeline.write(TEAM, put("The lantern of birch.")))
        await embedder.called.wait()
        for _ in range(5):
            assert (await workspace.read(PRINCIPAL, "notes/a.md")).content == "The lantern of amber."
        assert await found(search, mode="text") == ["The lantern of amber."]
        assert not writing.done()
        assert (await writing).embedded
        await slot.aclose()


async def test_a_cancelled_write_is_whole_or_not_there(
    pipeline: Pipeline, workspace: Workspace, conninfo: str, database: Database
) -> None:
    """A client that hangs up at any instant leaves no half write, and gives its connection back."""
    await pipeline.write(TEAM, put("first"))
    for number in range(25):
        task = asyncio.create_task(pipeline.write(TEAM, put(version_text(f"n{number}"))))
        await asyncio.sleep(number * 0.002)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert_index_consistent(conninfo)
    await asyncio.gather(*(database.ping() for _ in range(8)))
    assert (await pipeline.write(TEAM, put("last"))).embedded
    assert_index_consistent(conninfo)


async def test_an_exhausted_pool_is_said_and_not_waited_for_for_ever(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1, patience_seconds=0.1) as database, database.maintenance():
        with pytest.raises(DatabaseUnavailable):
            await database.ping()
