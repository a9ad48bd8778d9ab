"""A pooler before PostgreSQL: one that gives a transaction another session is refused at start, any other is taken."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.pooler import Mode, pooler

from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import inspect_database, prepare_database
from reverie_indexer.errors import SetupError


@asynccontextmanager
async def through(conninfo: str, mode: Mode) -> AsyncIterator[str]:
    """How to reach a database through a pooler; where the server is reached over TCP there is none to be tried."""
    given = conninfo_to_dict(conninfo)
    directory = str(given.get("host") or "")
    if not directory.startswith("/"):
        pytest.skip("the server of REVERIE_TEST_DATABASE_URL has no socket here")
    socket_path = Path(directory) / f".s.PGSQL.{given.get('port') or 5432}"
    async with pooler(str(socket_path), mode) as port:
        yield make_conninfo(conninfo, host="127.0.0.1", port=port)


async def test_a_pooler_of_transactions_loses_what_a_session_holds(conninfo: str) -> None:
    """What the refusal is for, and that the pooler of these tests is one."""
    async with (
        through(conninfo, "transaction") as pooled,
        await psycopg.AsyncConnection.connect(pooled, autocommit=True) as one,
        await psycopg.AsyncConnection.connect(pooled) as other,
    ):
        await one.execute("SET statement_timeout = '17s'")
        row = await (await other.execute("SHOW statement_timeout")).fetchone()
        assert row == ("17s",)
        row = await (await one.execute("SHOW statement_timeout")).fetchone()
        assert row != ("17s",)


async def test_a_pooler_of_transactions_is_refused_at_start_with_the_remedy(conninfo: str) -> None:
    async with through(conninfo, "transaction") as pooled:
        with pytest.raises(SetupError, match="pool_mode to session"):
            await prepare_database(pooled)
        _, problem = await inspect_database(pooled)
        assert problem is not None
        assert "pool_mode to session" in problem


async def test_a_pooler_of_sessions_is_as_good_as_none(conninfo: str) -> None:
    async with through(conninfo, "session") as pooled:
        report = await prepare_database(pooled)
        assert report.schema_current
        assert (await inspect_database(pooled))[1] is None
        async with Database(pooled, pool_size=2) as database:
            await database.ping()
