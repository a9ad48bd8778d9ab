"""PostgreSQL is frozen, read-only or a standby: requests end with an answer that says so, and go on when it is back."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr
from structlog.testing import capture_logs
from tests.clusters import cluster_directory
from tests.conftest import PLAIN, ServeRuntime

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import DatabaseUnavailable
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import read_lock_file
from reverie_server.app.background import wire_worker
from reverie_server.app.upkeep import upkeep
from reverie_server.app.wiring import assemble, open_runtime
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

SMALL = {"autovacuum": "off", "shared_buffers": "16MB", "fsync": "off"}
# Nothing here is measured: what takes longer than this hangs.
HANGS_SECONDS = 60.0
LANTERN = "The lantern hangs in the harbour."
FILE = "/api/v1/agents/wren/files/notes/a.md"
SEARCH = "/api/v1/agents/wren/memory/search"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A cluster with the schema, stopped."""
    with cluster_directory() as directory:
        home = directory / "home"
        with EmbeddedPostgres(home, options=SMALL) as server:
            asyncio.run(prepare_database(server.start()))
        yield home


@pytest.fixture
def home(cluster: Path) -> Iterator[Path]:
    """It runs. After the test it takes writes again, and is stopped."""
    with EmbeddedPostgres(cluster, options=SMALL):
        try:
            yield cluster
        finally:
            thaw(cluster)
            make_read_only(cluster, "off")


def conninfo_of(home: Path) -> str:
    lock_file = read_lock_file(home / "postgres")
    assert lock_file is not None
    return make_conninfo(host=str(lock_file.socket_dir), user="postgres", dbname="reverie")


def processes(home: Path) -> list[psutil.Process]:
    lock_file = read_lock_file(home / "postgres")
    assert lock_file is not None
    postmaster = psutil.Process(lock_file.pid)
    return [postmaster, *postmaster.children()]


def freeze(home: Path) -> None:
    """As a machine that stands still: the kernel takes connections, and nobody answers."""
    for process in processes(home):
        process.send_signal(signal.SIGSTOP)


def thaw(home: Path) -> None:
    for process in processes(home):
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGCONT)


def make_read_only(home: Path, value: str) -> None:
    with psycopg.connect(conninfo_of(home), autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
        connection.execute("SELECT pg_reload_conf()")


def is_standby(home: Path) -> bool:
    with psycopg.connect(conninfo_of(home)) as connection:
        return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)


def promote(home: Path) -> None:
    with psycopg.connect(conninfo_of(home)) as connection:
        assert connection.execute("SELECT pg_promote()").fetchone() == (True,)


@pytest.fixture
async def standby(cluster: Path) -> AsyncIterator[Path]:
    """A hot standby with a file in its memory, whose primary has gone."""
    with EmbeddedPostgres(cluster, options=SMALL):
        async with running(cluster) as runtime:
            place = Place("default", "wren", "personal", None)
            await runtime.pipeline.write(place, overwrite("notes/a.md", LANTERN, by="test", reason="test"))
    signal_file = cluster / "postgres" / "standby.signal"
    signal_file.touch()
    os.chown(signal_file, cluster.joinpath("postgres").stat().st_uid, -1)
    try:
        with EmbeddedPostgres(cluster, options=SMALL):
            assert is_standby(cluster)
            yield cluster
    finally:
        signal_file.unlink(missing_ok=True)


@asynccontextmanager
async def running(home: Path) -> AsyncIterator[Runtime]:
    """Everything wired, on a pool that soon takes silence for death."""

    async def load() -> HashingEmbedder:
        return HashingEmbedder(16)

    conninfo = conninfo_of(home)
    async with Database(conninfo, pool_size=4, patience_seconds=3, silence_seconds=0.5) as database:
        slot = ModelSlot(load)
        await slot.fill(database)
        runtime = assemble(Settings(embedder="hashing"), database, slot)
        recording = asyncio.create_task(runtime.recalls.run())
        try:
            yield runtime
        finally:
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)
            await slot.aclose()
            await runtime.compactions.aclose()


