"""Publishes that what a session has said is complete: on request, or after a time without messages."""

from __future__ import annotations

from operator import itemgetter

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_server.access.principal import Principal, check_place
from reverie_server.jobs.defer import Delays, publish
from reverie_server.jobs.model import Deferred, Event
from reverie_server.sessions.lookup import Key, look_up
from reverie_server.sessions.model import is_of_cron

SQL = Queries(__file__)
IDLE = "idle"
CRON = "cron"
PAGE_SESSIONS = 200
# What the event says of the session.
_PAYLOAD = ("session_key", "session_id", "owner_key", "from_seq", "through_seq", "compactions")


async def publish_completed(
    connection: Connection, principal: Principal, session_id: str, trigger_source: str, delays: Delays
) -> list[Deferred] | None:
    """Publish that what a session has said since the last time is complete, and defer what follows.

    A session of the channel `cron` is completed by the clock, whatever is said of it.

    Nothing where nothing new was said; None: there is no such session. Forbidden for one that others read, with a key
    that is bound to its owner.
    """
    key = Key.of(principal, session_id)
    found = await look_up(connection, key)
    if found is None:
        return None
    check_place(principal, found[1])
    params = {"tenant_id": key.tenant_id, "session_key": found[0].session_key}
    source = CRON if is_of_cron(key.session_id) else trigger_source
    rows = await (await connection.execute(SQL["complete"], params)).fetchall()
    return [job for row in rows for job in await publish(connection, _event_of(row, source), delays)]


async def complete_idle_sessions(
    database: Database, delays: Delays, *, idle_seconds: float, page_sessions: int = PAGE_SESSIONS
) -> int:
    """Publish the completion of every session, of any tenant, without a new message for `idle_seconds`; how many.

    `page_sessions` at a time, in one transaction each; a session that somebody writes to at this instant is left alone.
    """
    params = {"idle_seconds": idle_seconds, "limit": page_sessions}
    total = 0
    while True:
        published = 0
        async with database.maintenance() as connection:
            idle = await (await connection.execute(SQL["idle"], params)).fetchall()
            for tenant_id in sorted({row["tenant_id"] for row in idle}):
                keys = [row["session_key"] for row in idle if row["tenant_id"] == tenant_id]
                of_tenant = {**params, "tenant_id": tenant_id, "session_keys": keys}
                rows = await (await connection.execute(SQL["complete_idle"], of_tenant)).fetchall()
                for row in sorted(rows, key=itemgetter("slice_id", "session_key")):
                    source = CRON if is_of_cron(row["session_id"]) else IDLE
                    await publish(connection, _event_of(row, source), delays)
                published += len(rows)
        total += published
        if len(idle) < page_sessions or not published:
            return total


def _event_of(row: DictRow, trigger_source: str) -> Event:
    payload = {name: row[name] for name in _PAYLOAD}
    return Event(
        "session.completed",
        row["tenant_id"],
        row["agent_id"],
        row["slice_owner"],
        row["slice_id"],
        {"trigger_source": trigger_source, **payload},
    )
