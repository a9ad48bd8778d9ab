"""When a stretch of a session is complete: on request, or when nobody has said anything for a while."""

from __future__ import annotations

from typing import Literal

from psycopg.types.json import Jsonb

from reverie_indexer.db import Connection, Database
from reverie_indexer.queries import Queries
from reverie_server.turns.lookup import Key, look_up
from reverie_server.turns.model import Completed

SQL = Queries(__file__)
KIND: Literal["session.completed"] = "session.completed"
IDLE = "idle"
PAGE = 200


async def publish_completed(connection: Connection, key: Key, trigger_source: str) -> list[Completed] | None:
    """Publish that what a session has said since the last time is complete; nothing where nothing new was said.

    None: there is no such session. Raises what `look_up` raises.
    """
    found = await look_up(connection, key, any_owner=True)
    if found is None:
        return None
    params = {
        "tenant_id": key.tenant_id,
        "session_key": found[0].session_key,
        "kind": KIND,
        "payload": Jsonb({"trigger_source": trigger_source}),
    }
    rows = await (await connection.execute(SQL["publish"], params)).fetchall()
    return [Completed(row["event_id"], KIND) for row in rows]


async def complete_idle_sessions(database: Database, *, idle_seconds: float) -> int:
    """Publish the completion of every session, of any tenant, that nobody has written to for so long; how many.

    A page at a time, each in a transaction of its own; a session that somebody writes to at this instant is left alone.
    """
    params = {"idle_seconds": idle_seconds, "limit": PAGE, "kind": KIND, "payload": Jsonb({"trigger_source": IDLE})}
    total = 0
    while True:
        async with database.maintenance() as connection:
            done = (await connection.execute(SQL["publish_idle"], params)).rowcount
        total += done
        if done < PAGE:
            return total
