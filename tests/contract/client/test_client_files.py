"""Workspace files and snapshots through the Python client."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

import reverie_client

SEEDS = ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"]


async def all_of(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


async def test_a_file_is_read_as_it_was_written(me: Any) -> None:
    text = "one\r\ntwo\u2028é\U0001f600\nthree\n"
    await me.write("a.md", text, enabled=True, sort_order=-3)
    file = await me.read("a.md")
    assert (file.content, file.enabled, file.sort_order, file.version, file.etag) == (text, True, -3, 1, '"1"')
    assert (file.size, file.total_lines) == (len(text.encode()), 3)
    assert file.updated_at.utcoffset() == timedelta(0)
    part = await me.read("a.md", from_line=2, lines=1)
    assert (part.content, part.from_line, part.lines) == ("two\u2028é\U0001f600\n", 2, 1)


async def test_lists_go_over_all_pages(reverie: Any, me: Any) -> None:
    for number in range(5):
        await me.write(f"notes/{number}.md", "x")
    listed = await all_of(me.files(page_size=2))
    assert [file.path for file in listed] == SEEDS + [f"notes/{number}.md" for number in range(5)]
    assert [file.path for file in await all_of(me.files("notes/4"))] == ["notes/4.md"]
    for number in range(3):
        await reverie.put_agent(f"agent-{number}")
    agents = await all_of(reverie.agents(page_size=1))
    assert [agent.agent_id for agent in agents] == ["agent-0", "agent-1", "agent-2", "me"]


async def test_the_writes_of_the_server(me: Any) -> None:
    await me.append("notes.md", "- one")
    assert (await me.append("notes.md", "- two")).version == 2
    await me.replace_section("notes.md", "Ada: 1", section="Phones")
    await me.upsert_kv("notes.md", "Ada: 2\nBen: 3")
    assert (await me.read("notes.md")).content == "- one\n\n- two\n\n## Phones\n\nAda: 2\nBen: 3\n"
    edited = await me.edit("notes.md", "- ", "* ", replace_all=True)
    assert (edited.replacements, edited.version) == (2, 5)
    assert edited.size_after == (await me.read("notes.md")).size
    assert (await me.edit("notes.md", enabled=True, sort_order=5)).replacements == 0
    assert [(file.enabled, file.sort_order) async for file in me.files(prefix="notes.md")] == [(True, 5)]
    assert not (await me.write("notes.json", "{}")).searchable


async def test_history_diff_and_restore(me: Any) -> None:
    await me.write("a.md", "one\n")
    await me.write("a.md", "two\n")
    await me.delete("a.md")
    with pytest.raises(reverie_client.NotFound):
        await me.read("a.md")
    history = await all_of(me.versions("a.md", page_size=1))
    assert [(version.version, version.reason, version.deleted) for version in history] == [
        (3, "delete", True), (2, "put", False), (1, "put", False),
    ]  # fmt: skip
    assert history[0].at >= history[1].at
    assert (await me.restore("a.md", 1)).version == 4
    assert (await me.read("a.md")).content == "one\n"
    assert "-one\n+two\n" in await me.diff("a.md", 2)
    assert await me.diff("a.md", 1) == ""
    with pytest.raises(reverie_client.NotFound):
        await me.restore("a.md", 99)


async def test_a_stale_write_is_refused_with_the_present_version(me: Any) -> None:
    await me.write("a.md", "one")
    await me.write("a.md", "two", if_match=1)
    with pytest.raises(reverie_client.StaleVersion) as caught:
        await me.write("a.md", "three", if_match=1)
    assert (caught.value.code, caught.value.status, caught.value.version) == ("stale_version", 412, 2)
    assert (await me.write("a.md", "three", if_match=(await me.read("a.md")).etag)).version == 3
    assert (await me.write("a.md", "four", if_match="*")).version == 4
    for stale in (
        me.edit("a.md", "four", "five", if_match=1),
        me.append("a.md", "five", if_match=1),
        me.delete("a.md", if_match=1),
        me.restore("a.md", 1, if_match=1),
        me.write("new.md", "five", if_match="*"),
    ):
        with pytest.raises(reverie_client.StaleVersion):
            await stale
    assert (await me.read("a.md")).content == "four"


async def test_an_edit_names_exactly_one_passage(me: Any) -> None:
    await me.write("a.md", "tea and tea")
    with pytest.raises(reverie_client.AmbiguousMatch) as caught:
        await me.edit("a.md", "tea", "coffee")
    assert isinstance(caught.value, reverie_client.Conflict)
    with pytest.raises(reverie_client.NotFound):
        await me.edit("a.md", "cocoa", "coffee")


AWKWARD = [
    "a b.md", " .md", "50% off #1?.md", "%2E%2E.md", "a%2Fb.md", "a+b&c=d;e,f@g:h.md", "Grün/日本/\U0001f600.md",
    "..md", "a..b/...md", "'\"<>[]{}|^`~.md", "notes/versions.md", "e\u0301.md",
]  # fmt: skip


@pytest.mark.parametrize("path", AWKWARD)
async def test_any_name_that_the_server_allows_arrives(me: Any, path: str) -> None:
    await me.write(path, "here")
    await me.append(path, "and there")
    assert (await me.read(path)).path == path
    assert [file.path for file in await all_of(me.files(path))] == [path]
    assert [version.version for version in await all_of(me.versions(path))] == [2, 1]
    await me.restore(path, 1)
    await me.edit(path, "here", "now")
    await me.delete(path)
    assert await all_of(me.files(path)) == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a.md",
        "../b/files/a.md",
        "a/../b.md",
        "./a.md",
        "a/./b.md",
        "a//b.md",
        "a\\b.md",
        "a\nb.md",
        "a\x00.md",
        "a",
    ],
)
async def test_what_the_server_refuses_is_not_turned_into_something_else(reverie: Any, me: Any, path: str) -> None:
    """Dot segments above all: resolved on the way, they would name another file or agent."""
    await me.write("b.md", "mine")
    await reverie.agent("b").write("a.md", "another agent's")
    for call in (me.write(path, "x"), me.append(path, "x"), me.read(path), me.edit(path, "x", "y"), me.delete(path)):
        with pytest.raises(reverie_client.ValidationError) as caught:
            await call
        assert (caught.value.code, caught.value.status) == ("validation_error", 422)
    assert (await me.read("b.md")).version == 1
    assert (await reverie.agent("b").read("a.md")).version == 1


async def test_the_servers_own_files_are_forbidden(me: Any) -> None:
    with pytest.raises(reverie_client.Forbidden) as caught:
        await me.write("_system/a.md", "x")
    assert caught.value.status == 403


async def test_what_is_too_large_is_refused(me: Any) -> None:
    with pytest.raises(reverie_client.PayloadTooLarge):
        await me.write("a.md", "x" * (1024 * 1024 + 1))
    with pytest.raises(reverie_client.PayloadTooLarge):
        await me.write("a.md", "x" * (9 * 1024 * 1024))
    await me.write("a.md", "\U0001f600" * (256 * 1024))


async def test_a_name_that_is_another_route_is_no_file(me: Any) -> None:
    await me.write("a.md", "x")
    with pytest.raises(reverie_client.UnexpectedAnswer) as caught:
        await me.read("a.md/versions")
    assert (caught.value.code, caught.value.status) == ("unexpected_answer", 200)


async def test_a_snapshot_goes_out_and_in(reverie: Any, me: Any) -> None:
    await me.write("MEMORY.md", "# Long-term Memory\n")
    await me.write("memory/2026-04-03.md", "Ada called.\n")
    await me.write("notes.txt", "not in a snapshot")
    archive = await me.export_snapshot()
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.namelist()[0] == "manifest.json"
        assert opened.read("memory/2026-04-03.md") == b"Ada called.\n"
    with zipfile.ZipFile(io.BytesIO(await me.export_snapshot(prefix="memory/"))) as opened:
        assert opened.namelist() == ["manifest.json", "memory/2026-04-03.md"]

    target = reverie.agent("other", owner_key="user:7")
    await target.write("MEMORY.md", "old")
    planned = await target.preview_import(archive)
    assert (planned.applied, planned.scope, planned.owner_key, planned.embedded) == (False, "personal", "user:7", None)
    assert [(file.path, file.size) for file in planned.create] == [("memory/2026-04-03.md", len("Ada called.\n"))]
    [changed] = planned.update
    assert (changed.path, changed.size_before, len(changed.sha256)) == ("MEMORY.md", len("old"), 64)
    assert (await target.read("MEMORY.md")).content == "old"

    done = await target.import_snapshot(archive)
    assert (done.applied, done.embedded, done.create, done.update) == (True, True, planned.create, planned.update)
    assert (await target.read("MEMORY.md")).content == "# Long-term Memory\n"
    again = await target.import_snapshot(archive)
    assert [file.path for file in again.unchanged] == ["MEMORY.md", "memory/2026-04-03.md"]


async def test_what_is_no_snapshot_is_refused(me: Any) -> None:
    await me.write("a.md", "x")
    for archive in (b"no archive", b""):
        with pytest.raises(reverie_client.ValidationError) as caught:
            await me.import_snapshot(archive)
        assert caught.value.status in (400, 422)
    with pytest.raises(reverie_client.PayloadTooLarge):
        await me.preview_import(b"x" * (32 * 1024 * 1024))
