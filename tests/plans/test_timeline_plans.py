"""The days of a memory are looked up by an index, one entry a day, however much was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from tests.plans.plan_nodes import nodes

from reverie_server.access.keys import OPERATOR
from reverie_server.browse import timeline
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

DAYS, A_DAY = 12, 60
NOW = datetime(2026, 4, 3, 12, tzinfo=UTC)


async def test_a_day_is_one_entry_of_an_index(runtime: Runtime, conninfo: str) -> None:
    grant, place = await runtime.gate.write(OPERATOR, "wren", "user:1", None)
    for day in range(DAYS):
        at = NOW - timedelta(days=day)
        messages = [NewMessage("user", f"Line {n}.", at=at + timedelta(seconds=n)) for n in range(A_DAY)]
        await runtime.sessions.append(grant, place, f"web:{day}", messages)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        [(slice_id,)] = connection.execute(
            "SELECT slice_id FROM slices WHERE owner_key = 'user:1' AND NOT past"
        ).fetchall()
        params: dict[str, Any] = {
            "tenant_id": "default",
            "owner_key": "user:1",
            "own_id": slice_id,
            "is_shared": False,
            "slice_ids": [slice_id],
            "zone": "UTC",
            "since": datetime(2000, 1, 1, tzinfo=UTC),
            "before": NOW + timedelta(days=1),
            "kinds": list(timeline.KINDS),
            "limit": DAYS,
        }
        explained = connection.execute(b"EXPLAIN (ANALYZE, FORMAT JSON) " + timeline.SQL["days"], params).fetchone()
    assert explained is not None
    scans = [node for node in nodes(explained[0][0]["Plan"]) if node.get("Relation Name") == "messages"]
    assert {scan["Index Name"] for scan in scans} == {"messages_by_time"}
    assert sum(scan["Actual Rows"] * scan["Actual Loops"] for scan in scans) <= DAYS + 1
