"""Whether a connection has a session of PostgreSQL's, or a pooler gives it another from transaction to transaction."""

from __future__ import annotations

import secrets
from contextlib import AsyncExitStack
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from reverie_indexer.database.queries import Queries
from reverie_indexer.database.watched import WatchedConnection, connection_parameters

SQL = Queries(__file__)
# One that takes its sessions in turn may give the same one again while others are free.
_ROUNDS = 3
POOLED = (
    "the database is reached through a pooler that gives each transaction another session (PgBouncer with pool_mode "
    "transaction or statement), where settings, LISTEN and the locks of workers are lost without an error: set its "
    "pool_mode to session for this database, or let REVERIE_DATABASE_URL lead to PostgreSQL itself"
)


async def is_pooled(conninfo: str, connection: psycopg.AsyncConnection[DictRow]) -> bool:
    """Whether the sessions behind connections change; `connection` is in autocommit mode, between transactions.

    A pooler gives a connection a key of its own to be cancelled by, with the number of no process. Then a mark is left
    in the session, and looked for while other connections hold transactions open: no two may share a session, and the
    mark may not be gone.
    """
    if (await _session(connection, "session"))["pid"] == connection.info.backend_pid:
        return False
    parameters = connection_parameters(conninfo)
    async with AsyncExitStack() as stack:
        # All of them first: a pooler may open a session for each that connects, which is then the next to be given.
        others = [
            await stack.enter_async_context(
                await WatchedConnection.connect(conninfo, autocommit=False, row_factory=dict_row, **parameters)
            )
            for _ in range(_ROUNDS)
        ]
        mark = secrets.token_hex(8)
        marked = await _session(connection, "mark_session", {"mark": mark})
        for other in others:
            other_session = await _session(other, "session")
            if other_session["pid"] == marked["pid"] or other_session["mark"] == mark:
                return True
            if await _session(connection, "session") != marked:
                return True
    return False


async def _session(
    connection: psycopg.AsyncConnection[Any], statement: str, params: dict[str, Any] | None = None
) -> DictRow:
    row = await (await connection.execute(SQL[statement], params)).fetchone()
    if row is None:
        raise LookupError("a statement that always answers with a row gave none")
    return dict(row)
