"""Nothing can hang on what belongs to another slice, where the slice is part of the key."""

from __future__ import annotations

import psycopg
import pytest
from tests.releases.restore import restored

from reverie_indexer.database.preparing import prepare_database

# What rests on what: a table, its column, and the table that it names.
KEYS = [
    ("messages", "session_key", "sessions"),
    ("compactions", "session_key", "sessions"),
    ("window_summaries", "session_key", "sessions"),
    ("extraction_retries", "session_key", "sessions"),
    ("episodes", "session_key", "sessions"),
    ("documents", "session_key", "sessions"),
    ("documents", "episode_id", "episodes"),
    ("statements", "relation_id", "relations"),
    ("report_views", "report_id", "reports"),
]


@pytest.mark.parametrize(("table", "column", "parent"), KEYS)
async def test_a_row_cannot_name_another_slice_than_what_it_rests_on(
    table: str, column: str, parent: str, server_conninfo: str
) -> None:
    with restored(server_conninfo, "0.1.0") as conninfo:
        await prepare_database(conninfo)
        with psycopg.connect(conninfo) as connection:
            row = connection.execute(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL".encode()).fetchone()
            assert row is not None
            assert row[0] > 0
            with pytest.raises(psycopg.errors.ForeignKeyViolation) as caught:
                connection.execute(
                    f"UPDATE {table} c SET slice_id = (SELECT max(slice_id) FROM slices s"
                    f" WHERE s.slice_id <> c.slice_id) WHERE {column} IS NOT NULL".encode()
                )
            assert "slice_id" in (caught.value.diag.constraint_name or "")
            connection.rollback()
            keys = connection.execute(
                b"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
                b" AND (conrelid, confrelid) = (%(table)s::regclass, %(parent)s::regclass)",
                {"table": table, "parent": parent},
            ).fetchall()
            assert [key for (key,) in keys if column in key and "slice_id" not in key.split("REFERENCES")[0]] == []
