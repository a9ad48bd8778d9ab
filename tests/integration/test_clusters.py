"""The tests' own databases: a clone is whole and empty, and whatever a test does to the server the next has another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.clusters import Databases, cluster_directory, clusters_root

from reverie_indexer.postgres.embedded import EmbeddedPostgres

ROOT = Path(__file__).parents[2]
OBJECTS = """\
SELECT array_agg(pg_describe_object(classid, objid, objsubid) ORDER BY classid::regclass::text, objid, objsubid)
FROM pg_depend WHERE objid >= 16384"""


def test_a_clone_is_its_template_and_nobody_keeps_it(
    server_conninfo: str, template_database: str, conninfo: str
) -> None:
    name = f"test_{uuid.uuid4().hex[:16]}"
    template = make_conninfo(server_conninfo, dbname=template_database)
    with Databases(server_conninfo, template_database) as databases:
        with psycopg.connect(databases.create(name)) as left_open, psycopg.connect(conninfo) as other:
            found = left_open.execute(OBJECTS).fetchone()
            assert found is not None
            assert "table documents" in found[0]
            left_open.execute("CREATE TABLE mine (id int)")
            left_open.commit()
            assert other.execute("SELECT to_regclass('mine')").fetchone() == (None,)
            databases.drop(name)
            with pytest.raises(psycopg.OperationalError):
                left_open.execute("SELECT 1")
        with psycopg.connect(template) as untouched:
            assert untouched.execute(OBJECTS).fetchone() == found


def test_a_server_that_drops_its_connections_is_asked_again(server_conninfo: str, template_database: str) -> None:
    names = [f"test_{uuid.uuid4().hex[:16]}" for _ in range(2)]
    with Databases(server_conninfo, template_database) as databases:
        for name in names:
            made = databases.create(name)
            with psycopg.connect(made, autocommit=True) as connection:
                connection.execute("SELECT pg_terminate_backend(%s, 5000)", [databases.backend_pid])
        for name in names:
            databases.drop(name)
        with psycopg.connect(server_conninfo) as connection:
            left = "SELECT count(*) FROM pg_database WHERE datname = ANY(%s)"
            assert connection.execute(left, [names]).fetchone() == (0,)


def test_a_clusters_directory_is_gone_with_its_server() -> None:
    with cluster_directory() as directory:
        server = EmbeddedPostgres(directory / "home")
        connection = psycopg.connect(server.start())
    assert not directory.exists()
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    server.stop()


RUN = """
import os, subprocess, sys
from pathlib import Path
from tests.clusters import cluster_directory
with cluster_directory() as directory:
    child = "import sys, time; from pathlib import Path;"
    child += "from reverie_indexer.postgres.embedded import EmbeddedPostgres;"
    child += "print(EmbeddedPostgres(Path(sys.argv[1])).start(), flush=True); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", child, directory / "home"])
    subprocess.Popen([sys.executable, "-c", child, sys.argv[1]]).wait()
"""


def test_a_run_that_is_killed_leaves_no_program_no_postgresql_and_no_directory(tmp_path: Path) -> None:
    with cluster_directory() as elsewhere:
        command = [sys.executable, "-c", RUN, str(elsewhere / "home")]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            servers = [run.stdout.readline().strip() for _ in range(2)]
            for conninfo in servers:
                psycopg.connect(conninfo).close()
            os.kill(run.pid, signal.SIGKILL)
            # Its programs hold the pipe, too: it ends with the last of them.
            assert run.stdout.read() == ""
        for conninfo in servers:
            wait_until(lambda conninfo=conninfo: is_gone(conninfo))
        wait_until(lambda: list(clusters_root().glob(f"reverie-test-{run.pid}-*")) == [])
        assert elsewhere.exists()


def is_gone(conninfo: str) -> bool:
    try:
        psycopg.connect(conninfo).close()
    except psycopg.OperationalError:
        return True
    return False


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
