"""The log of turns: what was asked, which memories were put into the prompt, and which nearly were."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from reverie_server.browse.events import EventFeed
from reverie_server.http.routes import events, turns
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.turns import TurnsQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/turns")
async def list_turns(visit: Visiting) -> Response:
    """Turns, newest first; with `session_id` those of one conversation."""
    query = visit.query(TurnsQuery, "session_id", "cursor", limit=25)
    found = await turns.list_turns(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "turns.html", turns=found.turns, next_cursor=found.next_cursor, session_id=query.session_id or ""
    )


async def _feed(visit: Visiting) -> AsyncIterator[EventFeed]:
    last = visit.request.headers.get("last-event-id")
    async with events.open_feed(visit.agent_id, visit.system, visit.who, visit.query(Owner), last) as feed:
        yield feed


@router.get("/events", response_class=EventSourceResponse)
async def follow(
    request: Request, visit: Visiting, feed: Annotated[EventFeed, Depends(_feed)]
) -> AsyncIterator[ServerSentEvent]:
    """What happens to the memory on a page, for the page."""
    async for event in events.follow_events(request, visit.system, feed):
        yield event


@router.get("/turns/{turn_id}")
async def show_turn(visit: Visiting, turn_id: str) -> Response:
    """A turn: the parts of its prompt, what memory gave to it, and what it nearly gave and why not."""
    turn = await turns.get_turn(visit.agent_id, turn_id, visit.system, visit.who, visit.query(Owner))
    return await visit.show("turn.html", turn=turn, threshold=await visit.threshold())
