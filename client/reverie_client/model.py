"""Answers of agents, files, search and tools. Times are aware, in UTC; sizes are in bytes; lines count from 1."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

Scope: TypeAlias = Literal["personal", "team", "global"]
Mode: TypeAlias = Literal["hybrid", "text", "vector"]
Tier: TypeAlias = Literal["document", "episodic", "message", "fact"]
ToolFormat: TypeAlias = Literal["openai", "anthropic", "mcp"]
# A version, `*` for "if it exists at all", or an entity tag as `File.etag` gives it.
IfMatch: TypeAlias = int | str
T_co = TypeVar("T_co", covariant=True)


class Page(Protocol[T_co]):
    """A part of a list, and where the next part begins (None: there is none)."""

    @property
    def items(self) -> tuple[T_co, ...]:
        """The items of the page."""

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page, None on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent. `settings` are those it sets itself; with a leader it is a team member, whose memory is read-only."""

    agent_id: str
    name: str
    leader_agent_id: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPage:
    """A page of agents."""

    agents: tuple[Agent, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Agent, ...]:
        """The items of the page."""
        return self.agents


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file in a list. Enabled files enter the system prompt, by `sort_order`."""

    path: str
    scope: Scope
    owner_key: str | None = None
    enabled: bool
    sort_order: int
    size: int
    version: int
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePage:
    """A page of files."""

    files: tuple[FileInfo, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[FileInfo, ...]:
        """The items of the page."""
        return self.files


@dataclass(frozen=True, slots=True, kw_only=True)
class File(FileInfo):
    """A file with its content, or with the lines of it that were asked for."""

    content: str
    etag: str
    resolved_from: Literal["personal", "team", "global", "leader"]
    from_line: int | None = None
    lines: int | None = None
    total_lines: int | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did. `embedded` is false while passages wait for their vectors; words find them already.

    `searchable`: search finds files of this name. Only those in `.md` are searched.
    """

    path: str
    created: bool
    overwritten: bool
    enabled: bool
    bytes_written: int
    version: int
    chunk_count: int
    embedded: bool
    searchable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """How often the passage was replaced."""

    replacements: int
    size_after: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a file: when, by whom and why it was written. `deleted`: it is the file's deletion."""

    version: int
    at: datetime
    by: str
    reason: str
    size: int
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPage:
    """A page of a file's history, and the diff that was asked for."""

    versions: tuple[Version, ...]
    diff: str | None = None
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Version, ...]:
        """The items of the page."""
        return self.versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How a score came about; given with `explain=True`."""

    matched_terms: tuple[str, ...] = ()
    exact_match: bool = False
    bm25: float | None = None
    similarity: float | None = None
    text_weight: float | None = None
    vector_weight: float | None = None
    base_score: float | None = None
    boosts: Mapping[str, float] = field(default_factory=dict)
    relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage as written, with where it stands. `score` is in 0..1.2, higher is better; `relevance` in 0..1.

    `superseded_by` is the fact that replaced what it says, `valid_to` until when it held, where it does no longer.
    """

    id: str
    tier: Tier
    path: str
    start_line: int
    end_line: int
    text: str
    score: float
    text_score: float
    vector_score: float
    boost: float
    scope: Scope
    owner_key: str | None = None
    updated_at: datetime
    said_at: datetime | None = None
    relevance: float | None = None
    superseded_by: str | None = None
    valid_to: datetime | None = None
    explain: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where the time of a search went, in milliseconds."""

    embed: float
    database: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """Passages, best first; iterate over it. `mode` is what was done; a warning says why it is not what was asked."""

    results: tuple[Hit, ...]
    mode: Mode
    fallback: Literal["global", "leader"] | None = None
    warnings: tuple[str, ...] = ()
    timing_ms: Timing | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> Hit:
        return self.results[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordHit:
    """A line that holds words of the query, each as `[[word]]` in `snippet`."""

    path: str
    line: int
    snippet: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordResults:
    """The best lines; iterate over it. `total_hits` is how many there are."""

    total_hits: int
    hits: tuple[KeywordHit, ...]

    def __iter__(self) -> Iterator[KeywordHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> KeywordHit:
        return self.hits[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """The tools for agents, as JSON."""

    tools: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolError:
    """Why a tool gave no result; `message` tells the model what to do next."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answered: `result` where `ok`, else `error`."""

    ok: bool
    result: Mapping[str, Any] | None = None
    error: ToolError | None = None

    def text(self) -> str:
        """The answer as JSON text, for the model to read."""
        failed = self.error and {"code": self.error.code, "message": self.error.message}
        outcome = {"result": self.result} if self.ok else {"error": failed}
        return json.dumps({"ok": self.ok, **outcome}, ensure_ascii=False)
