"""`reverie doctor --distribute` on three nodes: what goes where, with what is there, again, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.backups import all_rows
from tests.citus.failures import tell
from tests.citus.memories import remember
from tests.citus.nodes import Nodes
from typer.testing import CliRunner

from reverie_indexer.database.distributing import distribute
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.errors import SetupError
from reverie_server.cli.main import cli

PLACED = """
SELECT logicalrelid::regclass::text AS name, partmethod::text AS method FROM pg_dist_partition
WHERE logicalrelid NOT IN (SELECT inhrelid FROM pg_inherits) ORDER BY 1"""
OF_TENANTS = """
SELECT c.relname::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1"""
TOLD = """
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET reverie.on_nodes TO ''on''', current_database()); END $$"""
KEYS = """
SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND conrelid::regclass::text !~ '^procrastinate|_[0-9]{6}$'"""


def placed(conninfo: str) -> dict[str, str]:
    with psycopg.connect(conninfo, row_factory=dict_row) as connection:
        return {row["name"]: row["method"] for row in connection.execute(PLACED.encode())}


def keys(conninfo: str) -> set[str]:
    with psycopg.connect(conninfo) as connection:
        return {text for (text,) in connection.execute(KEYS.encode())}


@pytest.mark.usefixtures("own_log")
def test_an_empty_database_is_distributed_once(nodes_conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_DATABASE_URL", nodes_conninfo)
    run = CliRunner()
    early = run.invoke(cli, ["doctor", "--distribute", "--dry-run"])
    assert early.exit_code != 0
    assert placed(nodes_conninfo) == {}
    assert run.invoke(cli, ["upgrade"]).exit_code == 0
    said = keys(nodes_conninfo)
    dry = run.invoke(cli, ["doctor", "--distribute", "--dry-run"])
    assert (dry.exit_code, placed(nodes_conninfo)) == (0, {})
    assert "chunks: would be distributed by tenant" in dry.output
    done = run.invoke(cli, ["doctor", "--distribute"])
    assert done.exit_code == 0, done.output
    with psycopg.connect(nodes_conninfo, row_factory=dict_row) as connection:
        tables = {row["name"] for row in connection.execute(OF_TENANTS.encode())} - {"keys"}
    # Of the last, which the coordinator alone has, Citus knows so that it commits in two phases.
    known = {"models": "n", "model_relevance": "n", "two_phases": "n"}
    assert placed(nodes_conninfo) == dict.fromkeys(tables, "h") | known
    # Citus takes no key that sets a column to null.
    assert keys(nodes_conninfo) == {key.replace(" ON DELETE SET NULL (relation_id)", "") for key in said}
    again = run.invoke(cli, ["doctor", "--distribute"])
    assert (again.exit_code, again.output) == (0, "nothing is to be distributed\nworkers: 2\n")


async def test_a_database_keeps_its_rows_and_none_stay_behind(nodes_conninfo: str, tmp_path: Path) -> None:
    await prepare_database(nodes_conninfo)
    await remember(nodes_conninfo, tmp_path, ["acme", "birch", "cedar"])
    before = all_rows(nodes_conninfo)
    assert len(before["chunks"]) > 10
    done = await distribute(nodes_conninfo)
    assert {"chunks", "statements", "audit"} <= set(done.distributed)
    after = all_rows(nodes_conninfo)
    assert {name: after[name] for name in before if not name.startswith("vectors")} == {
        name: rows for name, rows in before.items() if not name.startswith("vectors")
    }
    with psycopg.connect(nodes_conninfo) as connection:
        for table in done.distributed:
            # What the coordinator holds itself, without asking the nodes.
            [size] = connection.execute("SELECT pg_relation_size(%s::regclass)", [table]).fetchone() or [None]
            assert (table, size) == (table, 0)


async def test_it_is_refused_where_it_cannot_be(nodes: Nodes, nodes_conninfo: str, conninfo: str) -> None:
    with pytest.raises(SetupError, match="Citus is not installed"):
        await distribute(conninfo)
    with pytest.raises(SetupError, match="must lead to the coordinator"):
        await distribute(nodes.of("east", nodes_conninfo.split("dbname=")[1].split()[0]))
    with pytest.raises(SetupError, match="the database has no Citus"):
        await distribute(nodes.conninfos["coordinator"])
    await prepare_database(nodes_conninfo)
    with psycopg.connect(nodes_conninfo), pytest.raises(SetupError, match="1 other clients are connected"):
        await distribute(nodes_conninfo)
    assert placed(nodes_conninfo) == {}
    # One that was interrupted has told the nodes already, and leaves a database that is as it was.
    tell(nodes_conninfo, TOLD)
    assert (await prepare_database(nodes_conninfo)).schema_current
    assert placed(nodes_conninfo) == {}
