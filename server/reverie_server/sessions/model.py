"""The values of conversations. Frozen, without I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar

from reverie_indexer.errors import ValidationFailed

Role = Literal["system", "user", "assistant", "tool"]
State = Literal["active", "paused", "terminated"]
CRON_CHANNEL = "cron"
DEFAULT_CHANNEL = "api"
_SESSION_ID = re.compile(r"[^\s/]{1,200}")


def check_session_id(session_id: str) -> str:
    """The id, if a session may have it; ValidationFailed otherwise."""
    if not _SESSION_ID.fullmatch(session_id) or not session_id.isprintable() or len(session_id.encode()) > 400:
        raise ValidationFailed("a session id has 1 to 200 printable characters, no white space and no slash")
    return session_id


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as it is handed in. `message_id` is the caller's own: a repeated one is the same message.

    `at` None is now. `extra` has what the roles of a model's protocol need beside the content: `tool_calls`,
    `tool_call_id`, `name`.
    """

    role: Role
    content: str
    message_id: str | None = None
    at: datetime | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def fields_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a message of a model's protocol has beside its text, without fields that are not as the protocol says."""
    fields = {name: message[name] for name in ("tool_call_id", "name") if isinstance(message.get(name), str)}
    if isinstance(calls := message.get("tool_calls"), list):
        fields["tool_calls"] = [call for call in calls if isinstance(call, dict)]
    return fields


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message. `seq` counts from 1 in the order of the session; `tokens` is its share of a prompt.

    `extra` is as the protocol says, whatever is stored.
    """

    seq: int
    role: Role
    content: str
    at: datetime
    tokens: int
    message_id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Leave out fields that no reader takes: older servers stored what callers of the proxy sent."""
        if self.extra:
            object.__setattr__(self, "extra", fields_of(self.extra))

    @property
    def speaker(self) -> str:
        """The name of who speaks, where the message has one, else ""."""
        return str(self.extra.get("name", ""))

    def for_model(self) -> dict[str, Any]:
        """The message in the form of the chat completions protocol."""
        return {"role": self.role, "content": self.content, **self.extra}


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. Messages up to `compacted_through` are compacted, and `summary` stands for them in prompts.

    `tokens` and `message_count` are of all its messages. After an append, `forgets_after` is the message that asks to
    forget what is said next; 0 for none.
    """

    session_key: int
    slice_id: int
    session_id: str
    owner_key: str | None
    state: State
    metadata: Mapping[str, Any]
    last_seq: int
    message_count: int
    tokens: int
    compactions: int
    compacted_through: int
    completed_through: int
    summary: str
    created_at: datetime
    updated_at: datetime
    forgets_after: int = 0

    @property
    def channel(self) -> str:
        """The part of the id before its first colon, or `api`."""
        return self.session_id.partition(":")[0] if ":" in self.session_id else DEFAULT_CHANNEL

    @property
    def chat_id(self) -> str:
        """The part of the id behind its first colon, or all of it."""
        return self.session_id.partition(":")[2] if ":" in self.session_id else self.session_id

    @property
    def path(self) -> str:
        """The path that the passages of the session name as their source."""
        return path_of(self.session_id)


def is_of_cron(session_id: str) -> bool:
    """Whether a session is one of a job by the clock: its channel is `cron`."""
    return session_id.partition(":")[0] == CRON_CHANNEL and ":" in session_id


def path_of(session_id: str) -> str:
    """The path that the passages of a session name as their source. No file has such a path and the tier `message`."""
    return f"sessions/{session_id}"


class _Spoken(Protocol):
    @property
    def role(self) -> Role: ...

    @property
    def content(self) -> str: ...

    @property
    def extra(self) -> Mapping[str, Any]: ...


_S = TypeVar("_S", bound=_Spoken)


def paired(messages: Iterable[_S]) -> list[tuple[_S, _S]]:
    """The exchanges of a conversation in order: each user message with the first answer to it that has words.

    A message that calls tools is no answer yet.
    """
    found: list[tuple[_S, _S]] = []
    question: _S | None = None
    for message in messages:
        if message.role == "user" and message.content.strip():
            question = message
        elif message.role == "assistant" and message.content.strip() and question is not None:
            if message.extra.get("tool_calls"):
                continue
            found.append((question, message))
            question = None
    return found


def exchanges(messages: Sequence[Message | NewMessage]) -> list[tuple[str, str]]:
    """The (user, assistant) texts of a conversation in order: each user text with the first answer that has words."""
    return [(user.content, assistant.content) for user, assistant in paired(messages)]


@dataclass(frozen=True, slots=True)
class NewCompaction:
    """A compaction: the numbers of the messages that it marks, and the summary that replaces them.

    `flushed` is how many lines it adds to the daily note. `prompt`, its version and `model` are None without a model.
    """

    from_seq: int
    through_seq: int
    summary: str
    flushed: int
    method: Literal["llm", "extractive"]
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """A session after an append, the messages that it stored, numbered, and whether the append made the session.

    `forgotten` are the receipts of what the messages asked to forget; `unheard` the numbers of those that may ask and
    were not listened to yet, also of messages that a former append had stored.
    """

    session: Session
    messages: Sequence[Message] = ()
    is_new: bool = False
    forgotten: Sequence[str] = ()
    unheard: Sequence[int] = ()

    @property
    def stored(self) -> int:
        """How many messages were stored."""
        return len(self.messages)
