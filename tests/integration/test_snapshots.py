"""Snapshots on a real database: one instant out, all or nothing in, and nothing that is somebody else's."""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.archives import Raw, snapshot
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound, PayloadTooLarge, ReverieError, ValidationFailed
from reverie_indexer.model import Place, Scope
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.principal import Principal
from reverie_server.app.wiring import assemble
from reverie_server.files.files import Workspace, Write
from reverie_server.files.snapshot_format import Snapshot, read_snapshot
from reverie_server.files.snapshots import Digest, FileChange, Report, Snapshots, place_to_export
from reverie_server.files.strict_zip import Limits
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

SEEDS = ("AGENTS.md", "MEMORY.md", "PROFILE.md", "SOUL.md")
TEAM = Place("default", "wren", "team")
ADA = Place("default", "wren", "personal", "user:ada")


@pytest.fixture
def snapshots(runtime: Runtime) -> Snapshots:
    return runtime.snapshots


def principal(place: Place) -> Principal:
    return Principal(place.tenant_id, place.agent_id, place.owner_key)


async def put(workspace: Workspace, place: Place, path: str, text: str, **flags: Any) -> None:
    await workspace.put(place, Write(path, "user", "put", **flags), text)


async def exported(snapshots: Snapshots, place: Place, **options: Any) -> bytes:
    export = await snapshots.export(place, **options)
    with export.file:
        data = export.file.read()
    assert len(data) == export.size
    return data


async def contents(snapshots: Snapshots, place: Place, **options: Any) -> dict[str, str]:
    found = taken(await exported(snapshots, place, **options))
    assert not found.skipped
    return dict(found.files)


def taken(archive: bytes) -> Snapshot:
    return read_snapshot(io.BytesIO(archive), Limits(), max_file_bytes=1024 * 1024)


def digest(text: str) -> Digest:
    return Digest(len(text), hashlib.sha256(text.encode()).hexdigest())


async def imported(snapshots: Snapshots, place: Place, archive: bytes) -> Report:
    return await snapshots.apply(place, io.BytesIO(archive), by="key:1")


async def test_an_export_holds_what_the_place_holds_of_the_whitelist(
    snapshots: Snapshots, workspace: Workspace
) -> None:
    for path in ("memory/b.md", "memory/a/b.md", "KNOWLEDGE.md", "DREAMS.md", "memory/gone.md"):
        await put(workspace, TEAM, path, f"{path}\r\n")
    for path in ("notes/a.md", "memory/a.txt", "MEMORY.json"):
        await put(workspace, TEAM, path, "{}")
    await put(workspace, ADA, "memory/ada.md", "Ada's")
    await put(workspace, Place("default", "wren", "global"), "memory/all.md", "everybody's")
    await put(workspace, Place("default", "crow", "team"), "memory/crow.md", "the crow's")
    await put(workspace, Place("acme", "wren", "team"), "memory/acme.md", "another tenant's")
    await workspace.delete(TEAM, "memory/gone.md", by="user", if_version=None)
    found = await contents(snapshots, TEAM)
    core = ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md", "KNOWLEDGE.md", "DREAMS.md"]
    assert list(found) == [*core, "memory/a/b.md", "memory/b.md"]
    assert found["memory/b.md"] == "memory/b.md\r\n"
    assert await contents(snapshots, ADA) == {"memory/ada.md": "Ada's"}
    assert await contents(snapshots, TEAM, prefix="memory/a/") == {"memory/a/b.md": "memory/a/b.md\r\n"}
    assert await contents(snapshots, Place("default", "wren", "global")) == {"memory/all.md": "everybody's"}
    with pytest.raises(NotFound):
        await snapshots.export(Place("default", "nobody", "team"))


@pytest.mark.parametrize("before", [{}, {"MEMORY.md": "old"}, {"memory.md": "old"}], ids=["none", "upper", "lower"])
@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md"])
async def test_the_long_term_memory_is_taken_along_under_both_of_its_names(
    runtime: Runtime, snapshots: Snapshots, workspace: Workspace, name: str, before: dict[str, str]
) -> None:
    """What is brought in is the long-term memory afterwards: a memory.md beside a MEMORY.md is hidden by it."""
    await put(workspace, ADA, name, "- I keep bees.\n")
    archive = await exported(snapshots, ADA)
    assert list(taken(archive).files) == [name]
    ben = Place("default", "wren", "personal", "user:ben")
    for path, text in before.items():
        await put(workspace, ben, path, text)
    preview = await snapshots.preview(ben, io.BytesIO(archive))
    assert preview.files == (await imported(snapshots, ben, archive)).files
    assert [file.path for file in preview.files] == [*before, "MEMORY.md"][:1]
    assert (await contents(snapshots, ben)) == {preview.files[0].path: "- I keep bees.\n"}
    _, text = await runtime.long_term.current(ben) or (None, "")
    assert text == "- I keep bees.\n"


