"""An agent's memory follows a folder of markdown, and touches nothing that did not come from it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.consistency import assert_index_consistent

from reverie_indexer.database.database import Database
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_indexer.watch import scan
from reverie_server.access.principal import Principal
from reverie_server.files import ingest
from reverie_server.files.files import Workspace, Write
from reverie_server.files.ingest import Progress, Summary, index_folder
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.runtime import Runtime

TEAM = Place("default", "wren", "team")
PRINCIPAL = Principal("default", "wren", None)
MAX_BYTES = 10_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir()
    return root


def fill(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8", newline="")


Index = Callable[..., Awaitable[Summary]]


@pytest.fixture
def index(runtime: Runtime) -> Index:
    async def run(root: Path, place: Place = TEAM, **limits: int) -> Summary:
        tombstones = runtime.tombstones
        return await index_folder(
            runtime.workspace, runtime.pipeline, place, root, tombstones=tombstones, max_file_bytes=MAX_BYTES, **limits
        )

    return run


async def paths(workspace: Workspace) -> dict[str, str]:
    """The agent's files but the seeds, with their text."""
    _, documents = await workspace.listing(PRINCIPAL, prefix=None, after=None, limit=1000)
    names = [d.path for d in documents if d.path not in ("AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md")]
    return {name: (await workspace.read(PRINCIPAL, name)).content for name in names}


def counts(summary: Summary) -> tuple[int, int, int, int]:
    return summary.new, summary.changed, summary.unchanged, summary.removed


async def test_new_changed_unchanged_and_removed_files(
    index: Index, workspace: Workspace, folder: Path, conninfo: str
) -> None:
    fill(folder, a="one", b="two", c="three")
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "sub" / "deep" / "d.md").write_text("four")
    assert counts(await index(folder)) == (4, 0, 0, 0)
    fill(folder, b="two, changed", e="five")
    (folder / "c.md").unlink()
    summary = await index(folder)
    assert (counts(summary), summary.chunks, summary.pending, summary.skipped) == ((1, 1, 2, 1), 2, 0, {})
    assert await paths(workspace) == {"a.md": "one", "b.md": "two, changed", "e.md": "five", "sub/deep/d.md": "four"}
    assert counts(await index(folder)) == (0, 0, 4, 0)
    assert_index_consistent(conninfo)


async def test_a_deleted_file_that_comes_back_is_new_again(index: Index, workspace: Workspace, folder: Path) -> None:
    fill(folder, a="one")
    await index(folder)
    (folder / "a.md").unlink()
    await index(folder)
    fill(folder, a="one")
    assert counts(await index(folder)) == (1, 0, 0, 0)
    assert await paths(workspace) == {"a.md": "one"}


