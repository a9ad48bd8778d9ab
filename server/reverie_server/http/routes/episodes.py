"""Routes of episodes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_body, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.episodes import (
    EpisodeBody,
    EpisodeList,
    EpisodeSearch,
    EpisodeSearchResponse,
    EpisodesQuery,
    episode_body,
    search_body,
)
from reverie_server.text.query import check_query

router = APIRouter(prefix="/agents/{a}/episodes", tags=["Consolidation"], responses=may_answer(401, 403, 404, 422, 503))
EpisodeId = Annotated[str, PathParameter(description="An episode's id", examples=["ep-12"])]


@router.get("")
async def list_episodes(a: Agent, system: System, who: Who, query: Annotated[EpisodesQuery, Query()]) -> EpisodeList:
    """What conversations came to, newest first: an owner's and what is shared, or, for an admin, everybody's."""
    if query.is_everybody:
        grant = await system.gate.every_owner(who, a)
    else:
        grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, int)
    before = int(position[0]) if position else None
    page = await system.consolidation.episodes.page(
        grant.principal, query.session_id, before=before, limit=query.limit + 1
    )
    episodes = page[: query.limit]
    counted(len(episodes))
    cursor = encode_cursor(episodes[-1].episode.episode_id) if len(page) > query.limit else None
    return EpisodeList(episodes=[episode_body(episode) for episode in episodes], next_cursor=cursor)


@router.post("/search", dependencies=[Depends(no_query)], responses=may_answer(400, 413))
async def search_episodes(a: Agent, body: EpisodeSearch, system: System, who: Who) -> EpisodeSearchResponse:
    """Find conversations by what they came to, by words and by meaning."""
    query = check_query(body.query)
    grant = await system.gate.read(who, a, body.resolved_owner())
    results, outcome = await system.consolidation.episodes.search(grant, body.episode_query())
    counted(len(results))
    system.recalls.note(who.tenant_id, query, outcome.relevances(), "search")
    return search_body(results, outcome)


@router.get("/{episode_id}")
async def get_episode(
    a: Agent, episode_id: EpisodeId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> EpisodeBody:
    """An episode with the messages that it is made of."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    return episode_body(await system.consolidation.episodes.get(grant.principal, episode_id))


@router.delete("/{episode_id}", status_code=204, dependencies=[Depends(no_body)], responses=may_answer(409))
async def delete_episode(
    a: Agent, episode_id: EpisodeId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> None:
    """Remove an episode for good: an owner's; where none is named, the team's. The conversation itself stays."""
    _, place = await system.gate.write(who, a, query.resolved_owner(), None, action="forget")
    await system.consolidation.episodes.delete(place, episode_id)
