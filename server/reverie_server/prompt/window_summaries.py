"""Summaries of the older part of a long conversation, kept for a while so that the next turns need no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_server.access.principal import Principal
from reverie_server.prompt.summary import Summary
from reverie_server.sessions.message_range import is_unchanged
from reverie_server.sessions.model import Message, Session

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class KeptSummary:
    """A summary of the session's live messages up to `through_seq`, and of all older ones."""

    through_seq: int
    text: str


class WindowSummaries:
    """One summary for each session, kept for `keep_seconds`, of messages that begin with the first live one."""

    def __init__(self, database: Database, *, keep_seconds: float) -> None:
        self._database = database
        self._keep_seconds = keep_seconds
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def lock(self, session: Session) -> asyncio.Lock:
        """The lock under which a session's summary is made, so that two turns at once make it once."""
        return self._locks.setdefault(session.session_key, asyncio.Lock())

    async def kept(self, principal: Principal, session: Session, first_seq: int) -> KeptSummary | None:
        """The session's summary, if it is not too old and begins with the message `first_seq`; else None."""
        params = {
            "tenant_id": principal.tenant_id,
            "session_key": session.session_key,
            "slice_id": session.slice_id,
            "from_seq": first_seq,
            "keep_seconds": self._keep_seconds,
        }
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            await visible_slices(connection, principal.tenant_id, principal.agent_id, session.owner_key)
            row = await (await connection.execute(SQL["kept"], params)).fetchone()
        return KeptSummary(row["through_seq"], row["summary"]) if row else None

    async def keep(self, principal: Principal, session: Session, messages: Sequence[Message], summary: Summary) -> bool:
        """Keep the summary of these messages; False, with nothing kept, when they have changed since they were read.

        A forgotten message must not live on in a summary: a caller that gets False must not use the summary.
        """
        params = {
            "tenant_id": principal.tenant_id,
            "session_key": session.session_key,
            "slice_id": session.slice_id,
            "from_seq": messages[0].seq,
            "through_seq": messages[-1].seq,
            "summary": summary.text,
            "prompt": summary.prompt,
            "prompt_version": summary.prompt_version,
            "model": summary.model,
        }
        async with self._database.tenant(principal.tenant_id) as connection:
            await visible_slices(connection, principal.tenant_id, principal.agent_id, session.owner_key)
            await connection.execute(SQL["lock_slice"], params)
            if not await is_unchanged(connection, principal.tenant_id, session, messages):
                return False
            await connection.execute(SQL["keep"], params)
            return True
