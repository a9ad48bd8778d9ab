"""A program that starts while PostgreSQL recovers, and one whose PostgreSQL is not there."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from reverie_indexer.database.faults import start_errors
from reverie_indexer.database.preparing import DatabaseReport, prepare_database
from reverie_indexer.errors import DatabaseStarting, DatabaseUnavailable
from reverie_server.app import databases

RECOVERS = "connection to server failed: FATAL:  the database system is in recovery mode"


class Recovering:
    """PostgreSQL that takes no connection at first, in the words in which it says so."""

    def __init__(self, refused: int) -> None:
        self.refused = refused
        self.asked = 0

    async def __call__(self, conninfo: str) -> DatabaseReport:
        self.asked += 1
        with start_errors():
            if self.asked <= self.refused:
                raise psycopg.OperationalError(RECOVERS)
        return await prepare_database(conninfo)


async def test_a_start_waits_for_a_postgresql_that_recovers(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recovering = Recovering(refused=3)
    monkeypatch.setattr(databases, "prepare_database", recovering)
    await databases.prepared_when_started(conninfo, 30)
    assert recovering.asked == 4


async def test_it_waits_no_longer_than_its_patience(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recovering = Recovering(refused=1000)
    monkeypatch.setattr(databases, "prepare_database", recovering)
    with pytest.raises(DatabaseStarting, match="still starting"):
        await databases.prepared_when_started(conninfo, 0)
    assert recovering.asked == 1


async def test_one_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="check REVERIE_DATABASE_URL") as raised:
        await databases.prepared_when_started(f"host={tmp_path} port=1 dbname=reverie user=reverie", 3600)
    assert not isinstance(raised.value, DatabaseStarting)
