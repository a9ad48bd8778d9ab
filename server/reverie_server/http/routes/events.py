"""The stream of events of a memory, for clients and pages that follow it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from reverie_server.access.keys import Caller
from reverie_server.access.principal import place_for
from reverie_server.access.work_slot import without_slot
from reverie_server.browse.events import Event, EventFeed
from reverie_server.http.context import Agent, System, Who, cursor_time, decode_cursor, encode_cursor, no_body
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.events import EventBody
from reverie_server.runtime import Runtime

router = APIRouter(
    prefix="/agents/{a}", tags=["Turns"], responses=may_answer(401, 403, 404, 422, 503), dependencies=[Depends(no_body)]
)
_EVERY_SECONDS = 1.0
_RETRY_MILLISECONDS = 2000
_EXAMPLE = EventBody.model_validate(EventBody.model_config["json_schema_extra"]["example"])  # type: ignore[index]
_DOCUMENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, each with an `id` to go on from; their data is an EventBody",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": f"event: turn\ndata: {_EXAMPLE.model_dump_json()}\n",
            }
        },
    }
}
LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", max_length=200, description="The id of the last event that was received")
]


@asynccontextmanager
async def open_feed(
    a: str, system: Runtime, who: Caller, query: Owner, last_event_id: str | None
) -> AsyncIterator[EventFeed]:
    """The feed that a request wants, for as long as its answer takes; refused before the answer begins."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    place = place_for(grant.principal, None if grant.settings.memory_isolation else "team")
    position = decode_cursor(last_event_id or None, str)
    with system.events.stream(f"{who.tenant_id}/{who.key_id or ''}"):
        yield system.events.feed(grant.principal, place, cursor_time(position[0]) if position else None)


async def _feed(
    a: Agent, system: System, who: Who, query: Annotated[Owner, Query()], last_event_id: LastEventId = None
) -> AsyncIterator[EventFeed]:
    async with open_feed(a, system, who, query, last_event_id) as feed:
        yield feed


Feed = Annotated[EventFeed, Depends(_feed)]


@router.get("/events", response_class=EventSourceResponse, responses=_DOCUMENT)
async def follow_events(request: Request, system: System, feed: Feed) -> AsyncIterator[ServerSentEvent]:
    """What happens, as it happens: turns, reports and the counts of jobs, of an owner and the team; never their text.

    A stream ends after a minute; who asks again with `Last-Event-ID` misses nothing, and may get the last half minute
    of events once more. It begins with the counts of jobs.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + system.settings.events_stream_seconds
    is_stopping: Callable[[], bool] = getattr(request.app.state, "is_stopping", bool)
    while True:
        # Who goes away while the database is asked would take the connection along.
        with anyio.CancelScope(shield=True):
            happened = await feed.new()
        for event in happened:
            yield _sent(event)
        if loop.time() >= until or is_stopping():
            return
        with without_slot():
            await asyncio.sleep(min(_EVERY_SECONDS, max(0.0, until - loop.time())))


def _sent(event: Event) -> ServerSentEvent:
    data = {name: value for name, value in event.data.items() if name not in ("id", "at")}
    body = EventBody(kind=event.kind, id=event.data.get("id"), at=event.data.get("at"), data=data)
    position = encode_cursor(event.position.isoformat())
    return ServerSentEvent(
        data=json.loads(body.model_dump_json()), event=event.kind, id=position, retry=_RETRY_MILLISECONDS
    )
