"""What a person said before is read by the indexes of the person's slice, however much others said."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversations import user
from tests.plans.plan_nodes import explained
from tests.plans.test_session_plans import analyze, rows_read, scans
from tests.talks import Talk

from reverie_indexer.database.database import Database, visible_slices
from reverie_server.facts.near_statements import SQL
from reverie_server.facts.unread import MAX_BYTES, MAX_MESSAGES
from reverie_server.runtime import Runtime

OWNERS, MESSAGES = 24, 60
TABLES = {"sessions", "messages", "documents", "chunks", "embedding_cache", "facts", "fact_sentences"}


@pytest.mark.parametrize("name", ["message_vectors", "messages", "stated", "marked"])
async def test_what_a_person_said_is_read_by_an_index(
    runtime: Runtime, database: Database, conninfo: str, name: str
) -> None:
    for number in range(OWNERS):
        said = [user(f"Message {n} of {number} tells of the weather at the lake.") for n in range(MESSAGES)]
        await Talk(runtime, f"web:{number}", f"user:{number}").add(said)
    await runtime.pipeline.backfill()
    analyze(conninfo)
    async with database.tenant("default") as connection:
        slices = await visible_slices(connection, "default", "wren", "user:3")
        [slice_id] = [slice_.slice_id for slice_ in slices if slice_.owner_key == "user:3"]
        session = await (
            await connection.execute("SELECT session_key FROM sessions WHERE slice_id = %s", (slice_id,))
        ).fetchone()
        model = await (await connection.execute("SELECT max(model_id) AS model_id FROM embedding_cache")).fetchone()
        assert session is not None
        assert model is not None
        params: dict[str, Any] = {
            **{"tenant_id": "default", "slice_ids": [slice_id], "model_id": model["model_id"], "bytes": MAX_BYTES},
            **{"messages": MAX_MESSAGES, "session_keys": [session["session_key"]] * 3, "seqs": [2, 3, 5], "keys": []},
        }
        found = await (await connection.execute(SQL[name], params)).fetchall()
        assert len(found) == {"message_vectors": MESSAGES, "messages": 3, "stated": 0, "marked": 0}[name]
        plan = scans(await explained(connection, SQL[name], params))
    assert not [node for node in plan if node["Node Type"] == "Seq Scan" and node["Relation Name"] in TABLES]
    assert (
        rows_read(plan, "messages") <= {"message_vectors": 2 * MESSAGES, "messages": 3, "stated": 0, "marked": 0}[name]
    )
    assert rows_read(plan, "chunks") <= 2 * MESSAGES
    assert rows_read(plan, "embedding_cache") <= MESSAGES
