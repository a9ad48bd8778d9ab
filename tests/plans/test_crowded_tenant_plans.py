"""What is read for one owner does not grow with the other owners of a tenant, with and without statistics."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes, rows_by_index
from tests.plans.test_session_plans import analyze
from tests.talks import Talk

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import slices
from reverie_server.facts import sources
from reverie_server.jobs import queue
from reverie_server.nights.soul import due
from reverie_server.prompt import context_files
from reverie_server.provenance import record
from reverie_server.runtime import Runtime
from reverie_server.search import log_lines

OWNERS, LINES = 3000, 2000
MOST = 60
DERIVED = """
INSERT INTO derivations (tenant_id, slice_id, document_id, line_sha256, stage, method, sources)
SELECT d.tenant_id, d.slice_id, d.document_id, sha256(n::text::bytea), 'daily_log', 'extractive', '[]'
FROM documents d, generate_series(1, %s) AS n WHERE d.document_id = %s
"""
OWN_LINE = """
INSERT INTO derivations (tenant_id, slice_id, document_id, line_sha256, stage, method, sources)
SELECT d.tenant_id, d.slice_id, d.document_id, sha256('own'::bytea), stage, 'extractive',
       '[{"kind": "messages", "session_id": "web:1", "messages": [{"seq": 1}]}]'
FROM documents d, unnest('{daily_log,facts}'::text[]) AS stage WHERE d.document_id = %s
"""
STATEMENTS: list[tuple[Queries, str]] = [
    (slices.SQL, "lock_slice"),
    (queue.SQL, "started"),
    (due.SQL, "count"),
    (record.SQL, "origins"),
    (log_lines.SQL, "logged_messages"),
    (log_lines.SQL, "made_of_messages"),
    (context_files.SQL, "machine_made"),
    (sources.SQL, "derived_lines"),
]


@pytest.mark.parametrize("has_statistics", [False, True], ids=["fresh", "analyzed"])
@pytest.mark.parametrize(("queries", "name"), STATEMENTS, ids=[name for _, name in STATEMENTS])
async def test_little_is_read_of_a_crowded_tenant(
    runtime: Runtime, database: Database, conninfo: str, queries: Queries, name: str, has_statistics: bool
) -> None:
    for number in range(2):
        await Talk(runtime, f"web:{number}", f"user:{number}").say("Good morning.")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET reverie_checks.off = 'on'")
        connection.execute(
            "INSERT INTO slices (tenant_id, agent_id, owner_key) SELECT 'default', 'wren', 'user:of-many-' || n"
            f" FROM generate_series(1, {OWNERS}) AS n"
        )
        rows = connection.execute(
            "SELECT min(d.document_id) FROM documents d JOIN slices s USING (tenant_id, slice_id)"
            " WHERE s.owner_key IN ('user:0', 'user:1') GROUP BY s.owner_key ORDER BY s.owner_key"
        ).fetchall()
        [others, own] = [document_id for (document_id,) in rows]
        connection.execute(DERIVED, [LINES, others])
        connection.execute(OWN_LINE, [own])
    if has_statistics:
        analyze(conninfo)
    found = list(nodes(await plan_of(database, queries[name], own)))
    read = rows_by_index(found)
    assert {table: rows for table, rows in read.items() if rows > MOST} == {}
    assert sum(read.values()) > 0


async def plan_of(database: Database, statement: bytes, document_id: int) -> Any:
    """The plan of a statement for user:1, who has one line in a document."""
    async with database.tenant("default") as connection:
        visible = await visible_slices(connection, "default", "wren", "user:1")
        [slice_id] = [each.slice_id for each in visible if each.owner_key == "user:1"]
        params = {
            **{"tenant_id": "default", "agent_id": "wren", "owner_key": "user:1", "past": False, "slice_id": slice_id},
            **{"document_id": document_id, "document_ids": [document_id], "within": None, "with_messages": True},
            **{"stage": "facts", "writes": 1, "every": 20, "now": None},
        }
        cursor = await connection.execute("SELECT sha256('own'::bytea) AS hash")
        row = await cursor.fetchone()
        assert row is not None
        return await explained(connection, statement, {**params, "hashes": [bytes(row["hash"])]})
