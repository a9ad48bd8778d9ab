"""Models of search, clearing and reindexing."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from reverie_indexer.database.database import ALL_OWNERS
from reverie_indexer.model import Scope, Tier
from reverie_server.forgettable import Selection
from reverie_server.http.schemas.common import Owner, request_config, response_config
from reverie_server.text.fields import Instant, MinScore, Text
from reverie_server.text.front_matter import MAX_TAG_CHARS, normal_tag

MAX_TAGS = 20


def _tag(tag: str) -> str:
    plain = normal_tag(tag)
    if not plain:
        raise ValueError(f"a tag has 1 to {MAX_TAG_CHARS} characters besides its #")
    return plain


Tiers = Annotated[list[Tier], Field(min_length=1)]
Tag = Annotated[Text, AfterValidator(_tag)]
_TEXT = "# 2026-04-03\n\nAda moved the review to Thursday."
_FOUND = {
    "id": "1024",
    "tier": "document",
    "path": "memory/2026-04-03.md",
    "start_line": 1,
    "end_line": 3,
    "text": _TEXT,
    "score": 0.83,
    "text_score": 1.0,
    "vector_score": 0.56,
    "boost": 1.2,
    "scope": "personal",
    "owner_key": "user:42",
    "updated_at": "2026-04-03T09:30:00Z",
    "said_at": None,
    "relevance": 0.71,
    "superseded_by": None,
    "valid_to": None,
}


class Clear(Owner):
    """What to clear: what fits every condition given. Without an owner: the team's."""

    model_config = request_config(older_than_days=365, path_prefix="memory/", owner_key="user:42", dry_run=True)

    owner_key: str | None = Field(None, description="An owner, or `*`: the team's and everybody's, for an admin")
    older_than_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    path_prefix: Text | None = None
    tiers: Tiers = Field(
        default=["document", "episodic", "message"],
        description="Facts go with what states them; `fact` clears those that are still stated, too",
    )
    dry_run: bool = Field(True, description="Only say how much would be removed")

    @property
    def is_everybody(self) -> bool:
        """Whether all owners' memory is meant."""
        return self.owner_key == ALL_OWNERS and self.end_user_id is None

    def selection(self) -> Selection:
        """The conditions of the clearing."""
        return Selection(self.older_than_days, self.path_prefix, tuple(dict.fromkeys(self.tiers)))


class Cleared(BaseModel):
    """How many things of each tier were, or would be, removed: files, facts, episodes, messages."""

    model_config = response_config(dry_run=True, removed={"document": 12, "episodic": 0, "message": 0})

    dry_run: bool
    removed: dict[Tier, int]


class Reindexed(BaseModel):
    """Counts of files, sessions and episodes, of passages, of new ones with their vector, and of those that stayed."""

    model_config = response_config(documents=12, chunks=80, embedded=3, reused=77)

    documents: int
    chunks: int
    embedded: int
    reused: int


class SearchRequest(Owner):
    """A hybrid search."""

    model_config = request_config(query="When is the review with Ada?", owner_key="user:42", max_results=6)

    query: Text
    max_results: Annotated[int, Field(ge=1, le=100)] = 6
    min_score: MinScore = 0.0
    min_relevance: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="On an absolute scale: from 0.3 on a passage begins to help"
    )
    path_prefix: Text | None = None
    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS)] | None = Field(
        None,
        description="Passages that have all of them: `#tag` in the text or its headings, a tag of the file's front "
        "matter, a key topic of the episode, the category of the fact",
    )
    since: Instant | None = Field(
        None, description="What was said, written or holds from then on; daily notes from that day on; RFC 3339"
    )
    until: Instant | None = Field(None, description="The same up to then; daily notes up to that day; RFC 3339")
    tiers: Tiers = Field(default=["document", "episodic", "message", "fact"])
    mode: Literal["hybrid", "text", "vector"] = "hybrid"
    as_of: Instant | None = Field(
        None, description="Files as they were then, daily notes up to that day, what was said by then; RFC 3339"
    )
    explain: bool = False


class CopyBody(BaseModel):
    """A passage that says the same as a result, and is not shown beside it."""

    id: str
    path: str
    start_line: int


class Explanation(BaseModel):
    """How a score came about.

    sum = text_weight × text_evidence + vector_weight × vector_evidence, the evidence being the passage's own score with
    what its neighbours hold. Where context counts, the sum is averaged with further evidence: coverage, the share of
    the query that passage and neighbours hold (0.2, unless text_weight is 0); speaker, whether one whom the query names
    says it (0.05; null: it names nobody); telling, whether it does more than ask (0.05). base_score = (sum +
    context_weight × document_evidence) / (1 + context_weight), where document_evidence is the largest sum of its file;
    the boosts multiply it. Thanks, and what an assistant says beside the point, have half of it. `relevance`, which
    orders nothing, is made of three: contrast, how much nearer to the query the passage is by meaning than passages
    usually are here (null: it has no vector); idf_share, the share that it holds itself of the query's terms with a
    meaning; named, how much the names among them tell; what the asking owner owns needs less of them for a question
    about their own life. `plan` is how the passage's memory (an owner's, a team's or the tenant's), which has
    `slice_chunks` passages, was searched by meaning: each vector compared, or by the HNSW index of its own partition.
    `copies` are at most ten passages that the result stands for. `rerank_score` is that of the configured reranker, on
    a scale of its own, and makes the order where it is not null: only what no longer holds comes after what replaced
    it.
    """

    matched_terms: list[str]
    exact_match: bool
    bm25: float
    similarity: float | None
    text_weight: float
    vector_weight: float
    text_evidence: float
    vector_evidence: float
    coverage: float
    speaker: float | None
    telling: float
    document_evidence: float
    context_weight: float
    base_score: float
    boosts: dict[str, float]
    contrast: float | None
    idf_share: float
    named: float
    relevance: float
    plan: Literal["exact", "hnsw"]
    slice_chunks: int
    copies: list[CopyBody]
    rerank_score: float | None


class SearchResult(BaseModel):
    """A passage as written, with where it stands. `score` is in 0..1.2, `relevance` in 0..1 on one scale for all
    queries. `said_at` is null for files. `superseded_by` is the fact that replaced what it says, null where it holds
    or nothing is known to have come after it; `valid_to` is until when it held, null where it holds.
    """

    model_config = response_config(**_FOUND)

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
    owner_key: str | None
    updated_at: datetime
    said_at: datetime | None
    relevance: float
    superseded_by: str | None
    valid_to: datetime | None
    explain: Explanation | None = None


class Timing(BaseModel):
    """Milliseconds."""

    embed: float
    database: float
    total: float


class SearchResponse(BaseModel):
    """Passages, best first. `mode` is what was done; a warning says why it is not what was asked for."""

    model_config = response_config(
        results=[_FOUND],
        count=1,
        mode="hybrid",
        fallback=None,
        warnings=[],
        timing_ms={"embed": 3.1, "database": 2.2, "total": 6.0},
    )

    results: list[SearchResult]
    count: int
    mode: Literal["hybrid", "text", "vector"]
    fallback: Literal["global", "leader"] | None
    warnings: list[str]
    timing_ms: Timing
