"""Whether a range of a session's messages, of which something was made, is still unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.sessions.model import Message, Session

SQL = Queries(__file__)


class SessionRef(Protocol):
    """The session of a range of messages, and its slice."""

    @property
    def session_key(self) -> int:
        """The session."""

    @property
    def slice_id(self) -> int:
        """The slice its messages are in."""


async def is_unchanged(connection: Connection, tenant_id: str, session: Session, messages: Sequence[Message]) -> bool:
    """Whether the session still has exactly these messages from the first to the last of them, and its summary.

    The caller holds the lock of the session's slice: what was forgotten or removed meanwhile is seen here, and what is
    not yet will find what is now made of it.
    """
    row = await _present(connection, tenant_id, session, messages)
    present = (len(messages), _digest(messages), session.summary)
    return row is not None and (row["count"], row["digest"], row["summary"]) == present


async def has_same_messages(
    connection: Connection, tenant_id: str, session: SessionRef, messages: Sequence[Message]
) -> bool:
    """As `is_unchanged`, whatever became of the session's summary."""
    row = await _present(connection, tenant_id, session, messages)
    return row is not None and (row["count"], row["digest"]) == (len(messages), _digest(messages))


async def _present(
    connection: Connection, tenant_id: str, session: SessionRef, messages: Sequence[Message]
) -> DictRow | None:
    params = {
        "tenant_id": tenant_id,
        "session_key": session.session_key,
        "slice_id": session.slice_id,
        "from_seq": messages[0].seq,
        "through_seq": messages[-1].seq,
    }
    return await (await connection.execute(SQL["digest"], params)).fetchone()


def _digest(messages: Sequence[Message]) -> str:
    texts = (hashlib.sha256(message.content.encode()).hexdigest() for message in messages)
    return hashlib.sha256("".join(texts).encode()).hexdigest()
