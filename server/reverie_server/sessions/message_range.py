"""A stretch of a session that something was made of, and whether it still is what it was."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.sessions.model import Message, Session

SQL = Queries(__file__)


class OfSession(Protocol):
    """The session of a stretch, and the slice it is in."""

    @property
    def session_key(self) -> int:
        """The session."""

    @property
    def slice_id(self) -> int:
        """The slice its messages are in."""


async def is_unchanged(connection: Connection, tenant_id: str, session: Session, stretch: Sequence[Message]) -> bool:
    """Whether the session still has exactly these messages from the first to the last of them, and its summary.

    The caller holds the lock of the session's slice: what was forgotten or removed meanwhile is seen here, and what is
    not yet will find what is now made of it.
    """
    row = await _present(connection, tenant_id, session, stretch)
    present = (len(stretch), _digest(stretch), session.summary)
    return row is not None and (row["count"], row["digest"], row["summary"]) == present


async def has_same_messages(
    connection: Connection, tenant_id: str, session: OfSession, stretch: Sequence[Message]
) -> bool:
    """As `is_unchanged`, whatever became of the session's summary."""
    row = await _present(connection, tenant_id, session, stretch)
    return row is not None and (row["count"], row["digest"]) == (len(stretch), _digest(stretch))


async def _present(
    connection: Connection, tenant_id: str, session: OfSession, stretch: Sequence[Message]
) -> DictRow | None:
    params = {
        "tenant_id": tenant_id,
        "session_key": session.session_key,
        "slice_id": session.slice_id,
        "from_seq": stretch[0].seq,
        "through_seq": stretch[-1].seq,
    }
    return await (await connection.execute(SQL["digest"], params)).fetchone()


def _digest(stretch: Sequence[Message]) -> str:
    texts = (hashlib.sha256(message.content.encode()).hexdigest() for message in stretch)
    return hashlib.sha256("".join(texts).encode()).hexdigest()
