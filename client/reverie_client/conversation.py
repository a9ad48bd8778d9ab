"""Answers of the routes of turns and sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from reverie_client.decode import decode
from reverie_client.errors import UnexpectedAnswer
from reverie_client.model import Scope, Tier

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
State: TypeAlias = Literal["active", "paused", "terminated"]
Trigger: TypeAlias = Literal["web", "channel", "api", "cron"]
StreamedKind: TypeAlias = Literal["turn", "report", "jobs"]
Skipped: TypeAlias = Literal["trivial", "disabled", "no_match", "budget"]


def as_sent(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message to add, with its time as text, as JSON needs it."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in message.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedMemory:
    """A memory of a turn's prompt: `score` is its relevance, `date` the day it is of, `source` where it stands."""

    id: str
    tier: Tier
    text: str
    score: float
    date: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """The memory for a turn's prompt: `section` is its text, "" where nothing is injected.

    `match_count` memories were relevant, `injected` of them fitted; `skipped` says why there is none.
    """

    section: str
    injected: int
    match_count: int
    top_score: float
    tokens: int
    skipped: Skipped | None
    memories: tuple[InjectedMemory, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSection:
    """A part of a prompt, with its size; where it was asked to explain, with its place in the system prompt."""

    name: str
    tokens: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The prompt to send for a turn. `messages`, in the form of chat completions, end with the current one.

    `compacted`: they are not every message of the session, verbatim.
    """

    system_prompt: str
    messages: tuple[Mapping[str, Any], ...]
    sections: tuple[PromptSection, ...]
    injection: Injection
    tokens: int
    compacted: bool

    def for_model(self) -> list[dict[str, Any]]:
        """The system prompt and the messages as the `messages` of a chat completion."""
        system = [{"role": "system", "content": self.system_prompt}] if self.system_prompt else []
        return [*system, *(dict(message) for message in self.messages)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMemory:
    """A memory of a turn that was made; without a text where the passage was changed or forgotten since.

    `score` is that of the search. `why` it was not put in: `below` the threshold, `known` to the prompt already, over
    the `budget`.
    """

    id: str
    relevance: float
    score: float | None = None
    text: str | None = None
    tier: str | None = None
    source: str | None = None
    scope: Scope | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A prompt that was made: what was asked, what memory gave to it, and what it nearly gave (`near`).

    `answer` is what became of a chat completion: `answered`, `failed`, `broke_off` or `left`; None for other prompts.
    """

    id: str
    kind: str
    owner_key: str | None = None
    session_id: str | None = None
    at: datetime
    asked: str
    sections: tuple[PromptSection, ...]
    tokens: int
    injected: tuple[TurnMemory, ...]
    near: tuple[TurnMemory, ...]
    match_count: int
    top_score: float
    outcome: str
    model: str | None = None
    milliseconds: int
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: a turn or a report, by its id, or new counts of jobs. Never a text of a memory.

    `position` is what `follow` goes on from.
    """

    kind: StreamedKind
    id: str | None = None
    at: datetime | None = None
    data: Mapping[str, Any]
    position: str = ""


def event_of(data: str, position: str) -> Event:
    """An event of a stream; UnexpectedAnswer for what is none."""
    try:
        return decode(Event, {**json.loads(data), "position": position})
    except (TypeError, ValueError) as error:
        raise UnexpectedAnswer("unexpected_answer", 200, f"an event is not what Reverie gives: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurnPage:
    """A page of turns, newest first."""

    turns: tuple[StoredTurn, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[StoredTurn, ...]:
        """The items of the page."""
        return self.turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation. `message_count` and `tokens` are of all its messages, compacted ones too."""

    session_id: str
    owner_key: str | None = None
    channel: str
    chat_id: str
    state: State
    metadata: Mapping[str, Any] = field(default_factory=dict)
    message_count: int
    tokens: int
    compactions: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A page of conversations, the one changed last first."""

    sessions: tuple[Session, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Session, ...]:
        """The items of the page."""
        return self.sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """How many messages were stored, those ignored not counted, and the session afterwards.

    `forgotten` has the receipts of what the messages asked to forget ("don't keep that"), and memory did.
    """

    stored: int
    session: Session
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a session. `compacted`: in prompts a summary stands for it. `seq` counts from 1.

    `content` is "" where an assistant's message was nothing but `tool_calls`.
    """

    id: str | None = None
    seq: int
    role: Role
    content: str
    at: datetime
    tokens: int
    compacted: bool = False
    tool_calls: tuple[Mapping[str, Any], ...] | None = None
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePage:
    """A page of messages, oldest first."""

    messages: tuple[Message, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Message, ...]:
        """The items of the page."""
        return self.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """The result of a session's compaction: messages marked and kept, the summary, lines added to the daily note."""

    removed: int
    kept: int
    summary: str
    flushed: int
    method: Literal["llm", "extractive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of the background work."""

    id: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The background work that follows from the end of a conversation; none where nothing new was said."""

    jobs: tuple[Job, ...]
