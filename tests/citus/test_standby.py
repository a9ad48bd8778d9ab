"""No standby is read of a database that is spread over nodes: how far the coordinator's is says nothing of theirs."""

from __future__ import annotations

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_server.cli.main import cli

pytestmark = pytest.mark.usefixtures("own_log")


async def test_a_standby_is_refused_at_start(distributed: str) -> None:
    with pytest.raises(SetupError, match="read_database_url is not for a database that Citus spreads over nodes"):
        await Database(distributed, read_conninfo=make_conninfo(distributed)).open()
    async with Database(distributed) as database:
        await database.ping()


def test_doctor_says_so_and_goes_on(distributed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "READ_DATABASE_URL"):
        monkeypatch.setenv(f"REVERIE_{name}", distributed)
    monkeypatch.setenv("REVERIE_EMBEDDER", "hashing")
    done = CliRunner().invoke(cli, ["doctor"])
    lines = done.stdout.splitlines()
    [standby] = [line for line in lines if line.startswith("standby")]
    assert "PROBLEM: read_database_url is not for a database that Citus" in standby
    assert any(line.startswith("embedder") for line in lines)
    assert (done.exit_code, lines[-1].split()[1:]) == (1, ["1", "problems"])
