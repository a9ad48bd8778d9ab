"""The request to search, the rules of search, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from reverie_indexer.embed.protocol import Role
from reverie_indexer.model import Scope, Tier
from reverie_indexer.text.analyse import QueryTerms
from reverie_server.search.rank import Weights
from reverie_server.search.superseded_text import Superseded

if TYPE_CHECKING:
    from reverie_server.access.gate import Grant

Mode = Literal["hybrid", "text", "vector"]
Plan = Literal["exact", "hnsw"]
ALL_TIERS: tuple[Tier, ...] = ("document", "episodic", "message", "fact")


@dataclass(frozen=True, slots=True)
class SearchRules:
    """The settings of search."""

    weights: Weights = field(default_factory=Weights)
    language: str = "english"
    time_zone: str = "UTC"
    hnsw_ef_search: int = 100
    # A term in more than `frequent_df` passages, and more than this share of all, yields candidates only where no rarer
    # term does.
    frequent_df: int = 2000
    frequent_share: float = 0.1
    bm25_k1: float = 1.2
    bm25_b: float = 0.75


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search: whose memory, the query, the filters and the limits.

    `with_past` also searches former versions of files. `as_of` searches files as they were then, and daily notes up
    to that day in the agent's time zone, as they are now. `vector_query` is embedded in place of the query, such as
    the query with the messages before it; only the words of the query itself are looked for. `is_unasked` says that
    the query is a message to an assistant, which may have nothing to do with memory: relevance then counts how
    personal it is. With `is_reranked`, the reranker makes the order of the results, where one is configured. With
    `is_new_agent`, an agent that does not exist is no error: it has no memory of its own. `role` is that in which the
    query is embedded; None: `message` where it is unasked, else `question`. Each result has all `tags` (as `normal_tag`
    gives them), a relevance of `min_relevance` at least, and a time from `since` on and not after `until`, both
    included; daily notes have those of their day in the agent's time zone.
    """

    tenant_id: str
    agent_id: str
    query: str
    owner_key: str | None = None
    leader_agent_id: str | None = None
    max_results: int = 6
    min_score: float = 0.0
    min_relevance: float = 0.0
    path_prefix: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    tiers: tuple[Tier, ...] = ALL_TIERS
    mode: Mode = "hybrid"
    as_of: datetime | None = None
    with_past: bool = False
    vector_query: str | None = None
    is_unasked: bool = False
    is_reranked: bool = False
    is_new_agent: bool = False
    role: Literal["query"] | None = None

    @property
    def embedded_as(self) -> Role:
        """The role in which the query is embedded."""
        return self.role or ("message" if self.is_unasked else "question")


@dataclass(frozen=True, slots=True)
class PassageEpisode:
    """The episode of a passage, and the range of messages of a session that the episode summarises."""

    episode_id: int
    abstract: str
    session_id: str
    from_seq: int
    through_seq: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Another passage that says the same as a result, and is not shown beside it."""

    chunk_id: int
    path: str
    start_line: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage with its scores, which are those of `rank.Scores`. `headings` are those above it, the highest first.

    `matched` are the terms that it shares with the query, in the query's order; without any, `bm25` is 0. `similarity`
    is the cosine to the query, None where there is no vector to compare. `plan` says how its slice, which has
    `slice_chunks` passages, was searched by meaning. `superseded` are the sentences of the text, by key, that do not
    hold (any more). `copies` are at most ten passages that it stands for. `rerank_score` is the reranker's, on a scale
    of its own; None where it did not look.
    """

    chunk_id: int
    tier: Tier
    path: str
    start_line: int
    end_line: int
    text: str
    headings: tuple[str, ...]
    scope: Scope
    owner_key: str | None
    updated_at: datetime
    bm25: float
    matched: tuple[str, ...]
    is_exact: bool
    similarity: float | None
    text_score: float
    vector_score: float
    text_evidence: float
    vector_evidence: float
    coverage: float
    speaker_match: float
    statement_score: float
    document_evidence: float
    of_assistant: float
    base_score: float
    boost: float
    score: float
    contrast: float
    idf_share: float
    named: float
    relevance: float
    plan: Plan
    slice_chunks: int
    episode: PassageEpisode | None = None
    superseded: Mapping[bytes, Superseded] = field(default_factory=dict)
    copies: Sequence[Copy] = ()
    rerank_score: float | None = None

    @property
    def said_at(self) -> datetime | None:
        """When it was said; None for a passage of a file, of which only the time of writing is known."""
        return None if self.tier == "document" else self.updated_at

    @property
    def superseded_by(self) -> str | None:
        """The id of the fact that replaced what the passage says, None where it holds or nothing replaced it."""
        fact = self._ended
        return f"fact-{fact.superseded_by}" if fact is not None and fact.superseded_by is not None else None

    @property
    def valid_to(self) -> datetime | None:
        """Until when the first of its sentences that ended held, whether or not anything replaced it; None for none."""
        return self._ended.valid_to if self._ended is not None else None

    @property
    def _ended(self) -> Superseded | None:
        """What does not hold any more: of several the first that something replaced, else the first of a known day."""
        facts = self.superseded.values()
        replaced = next((fact for fact in facts if fact.superseded_by is not None), None)
        return replaced or next((fact for fact in facts if fact.valid_to is not None), None)


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The results of a search, best first, and how they came about. Times are in milliseconds.

    `personal` and `has_unknown_name` are what relevance takes from the query itself: see `search/relevance`.
    """

    results: Sequence[SearchResult]
    mode: Mode
    fallback: Literal["global", "leader"] | None
    warnings: Sequence[str]
    weights: Weights
    terms: QueryTerms
    personal: float
    has_unknown_name: bool
    embed_ms: float
    database_ms: float
    total_ms: float

    def relevances(self) -> list[tuple[int, float]]:
        """The chunk id and the relevance of each result, in their order."""
        return [(result.chunk_id, result.relevance) for result in self.results]


def request_for(grant: Grant, query: str, **options: Any) -> SearchRequest:
    """The request of a search that the gate has granted; `options` are the other fields of a `SearchRequest`."""
    principal = grant.principal
    return SearchRequest(
        principal.tenant_id,
        principal.agent_id,
        query,
        principal.owner_key,
        principal.leader_agent_id,
        **{"is_new_agent": grant.is_new, **options},
    )


def rules_for(grant: Grant, base: SearchRules) -> SearchRules:
    """The server's rules of search, overridden by the agent's settings."""
    settings = grant.settings
    weights = Weights(settings.text_weight, settings.vector_weight, settings.user_boost, settings.context_weight)
    return replace(base, weights=weights, language=settings.language, time_zone=settings.time_zone)
