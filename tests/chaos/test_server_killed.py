"""The server, or PostgreSQL under it, is killed while clients write: what was acknowledged is there, once."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from tests.chaos.serving import Load, Server
from tests.clusters import cluster_directory
from tests.consistency import assert_index_consistent

from reverie_indexer.postgres.embedded import EmbeddedPostgres


@pytest.fixture
def server() -> Iterator[Server]:
    with cluster_directory() as directory:
        server = Server(directory)
        try:
            yield server
        finally:
            if server.is_running:
                server.kill()


async def kill_during(load: Load, kills: int, kill: Callable[[], None]) -> None:
    """Kill at random moments between the first and the last write."""
    instants = sorted(random.sample(range(1, load.writes * 9 // 10), kills))
    writing = asyncio.create_task(load.run())
    async with asyncio.timeout(180):
        for instant in instants:
            await load.reached(instant)
            await asyncio.sleep(random.uniform(0, 0.02))
            await asyncio.to_thread(kill)
        await writing


async def check_at_rest(server: Server, load: Load) -> None:
    """By HTTP, and, when the server has stopped, in the tables."""
    try:
        await load.check()
    except AssertionError as error:
        error.add_note("\n".join(server.log))
        raise
    assert await asyncio.to_thread(server.stop) in (0, 130)
    assert server.postgres() == []
    with EmbeddedPostgres(server.data_dir) as postgres:
        assert_index_consistent(postgres.start())


@pytest.mark.parametrize(
    ("writes", "kills"), [(120, 2), pytest.param(500, 8, marks=pytest.mark.slow)], ids=["two", "many"]
)
async def test_a_killed_server_loses_no_acknowledged_write(server: Server, writes: int, kills: int) -> None:
    await asyncio.to_thread(server.start)
    load = Load(server, writes)

    def kill() -> None:
        server.kill()
        server.start()

    await kill_during(load, kills, kill)
    await check_at_rest(server, load)


def victims(server: Server) -> list[psutil.Process]:
    """The PostgreSQL processes, as soon as there are clients' among them again."""
    deadline = time.monotonic() + 30
    while len(processes := server.postgres()) < 3:
        assert time.monotonic() < deadline, "PostgreSQL is not back"
        time.sleep(0.02)
    return processes


def kill_postmaster(server: Server) -> None:
    victims(server)[0].kill()


def kill_all_postgres(server: Server) -> None:
    for process in victims(server):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def kill_a_backend(server: Server) -> None:
    """PostgreSQL then drops every connection and recovers by itself."""
    with suppress(psutil.NoSuchProcess):
        victims(server)[-1].kill()


@pytest.mark.parametrize(
    ("writes", "rounds"), [(120, 1), pytest.param(500, 4, marks=pytest.mark.slow)], ids=["each", "many"]
)
async def test_a_server_outlives_postgres_and_answers_right_or_not_at_all(
    server: Server, writes: int, rounds: int
) -> None:
    """It brings PostgreSQL back by itself; meanwhile requests succeed or are told 503, nothing else."""
    await asyncio.to_thread(server.start)
    pid = server.pid
    load = Load(server, writes)
    deeds = [kill_postmaster, kill_all_postgres, kill_a_backend] * rounds
    random.shuffle(deeds)

    def kill() -> None:
        deeds.pop()(server)

    await kill_during(load, len(deeds), kill)
    assert (server.is_running, server.pid) == (True, pid)
    assert set(load.statuses) <= {"503"}, "\n".join(line for line in server.log if "error" in line)
    await check_at_rest(server, load)


@pytest.mark.slow
async def test_the_machine_loses_power(server: Server) -> None:
    """Server and PostgreSQL die at the same instant, and both start again."""
    await asyncio.to_thread(server.start)
    load = Load(server, 500)

    def kill() -> None:
        victims = [psutil.Process(server.pid), *server.postgres()]
        for process in victims:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        server.kill()
        server.start()

    await kill_during(load, 5, kill)
    await check_at_rest(server, load)


@pytest.mark.slow
def test_a_folder_is_indexed_whole_although_the_indexer_is_killed(server: Server, tmp_path: Path) -> None:
    """`reverie index`, killed again and again, goes on where it was; PostgreSQL is left running by each."""
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\nlantern {number}\n" * 20)
    given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    command = [sys.executable, "-m", "reverie_server.cli.main", "index", str(tmp_path), "--agent", "wren"]
    command += ["--data-dir", str(server.data_dir)]
    environment = {**given, "REVERIE_EMBEDDER": "hashing"}
    for _ in range(4):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(1, 4))
        process.kill()
        process.wait()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    with EmbeddedPostgres(server.data_dir) as postgres:
        assert_index_consistent(postgres.start())
