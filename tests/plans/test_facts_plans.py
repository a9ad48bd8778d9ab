"""What the stage of facts asks the database for is read by the indexes of its slice, however many others there are."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.plans.plan_nodes import explained, nodes
from tests.plans.test_session_plans import analyze, rows_read
from tests.talks import Talk

from reverie_indexer.database.database import Database, visible_slices
from reverie_server.facts import asking, echoes, outlived, settle, sources, store
from reverie_server.runtime import Runtime
from reverie_server.search import known_facts, superseded
from reverie_server.search.hot import facts as hot_facts

OWNERS, FACTS, OF_FACTS = 12, 800, 20
AT = datetime(2026, 4, 3, tzinfo=UTC)
FILL = """
WITH added AS (
    INSERT INTO facts (tenant_id, slice_id, fact_sha256, subject, predicate, object, text, category, confidence,
                       is_functional, is_request, about_user, said_at, valid_from, method, created_at, updated_at)
    SELECT s.tenant_id, s.slice_id, sha256(format('%s/%s', s.session_key, n)::bytea), CASE n % 2 WHEN 0 THEN 'user'
           ELSE 'Petra ' || n END, CASE n % 40 WHEN 0 THEN 'friend' ELSE 'likes' END, 'Petra ' || n, 'A text of ' || n,
           'general', 0.8, false, false, n % 2 = 0, now() - n * interval '1 hour', now(), 'extractive', now(), now()
    FROM sessions s, generate_series(1, %(facts)s) AS n
    RETURNING tenant_id, slice_id, fact_id, said_at
), worded AS (
    INSERT INTO fact_sentences (tenant_id, slice_id, sentence_sha256, fact_id)
    SELECT tenant_id, slice_id, sha256(fact_id::text::bytea), fact_id FROM added
)
INSERT INTO fact_sources (tenant_id, slice_id, fact_id, session_key, session_id, seqs, message_ids, said_at, valid_from,
                          method)
SELECT a.tenant_id, a.slice_id, a.fact_id, s.session_key, s.session_id, '{1}', '{}', a.said_at, a.said_at, 'extractive'
FROM added a JOIN sessions s USING (tenant_id, slice_id)
"""
EPISODES = """
INSERT INTO episodes (tenant_id, slice_id, agent_id, owner_key, session_key, session_id, from_seq, through_seq,
                      compactions, summary, abstract, key_topics, method, started_at, ended_at, expires_at)
SELECT tenant_id, slice_id, agent_id, owner_key, session_key, session_id, n, n, 0, 'They talked.', 'They talked.', '{}',
       'extractive', now(), now(), now() + interval '1 day'
FROM sessions, generate_series(1, 200) AS n
"""
QUERIES = {
    "repeated": echoes.SQL["repeated"],
    "newest": settle.SQL["newest"],
    "older": settle.SQL["older"],
    "ended_before": settle.SQL["ended_before"],
    "close_contradictions": settle.SQL["close_contradictions"],
    "silent_from": settle.SQL["silent_from"],
    "made_after": outlived.SQL["made_after"],
    "stored": asking.SQL["stored"],
    "due": asking.SQL["due"],
    "waiting": asking.SQL["waiting"],
    "due_sessions": sources.SQL["due_sessions"],
    "acquaintances": sources.SQL["acquaintances"],
    "namesakes": sources.SQL["namesakes"],
    "spoken": store.SQL["spoken"],
    "twins": store.SQL["twins"],
    "stated_elsewhere": superseded.SQL["elsewhere"],
    "unsourced": store.SQL["unsourced"],
    "drop_message_sources": store.SQL["drop_message_sources"],
    "drop_dead_sources": store.SQL["drop_dead_sources"],
    "ended": hot_facts.SQL["ended"],
    "sources_of_passages": known_facts.SQL["sources"],
}


@pytest.mark.parametrize("name", sorted(QUERIES))
async def test_the_facts_of_a_slice_are_read_by_an_index(
    runtime: Runtime, database: Database, conninfo: str, name: str
) -> None:
    for number in range(OWNERS):
        await Talk(runtime, f"web:{number}", f"user:{number}").say("Good morning.")
    async with database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        await connection.execute(FILL.replace("%s", "%%s").replace(" % ", " %% "), {"facts": FACTS})
        await connection.execute(EPISODES)
        await connection.execute(
            "UPDATE facts SET state = 'superseded', superseded_by = fact_id + 1 WHERE fact_id % 4 = 0"
        )
        # Of other slices most was read, as it is.
        await connection.execute("UPDATE sessions SET facts_through = last_seq WHERE owner_key <> 'user:3'")
    analyze(conninfo)
    found = await explain(database, QUERIES[name])
    assert not [node for node in found if node["Node Type"] == "Seq Scan" and node["Relation Name"] in TABLES]
    # Each once, and once more where a table is joined with itself.
    assert rows_read(found, "facts") <= 2 * FACTS
    assert rows_read(found, "fact_sources") <= 2 * FACTS
    assert rows_read(found, "sessions") <= 2
    # `ended` reads them a third time, for those that state several facts.
    assert rows_read(found, "fact_sentences") <= (3 if name == "ended" else 2) * FACTS
    assert rows_read(found, "episodes") <= OF_FACTS


TABLES = {"facts", "fact_sources", "fact_sentences", "chunks", "sessions", "messages", "episodes"}


async def explain(database: Database, query: Any) -> list[dict[str, Any]]:
    async with database.tenant("default") as connection:
        [slice_] = [s for s in await visible_slices(connection, "default", "wren", "user:3") if s.owner_key == "user:3"]
        of_slice = await connection.execute(
            "SELECT fact_id FROM facts WHERE tenant_id = 'default' AND slice_id = %s ORDER BY fact_id LIMIT %s",
            [slice_.slice_id, OF_FACTS],
        )
        params = {
            "fact_ids": [row["fact_id"] for row in await of_slice.fetchall()],
            "chars": 4000,
            **{
                "tenant_id": "default",
                "slice_id": slice_.slice_id,
                "slice_ids": [slice_.slice_id],
                "chunk_ids": [1, 2],
                "limit": 1000,
                "silence": settle.SILENCE,
                "silent_from": AT,
                "session_keys": [4],
                "latest": AT,
                "now": AT,
                "session_key": 4,
            },
            **{"roles": ["friend", "boss"], "names": ["petra"], "from_seq": 1, "through_seq": 9, "lines": []},
            **{
                "is_retry": True,
                "failed": [1],
                "hashes": [hashlib.sha256(b"1").digest()],
                "subjects": ["user"],
                "predicates": ["likes"],
                "objects": ["Petra 2"],
                "keys": [hashlib.sha256(b"4").digest()],
                "as_of": None,
                "at": AT,
                "said_at": AT,
                "fact_id": 4,
                "each": 50,
                "first_ids": [1],
                "second_ids": [2],
            },
        }
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        found = nodes(await explained(connection, _bytes(query), params))
    return [node for node in found if "Relation Name" in node and "Scan" in node["Node Type"]]


def _bytes(query: Any) -> bytes:
    return query if isinstance(query, bytes) else str(query).encode()
