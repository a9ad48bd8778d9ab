"""Routes of conversations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Response
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_body, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.sessions import (
    AppendResult,
    Complete,
    Job,
    Jobs,
    MessageList,
    Messages,
    SessionBody,
    SessionPut,
    message_body,
    session_body,
)

router = APIRouter(
    prefix="/agents/{a}/sessions/{s}", tags=["Sessions"], responses=may_answer(401, 403, 404, 409, 422, 503)
)
SessionId = Annotated[
    str,
    PathParameter(
        description="`{channel}:{chat_id}`: 1 to 200 characters without white space and slashes",
        examples=["telegram:17"],
    ),
]
# A message may have a megabyte: a page of them ends before its limit.
MAX_PAGE_BYTES = 8 * 1024 * 1024
BODY_ONLY = [Depends(no_query)]
QUERY_ONLY = [Depends(no_body)]


def _created(model: type[Any]) -> dict[int | str, dict[str, Any]]:
    return {201: {"model": model, "description": "The session is new"}}


@router.put("", dependencies=BODY_ONLY, responses={**_created(SessionBody), **may_answer(400, 413)})
async def put_session(
    a: Agent,
    s: SessionId,
    response: Response,
    system: System,
    who: Who,
    body: Annotated[SessionPut | None, Body()] = None,
) -> SessionBody:
    """Make a session, or change its state and metadata. A terminated one takes no messages until it is active again."""
    body = body or SessionPut.model_validate({})
    grant, place = await system.gate.converse(who, a, body.resolved_owner())
    session, is_new = await system.sessions.put(grant, place, s, state=body.state, metadata=body.metadata)
    response.status_code = 201 if is_new else 200
    return session_body(session)


@router.get("")
async def get_session(
    a: Agent, s: SessionId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> SessionBody:
    """A session: the owner's, or, where none is named, the team's; 404 for what belongs to anybody else."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    return session_body(await system.sessions.find(grant.principal, s))


@router.delete("", status_code=204, dependencies=QUERY_ONLY)
async def delete_session(a: Agent, s: SessionId, system: System, who: Who, query: Annotated[Owner, Query()]) -> None:
    """Remove a session with all it has said for good. Its lines in the daily notes stay: they are files."""
    grant, _ = await system.gate.converse(who, a, query.resolved_owner(), action="forget")
    await system.sessions.delete(grant.principal, s)


@router.post("/messages", dependencies=BODY_ONLY, responses={**_created(AppendResult), **may_answer(400, 413)})
async def append_messages(
    a: Agent, s: SessionId, body: Messages, response: Response, system: System, who: Who
) -> AppendResult:
    """Add messages, in order, each once; makes the session where it is new. What memory put into them is taken out.

    A team member has sessions of its own; no daily notes are written of them, since memory is read-only for it.
    """
    grant, place = await system.gate.converse(who, a, body.resolved_owner())
    appended = await system.sessions.append(grant, place, s, [message.message() for message in body.messages])
    counted(appended.stored)
    response.status_code = 201 if appended.is_new else 200
    session = session_body(appended.session)
    return AppendResult(stored=appended.stored, session=session, forgotten=list(appended.forgotten))


@router.get("/messages")
async def list_messages(
    a: Agent, s: SessionId, system: System, who: Who, query: Annotated[Page, Query()]
) -> MessageList:
    """What was said, in order. A page of very long messages may be shorter than its limit."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, int)
    after = int(position[0]) if position else 0
    session = await system.sessions.find(grant.principal, s)
    page = await system.sessions.messages(
        grant.principal, session, after=after, limit=query.limit, max_bytes=MAX_PAGE_BYTES
    )
    counted(len(page))
    cursor = encode_cursor(page[-1].seq) if page and page[-1].seq < session.last_seq else None
    return MessageList(messages=[message_body(message, session) for message in page], next_cursor=cursor)


@router.delete("/messages", status_code=204, dependencies=QUERY_ONLY)
async def clear_messages(a: Agent, s: SessionId, system: System, who: Who, query: Annotated[Owner, Query()]) -> None:
    """Remove all that was said for good and keep the session: the `/new` command."""
    grant, _ = await system.gate.converse(who, a, query.resolved_owner(), action="forget")
    await system.sessions.clear(grant.principal, s)


@router.post("/complete", status_code=202, dependencies=BODY_ONLY, responses=may_answer(400, 413))
async def complete_session(
    a: Agent,
    s: SessionId,
    system: System,
    who: Who,
    body: Annotated[Complete | None, Body()] = None,
) -> Jobs:
    """Say that the conversation is over for now: what follows from it is done in the background.

    With the `trigger_source` `cron`, or in a session of the channel `cron`, and where `skip_cron_conversations` is on,
    nothing is made of it, and its lines leave the daily notes.
    """
    body = body or Complete.model_validate({})
    grant, _ = await system.gate.converse(who, a, body.resolved_owner())
    if body.trigger_source == "cron" and grant.settings.skip_cron_conversations:
        deferred = await system.sessions.complete_by_clock(grant, s)
    else:
        deferred = await system.sessions.complete(grant.principal, s, body.trigger_source)
    jobs = [Job(id=str(job.job_id), kind=job.stage) for job in deferred]
    return Jobs(jobs=jobs)
