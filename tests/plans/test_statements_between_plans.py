"""What an owner said in a span of time is read by the times of the owner's slice, however much others said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conversations import user
from tests.plans.plan_nodes import explained
from tests.plans.test_session_plans import analyze, rows_read, scans
from tests.talks import Talk

from reverie_indexer.database.database import Database, visible_slices
from reverie_server.runtime import Runtime
from reverie_server.search.asked.near_statements import MAX_MESSAGES, SQL

OWNERS, MESSAGES = 24, 60


async def test_what_was_said_in_a_span_of_time_is_read_by_an_index(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    for number in range(OWNERS):
        said = [user(f"Message {n} of {number} tells of the weather at the lake.") for n in range(MESSAGES)]
        await Talk(runtime, f"web:{number}", f"user:{number}").add(said)
    analyze(conninfo)
    now = datetime.now(UTC)
    async with database.tenant("default") as connection:
        slices = await visible_slices(connection, "default", "wren", "user:3")
        params: dict[str, Any] = {
            "tenant_id": "default",
            "slice_ids": [each.slice_id for each in slices if each.owner_key == "user:3"],
            "owner_key": "user:3",
            "since": [now - timedelta(days=4000), now + timedelta(days=1)],
            "until": [now + timedelta(days=1), now + timedelta(days=2)],
            "limit": MAX_MESSAGES,
            "chars": 4000,
        }
        found = await (await connection.execute(SQL["statements_between"], params)).fetchall()
        plan = scans(await explained(connection, SQL["statements_between"], params))
    assert found[0]["content"].endswith("of 3 tells of the weather at the lake.")
    assert len(found) == MESSAGES
    assert not [node for node in plan if node["Node Type"] == "Seq Scan" and node["Relation Name"] == "messages"]
    assert rows_read(plan, "messages") <= MESSAGES
