"""The archive of a server that runs: base backups by the clock, what is removed with them, and failures that show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
from structlog.testing import capture_logs
from tests.clusters import cluster_directory
from tests.conftest import PLAIN, ServeRuntime
from tests.integration.test_forget import put
from tests.point_in_time import embedded, settings_in, until

from reverie_indexer.postgres.archive import WalArchive
from reverie_server.app.background import wire_worker
from reverie_server.app.backups.base_backup import BasePlan, bases_of, take_base
from reverie_server.app.backups.forgotten import forgotten_log_of
from reverie_server.app.backups.scheduled_backup import make_when_due
from reverie_server.app.databases import archive_of
from reverie_server.http.readiness import KEPT_SECONDS
from reverie_server.jobs.scheduled_backups import ScheduledBackups
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings


@pytest.fixture
def settings() -> Iterator[Settings]:
    with cluster_directory() as directory:
        yield settings_in(directory)


@pytest.fixture
async def served(settings: Settings) -> AsyncIterator[tuple[Runtime, str]]:
    async with embedded(settings) as (runtime, conninfo):
        await put(runtime.pipeline, "notes.md", "Ada likes tea in the morning.\n")
        yield runtime, conninfo


def finish_segment(conninfo: str) -> str:
    """Write something and finish the segment that it is in; its name."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000))")
        row = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
    assert row is not None
    return str(row[0])


def archive_and_plan(settings: Settings) -> tuple[WalArchive, BasePlan]:
    archive = archive_of(settings)
    assert archive is not None
    return archive, BasePlan(archive, 1, forgotten_log_of(settings))


async def test_bases_are_made_when_due_and_the_oldest_goes_with_its_log(
    served: tuple[Runtime, str], settings: Settings
) -> None:
    runtime, conninfo = served
    archive, plan = archive_and_plan(settings)
    periodic = wire_worker(runtime.settings, runtime.database, runtime.consolidation)._periodic
    assert [each.name for each in periodic] == ["prune", "nightly", "base_backup"]
    bases = runtime.consolidation.backups.bases
    make = partial(take_base, plan, conninfo)
    with capture_logs() as logs:
        await make_when_due(bases, make)
        await make_when_due(bases, make)
    [line] = logs
    [first] = bases_of(archive)
    assert (line["event"], line["kind"], line["file"], line["kept"]) == ("backup", "base", str(first), 1)
    state = await bases.state()
    assert state.taken_at == bases_of(archive)[first].at
    assert state.bytes == line["bytes"] > 1_000_000
    # PostgreSQL tries a segment again that could not be archived at once, as on a busy machine.
    backups = runtime.consolidation.backups
    async with asyncio.timeout(60):
        while backups.standing(await backups.states()) != "ok":  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.5)

    old = finish_segment(conninfo)
    until(lambda: old in archive.segments())
    (archive.base / ".draft-killed").mkdir()
    tomorrow = ScheduledBackups(
        runtime.database, settings.base_backup_schedule, "base", now=lambda: datetime.now(UTC) + timedelta(days=1)
    )
    await make_when_due(tomorrow, make)
    [(second, base)] = bases_of(archive).items()
    assert [path.name for path in archive.base.iterdir()] == [second.name]
    assert second > first
    assert min(archive.segments() | {base.first_segment}) == base.first_segment > old


async def test_what_is_written_soon_after_a_start_is_archived_in_time(settings: Settings) -> None:
    """PostgreSQL's checkpointer would first look after five minutes, if nothing else woke it."""
    prompt = settings.model_copy(update={"wal_archive_seconds": 1})
    archive, _ = archive_and_plan(settings)
    async with embedded(prompt) as (runtime, conninfo):
        await put(runtime.pipeline, "notes.md", "Ada likes tea in the morning.\n")
        with psycopg.connect(conninfo) as connection:
            row = connection.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchone()
        assert row is not None
        until(lambda: row[0] in archive.segments())


async def test_an_archive_that_fails_is_seen_and_loses_nothing(
    served: tuple[Runtime, str], settings: Settings, serve_runtime: ServeRuntime
) -> None:
    runtime, conninfo = served
    archive, plan = archive_and_plan(settings)
    base_url = await serve_runtime(runtime)
    ready: list[httpx.Response] = []

    def is_ready() -> tuple[int, str, list[str]]:
        body = ready[-1].json()
        return ready[-1].status_code, body["status"], body["reasons"]

    async def shown() -> tuple[dict[str, float], str]:
        async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=PLAIN) as client:
            # What was seen for the last answer is remembered.
            await asyncio.sleep(KEPT_SECONDS)
            ready.append(await client.get("/readyz"))
            metrics = (await client.get("/metrics")).text.splitlines()
            summary = (await client.get("/api/v1/agents/wren/summary")).json()
        found = dict(line.split() for line in metrics if line.startswith(("reverie_wal_", "reverie_base_")))
        return {name.removeprefix("reverie_"): float(value) for name, value in found.items()}, summary["backup"]

    metrics, standing = await shown()
    assert (metrics["wal_archive_failed"], metrics["wal_archive_waiting_seconds"], standing) == (0, 0, "none")
    assert is_ready() == (200, "ready", [])
    away = archive.directory / "away"
    archive.wal.rename(away)
    names = [finish_segment(conninfo)]

    def has_failed() -> bool:
        with psycopg.connect(conninfo) as connection:
            return connection.execute("SELECT failed_count > 0 FROM pg_stat_archiver").fetchone() == (True,)

    until(has_failed)
    metrics, standing = await shown()
    assert (metrics["wal_archive_failed"], standing) == (1, "failed")
    assert metrics["wal_archive_waiting_seconds"] > 0
    status, word, [reason] = is_ready()
    assert (status, word) == (200, "degraded")
    assert reason.startswith("the log (WAL) has not been archived for ")
    assert str(archive.directory) not in reason
    names.append(finish_segment(conninfo))
    away.rename(archive.wal)
    # PostgreSQL tries again each minute, and when there is another one.
    names.append(finish_segment(conninfo))
    until(lambda: set(names) <= archive.segments())
    await make_when_due(runtime.consolidation.backups.bases, partial(take_base, plan, conninfo))
    until(lambda: not list((Path(settings.data_dir or "") / "postgres/pg_wal/archive_status").glob("*.ready")))
    metrics, standing = await shown()
    assert (metrics["wal_archive_failed"], metrics["base_backup_failed"], standing) == (0, 0, "ok")
    assert is_ready() == (200, "ready", [])
    assert 0 <= metrics["base_backup_age_seconds"] < 300
