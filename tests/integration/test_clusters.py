"""The tests' own databases: a clone is whole and empty, and whatever a test does to the server the next has another."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests import clusters
from tests.clusters import Databases, cluster_directory, sweep

from reverie_indexer.postgres import EmbeddedPostgres

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


def test_what_a_killed_run_left_in_memory_goes_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_MEMORY", tmp_path)
    old, young, foreign = (tmp_path / name for name in ("reverie-tests-old", "reverie-tests-young", "other"))
    for directory in (old, young, foreign):
        (directory / "postgres").mkdir(parents=True)
    yesterday = time.time() - 25 * 3600
    for directory in (old, foreign):
        os.utime(directory, (yesterday, yesterday))
    sweep()
    assert sorted(tmp_path.iterdir()) == [foreign, young]
