"""The embedded server is killed in every way that leaves something behind; starting again must mend it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psutil
import psycopg
import pytest
from tests.clusters import cluster_directory

from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import is_live, kill_all, read_lock_file

CLIENT = """
import sys
from pathlib import Path
from reverie_indexer.postgres.embedded import EmbeddedPostgres
print(EmbeddedPostgres(Path(sys.argv[1])).start(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    with cluster_directory() as directory:
        with EmbeddedPostgres(directory / "home"):
            pass
        yield directory / "home"


@pytest.fixture
def home(shared: Path) -> Iterator[Path]:
    """A data directory with a cluster and a database; initdb runs once for all tests."""
    yield shared
    kill_all(shared / "postgres", time.monotonic() + 10)


@pytest.fixture
def copy(home: Path) -> Iterator[Path]:
    """Where a copy of `home` may be made."""
    directory = home.with_name("copy")
    yield directory
    kill_all(directory / "postgres", time.monotonic() + 10)
    shutil.rmtree(directory)


def postmaster(home: Path) -> int:
    lock_file = read_lock_file(home / "postgres")
    assert lock_file is not None
    return lock_file.pid


def kill_postmaster(home: Path) -> None:
    """SIGKILL it and wait until it no longer runs; its backends may live on."""
    process = psutil.Process(postmaster(home))
    process.kill()
    wait_for(lambda: not is_live(process))


def wait_for(condition: Callable[[], object], seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.01)


def answers(conninfo: str) -> bool:
    try:
        psycopg.connect(conninfo, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def test_start_brings_a_killed_server_back_with_every_acknowledged_row(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        conninfo = server.start()
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(b"CREATE TABLE written (n int PRIMARY KEY)")
        acknowledged = 0
        for _ in range(3):
            with psycopg.connect(conninfo, autocommit=True) as connection:
                for _ in range(100):
                    connection.execute(b"INSERT INTO written VALUES (%s)", [acknowledged])
                    acknowledged += 1
                killed = postmaster(home)
                kill_postmaster(home)
            assert server.start() == conninfo
            assert postmaster(home) != killed
        with psycopg.connect(conninfo) as connection:
            rows = connection.execute(b"SELECT n FROM written ORDER BY n").fetchall()
        assert [n for (n,) in rows] == list(range(300))
    assert not answers(conninfo)


def test_a_backend_that_outlives_its_postmaster_and_holds_shared_memory_does_not_stop_the_next(
    home: Path,
) -> None:
    with EmbeddedPostgres(home) as server:
        conninfo = server.start()
        with closing(psycopg.connect(conninfo, autocommit=True)) as connection:
            backend = psutil.Process(connection.info.backend_pid)
            # Never waits for anything, so that it never learns of the death.
            connection.pgconn.send_query(b"DO $$ BEGIN LOOP END LOOP; END $$")
            wait_for(lambda: backend.cpu_times().user > 0.1)
            kill_postmaster(home)
            time.sleep(0.2)
            assert is_live(backend)
            assert server.start() == conninfo
            assert not is_live(backend)
        assert answers(conninfo)


def test_a_stale_pid_file_that_names_a_live_foreign_process_is_not_believed(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        killed = postmaster(home)
        kill_postmaster(home)
        server.stop()
    # Owned by the server's user: PostgreSQL itself would take it for another server and refuse to start.
    user = (home / "postgres").stat().st_uid
    foreign = subprocess.Popen(["sleep", "60"], user=user if os.geteuid() == 0 else None)
    with foreign:
        for name in ("postgres/postmaster.pid", "run/.s.PGSQL.5432.lock"):
            path = home / name
            path.write_text(path.read_text().replace(str(killed), str(foreign.pid), 1))
        with EmbeddedPostgres(home) as server:
            assert answers(server.start())
            assert foreign.poll() is None
            assert postmaster(home) != foreign.pid
        assert foreign.poll() is None
        foreign.kill()


@pytest.mark.parametrize("content", ["", "garbage\n", "12"])
def test_a_torn_pid_file_does_not_stop_the_next_server(home: Path, content: str) -> None:
    (home / "postgres" / "postmaster.pid").write_text(content)
    with EmbeddedPostgres(home) as server:
        assert answers(server.start())


def test_a_postmaster_that_is_a_zombie_counts_as_dead(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        zombie = psutil.Process(postmaster(home))
        try:
            # Stopped, it cannot reap its child. Told once every thread has stopped, the one that reaps too.
            parent.send_signal(signal.SIGSTOP)
            assert os.WIFSTOPPED(os.waitpid(parent.pid, os.WUNTRACED)[1])
            zombie.kill()
            wait_for(lambda: zombie.status() == psutil.STATUS_ZOMBIE)
            with EmbeddedPostgres(home) as server:
                assert answers(server.start())
                assert zombie.status() == psutil.STATUS_ZOMBIE
        finally:
            parent.kill()


def test_a_server_whose_socket_was_cleaned_away_is_replaced(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        unreachable = psutil.Process(postmaster(home))
        (home / "run" / ".s.PGSQL.5432").unlink()
        assert answers(server.start())
        assert postmaster(home) != unreachable.pid
        assert not is_live(unreachable)


def test_a_server_whose_pid_file_was_deleted_is_replaced(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        doomed = psutil.Process(postmaster(home))
        (home / "postgres" / "postmaster.pid").unlink()
        assert answers(server.start())
        assert not is_live(doomed)


def test_a_copy_of_a_running_data_directory_is_not_taken_for_the_original(home: Path, copy: Path) -> None:
    with EmbeddedPostgres(home) as original:
        conninfo = original.start()
        subprocess.run(["cp", "-a", home, copy], check=True)
        with EmbeddedPostgres(copy) as server:
            assert server.start() != conninfo
            with psycopg.connect(server.start()) as connection:
                found = connection.execute(b"SHOW data_directory").fetchone()
            assert found == (str(copy / "postgres"),)
            assert answers(conninfo)


def test_start_after_the_data_directory_was_deleted_under_the_server_makes_a_new_one(home: Path, copy: Path) -> None:
    subprocess.run(["cp", "-a", home, copy], check=True)
    with EmbeddedPostgres(copy) as server:
        doomed = psutil.Process(postmaster(copy))
        shutil.rmtree(copy)
        assert answers(server.start())
        assert postmaster(copy) != doomed.pid
        # Left alone it ends by itself, within a minute.
        with suppress(psutil.NoSuchProcess):
            doomed.kill()


def test_a_client_killed_while_the_server_recovers_leaves_it_to_the_next(home: Path) -> None:
    with EmbeddedPostgres(home):
        killed = postmaster(home)
        kill_postmaster(home)
        with subprocess.Popen(
            [sys.executable, "-c", CLIENT, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            wait_for(lambda: (lock_file := read_lock_file(home / "postgres")) and lock_file.pid != killed)
            process.kill()
        with EmbeddedPostgres(home) as server:
            assert answers(server.start())
