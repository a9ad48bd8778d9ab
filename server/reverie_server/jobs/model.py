"""The values of consolidation. Frozen, without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from reverie_server.llm.generation import Method

Stage = Literal["facts", "extraction", "episodic", "semantic", "dedup", "dreaming", "emergence", "compaction", "soul"]
STAGES: tuple[Stage, ...] = (
    "facts",
    "extraction",
    "episodic",
    "semantic",
    "dedup",
    "dreaming",
    "emergence",
    "compaction",
    "soul",
)
EventKind = Literal["session.completed", "episodic.created", "entity.upserted"]
Trigger = Literal["event", "cron", "api", "retry"]
Status = Literal["completed", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Work:
    """One run of a stage on one slice: what a job is for. It has ids only, never what anybody said.

    `owner_key` is the slice's: None is the team's memory, also of an agent without isolation. `session_key` is set for
    `episodic`, and for an `extraction` of one conversation by hand; `episode_id` for `semantic`; `topic` for a focused
    `emergence`. `trigger` is why it runs; `is_last_attempt` says that a failure now is for good; `request_id` is the
    request that it follows from, and `traceparent` the span of a trace.
    """

    stage: Stage
    tenant_id: str
    agent_id: str
    owner_key: str | None
    session_key: int | None = None
    episode_id: int | None = None
    trigger: Trigger = "event"
    topic: str | None = None
    is_last_attempt: bool = False
    request_id: str | None = None
    traceparent: str | None = None

    @property
    def unit(self) -> str:
        """The session, episode or slice of the work: jobs of a stage run one at a time for each unit."""
        if self.stage == "episodic" and self.session_key is not None:
            return f"{self.tenant_id}/session/{self.session_key}"
        if self.episode_id is not None:
            return f"{self.tenant_id}/episode/{self.episode_id}"
        return f"{self.tenant_id}/{self.agent_id}/{self.owner_key or ''}"

    @property
    def args(self) -> dict[str, Any]:
        """The arguments of its job."""
        named = ("tenant_id", "agent_id", "owner_key", "session_key", "episode_id", "trigger", "topic")
        return {name: getattr(self, name) for name in named}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run of a stage. `reason` is for people and holds no memory text.

    `method` is None where nothing was made; `fallback` is a code: why a configured model was not used.
    """

    status: Status
    reason: str
    method: Method | None = None
    fallback: str | None = None
    report_id: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that background work follows from. `payload` has ids and numbers only."""

    kind: EventKind
    tenant_id: str
    agent_id: str
    owner_key: str | None
    slice_id: int
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deferred:
    """A job that was deferred, by id and stage."""

    job_id: int
    stage: Stage


class Runs(Protocol):
    """A stage of consolidation."""

    async def run(self, work: Work) -> Outcome:
        """Run a piece of work to its end.

        The same work may run twice, even at the same time: a run writes in one transaction that checks whether another
        one was faster. Raises ReverieError for a failure that may pass; the work is then run again later.
        """


def message_source(session_id: str, messages: Sequence[tuple[int, str | None]]) -> dict[str, Any]:
    """A source: messages of a session, by number and by the caller's own id (None: it gave none)."""
    return {
        "kind": "messages",
        "session_id": session_id,
        "messages": [{"seq": seq, "id": message_id} for seq, message_id in messages],
    }


def lines_source(path: str, start_line: int, end_line: int) -> dict[str, Any]:
    """A source: lines of a file, 1-based and inclusive, as it was when they were read."""
    return {"kind": "lines", "path": path, "start_line": start_line, "end_line": end_line}


def episode_source(episode_id: int, session_id: str) -> dict[str, Any]:
    """A source: an episode."""
    return {"kind": "episode", "episode_id": episode_name(episode_id), "session_id": session_id}


def fact_source(fact_id: str) -> dict[str, Any]:
    """A source: a fact, by its public id."""
    return {"kind": "fact", "fact_id": fact_id}


def episode_name(episode_id: int) -> str:
    """The public id of an episode; passages have ids of digits alone."""
    return f"ep-{episode_id}"
