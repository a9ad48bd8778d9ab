"""The embedded server brought back to a point in time: what was there is there, what was forgotten since is not."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.backups import shown_nowhere
from tests.clusters import cluster_directory
from tests.consistency import assert_index_consistent
from tests.integration.test_forget import PRINCIPAL, put
from tests.point_in_time import Made, embedded, found, make, now, served
from tests.rows import leftovers

from reverie_indexer.errors import Conflict, NotFound, SetupError, Unauthorized
from reverie_indexer.postgres.host import kill_all
from reverie_server.app.backups.point_in_time import (
    NotArchived,
    NotEmbedded,
    RestoredTo,
    TimeAfterArchive,
    TimeBeforeArchive,
    WalMissing,
    restore_to_time,
)
from reverie_server.app.backups.restore import RestoreOptions
from reverie_server.app.databases import archive_of, open_server
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

REPLACE = RestoreOptions(replace=True)


@pytest.fixture(scope="module")
def life() -> Iterator[Made]:
    """A server that was stopped, lived once for all tests."""
    with cluster_directory() as directory:
        yield asyncio.run(make(directory))


@pytest.fixture
def made(life: Made) -> Iterator[Made]:
    """A copy of it."""
    with cluster_directory() as directory:
        yield life.copy_to(directory)


async def restored(settings: Settings, to: datetime, options: RestoreOptions = REPLACE) -> RestoredTo:
    return await restore_to_time(settings, to, options, shown_nowhere)


def by_command(made: Made, *options: str) -> subprocess.CompletedProcess[str]:
    """The same by the command line."""
    settings = {
        "REVERIE_EMBEDDER": "hashing",
        "REVERIE_DATA_DIR": str(made.settings.data_dir),
        "REVERIE_WAL_ARCHIVE_DIR": str(made.settings.wal_archive_dir),
    }
    command = [sys.executable, "-m", "reverie_server.cli.main", "restore", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **settings})


async def read(runtime: Runtime, path: str) -> str | None:
    try:
        return (await runtime.workspace.read(PRINCIPAL, path)).content
    except NotFound:
        return None


async def test_a_mistake_is_undone_and_what_was_forgotten_after_it_stays_forgotten(made: Made) -> None:
    back = await restored(made.settings, made.good)
    assert made.base < back.last <= made.good
    assert (back.base, back.acts, dict(back.forgotten)) == (made.base, 3, {"key": 2, "texts": 1})
    async with embedded(made.settings) as (runtime, conninfo):
        assert await read(runtime, "plan.md") == "The bridge opens in spring.\n"
        assert await found(runtime, "bridge spring") == ["The bridge opens in spring."]
        assert await read(runtime, "later.md") is None
        assert (await read(runtime, "notes.md") or "").strip() == "Ada likes tea."
        assert not any("quince" in text for text in await found(runtime, "vault quince"))
        assert leftovers(conninfo, "quince") == []
        for key in (made.key, made.held):
            with pytest.raises(Unauthorized):
                await runtime.keys.authenticate(f"Bearer {key}")
        assert_index_consistent(conninfo)
    assert not {"restoring", "postgres.replaced"} & {path.name for path in (made.directory / "home").iterdir()}


@pytest.mark.slow
async def test_after_a_restore_any_time_can_still_be_restored_to(made: Made) -> None:
    await restored(made.settings, made.good)
    async with embedded(made.settings) as (runtime, conninfo):
        await put(runtime.pipeline, "anew.md", "The bridge opens in summer.\n")
        anew = now(conninfo)
        await put(runtime.pipeline, "anew.md", "The bridge stays closed.\n")
        key_id, key = await runtime.keys.create("default", "member")
        await runtime.keys.revoke(key_id)
    # Later than the first time and before that restore: on the way that was left.
    await restored(made.settings, made.later)
    async with embedded(made.settings) as (runtime, conninfo):
        assert await read(runtime, "later.md") == "The ferry leaves at nine.\n"
        assert [await read(runtime, name) for name in ("anew.md", "plan.md", "last.md")] == [None] * 3
        assert leftovers(conninfo, "quince") == []
    # And on the way that was taken instead.
    back = await restored(made.settings, anew)
    assert back.acts == 1
    async with embedded(made.settings) as (runtime, conninfo):
        assert await read(runtime, "anew.md") == "The bridge opens in summer.\n"
        assert await read(runtime, "later.md") is None
        for each in (made.key, made.held, key):
            with pytest.raises(Unauthorized):
                await runtime.keys.authenticate(f"Bearer {each}")
        assert leftovers(conninfo, "quince") == []


async def test_on_another_machine_with_the_archive_and_the_log_alone(made: Made) -> None:
    home = made.directory / "home"
    log = (home / "forgotten.log").read_bytes()
    shutil.rmtree(home)
    with pytest.raises(SetupError, match="would come back"):
        await restored(made.settings, made.good, RestoreOptions())
    (home / "forgotten.log").write_bytes(log)
    done = await asyncio.to_thread(by_command, made, "--to-time", made.good.isoformat())
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("restored: the last transaction is of ")
    assert first.endswith(f", from the base backup of {made.base:%Y-%m-%d %H:%M:%S.%f} UTC")
    assert second == "forgotten since then, in 3 acts: 2 key, 1 texts"
    async with embedded(made.settings) as (runtime, conninfo):
        assert await read(runtime, "plan.md") == "The bridge opens in spring.\n"
        assert leftovers(conninfo, "quince") == []


@pytest.mark.slow
async def test_what_a_server_that_was_killed_had_not_archived_is_there(made: Made) -> None:
    home = made.directory / "home"
    async with open_server(made.settings) as (conninfo, _):
        async with served(made.settings, conninfo) as runtime:
            await put(runtime.pipeline, "more.md", "More.\n")
            more = now(conninfo)
            await put(runtime.pipeline, "most.md", "Most.\n")
        kill_all(home / "postgres", time.monotonic() + 30)
    back = await restored(made.settings, more)
    assert made.later < back.last <= more
    async with embedded(made.settings) as (runtime, _):
        assert (await read(runtime, "more.md"), await read(runtime, "most.md")) == ("More.\n", None)


@pytest.mark.slow
async def test_one_that_is_given_up_while_it_replays_leaves_the_old_memory(made: Made) -> None:
    archive = archive_of(made.settings)
    assert archive is not None
    # Whoever reads the segment waits; when one does, it can be opened for writing.
    segment = archive.wal / f"{max(archive.segments())}.gz"
    segment.rename(made.directory / "kept")
    os.mkfifo(segment, 0o644)
    restoring = asyncio.create_task(restored(made.settings, made.later))
    writer: int | None = None
    while writer is None:
        assert not restoring.done(), restoring
        await asyncio.sleep(0.05)
        with suppress(OSError):
            writer = os.open(segment, os.O_WRONLY | os.O_NONBLOCK)
    restoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await restoring
    os.close(writer)
    (made.directory / "kept").rename(segment)
    assert not (made.directory / "home" / "restoring").exists()
    async with embedded(made.settings) as (runtime, _):
        assert await read(runtime, "last.md") == "The last word.\n"


async def test_times_outside_are_refused_and_nothing_changes(made: Made) -> None:
    with pytest.raises(TimeBeforeArchive, match=f"{made.base:%H:%M:%S.%f}"):
        await restored(made.settings, made.base - timedelta(microseconds=1))
    with pytest.raises(TimeAfterArchive) as after:
        await restored(made.settings, datetime.now(UTC))
    last: datetime = after.value.extra["last"]
    assert f"{last:%H:%M:%S.%f}" in after.value.detail
    assert last > made.later
    with pytest.raises(Conflict, match="--replace"):
        await restored(made.settings, made.good, RestoreOptions())
    # The end itself can be named.
    assert (await restored(made.settings, last)).last == last
    async with embedded(made.settings) as (runtime, _):
        assert await read(runtime, "last.md") == "The last word.\n"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["gone", "damaged"])
async def test_a_segment_that_is_missing_is_named(made: Made, how: str) -> None:
    archive = archive_of(made.settings)
    assert archive is not None
    # Two lives in a row, so that there are segments after the one that goes.
    async with embedded(made.settings) as (runtime, conninfo):
        await put(runtime.pipeline, "more.md", "More.\n")
        more = now(conninfo)
        await put(runtime.pipeline, "most.md", "Most.\n")
    *_, gone, _ = sorted(archive.segments())
    shutil.rmtree(made.directory / "home" / "postgres" / "pg_wal")
    file = archive.wal / f"{gone}.gz"
    kept = file.read_bytes()
    file.unlink() if how == "gone" else file.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(WalMissing, match=f"{gone}.gz is missing") as missing:
        await restored(made.settings, more)
    assert missing.value.extra["last"] < more
    file.write_bytes(kept)
    await restored(made.settings, more)
    async with embedded(made.settings) as (runtime, _):
        assert (await read(runtime, "more.md"), await read(runtime, "most.md")) == ("More.\n", None)


async def test_it_is_refused_while_somebody_uses_the_server_and_without_an_archive(made: Made, conninfo: str) -> None:
    async with open_server(made.settings):
        with pytest.raises(Conflict, match="stop the servers and workers first"):
            await restored(made.settings, made.good)
    without = made.settings.model_copy(update={"wal_archive_dir": None})
    with pytest.raises(NotArchived, match="REVERIE_WAL_ARCHIVE_DIR"):
        await restored(without, made.good)
    with pytest.raises(NotEmbedded, match="pgBackRest"):
        await restored(Settings(embedder="hashing", database_url=conninfo), made.good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is the embedded PostgreSQL's"):
        Settings(database_url=conninfo, wal_archive_dir=made.directory)  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="no archive of WAL"):
        await restored(made.settings.model_copy(update={"wal_archive_dir": made.directory / "none"}), made.good)


@pytest.mark.slow
async def test_an_archive_that_is_away_is_no_reason_not_to_serve(made: Made, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with capture_logs() as logs:
        async with embedded(made.settings.model_copy(update={"wal_archive_dir": tmp_path / "file" / "x"})) as (it, _):
            assert await read(it, "last.md") == "The last word.\n"
            assert (await it.consolidation.backups.states()).archiver is not None
    assert "wal_archive_cannot_be_written" in {line["event"] for line in logs}