async def test_two_folders_in_one_agent_leave_each_others_files(
    index: Index, workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / "memory"
    other.mkdir(parents=True)
    fill(folder, a="of the first", both="of the first")
    fill(other, b="of the second", both="of the second")
    await index(folder)
    assert counts(await index(other)) == (1, 1, 0, 0)
    (folder / "both.md").unlink()
    assert counts(await index(folder)) == (0, 0, 1, 0)
    assert await paths(workspace) == {"a.md": "of the first", "b.md": "of the second", "both.md": "of the second"}
    for name in ("b.md", "both.md"):
        (other / name).unlink()
    assert counts(await index(other)) == (0, 0, 0, 2)
    assert await paths(workspace) == {"a.md": "of the first"}


async def test_files_written_otherwise_are_never_removed(index: Index, workspace: Workspace, folder: Path) -> None:
    fill(folder, a="from the folder", b="from the folder")
    await index(folder)
    await workspace.put(TEAM, Write("b.md", "user", "put"), "edited by a person")
    await workspace.put(TEAM, Write("own.md", "user", "put"), "written by a person")
    for name in ("a.md", "b.md"):
        (folder / name).unlink()
    assert counts(await index(folder)) == (0, 0, 0, 1)
    assert await paths(workspace) == {"b.md": "edited by a person", "own.md": "written by a person"}


async def test_a_file_that_is_edited_while_the_folder_is_indexed_is_not_removed(
    workspace: Workspace, index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder, a="from the folder", b="from the folder")
    await index(folder)
    for name in ("a.md", "b.md"):
        (folder / name).unlink()
    loop = asyncio.get_running_loop()

    def scan_then_edit(*arguments: object, **options: object) -> object:
        found = scan(*arguments, **options)  # type: ignore[arg-type]
        # Between the look and the removal a person saves one file and another program deletes the other.
        edit = workspace.put(TEAM, Write("a.md", "user", "put"), "edited meanwhile")
        asyncio.run_coroutine_threadsafe(edit, loop).result()
        gone = workspace.delete(TEAM, "b.md", by="user", if_version=None)
        asyncio.run_coroutine_threadsafe(gone, loop).result()
        return found

    monkeypatch.setattr(ingest, "scan", scan_then_edit)
    summary = await index(folder)
    assert counts(summary) == (0, 0, 0, 0)
    assert await paths(workspace) == {"a.md": "edited meanwhile"}


async def test_what_cannot_be_memory_is_skipped_with_the_reason(
    index: Index, workspace: Workspace, folder: Path, tmp_path: Path, conninfo: str
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    fill(folder, good="good", large="x" * (MAX_BYTES + 1), nul="a\x00b")
    (folder / "latin.md").write_bytes("café".encode("latin-1"))
    (folder / "new\nline.md").write_text("x")
    (folder / "back\\slash.md").write_text("x")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("x")
    long_name = f"{'d' * 200}/{'e' * 200}/{'f' * 200}"
    (folder / long_name).mkdir(parents=True)
    (folder / long_name / "g.md").write_text("x")
    (folder / "_system").mkdir()
    (folder / "_system" / "s.md").write_text("x")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "h.md").write_text("x")
    (folder / ".dot.md").write_text("x")
    (folder / "note.txt").write_text("x")
    (folder / "link-out.md").symlink_to(outside)
    (folder / "link-in.md").symlink_to(folder / "good.md")
    (folder / "broken.md").symlink_to(folder / "nowhere.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "tree").symlink_to(tmp_path)
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    summary = await index(folder)
    assert counts(summary) == (2, 0, 0, 0)
    assert await paths(workspace) == {"good.md": "good", "link-in.md": "good"}
    assert summary.skipped["latin.md"] == "not UTF-8"
    assert f"at most {MAX_BYTES} bytes" in summary.skipped["large.md"]
    assert "NUL" in summary.skipped["nul.md"]
    assert set(summary.skipped) == {
        "latin.md",
        "large.md",
        "nul.md",
        "new\nline.md",
        "back\\slash.md",
        os.fsdecode(b"bad\xff.md"),
        f"{long_name}/g.md",
        "_system/s.md",
    }
    assert_index_consistent(conninfo)


async def test_a_file_that_becomes_unreadable_keeps_its_indexed_text(
    index: Index, workspace: Workspace, folder: Path
) -> None:
    fill(folder, a="one")
    await index(folder)
    (folder / "a.md").write_bytes(b"\xff\xfe\xff")
    summary = await index(folder)
    assert (counts(summary), list(summary.skipped)) == ((0, 0, 0, 0), ["a.md"])
    assert await paths(workspace) == {"a.md": "one"}


async def test_a_byte_order_mark_is_no_text_and_line_ends_stay(
    index: Index, workspace: Workspace, folder: Path
) -> None:
    (folder / "a.md").write_bytes(b"\xef\xbb\xbf# Title\r\n\r\ntext\r\n")
    (folder / "b.md").write_bytes(b"\xef\xbb\xbf" + b"x" * MAX_BYTES)
    assert counts(await index(folder)) == (2, 0, 0, 0)
    assert (await paths(workspace))["a.md"] == "# Title\r\n\r\ntext\r\n"
    assert counts(await index(folder)) == (0, 0, 2, 0)


async def test_a_folder_that_is_gone_is_an_error_and_not_an_empty_folder(
    index: Index, workspace: Workspace, folder: Path
) -> None:
    """Such as one on a disk that is not mounted now."""
    fill(folder, a="one")
    await index(folder)
    await asyncio.to_thread(folder.rename, folder.with_name("away"))
    with pytest.raises(ValidationFailed, match="cannot be read"):
        await index(folder)
    assert await paths(workspace) == {"a.md": "one"}


async def test_a_directory_that_cannot_be_read_keeps_its_indexed_files(
    index: Index, workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.md").write_text("one")
    fill(folder, b="two")
    await index(folder)
    (folder / "b.md").unlink()
    listing = os.scandir

    def refuse(path: str) -> object:
        # Permissions do not stop root, as whom this may run.
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)
    summary = await index(folder)
    assert (counts(summary), summary.skipped) == ((0, 0, 0, 1), {"sub/": "cannot be read: Permission denied"})
    assert await paths(workspace) == {"sub/a.md": "one"}


async def test_indexing_that_was_stopped_goes_on_with_what_is_missing(
    database: Database, models: ModelSlot, workspace: Workspace, folder: Path, conninfo: str
) -> None:
    names = [f"n{number:03}" for number in range(100)]
    fill(folder, **{name: f"text of {name}" for name in names})

    class Stopped(Exception):
        """As by Ctrl-C."""

    def stop(at: Progress) -> None:
        if at.done >= 64:
            raise Stopped

    pipeline = Pipeline(database, models, Rules())
    options: Any = {"tombstones": Tombstones(database), "max_file_bytes": MAX_BYTES}
    with pytest.raises(Stopped):
        await index_folder(workspace, pipeline, TEAM, folder, **options, progress=stop)
    assert len(await paths(workspace)) == 64
    assert_index_consistent(conninfo)
    summary = await index_folder(workspace, pipeline, TEAM, folder, **options)
    assert counts(summary) == (36, 0, 64, 0)
    assert sorted(await paths(workspace)) == [f"{name}.md" for name in names]


async def test_progress_tells_files_and_chunks_and_what_was_indexed_before(
    runtime: Runtime, index: Index, folder: Path
) -> None:
    fill(folder, **{f"n{number:03}": f"# {number}\n\none\n\ntwo" for number in range(40)})
    await index(folder)
    fill(folder, **{f"m{number:03}": "one\n\ntwo" for number in range(70)})
    (folder / "n007.md").unlink()
    seen: list[Progress] = []
    await index_folder(
        runtime.workspace,
        runtime.pipeline,
        TEAM,
        folder,
        tombstones=runtime.tombstones,
        max_file_bytes=MAX_BYTES,
        progress=seen.append,
    )
    told = list(dict.fromkeys((at.done, at.total, at.unchanged, at.chunks) for at in seen))
    written = [(0, 0), (32, 64), (64, 128), (70, 140), (71, 140)]
    assert told == [(done, 71, 39, chunks) for done, chunks in written]


async def test_large_files_make_small_groups(
    runtime: Runtime, index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that memory is bounded by characters as well as by files."""
    sizes: list[int] = []
    write = Pipeline.write_many

    async def noting(self: Pipeline, place: Place, changes: Any, **options: Any) -> Any:
        sizes.append(len(changes))
        return await write(self, place, changes, **options)

    monkeypatch.setattr(Pipeline, "write_many", noting)
    fill(folder, a="x" * 60, b="x" * 40, c="x", d="x" * 500, e="x" * 99)
    assert counts(await index(folder, chars_per_write=100)) == (5, 0, 0, 0)
    assert sizes == [2, 1, 1, 1]


async def test_two_indexers_of_one_folder_agree(
    index: Index, workspace: Workspace, folder: Path, conninfo: str
) -> None:
    fill(folder, **{f"n{number}": f"text {number}" for number in range(40)})
    await asyncio.gather(index(folder), index(folder))
    _, versions = await workspace.history(PRINCIPAL, "n7.md", None, before=None, limit=9)
    assert len(versions) == 1
    for number in range(40):
        (folder / f"n{number}.md").unlink()
    both = await asyncio.gather(index(folder), index(folder))
    assert sum(summary.removed for summary in both) == 40
    assert await paths(workspace) == {}
    assert_index_consistent(conninfo)


def _texts(conninfo: str) -> dict[str, str]:
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute(
            "SELECT d.path, v.content FROM documents d JOIN versions v USING (tenant_id, document_id, version)"
            " WHERE d.deleted_at IS NULL AND v.reason LIKE 'index of %'"
        ).fetchall()
    return dict(rows)


def _wait_for(conninfo: str, expected: dict[str, str], timeout_seconds: float = 30) -> None:
    deadline = time.monotonic() + timeout_seconds
    while _texts(conninfo) != expected:
        assert time.monotonic() < deadline, (_texts(conninfo), expected)
        time.sleep(0.1)


def test_a_watched_folder_is_followed_until_ctrl_c(conninfo: str, folder: Path, tmp_path: Path) -> None:
    fill(folder, a="one")
    given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "reverie_server.cli.main", "index", str(folder), "--agent", "wren", "--watch"],
        env={**given, "REVERIE_DATABASE_URL": conninfo, "REVERIE_EMBEDDER": "hashing"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a shell, SIGINT is ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        _wait_for(conninfo, {"a.md": "one"})
        # At once: also what changes before the watcher watches is seen.
        fill(folder, a="one, changed", b="two")
        _wait_for(conninfo, {"a.md": "one, changed", "b.md": "two"})
        (folder / "a.md").unlink()
        _wait_for(conninfo, {"b.md": "two"})
        ready = tmp_path / "ready"
        ready.mkdir()
        fill(ready, c="three")
        ready.rename(folder / "sub")
        _wait_for(conninfo, {"b.md": "two", "sub/c.md": "three"})
        (folder / "sub").rename(tmp_path / "away")
        _wait_for(conninfo, {"b.md": "two"})
        process.send_signal(signal.SIGINT)
        complaints = process.communicate(timeout=20)[1]
        assert process.returncode == 130
        assert "Traceback" not in complaints
    finally:
        process.kill()
        process.communicate()
    assert_index_consistent(conninfo)


async def test_progress_tells_of_the_model_before_the_first_group_is_written(runtime: Runtime, folder: Path) -> None:
    fill(folder, **{f"n{number}": f"# Note {number}\n\nText {number}.\n\nMore {number}.\n" for number in range(40)})
    shown: list[Progress] = []
    await index_folder(
        runtime.workspace,
        runtime.pipeline,
        TEAM,
        folder,
        tombstones=runtime.tombstones,
        max_file_bytes=MAX_BYTES,
        progress=shown.append,
    )
    assert shown[0] == Progress(0, 40, 0, 0)
    first = next(at for at in shown if at.done)
    assert any(at.embedded > 0 for at in shown[: shown.index(first)])
    assert shown[-1].embedded == shown[-1].chunks == 80
    # Whatever is embedded later is not told to whoever watched this run.
    count = len(shown)
    await runtime.workspace.put(TEAM, Write("z.md", "user", "put"), "Something new.\n")
    assert len(shown) == count
