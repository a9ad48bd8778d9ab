"""Answers about episodes, the sources of memories and the health of the background work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from reverie_client.model import Mode, Scope, Tier, Timing

Method: TypeAlias = Literal["llm", "extractive"]
Stage: TypeAlias = Literal[
    "facts", "extraction", "episodic", "semantic", "dedup", "dreaming", "emergence", "compaction", "soul"
]
Status: TypeAlias = Literal["completed", "skipped", "failed"]
TimelineKind: TypeAlias = Literal["conversation", "episode", "night", "learned", "ended", "forgotten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The generation of a memory: the method, the prompt with its version, and the model (None: without one)."""

    method: Method
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Made):
    """What a conversation, or a stretch of a long one, came to. From `expires_at` on nobody sees it.

    `sources` name the messages it is made of, as far as they are still there; `promoted_at` is when it entered files.
    """

    id: str
    session_id: str
    summary: str
    abstract: str
    key_topics: tuple[str, ...]
    owner_key: str | None = None
    started_at: datetime
    ended_at: datetime
    created_at: datetime
    expires_at: datetime
    promoted_at: datetime | None = None
    sources: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePage:
    """A page of episodes, newest first."""

    episodes: tuple[Episode, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Episode, ...]:
        """The items of the page."""
        return self.episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEpisode(Episode):
    """An episode that was found. `score`, in 0..1.2, is that of its best passage."""

    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResults:
    """Episodes, best first; iterate over it. `mode` is what was done; a warning says why it is not what was asked."""

    results: tuple[FoundEpisode, ...]
    mode: Mode
    fallback: Literal["global", "leader"] | None = None
    warnings: tuple[str, ...] = ()
    timing_ms: Timing | None = None

    def __iter__(self) -> Iterator[FoundEpisode]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> FoundEpisode:
        return self.results[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSource:
    """A line and where it comes from; `at` is when it was recorded, or said.

    `written_by` is `person` (or an application for one), a stage of the background work, or of a message its role.
    `method` is None for what nobody derived, `prompt` and `model` also for what was made without a model.
    """

    line: int
    text: str
    written_by: str
    method: Method | None = None
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None
    at: datetime | None = None
    sources: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLineSource(LineSource):
    """A line of a file. `holds` is False where nothing that it says does any more.

    Then `valid_to` is until when it did, where that is known, and `superseded_by` the fact that took its place.
    """

    holds: bool = True
    valid_to: datetime | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSources:
    """The lines of a file with their origins; headings and empty lines are left out."""

    path: str
    scope: Scope
    version: int
    from_line: int
    line_count: int
    total_lines: int
    lines: tuple[FileLineSource, ...]
    owner_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySources:
    """The sources of a memory, line by line without headings; for a message, the line numbers are its own number."""

    id: str
    tier: Tier
    path: str
    start_line: int
    end_line: int
    lines: tuple[LineSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageHealth:
    """A stage of the background work: its jobs by state, and what it last did.

    A job that waits for its time is `scheduled`, not `pending`; `failed` are those that failed for good. `last_error`
    is a code, and a later success leaves it there.
    """

    pending: int
    running: int
    scheduled: int
    failed: int
    last_started_at: datetime | None = None
    last_success_at: datetime | None = None
    last_failed_at: datetime | None = None
    last_status: Status | None = None
    last_reason: str | None = None
    last_error: str | None = None
    last_method: Method | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A job that has failed for good; `error` is a code."""

    job_id: str
    stage: Stage
    owner_key: str | None = None
    attempts: int
    error: str
    failed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """How the language model did today (UTC): requests, and what uses of it came to, failures by reason.

    `down` is why the newest use got no answer at all. `name` is None where the server has no language model.
    """

    name: str | None = None
    calls: int
    answered: int
    failures: Mapping[str, int]
    last_answered_at: datetime | None = None
    last_failed_at: datetime | None = None
    down: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The language model, and the state of the server's embedding model."""

    language_model: ModelUse
    embedder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineHealth:
    """The background work: each stage by name, and the newest hundred jobs that have failed for good.

    `models` is there for who names no owner and has a key that is bound to none.
    """

    stages: Mapping[Stage, StageHealth]
    dead_letters: tuple[DeadLetter, ...] = ()
    models: Models | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """How many jobs are tried again."""

    retried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """Something that happened; `id` is that of the conversation, episode, report, fact or receipt.

    `amount`: a conversation's messages of the day, an episode's messages, what a night promoted, how many texts were
    forgotten.
    """

    kind: TimelineKind
    id: str
    at: datetime
    text: str
    amount: int
    status: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineDay:
    """A day on which something happened, such as 2026-04-03, in the agent's time zone; how much of each kind."""

    day: str
    counts: Mapping[str, int]
    entries: tuple[TimelineEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelinePage:
    """A page of days, the newest first."""

    days: tuple[TimelineDay, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[TimelineDay, ...]:
        """The items of the page."""
        return self.days


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts of what the owner and all share have with an agent, and how the server is.

    `facts` hold now: `trusted` have more trust than they began with, `doubted` less than half of that, `old` were said
    or confirmed half a year ago. `unmet_requests`: to forget something, for which nothing was found. `card`: how many
    new entries of MEMORY.md the owner has not seen. `backup`: how the backups by the clock stand, None where none are
    to be made.
    """

    files: int
    sessions: int
    messages: int
    episodes: int
    entities: int
    facts: int
    trusted: int
    doubted: int
    old: int
    contradictions: int
    duplicates: int
    unmet_requests: int = 0
    card: int
    failed_jobs: int
    open_jobs: int
    language_model: str | None = None
    model_paused: bool = False
    embedder: str
    database: str
    backup: str | None = None
