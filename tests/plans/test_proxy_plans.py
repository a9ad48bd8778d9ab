"""Whether a turn was recorded before is told by one index, however long the session is, as the unprivileged role."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes

from reverie_server.access.keys import OPERATOR
from reverie_server.proxy import recording
from reverie_server.runtime import Runtime
from reverie_server.sessions.lookup import Key, look_up
from reverie_server.sessions.model import NewMessage

MESSAGES = 400


async def plan_of(runtime: Runtime, message_id: str) -> tuple[dict[str, Any], int]:
    """The scan of the messages, and how often the message is there."""
    async with runtime.database.tenant("default", snapshot=True) as connection:
        found = await look_up(connection, Key("default", "wren", "user:1", "web:7"))
        assert found is not None
        params = {"tenant_id": "default", "session_key": found[0].session_key, "message_id": message_id}
        plan = await explained(connection, recording.SQL["repeats"], params)
        counted = await (await connection.execute(recording.SQL["repeats"], params)).fetchone()
    assert counted is not None
    [node] = [node for node in nodes(plan) if node.get("Relation Name") == "messages"]
    return node, counted["times"]


@pytest.mark.parametrize("with_statistics", [False, True])
async def test_a_repetition_is_found_by_the_id(runtime: Runtime, conninfo: str, with_statistics: bool) -> None:
    grant, place = await runtime.gate.write(OPERATOR, "wren", "user:1", None)
    ids = [*(f"{n:040x}" for n in range(MESSAGES)), f"{7:040x}.1", f"{7:040x}.12", f"{7:040x}:answer"]
    messages = [NewMessage("tool", "done", message_id) for message_id in ids]
    await runtime.sessions.append(grant, place, "web:7", messages)
    if with_statistics:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    node, times = await plan_of(runtime, f"{7:040x}")
    assert times == 3
    assert node["Node Type"] in ("Index Scan", "Index Only Scan"), node
    assert node["Index Name"] == "messages_tenant_id_session_key_message_id_key"
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    assert read <= 4, node
