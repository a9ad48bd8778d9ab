"""The turn of a conversation: get the prompt, store the messages, complete or compact the session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from reverie_client._async.bound import AsyncBound
from reverie_client.conversation import (
    Accepted,
    Appended,
    Compaction,
    Event,
    Injection,
    Message,
    MessagePage,
    Session,
    SessionPage,
    State,
    StoredTurn,
    StoredTurnPage,
    Trigger,
    Turn,
    as_sent,
    event_of,
)
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call, segment


class AsyncTurns(AsyncBound):
    """Conversations with the owner, or, where the view has none, with the team."""

    async def context(
        self,
        message: str,
        *,
        session_id: str | None = None,
        system_prompt: str | None = None,
        model_max_tokens: int | None = None,
        emergency: bool = False,
        explain: bool = False,
    ) -> Turn:
        """The prompt to send for this turn; it stores nothing. `add_messages` what was said when the answer is there.

        `emergency`: the last prompt was too long for the model. With `explain` each section of the system prompt says
        where it stands there.
        """
        body = {
            **self._owner,
            "message": message,
            "session_id": session_id,
            "system_prompt": system_prompt,
            "model_max_tokens": model_max_tokens,
            "emergency": emergency,
            **({"explain": True} if explain else {}),
        }
        call = Call(method="POST", path=f"{self._path}/context", body=body, is_read=True)
        return await self._connection.ask(Turn, call)

    def turns(self, *, session_id: str | None = None, page_size: int | None = None) -> AsyncIterator[StoredTurn]:
        """The prompts that were made for the owner, or for the team, newest first; of one conversation or of all."""
        query = {**self._owner, "session_id": session_id, "limit": page_size}
        return self._connection.each(
            StoredTurnPage, Call(method="GET", path=f"{self._path}/turns", query=query, is_read=True)
        )

    async def turn(self, turn_id: str) -> StoredTurn:
        """A prompt that was made, by the id that `X-Reverie-Turn` had; NotFound."""
        path = f"{self._path}/turns/{segment(turn_id, 'a turn id')}"
        return await self._connection.ask(StoredTurn, Call(method="GET", path=path, query=self._owner, is_read=True))

    async def follow(self, after: str | None = None) -> AsyncIterator[Event]:
        """What happens to the owner's memory, as it happens: until the server ends the stream, after a minute or so.

        `after` is the `position` of the last event that was received: nothing since is missed, and what happened in the
        half minute before may come once more.
        """
        call = Call(method="GET", path=f"{self._path}/events", query=self._owner, is_read=True)
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": after} if after else {})}
        fields: dict[str, str] = {}
        async for line in self._connection.lines(call, headers):
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            if "data" in fields:
                yield event_of(fields["data"], fields.get("id", ""))
            fields = {}

    async def inject(
        self,
        message: str,
        *,
        session_id: str | None = None,
        recent_user_messages: Sequence[str] = (),
        in_prompt: Sequence[str] = (),
        max_tokens: int | None = None,
        threshold: float | None = None,
    ) -> Injection:
        """The memory for a message, as a section for the caller's own prompt.

        `in_prompt` are ids and paths of what that prompt holds already, `recent_user_messages` what was said before.
        """
        body = {
            **self._owner,
            "message": message,
            "session_id": session_id,
            "recent_user_messages": list(recent_user_messages),
            "in_prompt": list(in_prompt),
            "max_tokens": max_tokens,
            "threshold": threshold,
        }
        call = Call(method="POST", path=f"{self._path}/memory/inject", body=body, is_read=True)
        return await self._connection.ask(Injection, call)

    def sessions(
        self, *, state: State | None = None, since: datetime | None = None, page_size: int | None = None
    ) -> AsyncIterator[Session]:
        """The owner's conversations, or the team's where the view has no owner; the one changed last first."""
        query = {
            **self._owner,
            "state": state,
            "since": None if since is None else since.isoformat(),
            "limit": page_size,
        }
        return self._connection.each(
            SessionPage, Call(method="GET", path=f"{self._path}/sessions", query=query, is_read=True)
        )

    async def session(self, session_id: str) -> Session:
        """A conversation; NotFound where nothing was said in it and it was not made."""
        call = Call(method="GET", path=self._session(session_id), query=self._owner, is_read=True)
        return await self._connection.ask(Session, call)

    async def put_session(
        self, session_id: str, *, state: State | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Session:
        """Make a conversation, or change its state or metadata; what is not given stays."""
        body = {**self._owner, "state": state, "metadata": None if metadata is None else dict(metadata)}
        return await self._connection.ask(Session, Call(method="PUT", path=self._session(session_id), body=body))

    async def delete_session(self, session_id: str) -> None:
        """Delete a conversation with all that was said in it."""
        await self._connection.send(Call(method="DELETE", path=self._session(session_id), query=self._owner))

    async def add_messages(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> Appended:
        """Add messages in their order; the conversation is made where it is new, and a repeated id is ignored.

        Each has `role` and `content`, and if wanted `id`, `at` (a datetime, or RFC 3339 with an offset), `tool_calls`,
        `tool_call_id` and `name`. Conflict for a terminated conversation.
        """
        body = {**self._owner, "messages": [as_sent(message) for message in messages]}
        call = Call(method="POST", path=f"{self._session(session_id)}/messages", body=body)
        return await self._connection.ask(Appended, call)

    def messages(self, session_id: str, *, page_size: int | None = None) -> AsyncIterator[Message]:
        """The messages, oldest first, compacted ones too; pages are fetched as they are needed."""
        query = {**self._owner, "limit": page_size}
        call = Call(method="GET", path=f"{self._session(session_id)}/messages", query=query, is_read=True)
        return self._connection.each(MessagePage, call)

    async def clear_messages(self, session_id: str) -> None:
        """Remove all messages for good; the conversation begins anew."""
        await self._connection.send(
            Call(method="DELETE", path=f"{self._session(session_id)}/messages", query=self._owner)
        )

    async def compact_session(
        self, session_id: str, *, keep_last: int | None = None, timeout_seconds: float = LONG_TIMEOUT_SECONDS
    ) -> Compaction:
        """In prompts, replace all but the last messages (20 by default) by a summary, and note down important facts."""
        url = f"{self._session(session_id)}/compact"
        body = {**self._owner, "keep_last": keep_last}
        call = Call(method="POST", path=url, body=body, timeout_seconds=timeout_seconds)
        return await self._connection.ask(Compaction, call)

    async def complete_session(self, session_id: str, *, trigger_source: Trigger = "api") -> Accepted:
        """Mark a conversation as complete for now, so that lasting memory is made of it."""
        body = {**self._owner, "trigger_source": trigger_source}
        call = Call(method="POST", path=f"{self._session(session_id)}/complete", body=body)
        return await self._connection.ask(Accepted, call)

    def _session(self, session_id: str) -> str:
        return f"{self._path}/sessions/{segment(session_id, 'a session id')}"
