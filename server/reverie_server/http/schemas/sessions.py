"""Models of sessions and their messages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from reverie_server.http.schemas.common import Owner, Page, request_config, response_config, response_from
from reverie_server.sessions.model import Message, NewMessage, Role, Session, State
from reverie_server.sessions.validate import MAX_ID_CHARS, MAX_MESSAGES
from reverie_server.text.fields import Instant, Text

_SESSION = {
    "session_id": "telegram:17",
    "owner_key": "user:42",
    "channel": "telegram",
    "chat_id": "17",
    "state": "active",
    "metadata": {"title": "The review"},
    "message_count": 2,
    "tokens": 27,
    "compactions": 0,
    "created_at": "2026-04-03T09:30:00Z",
    "updated_at": "2026-04-03T09:30:07Z",
}
_MESSAGE = {
    "seq": 1,
    "id": "m-1",
    "role": "user",
    "content": "When is the review with Ada?",
    "at": "2026-04-03T09:30:00Z",
    "tokens": 11,
    "compacted": False,
    "tool_calls": None,
    "tool_call_id": None,
    "name": None,
}
_EXTRA = ("tool_calls", "tool_call_id", "name")


class SessionPut(Owner):
    """A session as it is to be; what is left out stays as it is."""

    model_config = request_config(owner_key="user:42", state="active", metadata={"title": "The review"})

    state: State | None = None
    metadata: dict[str, Any] | None = Field(None, description="Yours, at most 16 KiB of JSON")


class SessionBody(BaseModel):
    """A conversation. `tokens` and `message_count` are of all its messages; the id is `{channel}:{chat_id}`."""

    model_config = response_config(**_SESSION)

    session_id: str
    owner_key: str | None
    channel: str
    chat_id: str
    state: State
    metadata: dict[str, Any]
    message_count: int
    tokens: int
    compactions: int
    created_at: datetime
    updated_at: datetime


class SessionsQuery(Page):
    """Which conversations: of a state, changed at or after a time."""

    state: State | None = None
    since: Instant | None = Field(None, description="RFC 3339 with an offset")


class SessionList(BaseModel):
    """A page of conversations, the one changed last first."""

    model_config = response_config(sessions=[_SESSION], next_cursor=None)

    sessions: list[SessionBody]
    next_cursor: str | None


class MessageIn(BaseModel):
    """A message to add. One with an `id` that the session has is ignored."""

    model_config = request_config(
        role="user", content="When is the review with Ada?", id="m-1", at="2026-04-03T09:30:00Z"
    )

    role: Role
    content: Text | None = Field(description="At most 1 MiB; null only beside `tool_calls`")
    id: Annotated[Text, Field(min_length=1, max_length=MAX_ID_CHARS)] | None = None
    at: Instant | None = Field(None, description="When it was said, RFC 3339 with an offset; default: now")
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: Text | None = None
    name: Text | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.content is None and not (self.role == "assistant" and self.tool_calls):
            raise ValueError("content may be null only for an assistant's message with tool_calls")
        return self

    def message(self) -> NewMessage:
        """The message as `Sessions.append` takes it."""
        extra = {name: value for name in _EXTRA if (value := getattr(self, name)) is not None}
        return NewMessage(self.role, self.content or "", self.id, self.at, extra)


class Messages(Owner):
    """Messages to add, in order."""

    model_config = request_config(
        owner_key="user:42",
        messages=[
            {"role": "user", "content": "When is the review with Ada?", "id": "m-1", "at": "2026-04-03T09:30:00Z"},
            {"role": "assistant", "content": "On Thursday.", "id": "m-2", "at": "2026-04-03T09:30:07Z"},
        ],
    )

    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=MAX_MESSAGES)]


class AppendResult(BaseModel):
    """How many messages were stored, those ignored not counted, and the session afterwards.

    `forgotten` has the receipts of what the messages asked to forget ("don't keep that"), and memory did.
    """

    model_config = response_config(stored=2, session=_SESSION, forgotten=[])

    stored: int
    session: SessionBody
    forgotten: list[str]


class MessageBody(BaseModel):
    """A message as it was said. `seq` counts from 1; `compacted`: a summary stands for it in prompts."""

    model_config = response_config(**_MESSAGE)

    seq: int
    id: str | None
    role: Role
    content: str
    at: datetime
    tokens: int
    compacted: bool
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None
    name: str | None


class MessageList(BaseModel):
    """A page of a session's messages, in order."""

    model_config = response_config(messages=[_MESSAGE], next_cursor=None)

    messages: list[MessageBody]
    next_cursor: str | None


class Complete(Owner):
    """That a conversation is over for now, and where it came from."""

    model_config = request_config(trigger_source="web", owner_key="user:42")

    trigger_source: Literal["web", "channel", "api", "cron"] = "api"


class Job(BaseModel):
    """A stage of consolidation that follows from it, in the background; see `pipeline`."""

    id: str
    kind: str


class Jobs(BaseModel):
    """What was started; nothing where nothing was said since the last time."""

    model_config = response_config(jobs=[{"id": "17", "kind": "episodic"}, {"id": "18", "kind": "extraction"}])

    jobs: list[Job]


def session_body(session: Session) -> SessionBody:
    """A session as a response model."""
    return response_from(SessionBody, session)


def message_body(message: Message, session: Session) -> MessageBody:
    """A message of a session as a response model."""
    extra = {name: message.extra.get(name) for name in _EXTRA}
    compacted = message.seq <= session.compacted_through
    return response_from(MessageBody, message, id=message.message_id, compacted=compacted, **extra)
