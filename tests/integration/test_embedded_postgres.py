"""The embedded server as its clients see it: real processes, real sockets, a real cluster."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.clusters import cluster_directory

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.embedded import EmbeddedPostgres, default_data_dir
from reverie_indexer.postgres.host import kill_all, read_lock_file, wheel_binaries

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")

# Joins, says so, and leaves when its standard input is closed.
CLIENT = """
import sys
from pathlib import Path
from reverie_indexer.postgres.embedded import EmbeddedPostgres
with EmbeddedPostgres(Path(sys.argv[1])) as server:
    print(server.start(), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory that the server's user can reach, unlike pytest's own; nothing in it survives the test."""
    with cluster_directory() as directory:
        yield directory


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    with cluster_directory() as directory:
        with EmbeddedPostgres(directory / "home"):
            pass
        yield directory / "home"


@pytest.fixture
def home(shared: Path) -> Iterator[Path]:
    """A data directory with a cluster and a database, the server stopped; initdb runs once for all tests."""
    yield shared
    kill_all(shared / "postgres", time.monotonic() + 10)


@contextmanager
def moved(home: Path, elsewhere: Path) -> Iterator[Path]:
    """The data directory under another path, for a while."""
    home.rename(elsewhere)
    try:
        yield elsewhere
    finally:
        kill_all(elsewhere / "postgres", time.monotonic() + 10)
        elsewhere.rename(home)


@contextmanager
def client(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has joined; on exit it is killed, unless it has left by itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("host=")
            yield process
        finally:
            process.kill()


def leave(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(30) == 0


def postmaster(home: Path) -> int | None:
    lock_file = read_lock_file(home / "postgres")
    return lock_file.pid if lock_file else None


def answers(conninfo: str) -> bool:
    try:
        psycopg.connect(conninfo, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def wait_for(condition: Callable[[], object], seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.01)


def one(conninfo: str, query: bytes) -> object:
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_cold_start_makes_cluster_and_database_and_warm_start_keeps_the_rows(base: Path) -> None:
    home = base / "new" / "home"
    server = EmbeddedPostgres(home)
    conninfo = server.start()
    assert conninfo_to_dict(conninfo) == {
        "host": str(home / "run"),
        "port": "5432",
        "user": "postgres",
        "dbname": "reverie",
    }
    with psycopg.connect(conninfo) as connection:
        connection.execute(b"CREATE EXTENSION vector")
        connection.execute(b"CREATE TABLE kept AS SELECT U&'Gr\\00FC\\00DFe' AS word")
    server.stop()
    assert not answers(conninfo)
    assert postmaster(home) is None

    with EmbeddedPostgres(home):
        assert one(conninfo, b"SELECT word FROM kept") == "Grüße"
        assert one(conninfo, b"SHOW server_encoding") == "UTF8"


def test_only_the_private_socket_leads_to_the_server_and_writes_are_synced(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        conninfo = server.start()
        assert mode(home / "run") == 0o700
        assert mode(home / "postgres") == 0o700
        assert mode(home / "run" / ".s.PGSQL.5432") == 0o700
        assert one(conninfo, b"SHOW listen_addresses") == ""
        assert one(conninfo, b"SHOW fsync") == "on"
        assert psutil.Process(postmaster(home)).net_connections("inet") == []


def test_secrets_of_our_environment_stay_ours(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_EMBEDDER_API_KEY", "secret")
    monkeypatch.setenv("PGPORT", "7")
    with EmbeddedPostgres(home):
        names = psutil.Process(postmaster(home)).environ().keys()
        assert not [name for name in names if name.startswith(("REVERIE", "PGPORT"))]


def test_what_was_stored_does_not_reach_the_log_when_a_statement_fails(home: Path) -> None:
    with EmbeddedPostgres(home) as server, psycopg.connect(server.start(), autocommit=True) as connection:
        connection.execute(b"CREATE TABLE diary (line text PRIMARY KEY)")
        connection.execute(b"INSERT INTO diary VALUES ('my secret')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(b"INSERT INTO diary VALUES ('my secret')")
    log = (home / "postgres.log").read_text()
    assert "duplicate key" in log
    assert "my secret" not in log


def test_start_and_stop_may_be_repeated(home: Path) -> None:
    server = EmbeddedPostgres(home)
    server.stop()
    conninfo = server.start()
    first = postmaster(home)
    assert server.start() == conninfo
    assert postmaster(home) == first
    server.stop()
    server.stop()
    assert not answers(conninfo)
    assert server.start() == conninfo
    assert answers(conninfo)
    server.stop()
    assert not answers(conninfo)


def test_options_override_the_defaults_but_not_the_way_in(home: Path) -> None:
    with EmbeddedPostgres(home, options={"shared_buffers": "16MB"}) as server:
        assert one(server.start(), b"SHOW shared_buffers") == "16MB"
        assert one(server.start(), b"SHOW max_connections") == "100"
    with pytest.raises(SetupError, match="listen_addresses"):
        EmbeddedPostgres(home, options={"listen_addresses": "*"})


def test_a_database_that_went_missing_is_made_again(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        conninfo = server.start()
        with psycopg.connect(conninfo, dbname="postgres", autocommit=True) as connection:
            connection.execute(b"DROP DATABASE reverie")
        assert server.start() == conninfo
        assert answers(conninfo)


def test_the_last_of_two_processes_stops_the_server(home: Path) -> None:
    with client(home) as first:
        server = postmaster(home)
        with client(home) as second:
            assert postmaster(home) == server
            leave(first)
            assert postmaster(home) == server
            with EmbeddedPostgres(home) as third:
                conninfo = third.start()
            assert answers(conninfo)
            leave(second)
    assert not answers(conninfo)
    assert postmaster(home) is None


def test_ctrl_c_in_the_terminal_is_not_meant_for_the_server(home: Path) -> None:
    with client(home) as process:
        server = postmaster(home)
        assert server is not None
        assert os.getpgid(server) != os.getpgid(process.pid)
        assert os.getsid(server) != os.getsid(process.pid)


def test_a_killed_client_does_not_keep_the_server_alive(home: Path) -> None:
    with client(home) as process, EmbeddedPostgres(home) as server:
        conninfo = server.start()
        process.kill()
        process.wait()
        assert answers(conninfo)
    assert not answers(conninfo)


def test_a_fresh_client_takes_over_the_server_that_a_killed_one_left_behind(home: Path) -> None:
    with client(home):
        orphan = postmaster(home)
    with EmbeddedPostgres(home) as server:
        conninfo = server.start()
        assert postmaster(home) == orphan
    assert not answers(conninfo)


def test_threads_and_objects_of_one_process_share_one_server(home: Path) -> None:
    twice = EmbeddedPostgres(home)
    clients = [twice, twice, EmbeddedPostgres(home), EmbeddedPostgres(home)]
    found: list[tuple[str, int | None]] = []

    def join(one_of_them: EmbeddedPostgres) -> None:
        found.append((one_of_them.start(), postmaster(home)))

    threads = [threading.Thread(target=join, args=(each,)) for each in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    conninfo = found[0][0]
    clients[2].stop()
    clients[0].stop()
    assert answers(conninfo)
    clients[3].stop()
    assert not answers(conninfo)


@pytest.mark.parametrize("name", ["long-" * 20, "a,comma", "a space 'and' \"quotes\""])
def test_any_path_works(base: Path, home: Path, name: str) -> None:
    with moved(home, base / name) as here:
        with EmbeddedPostgres(here) as server:
            conninfo = server.start()
            sockets = Path(str(conninfo_to_dict(conninfo)["host"]))
            assert answers(conninfo)
            assert mode(sockets) == 0o700
        assert sockets.is_relative_to(here) == (" " in name)
        assert sockets.exists() == (" " in name)


def test_clients_with_different_temporary_directories_meet(
    base: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base / "t").mkdir()
    with moved(home, base / ("long-" * 20)) as here, EmbeddedPostgres(here) as first:
        monkeypatch.setattr(tempfile, "tempdir", str(base / "t"))
        with EmbeddedPostgres(here) as second:
            assert second.start() == first.start()


@pytest.mark.parametrize("victim", ["client", "initdb"])
def test_a_crash_during_initdb_leaves_nothing_half_made(base: Path, victim: str) -> None:
    home = base / "home"
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, home],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        wait_for(lambda: list(home.glob("initdb-*/base/1/*")))
        if victim == "initdb":
            next(child for child in psutil.Process(process.pid).children() if child.name() == "initdb").kill()
            process.wait(15)
            assert not list(home.glob("initdb-*"))
        process.kill()
    assert not (home / "postgres").exists()

    with EmbeddedPostgres(home) as server:
        assert one(server.start(), b"SELECT current_database()") == "reverie"
    assert not list(home.glob("initdb-*"))


def test_a_server_that_cannot_start_is_reported_and_the_client_does_not_stay(home: Path) -> None:
    server = EmbeddedPostgres(home, options={"shared_buffers": "1 kilometre"})
    with pytest.raises(SetupError, match=r"does not start; the log .*\.log ends with: .*shared_buffers"):
        server.start()
    with EmbeddedPostgres(home) as other:
        conninfo = other.start()
    assert not answers(conninfo)


def test_a_start_that_takes_too_long_is_reported_and_the_server_goes_on(home: Path) -> None:
    with client(home):
        pid = postmaster(home)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(SetupError, match=r"not ready within 0\.5 s.*does not answer.*postgres\.log"):
                EmbeddedPostgres(home, start_timeout_seconds=0.5).start()
        finally:
            os.kill(pid, signal.SIGCONT)
        with EmbeddedPostgres(home):
            assert postmaster(home) == pid


def test_waiting_for_another_process_that_starts_has_an_end(home: Path) -> None:
    with client(home) as process:
        descriptor = os.open(home / "postgres.lock", os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(SetupError, match="another process is still starting"):
            EmbeddedPostgres(home, start_timeout_seconds=0.2).start()
        os.close(descriptor)
        leave(process)


@as_root
def test_a_closed_data_directory_is_opened_as_little_as_is_needed(home: Path) -> None:
    home.chmod(0o700)
    with EmbeddedPostgres(home) as server:
        assert answers(server.start())
    assert mode(home) == 0o711
    assert home.stat().st_uid == 0


@as_root
def test_binaries_closed_to_the_servers_user_are_copied(base: Path, home: Path) -> None:
    private = base / "private"
    private.mkdir(mode=0o700)
    package = wheel_binaries().parent
    for part in (package, package.with_name(f"{package.name}.libs")):
        subprocess.run(["cp", "-a", part, private], check=True)
    server = EmbeddedPostgres(home, binaries=private / package.name / "pginstall")
    for _ in range(2):
        with server:
            assert Path(psutil.Process(postmaster(home)).exe()).is_relative_to(home / "binaries")
            assert one(server.start(), b"SELECT 1 FROM pg_available_extensions WHERE name = 'vector'") == 1
    assert len(list((home / "binaries").iterdir())) == 1
    assert mode(private) == 0o700


def test_a_large_log_is_put_aside(home: Path) -> None:
    (home / "postgres.log").write_bytes(b"x" * 5_000_000)
    with EmbeddedPostgres(home):
        assert (home / "postgres.log").stat().st_size < 100_000
    assert (home / "postgres.log.1").stat().st_size == 5_000_000


def test_the_default_data_directory_is_the_users_own() -> None:
    if os.geteuid() == 0:
        assert default_data_dir() == Path("/var/lib/reverie")
    else:
        assert default_data_dir().is_relative_to(Path.home())
