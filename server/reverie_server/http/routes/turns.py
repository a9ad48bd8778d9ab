"""Routes of the turn: build the prompt, compact a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi import Path as PathParameter

from reverie_indexer.errors import MemoryDisabled
from reverie_server.access.audit import counted
from reverie_server.http.context import (
    Agent,
    System,
    Who,
    cursor_time,
    decode_cursor,
    encode_cursor,
    no_body,
    no_query,
)
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner, response_from
from reverie_server.http.schemas.inject import inject_response
from reverie_server.http.schemas.turns import (
    CompactSession,
    ContextRequest,
    ContextResponse,
    SessionCompacted,
    TurnBody,
    TurnList,
    TurnsQuery,
    turn_body,
)
from reverie_server.prompt.turn import Turn

router = APIRouter(prefix="/agents/{a}", tags=["Turns"], responses=may_answer(400, 401, 403, 404, 409, 413, 422, 503))
TurnId = Annotated[str, PathParameter(description="A turn's id", examples=["5f2c9a01d4b7e683"])]
SessionId = Annotated[str, PathParameter(description="The session's id: `<channel>:<chat id>`", examples=["web:7"])]


@router.post("/context", response_model_exclude_unset=True, dependencies=[Depends(no_query)])
async def context(a: Agent, body: ContextRequest, system: System, who: Who) -> ContextResponse:
    """Make the prompt to send for a message. Nothing of the exchange is stored: add its messages afterwards.

    An agent that is not there yet has an empty memory, for a key that may make it, and is not made by this.
    """
    request = body.turn_request()
    try:
        grant = await system.gate.for_turn(who, a, body.resolved_owner())
    except MemoryDisabled:
        # The conversation goes on without a memory.
        return _answer(system.turns.without_memory(request), explain=body.explain)
    return _answer(await system.turns.context(grant, request), explain=body.explain)


@router.get("/turns", dependencies=[Depends(no_body)])
async def list_turns(a: Agent, system: System, who: Who, query: Annotated[TurnsQuery, Query()]) -> TurnList:
    """Prompts that were made, newest first: an owner's, or, where none is named, the team's. They are kept for days."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, str, str)
    before = (cursor_time(position[0]), str(position[1])) if position else None
    page = await system.stored_turns.page(grant.principal, query.session_id, before=before, limit=query.limit + 1)
    turns = page[: query.limit]
    counted(len(turns))
    cursor = encode_cursor(turns[-1].at.isoformat(), turns[-1].turn_id) if len(page) > query.limit else None
    return TurnList(turns=[turn_body(turn) for turn in turns], next_cursor=cursor)


@router.get("/turns/{turn_id}", dependencies=[Depends(no_body)])
async def get_turn(a: Agent, turn_id: TurnId, system: System, who: Who, query: Annotated[Owner, Query()]) -> TurnBody:
    """A prompt that was made: what was asked, what memory gave to it, and what it nearly gave."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    return turn_body(await system.stored_turns.one(grant.principal, turn_id))


@router.post("/sessions/{s}/compact", dependencies=[Depends(no_query)])
async def compact_session(
    a: Agent, s: SessionId, system: System, who: Who, body: Annotated[CompactSession | None, Body()] = None
) -> SessionCompacted:
    """Note down what matters of all but the last messages, and let a summary stand for them. They stay readable."""
    body = body or CompactSession.model_validate({})
    grant, _ = await system.gate.converse(who, a, body.resolved_owner())
    session, place = await system.sessions.locate(grant.principal, s, to_write=True)
    keep_last = system.settings.compact_keep_last if body.keep_last is None else body.keep_last
    done = await system.session_compaction.compact(grant, place, session, keep_last=keep_last)
    return response_from(SessionCompacted, done)


def _answer(turn: Turn, *, explain: bool) -> ContextResponse:
    answer = response_from(ContextResponse, turn, injection=inject_response(turn.injection, explain=explain))
    if explain:
        for body, section in zip(answer.sections, turn.sections, strict=True):
            body.start, body.end = section.span or (None, None)
    return answer
