"""What is asked of search, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from reverie_indexer.analyse import QueryTerms
from reverie_indexer.model import Scope, Tier
from reverie_server.search.rank import Weights

if TYPE_CHECKING:
    from reverie_server.access.gate import Grant

Mode = Literal["hybrid", "text", "vector"]
Plan = Literal["exact", "hnsw"]
ALL_TIERS: tuple[Tier, ...] = ("document", "episodic", "message")


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of search."""

    weights: Weights = field(default_factory=Weights)
    language: str = "english"
    time_zone: str = "UTC"
    hnsw_ef_search: int = 100
    # A term in more passages than this, and than this share of them, yields no candidates where rarer terms do.
    frequent_df: int = 2000
    frequent_share: float = 0.1
    bm25_k1: float = 1.2
    bm25_b: float = 0.75


@dataclass(frozen=True, slots=True)
class Request:
    """What is searched for, where, and how much of it is wanted.

    `with_past` searches also what files held before. With `as_of`: files as they were then, and daily notes up to
    that day in the agent's time zone, as they are now. `vector_query` is a text whose vector stands for
    the query's, such as the query with what was said before it; no word of it is looked for but the query's own.
    `is_new_agent`: an agent that is not there is no error, and has nothing of its own.
    """

    tenant_id: str
    agent_id: str
    query: str
    owner_key: str | None = None
    leader_agent_id: str | None = None
    max_results: int = 6
    min_score: float = 0.0
    path_prefix: str | None = None
    tiers: tuple[Tier, ...] = ALL_TIERS
    mode: Mode = "hybrid"
    as_of: datetime | None = None
    with_past: bool = False
    vector_query: str | None = None
    is_new_agent: bool = False


@dataclass(frozen=True, slots=True)
class EpisodeOf:
    """The episode that a passage is of, and the messages of a session that it is made of."""

    episode_id: int
    abstract: str
    session_id: str
    from_seq: int
    through_seq: int


@dataclass(frozen=True, slots=True)
class Result:
    """A passage that was found, with how: the scores are those of `rank.Scores`.

    `bm25` is 0 where it shares no term with the query, `matched` the terms that it shares, in the query's order.
    `similarity` is the cosine to the query, None where there is no vector to compare. `plan` is how its slice, of
    `slice_chunks` passages, was searched by meaning.
    """

    chunk_id: int
    tier: Tier
    path: str
    start_line: int
    end_line: int
    text: str
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
    agreement: float
    telling: float
    document_evidence: float
    base_score: float
    boost: float
    score: float
    contrast: float
    idf_share: float
    named: float
    relevance: float
    plan: Plan
    slice_chunks: int
    episode: EpisodeOf | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found, best first, and how it was searched. Times are in milliseconds."""

    results: Sequence[Result]
    mode: Mode
    fallback: Literal["global", "leader"] | None
    warnings: Sequence[str]
    weights: Weights
    terms: QueryTerms
    embed_ms: float
    database_ms: float
    total_ms: float

    def shown(self) -> list[tuple[int, float]]:
        """The results by id, each with its relevance."""
        return [(result.chunk_id, result.relevance) for result in self.results]


def request_for(grant: Grant, query: str, **options: Any) -> Request:
    """What a permitted search asks for; `options` are the other fields of a request."""
    principal = grant.principal
    return Request(
        principal.tenant_id,
        principal.agent_id,
        query,
        principal.owner_key,
        principal.leader_agent_id,
        **{"is_new_agent": grant.is_new, **options},
    )


def rules_for(grant: Grant, base: Rules) -> Rules:
    """The server's rules of search with the agent's own on top."""
    own = grant.settings
    weights = Weights(own.text_weight, own.vector_weight, own.user_boost, own.context_weight)
    return replace(base, weights=weights, language=own.language, time_zone=own.time_zone)
