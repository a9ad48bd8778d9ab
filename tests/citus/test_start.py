"""What a start sees to on a database that is spread over nodes, and what `reverie doctor` says of it."""

from __future__ import annotations

from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql
from tests.backups import settings_of
from tests.citus.failures import tell
from typer.testing import CliRunner

from reverie_indexer.database.distributing import distribute
from reverie_indexer.errors import SetupError
from reverie_server.app.databases import open_database
from reverie_server.cli.main import cli

BOTH = {"PREPARE", "COMMIT"}
NEW_TABLE = "CREATE TABLE remarks (tenant_id text, remark_id bigint, PRIMARY KEY (tenant_id, remark_id))"


def phases(conninfo: str, table: str) -> set[str]:
    """How nodes end a transaction that writes a row of a tenant and to a table of the coordinator."""
    sent: list[str] = []
    with psycopg.connect(conninfo) as connection:
        connection.add_notice_handler(lambda notice: sent.append(notice.message_primary or ""))
        connection.execute("SET citus.log_remote_commands TO on")
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        connection.execute("UPDATE agents SET name = 'Wren' WHERE tenant_id = 'acme'")
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
        connection.commit()
    return {text.removeprefix("issuing ").split()[0] for text in sent} & BOTH


async def start(conninfo: str, directory: Path) -> None:
    """As `serve` and `worker` begin."""
    async with open_database(settings_of(conninfo, directory)) as database:
        await database.ping()


@pytest.mark.parametrize(
    ("table", "taken"),
    [
        # As where an upgrade of the library of jobs makes its table anew.
        ("procrastinate_jobs", "DROP TRIGGER commit_in_two_phases ON procrastinate_jobs"),
        ("keys", "ALTER TABLE keys DISABLE TRIGGER USER"),
    ],
)
async def test_a_start_has_jobs_commit_with_their_causes_again(
    distributed: str, tmp_path: Path, table: str, taken: LiteralString
) -> None:
    assert phases(distributed, table) == BOTH
    tell(distributed, taken)
    assert phases(distributed, table) == {"COMMIT"}
    await start(distributed, tmp_path)
    assert phases(distributed, table) == BOTH


@pytest.mark.parametrize(
    "taken",
    [
        "DROP FUNCTION reverie_nodes.commit_in_two_phases() CASCADE",
        "DROP TABLE reverie_nodes.two_phases",
    ],
)
async def test_a_start_is_refused_where_it_cannot_put_that_back(
    distributed: str, tmp_path: Path, taken: LiteralString
) -> None:
    tell(distributed, taken)
    with pytest.raises(SetupError, match=r"missing on keys, procrastinate_jobs.*run `reverie doctor --distribute`"):
        await start(distributed, tmp_path)
    await distribute(distributed)
    await start(distributed, tmp_path)
    assert phases(distributed, "procrastinate_jobs") == BOTH


@pytest.mark.usefixtures("own_log")
def test_doctor_names_what_is_not_distributed_and_what_commits_apart(
    distributed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("DATABASE_URL", distributed), ("EMBEDDER", "none")):
        monkeypatch.setenv(f"REVERIE_{name}", value)

    def problems() -> list[str]:
        lines = CliRunner().invoke(cli, ["doctor"]).stdout.splitlines()
        return [line for line in lines if "PROBLEM" in line]

    assert problems() == []
    tell(distributed, "DROP TRIGGER commit_in_two_phases ON procrastinate_jobs")
    # It changes nothing, and so says it again.
    for _ in range(2):
        [problem] = problems()
        assert "commit_in_two_phases is missing on procrastinate_jobs" in problem
    tell(distributed, NEW_TABLE)
    [problem] = problems()
    assert "on the coordinator alone are yet: remarks. Stop" in problem
    planned = CliRunner().invoke(cli, ["doctor", "--distribute", "--dry-run"])
    assert planned.stdout == "remarks: would be distributed by tenant\nworkers: 2\n"
