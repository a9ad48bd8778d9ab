"""Every row of every table, written out in full: of one node, and of several."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
_COLUMNS = """
SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


def tables_of(connection: psycopg.Connection[Any]) -> list[str]:
    """The names of all tables; for each partition its own."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        return [name for (name,) in cursor.execute(_TABLES).fetchall()]


def written_out(connection: psycopg.Connection[Any], table: str) -> sql.Composed:
    """An expression over a table `t`: a row as text, column by column, since Citus knows no row as a whole."""
    columns = [sql.Identifier("t", name) for name in columns_of(connection, table)]
    return sql.SQL("concat_ws(' ', {})").format(sql.SQL(", ").join(columns))


def leftovers(conninfo: str, word: str) -> list[str]:
    """The tables of which some row holds a word, in whatever column and case."""
    return [table for table, count in holding(conninfo, f"%{word.lower()}%").items() if count]


def holding(conninfo: str, *patterns: str) -> dict[str, int]:
    """For each table how many rows hold what one of some patterns of LIKE says, in small letters."""
    found = {}
    with psycopg.connect(conninfo, row_factory=tuple_row) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        for table in tables_of(connection):
            statement = sql.SQL("SELECT count(*) FROM {} t WHERE lower({}) LIKE ANY (%s)")
            query = statement.format(sql.Identifier(table), written_out(connection, table))
            [(found[table],)] = connection.execute(query, [list(patterns)]).fetchall()
    return found


def columns_of(connection: psycopg.Connection[Any], table: str) -> list[str]:
    """The names of a table's columns, in their order."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        return [name for (name,) in cursor.execute(_COLUMNS, [f'"{table}"']).fetchall()]