@asynccontextmanager
async def client_of(runtime: Runtime, serve: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    base_url = await serve(runtime)
    async with httpx.AsyncClient(base_url=base_url, timeout=HANGS_SECONDS, verify=PLAIN) as client:
        yield client


async def fill_pool(database: Database, connections: int = 4) -> None:
    """Idle connections, of which each request takes one."""
    async with AsyncExitStack() as stack:
        for _ in range(connections):
            await stack.enter_async_context(database.maintenance())


async def comes_about(condition: Callable[[], Awaitable[bool]]) -> None:
    until = time.monotonic() + HANGS_SECONDS
    while not await condition():
        assert time.monotonic() < until
        await asyncio.sleep(0.1)


def check_unavailable(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable"), answer.text
    assert int(answer.headers["Retry-After"]) >= 1


async def test_a_frozen_server_is_an_answer_and_a_thawed_one_is_used_again(
    home: Path, serve_runtime: ServeRuntime
) -> None:
    async with running(home) as runtime, client_of(runtime, serve_runtime) as client:
        assert (await client.put(FILE, json={"content": LANTERN})).is_success
        assert (await client.post(SEARCH, json={"query": "lantern"})).json()["results"]
        await fill_pool(runtime.database)
        freeze(home)
        ready, *answers = await asyncio.gather(
            client.get("/readyz"),
            client.put(FILE, json={"content": "The lantern is gone."}),
            client.get(FILE),
            client.post(SEARCH, json={"query": "lantern"}),
        )
        assert (ready.status_code, ready.json()["database"]) == (503, "unavailable")
        for answer in answers:
            check_unavailable(answer)
        assert (await client.get("/readyz")).json()["status"] == "not_ready"
        thaw(home)

        async def is_back() -> bool:
            return (await client.get("/readyz")).status_code == 200

        await comes_about(is_back)
        assert (await client.get(FILE)).status_code == 200
        assert (await client.put(FILE, json={"content": "The lantern is back."})).status_code == 200


async def test_a_server_that_freezes_inside_a_transaction_ends_it_also_for_who_is_cancelled(home: Path) -> None:
    async with running(home) as runtime:
        inside = asyncio.Event()

        async def work() -> None:
            async with runtime.database.maintenance() as connection:
                inside.set()
                await connection.execute("SELECT pg_sleep(1)")

        waits, is_cancelled = asyncio.create_task(work()), asyncio.create_task(work())
        await inside.wait()
        await asyncio.sleep(0.2)
        freeze(home)
        is_cancelled.cancel()
        async with asyncio.timeout(HANGS_SECONDS):
            outcomes = await asyncio.gather(waits, is_cancelled, return_exceptions=True)
        assert isinstance(outcomes[0], DatabaseUnavailable)
        assert isinstance(outcomes[1], asyncio.CancelledError | DatabaseUnavailable)


async def test_a_long_statement_of_a_server_that_lives_is_let_go_on(home: Path) -> None:
    async with running(home) as runtime, runtime.database.maintenance() as connection:
        row = await (await connection.execute("SELECT 1 AS one FROM pg_sleep(3)")).fetchone()
        assert row == {"one": 1}


async def test_a_recovery_that_takes_long_is_not_waited_for(home: Path) -> None:
    ended = asyncio.Event()
    begun = 0

    async def recover() -> None:
        nonlocal begun
        begun += 1
        await ended.wait()

    conninfo = conninfo_of(home)
    async with Database(conninfo, pool_size=2, patience_seconds=4, silence_seconds=0.5, recover=recover) as database:
        freeze(home)
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable):
                async with asyncio.timeout(HANGS_SECONDS):
                    await database.ping()
        assert begun == 1
        thaw(home)
        ended.set()
        await database.ping()


async def test_patience_is_for_an_outage_and_not_for_each_request_of_it(home: Path) -> None:
    async with Database(conninfo_of(home), pool_size=2, patience_seconds=8, silence_seconds=0.5) as database:
        freeze(home)
        attempts = []
        for _ in range(2):
            with capture_logs() as lines, pytest.raises(DatabaseUnavailable):
                await database.ping()
            attempts.append([line["event"] for line in lines].count("database_connection_lost"))
        assert attempts[0] >= 2
        assert attempts[1] == 0
        thaw(home)

        async def is_back() -> bool:
            return await database.state(HANGS_SECONDS) == "ok"

        await comes_about(is_back)


async def test_a_read_only_server_answers_reads_and_refuses_writes(home: Path, serve_runtime: ServeRuntime) -> None:
    async with running(home) as runtime, client_of(runtime, serve_runtime) as client:
        assert (await client.put(FILE, json={"content": LANTERN})).is_success
        make_read_only(home, "on")

        async def is_read_only() -> bool:
            ready = await client.get("/readyz")
            assert ready.status_code == 200
            return bool(ready.json()["database"] == "read_only" and ready.json()["status"] == "degraded")

        await comes_about(is_read_only)
        refused = await client.put(FILE, json={"content": "The lantern is gone."})
        check_unavailable(refused)
        assert "read-only" in refused.json()["detail"]
        session = "/api/v1/agents/wren/sessions/s1/messages"
        check_unavailable(await client.post(session, json={"messages": [{"role": "user", "content": "hello"}]}))
        assert (await client.get(FILE)).json()["content"] == LANTERN
        assert (await client.post(SEARCH, json={"query": "lantern"})).json()["results"]

        async def recalls_wait() -> bool:
            return runtime.recalls.failures > 0

        await comes_about(recalls_wait)
        assert any("read-only" in reason for reason in (await client.get("/readyz")).json()["reasons"])
        make_read_only(home, "off")

        async def takes_writes() -> bool:
            return (await client.put(FILE, json={"content": "The lantern is back."})).status_code == 200

        await comes_about(takes_writes)

        async def recalls_are_written() -> bool:
            return runtime.recalls.written > 0

        await comes_about(recalls_are_written)
        assert runtime.recalls.lost == 0

        async def is_ready() -> bool:
            # What was seen for the last answer is remembered for a moment.
            return bool((await client.get("/readyz")).json()["status"] == "ready")

        await comes_about(is_ready)


async def test_a_standby_serves_reads_quietly_and_all_once_it_is_promoted(
    standby: Path, serve_runtime: ServeRuntime
) -> None:
    conninfo = conninfo_of(standby)
    settings = Settings(
        embedder="hashing",
        embedder_dimension=16,
        database_url=SecretStr(conninfo),
        backfill_interval_seconds=0.2,
        worker_poll_seconds=0.2,
    )
    with capture_logs() as lines:
        async with open_runtime(settings) as runtime, client_of(runtime, serve_runtime) as client:
            worker = wire_worker(settings, runtime.database, runtime.consolidation)
            tasks = [asyncio.create_task(upkeep(runtime)), asyncio.create_task(worker.run())]
            try:
                ready = await client.get("/readyz")
                await runtime.models.wait(HANGS_SECONDS)
                ready = await client.get("/readyz")
                assert ready.json()["embedder"] == "ready", lines
                assert (ready.status_code, ready.json()["database"]) == (200, "read_only")
                found = (await client.post(SEARCH, json={"query": "lantern", "explain": True})).json()
                assert found["results"][0]["text"] == LANTERN
                assert not found.get("warnings")
                check_unavailable(await client.put(FILE, json={"content": "The lantern is gone."}))
                await asyncio.sleep(1)
                events = [line["event"] for line in lines if line["log_level"] != "info"]
                assert not [event for event in events if "upkeep" in event or "worker" in event], lines
                await asyncio.to_thread(promote, standby)

                async def takes_writes() -> bool:
                    return (await client.put(FILE, json={"content": "The lantern is back."})).status_code == 200

                await comes_about(takes_writes)

                async def goes_on() -> bool:
                    totals = await runtime.consolidation.health.totals()
                    return totals.workers == 1 and any(line["event"] == "upkeep_goes_on" for line in lines)

                await comes_about(goes_on)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_read_whose_connection_is_lost_is_done_again_and_a_write_is_not(
    home: Path, serve_runtime: ServeRuntime
) -> None:
    async with running(home) as runtime, client_of(runtime, serve_runtime) as client:
        assert (await client.put(FILE, json={"content": LANTERN})).is_success
        read, found, head, written = await while_connections_end(
            conninfo_of(home),
            client.get(FILE),
            client.post(SEARCH, json={"query": "lantern"}),
            client.head(FILE),
            client.put(FILE, json={"content": "The lantern is gone."}),
        )
        assert (read.status_code, read.json()["content"]) == (200, LANTERN)
        assert (found.status_code, found.json()["results"][0]["text"]) == (200, LANTERN)
        assert (head.status_code, head.content) == (200, b"")
        check_unavailable(written)


async def while_connections_end(conninfo: str, *requests: Awaitable[httpx.Response]) -> list[httpx.Response]:
    """The answers to requests whose connections end while all of them read."""
    waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    async with (
        await psycopg.AsyncConnection.connect(conninfo) as holder,
        await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as other,
    ):
        await holder.execute("LOCK TABLE documents, versions, chunks IN ACCESS EXCLUSIVE MODE")
        answers = [asyncio.ensure_future(request) for request in requests]

        async def all_wait() -> bool:
            return len(await (await other.execute(f"SELECT {waiting}".encode())).fetchall()) == len(requests)

        await comes_about(all_wait)
        await other.execute(f"SELECT pg_terminate_backend(pid) {waiting}".encode())
        await holder.rollback()
        return await asyncio.gather(*answers)
