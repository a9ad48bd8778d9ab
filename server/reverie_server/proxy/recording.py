"""Recording the turns of the proxy: a turn that is asked for again is recorded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.llm.streamed import Answered
from reverie_server.proxy.chat import storable
from reverie_server.sessions.lookup import Key, look_up
from reverie_server.sessions.model import NewMessage
from reverie_server.sessions.sessions import Sessions

SQL = Queries(__file__)
# Clients wait ten minutes for an answer before they try again. Who says the same later, says it again.
RETRY_WITHIN = timedelta(minutes=20)


class ProxiedTurns:
    """Adds the turns of a caller that keeps the conversation itself."""

    def __init__(self, database: Database, sessions: Sessions) -> None:
        self._database = database
        self._sessions = sessions

    async def record(
        self, grant: Grant, place: Place, session_id: str, new: Sequence[NewMessage], answered: Answered | None
    ) -> None:
        """Add what was said since the last answer, and the answer to it (None: there was none that is whole).

        `new` is not empty, with ids that follow from the conversation. Within RETRY_WITHIN the same again is the same
        turn tried again: what is there stays, also the answer. Raises what `Sessions.append` raises.
        """
        suffix = await self._suffix(Key.of(grant.principal, session_id), new[0])
        messages = [replace(message, message_id=f"{message.message_id}{suffix}") for message in new]
        if answered is not None:
            extra = {"tool_calls": list(answered.tool_calls)} if answered.tool_calls else {}
            answer_id = f"{messages[-1].message_id}:answer"
            messages.append(NewMessage("assistant", storable(answered.content), answer_id, None, extra))
        await self._sessions.append(grant, place, session_id, messages)

    async def _suffix(self, key: Key, first: NewMessage) -> str:
        """What to add to the ids of a turn: nothing the first time, then the number of the repetition."""
        async with self._database.tenant(key.tenant_id, snapshot=True) as connection:
            # As `append` will find it.
            found = await look_up(connection, key)
            if found is None:
                return ""
            params = {
                "tenant_id": key.tenant_id,
                "session_key": found[0].session_key,
                "message_id": first.message_id,
            }
            row = await (await connection.execute(SQL["repeats"], params)).fetchone()
        times, last_at = (row["times"], row["last_at"]) if row else (0, None)
        if last_at is not None and datetime.now(UTC) - last_at < RETRY_WITHIN:
            times -= 1
        return f".{times}" if times else ""
