"""What a turn asks the database for is read by key, however much has been said."""

from __future__ import annotations

from typing import Any

import psycopg
from tests.conversations import ADA, BO, append, grant_of, place_of, user
from tests.plans.plan_nodes import explained, nodes

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.index import transcript
from reverie_server.nights import digest
from reverie_server.runtime import Runtime
from reverie_server.sessions import append as appending
from reverie_server.sessions import completion, lookup
from reverie_server.sessions import sessions as sessions_module

SESSIONS, MESSAGES = 12, 40


async def fill(runtime: Runtime) -> None:
    for number in range(SESSIONS):
        principal = ADA if number % 2 else BO
        said = [user(f"Message {n} of {number}.", message_id=f"m{n}") for n in range(MESSAGES)]
        await append(runtime, *said, session_id=f"web:{number}", principal=principal)


def analyze(conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def scans(plan: Any) -> list[dict[str, Any]]:
    return [node for node in nodes(plan) if "Relation Name" in node and "Scan" in node["Node Type"]]


def rows_read(found: list[dict[str, Any]], table: str) -> int:
    """How many rows were read of a table, those that a filter then dropped included."""
    return sum(
        round((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
        for node in found
        if node["Relation Name"] == table
    )


async def test_a_turn_reads_its_own_session(runtime: Runtime, database: Database, conninfo: str) -> None:
    await fill(runtime)
    analyze(conninfo)
    session = await runtime.sessions.find(ADA, "web:1")
    params = {
        **{
            "tenant_id": "default",
            "agent_id": "wren",
            "owner_key": "user:1",
            "session_id": "web:1",
        },
        **{"session_key": session.session_key, "slice_id": session.slice_id, "slice_ids": [session.slice_id]},
        **{
            "message_ids": ["m1", "m39", "new"],
            "after": 30,
            "limit": 5,
            "max_bytes": None,
            "viewer": "user:1",
        },
    }
    # Of the index one entry more may be looked at where a range ends.
    statements = [
        (lookup.SQL["session_of_id"], {"sessions": 1}),
        (lookup.SQL["lock_session"], {"sessions": 1}),
        (appending.SQL["known_ids"], {"messages": 2}),
        (appending.SQL["last_spoken"], {"messages": 1}),
        (sessions_module.SQL["messages"], {"messages": 5}),
        (sessions_module.SQL["live_messages"], {"sessions": 1, "messages": MESSAGES}),
        (completion.SQL["complete"], {"sessions": 2}),
        (digest.SQL["card"], {"slices": 1, "reports": 1}),
        (transcript.SQL["chunks_of_session"], {"documents": 1, "chunks": MESSAGES}),
    ]
    for statement, most in statements:
        async with database.tenant("default") as connection:
            await visible_slices(connection, "default", "wren", "user:1")
            found = scans(await explained(connection, statement, {**params, "seqs": None}))
            await connection.rollback()
        for table, count in most.items():
            assert rows_read(found, table) <= count, (statement, found)
        assert all("Index" in node["Node Type"] for node in found), statement


async def test_what_comes_last_is_put_after_the_last_passage_alone(runtime: Runtime, database: Database) -> None:
    await append(runtime, *(user(f"Message {n}.") for n in range(300)))
    async with database.tenant("default") as connection:
        await visible_slices(connection, "default", "wren", "user:1")
        row = await (
            await connection.execute("SELECT document_id FROM documents WHERE session_key IS NOT NULL")
        ).fetchone()
        params = {"tenant_id": "default", "document_id": (row or {})["document_id"], "before_seq": None}
        found = scans(await explained(connection, transcript.SQL["next_ordinal"], params))
    assert rows_read(found, "chunks") == 1


async def test_silent_sessions_are_found_by_their_index(runtime: Runtime, database: Database, conninfo: str) -> None:
    await fill(runtime)
    for number in range(SESSIONS):
        if number != 3:
            await runtime.sessions.complete(ADA if number % 2 else BO, f"web:{number}", "api")
    await runtime.sessions.put(grant_of(ADA), place_of(ADA), "empty", state=None, metadata=None)
    analyze(conninfo)
    params = {"idle_seconds": 0.0, "limit": 10}
    async with database.maintenance() as connection:
        found = scans(await explained(connection, completion.SQL["idle"], params))
        await connection.rollback()
    due = [node for node in found if node.get("Index Name") == "sessions_idle"]
    assert rows_read(due, "sessions") == 1
