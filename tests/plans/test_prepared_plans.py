"""What connections prepare has one plan for any values, which reads little however much a tenant has of others."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.plans.plan_nodes import nodes
from tests.plans.test_facts_plans import FILL
from tests.plans.test_session_plans import analyze
from tests.talks import Talk

from reverie_indexer.database import database as indexer_database
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.messages import numbered
from reverie_indexer.database.queries import Queries
from reverie_server.access import gate, keys
from reverie_server.nights import digest
from reverie_server.prompt import context_files
from reverie_server.provenance import record
from reverie_server.runtime import Runtime
from reverie_server.search import fact_copies, known_facts, log_lines, store, superseded
from reverie_server.search.hot import answer
from reverie_server.sessions import lookup, sessions

ROOT = Path(__file__).parents[2]
OWNERS, FACTS = 3000, 300
# More than any of them has to read, and less than a tenth of what there is.
MOST = 80
FILES = (
    *(indexer_database.SQL, gate.SQL, keys.SQL, digest.SQL, context_files.SQL, record.SQL, lookup.SQL, sessions.SQL),
    *(fact_copies.SQL, known_facts.SQL, log_lines.SQL, store.SQL, superseded.SQL, answer.SQL),
)
PREPARED = sorted((name, queries) for queries in FILES for name in queries if queries[name].is_prepared)


@pytest.mark.parametrize(("name", "queries"), PREPARED, ids=[name for name, _ in PREPARED])
async def test_a_prepared_statement_reads_little_for_any_values(
    runtime: Runtime, database: Database, conninfo: str, name: str, queries: Queries
) -> None:
    for number in range(3):
        await Talk(runtime, f"web:{number}", f"user:{number}").say("Good morning.")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET reverie_checks.off = 'on'")
        connection.execute(FILL.replace("%(facts)s", str(FACTS)))
        connection.execute("UPDATE facts SET state = 'superseded', superseded_by = fact_id + 1 WHERE fact_id % 4 = 0")
        connection.execute(
            "INSERT INTO slices (tenant_id, agent_id, owner_key) SELECT 'default', 'wren', 'user:of-many-' || n"
            f" FROM generate_series(1, {OWNERS}) AS n"
        )
    analyze(conninfo)
    plan = await generic_plan(database, queries[name], as_owner=queries is keys.SQL)
    read = {
        f"{node['Relation Name']} by {node.get('Index Name')}": round(
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        )
        for node in nodes(plan)
        if "Relation Name" in node
    }
    assert {table: rows for table, rows in read.items() if rows > MOST} == {}
    if name in ("superseded", "visible_slices", "replacing"):
        assert plan["Plan"]["Actual Rows"] > 0


def test_no_prepared_statement_is_left_out() -> None:
    found = {
        (path.stem, name)
        for package in ("indexer", "server")
        for path in (ROOT / package).rglob("*.sql")
        for name, statement in Queries(str(path)).items()
        if statement.is_prepared
    }
    assert len(found) == len(PREPARED) > 10


async def generic_plan(database: Database, statement: bytes, *, as_owner: bool) -> Any:
    """What EXPLAIN (ANALYZE) says of a statement as it is prepared, with parameters of user:1."""
    async with database.tenant("default") as connection:
        slices = await visible_slices(connection, "default", "wren", "user:1")
        [slice_id] = [each.slice_id for each in slices if each.owner_key == "user:1"]
        facts = await connection.execute(
            "SELECT f.fact_id, s.sentence_sha256 FROM facts f JOIN fact_sentences s USING (tenant_id, fact_id)"
            " WHERE f.slice_id = %s AND f.state = 'superseded' ORDER BY f.fact_id LIMIT 3",
            [slice_id],
        )
        rows = await facts.fetchall()
        documents = await connection.execute(
            "SELECT min(document_id) AS document_id FROM documents WHERE slice_id = %s", [slice_id]
        )
        own = await documents.fetchone()
        assert own is not None
        params = {
            "tenant_id": "default",
            "agent_id": "wren",
            "owner_key": "user:1",
            "with_past": False,
            "key_id": "none",
            "slice_ids": [slice_id],
            "chunk_ids": [1, 2, 3],
            "fact_ids": [row["fact_id"] for row in rows],
            "keys": [bytes(row["sentence_sha256"]) for row in rows],
            "now": datetime(2026, 4, 3, tzinfo=UTC),
            "as_of": None,
            "document_ids": [own["document_id"]],
            "hashes": [b"none"],
            "with_messages": True,
            "session_id": "web:1",
            "viewer": "user:1",
            "limit": 1,
            "paths": ["MEMORY.md", "memory.md"],
            "notes_from": "memory/2026-11-23",
            "notes_to": "memory/2026-11-30/",
        }
        cursor = psycopg.AsyncClientCursor(connection, row_factory=dict_row)
        if as_owner:
            await cursor.execute("RESET ROLE")
        text, arguments = numbered(statement)
        await cursor.execute(b"PREPARE as_it_is AS " + text.encode())
        await cursor.execute(b"SET LOCAL plan_cache_mode = force_generic_plan")
        await cursor.execute(b"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE as_it_is" + arguments, params)
        row = await cursor.fetchone()
        assert row is not None
        [answered] = row.values()
        return (json.loads(answered) if isinstance(answered, str) else answered)[0]