async def test_of_two_files_of_long_term_memory_each_keeps_its_name(snapshots: Snapshots, workspace: Workspace) -> None:
    for name in ("MEMORY.md", "memory.md"):
        await put(workspace, ADA, name, name)
    archive = await exported(snapshots, ADA)
    ben = Place("default", "wren", "personal", "user:ben")
    await imported(snapshots, ben, archive)
    assert await contents(snapshots, ben) == {"MEMORY.md": "MEMORY.md", "memory.md": "memory.md"}


async def test_a_place_without_files_gives_an_empty_snapshot(snapshots: Snapshots, workspace: Workspace) -> None:
    await put(workspace, TEAM, "memory/a.md", "x")
    assert await contents(snapshots, ADA) == {}
    report = await imported(snapshots, ADA, await exported(snapshots, ADA))
    assert (report.files, report.skipped) == ([], {})


@pytest.mark.parametrize(
    ("agent_id", "name"),
    [
        ("wren", "reverie-wren"),
        ("a:b..c", "reverie-a-b-c"),
        ("..", "reverie-agent"),
        ("x" * 128, f"reverie-{'x' * 128}"),
    ],
)
async def test_the_name_of_a_download_is_one_that_any_system_takes(
    snapshots: Snapshots, workspace: Workspace, agent_id: str, name: str
) -> None:
    place = Place("default", agent_id, "team")
    await put(workspace, place, "memory/a.md", "x")
    export = await snapshots.export(place)
    export.file.close()
    assert export.filename.startswith(f"{name}-team-20")
    assert export.filename.endswith(".zip")


async def test_an_export_is_of_one_instant(snapshots: Snapshots, pipeline: Pipeline, workspace: Workspace) -> None:
    """A writer changes twenty files at once, again and again; every export has them all from the same write."""
    paths = [f"memory/{number}.md" for number in range(20)]
    await put(workspace, TEAM, "memory/a.md", "x")
    writing = True

    async def write() -> int:
        number = 0
        while writing:
            number += 1
            changes = [overwrite(path, f"{number}", by="user", reason="put") for path in paths]
            await pipeline.write_many(TEAM, changes)
        return number

    writer = asyncio.create_task(write())
    seen = set()
    while len(seen) < 4:
        found = await contents(snapshots, TEAM, prefix="memory/")
        numbers = {found.get(path) for path in paths}
        assert len(numbers) == 1
        seen |= numbers
    writing = False
    assert await writer >= 3


async def test_an_export_that_could_not_be_imported_again_is_refused(runtime: Runtime, workspace: Workspace) -> None:
    small = Snapshots(
        runtime.database,
        runtime.pipeline,
        max_file_bytes=1024 * 1024,
        limits=Limits(max_entries=4, max_entry_bytes=1000, max_total_bytes=2000, max_archive_bytes=5000),
    )
    for number in range(3):
        await put(workspace, ADA, f"memory/{number}.md", "x" * 300)
    archive = await exported(small, ADA)
    assert (await imported(small, Place("default", "wren", "personal", "user:ben"), archive)).created
    await put(workspace, ADA, "memory/3.md", "x")
    with pytest.raises(PayloadTooLarge, match="4 entries"):
        await small.export(ADA)
    assert len(await contents(small, ADA, prefix="memory/3")) == 1, "the way out that the error names"
    await workspace.delete(ADA, "memory/3.md", by="user", if_version=None)
    await put(workspace, ADA, "memory/2.md", "x" * 1001)
    with pytest.raises(PayloadTooLarge, match="has 1001 bytes"):
        await small.export(ADA)
    await put(workspace, ADA, "memory/2.md", "x" * 1000)
    await put(workspace, ADA, "memory/1.md", "x" * 1000)
    with pytest.raises(PayloadTooLarge, match="2000 bytes"):
        await small.export(ADA)


NAMES = st.sampled_from(["AGENTS.md", "KNOWLEDGE.md", "DREAMS.md", "memory/a.md", "memory/A.md", "memory/日/é.md"])
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=300)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.dictionaries(NAMES, TEXTS, min_size=1), st.sampled_from(["team", "personal"]))
async def test_a_snapshot_imported_elsewhere_holds_the_same_to_the_letter(
    snapshots: Snapshots, workspace: Workspace, texts: dict[str, str], scope: Scope
) -> None:
    owner = "user:ada" if scope == "personal" else None
    name = uuid4().hex
    one = Place("default", f"one-{name}", scope, owner)
    two = Place("default", f"two-{name}", scope, owner)
    for path, text in texts.items():
        await put(workspace, one, path, text)
    archive = await exported(snapshots, one)
    report = await imported(snapshots, two, archive)
    assert {file.path for file in report.created} >= texts.keys()
    assert await contents(snapshots, two) == await contents(snapshots, one)
    for path, text in texts.items():
        assert (await workspace.read(principal(two), path)).content == text


