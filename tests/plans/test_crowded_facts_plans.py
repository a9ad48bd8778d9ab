"""What is read of one owner's facts does not grow with those of others of a tenant."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes, rows_by_index
from tests.plans.test_session_plans import analyze
from tests.talks import Talk

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_server.facts import erase, store, unread
from reverie_server.nights.emergence import inputs, worth
from reverie_server.runtime import Runtime

# Facts of the owners, one sentence and one source each.
OF_OTHERS, OWN = 3000, 3
MOST = 30
FILL = """
WITH added AS (
    INSERT INTO facts (tenant_id, slice_id, fact_sha256, subject, predicate, object, text, category, confidence,
                       is_functional, is_request, about_user, said_at, valid_from, method, created_at, updated_at)
    SELECT s.tenant_id, s.slice_id, sha256(format('%%s/%%s', s.session_key, n)::bytea), 'user', 'likes', 'tea ' || n,
           'A text of ' || n, 'general', 0.8, false, n %% 2 = 0, true, now(), now(), 'extractive', now(), now()
    FROM sessions s, generate_series(1, CASE s.owner_key WHEN 'user:1' THEN %(own)s ELSE %(others)s END) AS n
    RETURNING tenant_id, slice_id, fact_id, text
), worded AS (
    INSERT INTO fact_sentences (tenant_id, slice_id, sentence_sha256, fact_id)
    SELECT tenant_id, slice_id, sha256(text::bytea), fact_id FROM added
)
INSERT INTO fact_sources (tenant_id, slice_id, fact_id, session_key, session_id, seqs, message_ids, said_at, valid_from,
                          method)
SELECT a.tenant_id, a.slice_id, a.fact_id, s.session_key, s.session_id, '{1}', '{}', now(), now(), 'extractive'
FROM added a JOIN sessions s USING (tenant_id, slice_id)
"""
STATEMENTS: list[tuple[Queries, str]] = [
    (unread.SQL, "facts_of"),
    (store.SQL, "spoken"),
    (store.SQL, "unsourced"),
    (store.SQL, "chunks_of"),
    (store.SQL, "drop_dead_sources"),
    (store.SQL, "all_of_slice"),
    (store.SQL, "twins"),
    (erase.SQL, "holding"),
    (erase.SQL, "naming"),
    (erase.SQL, "of_session_alone"),
    (erase.SQL, "selected"),
    (erase.SQL, "stated_by"),
    (erase.SQL, "read_in_lines"),
    (inputs.SQL, "superseded"),
    (inputs.SQL, "stated"),
    (worth.SQL, "known"),
    (worth.SQL, "requests"),
]


@pytest.mark.parametrize(("queries", "name"), STATEMENTS, ids=[name for _, name in STATEMENTS])
async def test_little_is_read_of_the_facts_of_others(
    runtime: Runtime, database: Database, conninfo: str, queries: Queries, name: str
) -> None:
    for number in range(2):
        await Talk(runtime, f"web:{number}", f"user:{number}").say("Good morning.")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET reverie_checks.off = 'on'")
        connection.execute(FILL, {"own": OWN, "others": OF_OTHERS})
    analyze(conninfo)
    async with database.tenant("default") as reading:
        visible = await visible_slices(reading, "default", "wren", "user:1")
        [slice_id] = [each.slice_id for each in visible if each.owner_key == "user:1"]
        cursor = await reading.execute(
            "SELECT array_agg(fact_id) AS facts, array_agg(sha256(text::bytea)) AS hashes,"
            " (SELECT session_key FROM sessions WHERE owner_key = 'user:1') AS session_key"
            " FROM facts WHERE tenant_id = 'default' AND slice_id = %s",
            [slice_id],
        )
        own = await cursor.fetchone()
        assert own is not None
        hashes = [bytes(each) for each in own["hashes"]]
        params = {
            **{"tenant_id": "default", "slice_id": slice_id, "slice_ids": [slice_id], "fact_ids": own["facts"]},
            **{"hashes": hashes, "keys": hashes, "whole": hashes[:1], "paths": ["MEMORY.md"]},
            **{"session_keys": [own["session_key"]], "session_ids": ["web:1"], "seqs": [1], "at": datetime.now(UTC)},
            **{
                "anchors": ["text"],
                "invisible": "",
                "days": None,
                "prefix": "memory/",
                "session_key": own["session_key"],
            },
            **{"subjects": ["user"], "predicates": ["likes"], "objects": ["tea 1"]},
        }
        read = rows_by_index(nodes(await explained(reading, queries[name], params)))
    assert {table: rows for table, rows in read.items() if rows > MOST} == {}
