"""Backups by the clock: whole files alone count, the oldest go, two are never made at once, and failures show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
from structlog.testing import capture_logs
from tests.backups import empty_database, serving, settings_of, shown_nowhere
from tests.conftest import PLAIN, ServeRuntime
from tests.integration.test_forget import PRINCIPAL, put
from tests.integration.test_worker import at_work

from reverie_server.app.background import wire_worker
from reverie_server.app.backups import scheduled_backup
from reverie_server.app.backups.forgotten import forgotten_log_of
from reverie_server.app.backups.restore import RestoreOptions, restore_backup
from reverie_server.app.backups.scheduled_backup import BackupPlan, make_backup, make_when_due, whole_backups
from reverie_server.http.readiness import KEPT_SECONDS
from reverie_server.jobs.queue import BACKUP_QUEUE
from reverie_server.jobs.scheduled_backups import BackupState, ScheduledBackups
from reverie_server.jobs.worker import Periodic
from reverie_server.pages.entrance import ROOT
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

pytestmark = pytest.mark.one_node

EVERY_SECOND = "* * * * * *"


@pytest.fixture
def settings(conninfo: str, tmp_path: Path) -> Settings:
    """Settings of a server whose backups go to a directory that is not there yet."""
    return settings_of(conninfo, tmp_path).model_copy(update={"backup_dir": tmp_path / "deep" / "backups"})


@pytest.fixture
async def served(settings: Settings) -> AsyncIterator[Runtime]:
    """A server with a note in its memory."""
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", "Ada likes tea in the morning.\n")
        yield runtime


def plan_of(settings: Settings, keep: int = 2) -> BackupPlan:
    assert settings.backup_dir is not None
    return BackupPlan(settings.backup_dir, keep, forgotten_log_of(settings))


def later(runtime: Runtime, hours: float) -> ScheduledBackups:
    """The backups of a system as they are seen some hours from now."""
    moved = timedelta(hours=hours)
    return ScheduledBackups(runtime.database, "0 * * * *", now=lambda: datetime.now(UTC) + moved)


async def test_it_is_made_when_due_and_can_be_restored(
    served: Runtime, settings: Settings, conninfo: str, tmp_path: Path
) -> None:
    plan, backups = plan_of(settings), served.consolidation.backups.dumps
    assert (backups.schedule, await backups.state()) == ("0 3 * * *", BackupState())
    with capture_logs() as logs:
        await make_when_due(backups, partial(make_backup, plan, conninfo))
        await make_when_due(backups, partial(make_backup, plan, conninfo))
    [file] = plan.directory.iterdir()
    [line] = logs
    state = await backups.state()
    assert (line["event"], line["file"], line["bytes"], line["kept"]) == ("backup", str(file), state.bytes, 1)
    assert state.taken_at is not None
    assert timedelta() < datetime.now(UTC) - state.taken_at < timedelta(minutes=5)
    assert (file.stat().st_mode & 0o777, plan.directory.stat().st_mode & 0o777) == (0o600, 0o700)
    with empty_database(conninfo) as target:
        there = settings_of(target, tmp_path)
        await restore_backup(there, file, RestoreOptions(), shown_nowhere)
        async with serving(there) as runtime:
            assert (await runtime.workspace.read(PRINCIPAL, "notes.md")).content.startswith("Ada likes tea")


async def test_the_oldest_go_and_what_is_not_whole_neither_counts_nor_goes(
    served: Runtime, settings: Settings, conninfo: str
) -> None:
    plan = plan_of(settings)
    await make_when_due(served.consolidation.backups.dumps, partial(make_backup, plan, conninfo))
    [first] = plan.directory.iterdir()
    whole = first.read_bytes()
    for number in (1, 2):
        (plan.directory / f"reverie-2020010{number}T000000Z.rvb").write_bytes(whole)
    half, empty = (plan.directory / f"reverie-2999010{number}T000000Z.rvb" for number in (1, 2))
    half.write_bytes(whole[: len(whole) // 2])
    empty.touch()
    mine, draft = plan.directory / "mine.rvb", plan.directory / ".reverie-backup-abc"
    mine.write_bytes(whole)
    draft.write_bytes(whole)
    assert [path.name for path in whole_backups(plan.directory)] == [
        "reverie-20200101T000000Z.rvb",
        "reverie-20200102T000000Z.rvb",
        first.name,
    ]
    await make_when_due(later(served, 2), partial(make_backup, plan, conninfo))
    *rest, newest = whole_backups(plan.directory)
    assert rest == [first] != [newest]
    assert {*plan.directory.iterdir()} == {first, newest, half, empty, mine, draft}


async def test_a_failure_is_noted_and_made_good_by_the_next(
    served: Runtime, settings: Settings, conninfo: str, serve_runtime: ServeRuntime
) -> None:
    plan = plan_of(settings)
    plan.directory.parent.write_text("in the way")
    base = await serve_runtime(served)

    async def shown() -> tuple[dict[str, float], str]:
        async with httpx.AsyncClient(base_url=base, timeout=30, verify=PLAIN) as client:
            metrics = (await client.get("/metrics")).text.splitlines()
            summary = (await client.get("/api/v1/agents/wren/summary")).json()
            page = (await client.get(f"{ROOT}/wren/overview")).text
            # What was seen for the last answer is remembered.
            await asyncio.sleep(KEPT_SECONDS)
            ready = await client.get("/readyz")
        # Of the first backup nothing is said before it is late; a server without backups would be no better.
        assert (ready.status_code, ready.json()["status"]) == (
            200,
            "degraded" if summary["backup"] == "failed" else "ready",
        )
        assert any("backup failed" in reason for reason in ready.json()["reasons"]) is (summary["backup"] == "failed")
        assert (f"backup {summary['backup']}</span>" in page) is (summary["backup"] == "failed")
        found = dict(line.split() for line in metrics if line.startswith("reverie_backup_"))
        return {name.removeprefix("reverie_backup_"): float(value) for name, value in found.items()}, summary["backup"]

    before, standing = await shown()
    assert (before.keys(), before["failed"], standing) == ({"failed", "overdue_seconds"}, 0, "none")
    with capture_logs() as logs:
        await make_when_due(served.consolidation.backups.dumps, partial(make_backup, plan, conninfo))
    [line] = logs
    assert (line["event"], line["log_level"]) == ("backup_failed", "warning")
    state = await served.consolidation.backups.dumps.state()
    assert state.error == line["code"] == "setup_error"
    assert "cannot be made: Not a directory" in line["detail"]
    failed, standing = await shown()
    assert (failed["failed"], standing) == (1, "failed")
    # It is not tried again at once.
    await make_when_due(served.consolidation.backups.dumps, partial(make_backup, plan, conninfo))
    assert await served.consolidation.backups.dumps.state() == state
    plan.directory.parent.unlink()
    await make_when_due(later(served, 1), partial(make_backup, plan, conninfo))
    well, standing = await shown()
    assert (well["failed"], well["overdue_seconds"], standing) == (0, 0, "ok")
    assert 0 <= well["age_seconds"] < 300
    assert well["bytes"] == len(whole_backups(plan.directory)) * well["bytes"] > 10_000


def damage(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


async def test_one_that_reads_back_otherwise_is_removed_and_older_ones_stay(
    served: Runtime, settings: Settings, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(settings, keep=1)
    await make_when_due(served.consolidation.backups.dumps, partial(make_backup, plan, conninfo))
    before = {*plan.directory.iterdir()}
    good = await served.consolidation.backups.dumps.state()
    written = scheduled_backup.back_up

    async def damaged(conninfo: str, log: Path, target: Path, show: object) -> object:
        manifest = await written(conninfo, log, target, show)  # type: ignore[arg-type]
        damage(target)
        return manifest

    monkeypatch.setattr(scheduled_backup, "back_up", damaged)
    await make_when_due(later(served, 2), partial(make_backup, plan, conninfo))
    assert {*plan.directory.iterdir()} == before
    state = await served.consolidation.backups.dumps.state()
    assert (state.error, state.taken_at, state.ended_at) == ("validation_error", good.taken_at, good.ended_at)


async def test_two_are_never_made_at_once(served: Runtime, settings: Settings, conninfo: str) -> None:
    plan, backups = plan_of(settings), served.consolidation.backups.dumps
    async with backups.alone() as alone:
        assert alone
        async with backups.alone() as also:
            assert not also
        await make_when_due(backups, partial(make_backup, plan, conninfo))
        assert not plan.directory.exists()
    await asyncio.gather(*(make_when_due(backups, partial(make_backup, plan, conninfo)) for _ in range(3)))
    assert len(whole_backups(plan.directory)) == 1


async def test_a_worker_makes_it_and_one_that_knows_no_place_leaves_it_alone(
    served: Runtime, settings: Settings, conninfo: str
) -> None:
    plan = plan_of(settings)
    names = [each.name for each in wire_worker(settings, served.database, served.consolidation)._periodic]
    assert names == ["prune", "nightly", "backup"]
    without = settings.model_copy(update={"backup_dir": None})
    assert [each.name for each in wire_worker(without, served.database, served.consolidation)._periodic] == names[:2]

    made = asyncio.Event()

    async def back_up() -> None:
        await make_when_due(served.consolidation.backups.dumps, partial(make_backup, plan, conninfo))
        made.set()

    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args, lock) "
            "VALUES (%s, 'backup', '{\"timestamp\": 1}', 'backup')",
            [BACKUP_QUEUE],
        )
        states = partial(
            connection.execute, "SELECT DISTINCT status::text FROM procrastinate_jobs WHERE task_name = 'backup'"
        )
        async with at_work(served, poll_seconds=0.1):
            await asyncio.sleep(0.5)
            assert states().fetchall() == [("todo",)]
        async with at_work(served, periodic=[Periodic("backup", "0 0 1 1 *", back_up, BACKUP_QUEUE)], poll_seconds=0.1):
            await made.wait()
    assert len(whole_backups(plan.directory)) == 1
