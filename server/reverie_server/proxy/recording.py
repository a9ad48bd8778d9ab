"""Record the turns of the proxy in sessions; a turn that is tried again is recorded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reverie_indexer.database.database import Database, opening_slices
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.llm.streamed import Answered
from reverie_server.proxy.kept import kept
from reverie_server.sessions.lookup import Key, look_up
from reverie_server.sessions.model import NewMessage
from reverie_server.sessions.sessions import Sessions
from reverie_server.sessions.validate import MAX_CONTENT_BYTES, MAX_MESSAGES, is_message_id

SQL = Queries(__file__)
# Clients wait ten minutes for an answer before they try again. The same turn later is a repetition.
RETRY_WITHIN = timedelta(minutes=20)
# A conversation that goes on is among them.
_NEWEST_SESSIONS = 1_000


class TurnRecorder:
    """Adds the turns of a caller that keeps the conversation itself to sessions."""

    def __init__(self, database: Database, sessions: Sessions) -> None:
        self._database = database
        self._sessions = sessions

    async def record(
        self, grant: Grant, place: Place, session_id: str, new: Sequence[NewMessage], answer: Answered | None
    ) -> None:
        """Add the new messages and the answer to them (None: no complete answer came).

        `new` is not empty, and its ids follow from the conversation. Within RETRY_WITHIN the same messages are the same
        turn tried again: the stored messages stay, and so does the answer. Raises the errors of `Sessions.append`.
        """
        suffix = await self._suffix(Key.of(grant.principal, session_id), new[0])
        messages = [replace(message, message_id=f"{message.message_id}{suffix}") for message in new]
        if answer is not None:
            fields = {"tool_calls": list(answer.tool_calls)} if answer.tool_calls else {}
            is_named = is_message_id(answer.answer_id)
            answer_id = answer.answer_id if is_named else f"{messages[-1].message_id}:answer"
            messages.append(kept("assistant", answer.content, fields, answer_id, None)[0])
        for batch in _batches(messages):
            await self._sessions.append(grant, place, session_id, batch)

    async def session_with(self, grant: Grant, answer_id: str) -> str | None:
        """The session that has an answer of that id, of the newest ones of the principal; None: none has it."""
        of = grant.principal
        params = {
            "tenant_id": of.tenant_id,
            "agent_id": of.agent_id,
            "owner_key": of.owner_key,
            "message_id": answer_id,
            "limit": _NEWEST_SESSIONS,
        }
        statements = [
            *opening_slices(of.tenant_id, of.agent_id, of.owner_key),
            Statement(SQL["session_with_message"], params),
        ]
        async with self._database.tenant(of.tenant_id, snapshot=True) as connection:
            rows = (await in_one_message(connection, statements))[-1]
        return rows[0]["session_id"] if rows else None

    async def _suffix(self, key: Key, first: NewMessage) -> str:
        """The suffix of the ids of a turn: "" the first time, then `.` and the number of the repetition."""
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


def _batches(messages: Sequence[NewMessage]) -> Iterator[Sequence[NewMessage]]:
    """The messages in order, in as many as one call takes, with as much text as one message may have."""
    batch: list[NewMessage] = []
    chars = 0
    for message in messages:
        if batch and (len(batch) == MAX_MESSAGES or chars + len(message.content) > MAX_CONTENT_BYTES):
            yield batch
            batch, chars = [], 0
        batch.append(message)
        chars += len(message.content)
    yield batch
