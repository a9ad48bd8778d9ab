"""Several statements in one message, and what a connection prepares of them."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from reverie_indexer.database.messages import Statement, in_one_message, prepare_nothing
from reverie_indexer.database.queries import Queries

BLOCKS = """-- both, prepared: two parameters, one of them twice, and a per cent sign
SELECT %(number)s::int + 1 AS next, %(number)s::int AS same, %(text)s::text LIKE 'a%%' AS is_a;

-- plain: no parameter
SELECT 'plain' AS kind;

-- divided, prepared: fails for none
SELECT 12 / %(by)s::int AS quotient;
"""


@pytest.fixture
def queries(tmp_path: Path) -> Queries:
    (tmp_path / "blocks.sql").write_text(BLOCKS)
    return Queries(str(tmp_path / "blocks.py"))


async def connect(conninfo: str) -> psycopg.AsyncConnection[psycopg.rows.DictRow]:
    return await psycopg.AsyncConnection.connect(
        conninfo, autocommit=True, prepare_threshold=None, row_factory=dict_row
    )


async def prepared(connection: psycopg.AsyncConnection[psycopg.rows.DictRow]) -> list[tuple[int, int]]:
    """How often each prepared statement was run by a plan for any values, and by one of its own."""
    cursor = await connection.execute("SELECT generic_plans, custom_plans FROM pg_prepared_statements ORDER BY name")
    return [(row["generic_plans"], row["custom_plans"]) for row in await cursor.fetchall()]


async def test_a_statement_is_prepared_once_and_run_for_each_message(conninfo: str, queries: Queries) -> None:
    async with await connect(conninfo) as connection:
        for number in range(7):
            plain = Statement(queries["plain"], {})
            both = Statement(queries["both"], {"number": number, "text": "a'b" if number % 2 else "b"})
            rows = await in_one_message(connection, [plain, both, both, plain])
            expected = [{"next": number + 1, "same": number, "is_a": number % 2 == 1}]
            assert rows == [[{"kind": "plain"}], expected, expected, [{"kind": "plain"}]]
        assert await prepared(connection) == [(14, 0)]


async def test_what_follows_in_the_transaction_is_planned_by_its_values(conninfo: str, queries: Queries) -> None:
    async with await connect(conninfo) as connection:
        await connection.execute("BEGIN")
        await in_one_message(connection, [Statement(queries["both"], {"number": 1, "text": "a"})])
        cursor = await connection.execute("SELECT current_setting('plan_cache_mode') AS mode")
        assert await cursor.fetchone() == {"mode": "force_custom_plan"}
        await connection.execute("ROLLBACK")


async def test_a_message_that_fails_leaves_the_connection_of_use(conninfo: str, queries: Queries) -> None:
    both = Statement(queries["both"], {"number": 1, "text": "a"})
    async with await connect(conninfo) as connection:
        for _ in range(2):
            # The one before it is prepared when it fails, the one after it is not.
            with pytest.raises(psycopg.errors.DivisionByZero):
                await in_one_message(connection, [Statement(queries["divided"], {"by": 0}), both])
        rows = await in_one_message(connection, [Statement(queries["divided"], {"by": 4}), both])
        assert rows == [[{"quotient": 3}], [{"next": 2, "same": 1, "is_a": True}]]


async def test_what_somebody_discarded_is_prepared_anew(conninfo: str, queries: Queries) -> None:
    both = Statement(queries["both"], {"number": 1, "text": "a"})
    async with await connect(conninfo) as connection:
        await in_one_message(connection, [both])
        await connection.execute("DISCARD ALL")
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            await in_one_message(connection, [both])
        assert await in_one_message(connection, [both]) == [[{"next": 2, "same": 1, "is_a": True}]]


async def test_a_connection_that_prepares_nothing_answers_the_same(conninfo: str, queries: Queries) -> None:
    async with await connect(conninfo) as connection:
        prepare_nothing(connection)
        both = Statement(queries["both"], {"number": 1, "text": "a"})
        assert await in_one_message(connection, [both, both]) == [[{"next": 2, "same": 1, "is_a": True}]] * 2
        assert await prepared(connection) == []
