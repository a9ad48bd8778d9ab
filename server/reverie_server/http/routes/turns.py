"""Routes of the turn: build the prompt, compact a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends
from fastapi import Path as PathParameter

from reverie_indexer.errors import MemoryDisabled
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import response_from
from reverie_server.http.schemas.turns import CompactSession, ContextRequest, ContextResponse, SessionCompacted
from reverie_server.prompt.turn import Turn

router = APIRouter(prefix="/agents/{a}", tags=["Turns"], responses=may_answer(400, 401, 403, 404, 409, 413, 422, 503))
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
    answer = response_from(ContextResponse, turn)
    if explain:
        for body, section in zip(answer.sections, turn.sections, strict=True):
            body.start, body.end = section.span or (None, None)
    return answer
