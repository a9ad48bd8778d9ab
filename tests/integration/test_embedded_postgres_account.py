"""As whom the embedded server runs, and whom its socket lets in."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from tests.clusters import cluster_directory

from reverie_indexer.postgres import account
from reverie_indexer.postgres.account import SERVER_USER
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import Account, kill_all, read_lock_file

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")

# Becomes another user, connects, and says what came of it.
STRANGER = """
import os, sys
import psycopg
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
try:
    psycopg.connect(sys.argv[1], connect_timeout=5).close()
    print("connected")
except psycopg.OperationalError as error:
    print(error)
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with cluster_directory() as directory:
        yield directory / "home"


def postmaster(home: Path) -> psutil.Process:
    lock_file = read_lock_file(home / "postgres")
    assert lock_file is not None
    return psutil.Process(lock_file.pid)


def owners(home: Path) -> set[int]:
    return {path.lstat().st_uid for path in [home / "postgres", *(home / "postgres").rglob("*")]}


def as_stranger(conninfo: str, uid: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, conninfo, str(uid)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


@as_root
def test_as_root_the_server_runs_as_a_user_of_its_own(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        server.start()
        process = postmaster(home)
        assert process.username() == SERVER_USER
        uid = pwd.getpwnam(SERVER_USER).pw_uid
        assert (uid not in (0, pwd.getpwnam("nobody").pw_uid), process.uids().real) == (True, uid)
        assert owners(home) == {uid}
        sockets = home / "run"
        assert (sockets.stat().st_uid, stat.S_IMODE(sockets.stat().st_mode)) == (uid, 0o700)


@as_root
def test_another_user_is_kept_out_by_the_directory_and_by_who_he_is(home: Path) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    with EmbeddedPostgres(home) as server:
        conninfo = server.start()
        assert "Permission denied" in as_stranger(conninfo, nobody)
        # Also where somebody opened the directory and the socket.
        (home / "run").chmod(0o755)
        (home / "run" / ".s.PGSQL.5432").chmod(0o777)
        assert "Peer authentication failed" in as_stranger(conninfo, nobody)
        assert as_stranger(conninfo, pwd.getpwnam(SERVER_USER).pw_uid) == "connected\n"
        assert as_stranger(conninfo, 0) == "connected\n"
        (home / "run").chmod(0o700)


def test_nobody_is_trusted(home: Path) -> None:
    with EmbeddedPostgres(home) as server, psycopg.connect(server.start()) as connection:
        rules = connection.execute(
            "SELECT type, database, user_name, auth_method, options FROM pg_hba_file_rules WHERE error IS NULL"
        ).fetchall()
        assert rules == [("local", ["all", "replication"], ["all"], "peer", ["map=reverie"])]
        names = connection.execute("SELECT sys_name, pg_username FROM pg_ident_file_mappings ORDER BY 1").fetchall()
        us = {pwd.getpwuid(os.geteuid()).pw_name} | ({SERVER_USER} if os.geteuid() == 0 else set())
        assert names == [(name, "all") for name in sorted(us)]


@as_root
def test_a_cluster_of_nobody_with_an_open_socket_is_taken_over(home: Path) -> None:
    """As release 0.1.0 left it."""
    with EmbeddedPostgres(home) as server, psycopg.connect(server.start()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
    kill_all(home / "postgres", time.monotonic() + 10)
    (home / "postgres" / "pg_hba.conf").write_text("local all all trust\n")
    (home / account._UID_FILE).unlink()
    subprocess.run(["chown", "-R", "nobody", home / "postgres", home / "run"], check=True)
    with EmbeddedPostgres(home) as server, psycopg.connect(server.start()) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (1,)
        assert owners(home) == {pwd.getpwnam(SERVER_USER).pw_uid}
        assert connection.execute("SELECT auth_method FROM pg_hba_file_rules").fetchall() == [("peer",)]


@as_root
def test_a_cluster_that_is_taken_over_leads_to_no_other_files(tmp_path: Path) -> None:
    """Whoever it belonged to, such as any program that runs as nobody, may have put links into it."""
    nobody, own_account = pwd.getpwnam("nobody").pw_uid, Account("x", 59_999, 59_999)
    cluster, others = tmp_path / "postgres", tmp_path / "others"
    for directory in (cluster, cluster / "base", others):
        directory.mkdir()
    (cluster / "PG_VERSION").write_text("18\n")
    (others / "shadow").write_text("root's")
    (cluster / "base" / "shadow").symlink_to(others / "shadow")
    (cluster / "pg_wal").symlink_to(others)
    (cluster / "base" / "shadow too").hardlink_to(others / "shadow")
    for path in (cluster, cluster / "base", cluster / "PG_VERSION"):
        os.chown(path, nobody, nobody)
    for path in (cluster / "pg_wal", cluster / "base" / "shadow"):
        os.chown(path, nobody, nobody, follow_symlinks=False)
    account.take_over(tmp_path, cluster, own_account)
    assert {path.lstat().st_uid for path in (cluster, cluster / "base", cluster / "PG_VERSION")} == {59_999}
    assert {path.stat().st_uid for path in (others, others / "shadow")} == {0}


@as_root
def test_without_a_user_to_be_made_it_is_a_number_of_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an image without useradd: neither the number nor the cluster changes from one start to the next."""
    programs = home.parent / "bin"
    programs.mkdir()
    for program in ("sh", "true"):
        (programs / program).symlink_to(shutil.which(program) or program)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(account, "SERVER_USER", "no-such-user")
    found = []
    for _ in range(2):
        with EmbeddedPostgres(home) as server:
            conninfo = server.start()
            found.append(postmaster(home).uids().real)
            assert owners(home) == {found[0]}
            with psycopg.connect(conninfo) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS kept (n integer)")
            assert "connected" not in as_stranger(conninfo, pwd.getpwnam("nobody").pw_uid)
    assert found[0] == found[1]
    assert 59_000 <= found[0] < 59_900
    monkeypatch.undo()
    # Where a user can be made later, the cluster is given to it.
    with EmbeddedPostgres(home) as server, psycopg.connect(server.start()) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
        assert owners(home) == {pwd.getpwnam(SERVER_USER).pw_uid}