async def test_an_import_is_versions_like_any_other_write(
    snapshots: Snapshots, workspace: Workspace, conninfo: str
) -> None:
    await put(workspace, ADA, "MEMORY.md", "old", enabled=False, sort_order=7)
    await put(workspace, ADA, "memory/kept.md", "not in the archive")
    await put(workspace, ADA, "memory/same.md", "same")
    archive = snapshot({"MEMORY.md": "new lantern", "memory/more.md": "more", "memory/same.md": "same"})
    before = await snapshots.preview(ADA, io.BytesIO(archive))
    done = await imported(snapshots, ADA, archive)
    assert before == done
    assert [file.path for file in done.created] == ["memory/more.md"]
    assert done.updated == [FileChange("MEMORY.md", digest("old"), digest("new lantern"))]
    assert [file.path for file in done.unchanged] == ["memory/same.md"]
    document, versions = await workspace.history(principal(ADA), "MEMORY.md", None, before=None, limit=5)
    assert [(v.version, v.by, v.reason) for v in versions] == [(2, "key:1", "import"), (1, "user", "put")]
    assert (document.enabled, document.sort_order) == (False, 7)
    assert (await workspace.read(principal(ADA), "memory/kept.md")).content == "not in the archive"
    more = (await workspace.read(principal(ADA), "memory/more.md")).document
    assert (more.enabled, more.sort_order, more.version) == (False, 100, 1)
    again = await imported(snapshots, ADA, archive)
    assert (again.created, again.updated, len(again.unchanged)) == ([], [], 3)
    _, versions = await workspace.history(principal(ADA), "MEMORY.md", None, before=None, limit=5)
    assert len(versions) == 2
    assert_index_consistent(conninfo)


async def test_a_preview_gives_sizes_and_hashes_and_writes_nothing(snapshots: Snapshots, workspace: Workspace) -> None:
    archive = snapshot({"MEMORY.md": "new", "notes.txt": "x"}, Raw("memory/x.md", b"x"))
    report = await snapshots.preview(TEAM, io.BytesIO(archive))
    assert report.created == report.files == [FileChange("MEMORY.md", None, digest("new"))]
    assert list(report.skipped) == ["memory/x.md", "notes.txt"]
    with pytest.raises(NotFound):
        await workspace.read(principal(TEAM), "MEMORY.md")
    await put(workspace, TEAM, "MEMORY.md", "old")
    report = await snapshots.preview(TEAM, io.BytesIO(archive))
    assert report.updated == report.files == [FileChange("MEMORY.md", digest("old"), digest("new"))]
    assert (await workspace.read(principal(TEAM), "MEMORY.md")).document.version == 1


async def test_a_new_agent_gets_its_seeds_and_their_flags_around_what_is_imported(
    snapshots: Snapshots, workspace: Workspace
) -> None:
    await imported(snapshots, TEAM, snapshot({"SOUL.md": "mine", "KNOWLEDGE.md": "known", "memory/a.md": "a"}))
    _, listed = await workspace.listing(principal(TEAM), prefix=None, after=None, limit=50)
    assert [(d.path, d.enabled, d.sort_order, d.version) for d in listed] == [
        ("AGENTS.md", True, 0, 1),
        ("SOUL.md", True, 1, 1),
        ("PROFILE.md", True, 2, 1),
        ("MEMORY.md", True, 3, 1),
        ("KNOWLEDGE.md", False, 100, 1),
        ("memory/a.md", False, 100, 1),
    ]
    assert (await workspace.read(principal(TEAM), "SOUL.md")).content == "mine"


async def test_a_deleted_file_comes_back_as_a_new_one(snapshots: Snapshots, workspace: Workspace) -> None:
    await put(workspace, TEAM, "memory/a.md", "x", enabled=True, sort_order=5)
    archive = await exported(snapshots, TEAM)
    await workspace.delete(TEAM, "memory/a.md", by="user", if_version=None)
    report = await imported(snapshots, TEAM, archive)
    assert [file.path for file in report.created] == ["memory/a.md"]
    document = (await workspace.read(principal(TEAM), "memory/a.md")).document
    assert (document.enabled, document.version) == (False, 3)


