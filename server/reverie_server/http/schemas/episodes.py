"""Models of episodes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie_indexer.database.database import ALL_OWNERS
from reverie_server.browse.episodes import EpisodeQuery, FoundEpisode, SourcedEpisode
from reverie_server.http.schemas.common import Body, Owner, Page, request_config, response_config, response_from
from reverie_server.http.schemas.memory import Timing
from reverie_server.http.schemas.search_answer import timing
from reverie_server.jobs.model import episode_name
from reverie_server.search.request import SearchOutcome
from reverie_server.text.fields import Instant, MinScore, Text

_EPISODE = {
    "id": "ep-12",
    "session_id": "telegram:17",
    "summary": "Ada moved the review to Thursday, because Bo is away on Wednesday. Bo writes the agenda.",
    "abstract": "Ada moved the review to Thursday, because Bo is away on Wednesday.",
    "key_topics": ["Ada", "Bo", "review"],
    "owner_key": "user:42",
    "method": "llm",
    "prompt": "episodic",
    "prompt_version": "1",
    "model": "a-model",
    "started_at": "2026-04-03T09:30:00Z",
    "ended_at": "2026-04-03T09:41:00Z",
    "created_at": "2026-04-03T10:11:00Z",
    "expires_at": "2026-07-02T10:11:00Z",
    "promoted_at": None,
    "sources": [
        {
            "kind": "messages",
            "session_id": "telegram:17",
            "messages": [{"seq": 1, "id": "m-1"}, {"seq": 2, "id": "m-2"}],
            "from_seq": 1,
            "through_seq": 2,
        }
    ],
}


class EpisodesQuery(Page):
    """Which episodes: of one conversation, or of all. `owner_key=*`, for an admin's key that is bound to no owner:
    everybody's."""

    session_id: Text | None = None

    @property
    def is_everybody(self) -> bool:
        """Whether all owners' episodes are asked for."""
        return self.owner_key == ALL_OWNERS and self.end_user_id is None


class EpisodeBody(BaseModel):
    """What a conversation, or a stretch of a long one, came to.

    `method` is how it was summarised, by which prompt and model (null: without one). `sources` names the messages that
    it is made of, as far as they are there still. From `expires_at` on nobody sees it.
    """

    model_config = response_config(**_EPISODE)

    id: str
    session_id: str
    summary: str
    abstract: str
    key_topics: list[str]
    owner_key: str | None
    method: Literal["llm", "extractive"]
    prompt: str | None
    prompt_version: str | None
    model: str | None
    started_at: datetime
    ended_at: datetime
    created_at: datetime
    expires_at: datetime
    promoted_at: datetime | None
    sources: list[dict[str, Any]]


class EpisodeList(BaseModel):
    """A page of episodes, newest first."""

    model_config = response_config(episodes=[_EPISODE], next_cursor=None)

    episodes: list[EpisodeBody]
    next_cursor: str | None


class EpisodeSearch(Owner):
    """A search among episodes."""

    model_config = request_config(query="When is the review with Ada?", owner_key="user:42", max_results=6)

    query: Text
    max_results: Annotated[int, Field(ge=1, le=100)] = 6
    min_score: MinScore = 0.0
    mode: Literal["hybrid", "text", "vector"] = "hybrid"
    as_of: Instant | None = Field(None, description="Episodes that had ended by then; RFC 3339")

    def episode_query(self) -> EpisodeQuery:
        """The search without its owner."""
        return EpisodeQuery(self.query, self.max_results, self.min_score, self.mode, self.as_of)


class FoundEpisodeBody(EpisodeBody):
    """An episode that was found. `score`, in 0..1.2, is that of its best passage."""

    model_config = response_config(**_EPISODE, score=0.83)

    score: float


class EpisodeSearchResponse(BaseModel):
    """Episodes, best first. `mode` is what was done; a warning says why it is not what was asked for."""

    model_config = response_config(
        results=[{**_EPISODE, "score": 0.83}],
        count=1,
        mode="hybrid",
        fallback=None,
        warnings=[],
        timing_ms={"embed": 3.1, "database": 2.2, "total": 6.0},
    )

    results: list[FoundEpisodeBody]
    count: int
    mode: Literal["hybrid", "text", "vector"]
    fallback: Literal["global", "leader"] | None
    warnings: list[str]
    timing_ms: Timing


def episode_body(sourced: SourcedEpisode) -> EpisodeBody:
    """An episode as a response model."""
    return _body(EpisodeBody, sourced)


def search_body(results: list[FoundEpisode], outcome: SearchOutcome) -> EpisodeSearchResponse:
    """The results of a search among episodes as a response model."""
    return EpisodeSearchResponse(
        results=[_body(FoundEpisodeBody, found.sourced, score=found.score) for found in results],
        count=len(results),
        mode=outcome.mode,
        fallback=outcome.fallback,
        warnings=list(outcome.warnings),
        timing_ms=timing(outcome),
    )


def _body(kind: type[Body], sourced: SourcedEpisode, **others: Any) -> Body:
    public_id = episode_name(sourced.episode.episode_id)
    return response_from(kind, sourced.episode, id=public_id, sources=sourced.sources, **others)