async def test_an_import_writes_to_its_place_and_nowhere_else(snapshots: Snapshots, workspace: Workspace) -> None:
    await put(workspace, TEAM, "MEMORY.md", "the team's")
    await put(workspace, ADA, "MEMORY.md", "Ada's")
    await imported(snapshots, Place("default", "wren", "personal", "user:ben"), snapshot({"MEMORY.md": "Ben's"}))
    for owner, text in ((None, "the team's"), ("user:ada", "Ada's"), ("user:ben", "Ben's")):
        assert (await workspace.read(Principal("default", "wren", owner), "MEMORY.md")).content == text
    await imported(snapshots, TEAM, snapshot({"MEMORY.md": "all of us"}))
    for owner, text in ((None, "all of us"), ("user:ada", "Ada's"), ("user:ben", "Ben's")):
        assert (await workspace.read(Principal("default", "wren", owner), "MEMORY.md")).content == text


async def test_readers_see_all_of_an_import_or_nothing(
    snapshots: Snapshots, workspace: Workspace, conninfo: str
) -> None:
    paths = [f"memory/{number}.md" for number in range(30)]
    texts = ["The amber lantern.", "The birch lantern."]
    archives = [snapshot(dict.fromkeys(paths, text)) for text in texts]
    await imported(snapshots, TEAM, archives[0])
    importing = True

    async def look() -> set[frozenset[str]]:
        seen = set()
        while importing:
            seen.add(frozenset((await contents(snapshots, TEAM, prefix="memory/")).values()))
        return seen

    looking = asyncio.create_task(look())
    for number in range(1, 7):
        await imported(snapshots, TEAM, archives[number % 2])
    importing = False
    assert await looking == {frozenset([text]) for text in texts}
    assert_index_consistent(conninfo)


async def test_an_import_that_fails_in_the_database_writes_nothing(
    runtime: Runtime, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, conninfo: str
) -> None:
    from reverie_indexer.index import store

    await put(workspace, TEAM, "memory/0.md", "old")
    write, done = store.write_document, 0

    async def break_down(*arguments: Any, **options: Any) -> Any:
        nonlocal done
        done += 1
        if done == 3:
            raise ValidationFailed("the third file breaks")
        return await write(*arguments, **options)

    monkeypatch.setattr(store, "write_document", break_down)
    archive = snapshot({f"memory/{number}.md": "new" for number in range(4)})
    with pytest.raises(ValidationFailed, match="third"):
        await imported(runtime.snapshots, TEAM, archive)
    monkeypatch.undo()
    assert await contents(runtime.snapshots, TEAM, prefix="memory/") == {"memory/0.md": "old"}
    assert_index_consistent(conninfo)


async def test_a_damaged_archive_never_writes_a_part(snapshots: Snapshots, workspace: Workspace) -> None:
    """Whatever bytes change, an import ends with all of the files or none, and never with other texts."""
    files = {f"memory/{number}.md": f"The lantern of gate {number}.\n" for number in range(4)}
    archive = snapshot(files)
    await put(workspace, TEAM, "notes/a.md", "x")
    dice = random.Random(20261121)
    outcomes = set()
    for number in range(150):
        place = Place("default", "wren", "personal", f"user:{number}")
        damaged = bytearray(archive)
        for _ in range(dice.randint(1, 3)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        try:
            await imported(snapshots, place, bytes(damaged))
            assert await contents(snapshots, place) == files
            outcomes.add("whole")
        except ReverieError:
            assert await contents(snapshots, place) == {}
            outcomes.add("nothing")
    assert outcomes == {"whole", "nothing"}


async def test_an_import_while_the_model_is_away_says_that_vectors_are_missing(
    database: Database, conninfo: str
) -> None:
    embedder = MoodyEmbedder(down=True)
    slot = await filled_slot(database, embedder)
    runtime = assemble(Settings(embedder="hashing"), database, slot)
    report = await imported(runtime.snapshots, TEAM, snapshot({"memory/a.md": "x", "memory/b.md": "y"}))
    assert report.waiting == 2
    embedder.down = False
    while await runtime.pipeline.backfill():
        pass
    again = await imported(runtime.snapshots, TEAM, snapshot({"memory/a.md": "x", "memory/b.md": "z"}))
    assert again.waiting == 0
    assert_index_consistent(conninfo)
    await slot.aclose()


def test_whose_files_an_export_is_of() -> None:
    ada, nobody = Principal("t", "wren", "user:ada"), Principal("t", "wren", None)
    assert place_to_export(ada, None, isolated=True) == Place("t", "wren", "personal", "user:ada")
    assert place_to_export(ada, "team", isolated=True) == Place("t", "wren", "team")
    assert place_to_export(nobody, None, isolated=True) == Place("t", "wren", "team")
    assert place_to_export(nobody, "global", isolated=True) == Place("t", "wren", "global")
    assert place_to_export(ada, None, isolated=False) == Place("t", "wren", "team")
    assert place_to_export(ada, "personal", isolated=False) == Place("t", "wren", "personal", "user:ada")
    with pytest.raises(ValidationFailed):
        place_to_export(nobody, "personal", isolated=True)
