"""Routes of what was asked in conversations to forget, and nothing was found for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_body
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.forgetting import UnmetRequestBody, UnmetRequestList, unmet_request

router = APIRouter(prefix="/agents/{a}/unmet-requests", tags=["Memory"], responses=may_answer(401, 403, 404, 422, 503))
RequestId = Annotated[str, PathParameter(description="A request's id", examples=["ask-3"])]


@router.get("")
async def list_unmet_requests(a: Agent, system: System, who: Who, query: Annotated[Page, Query()]) -> UnmetRequestList:
    """What was asked in conversations to forget, and nothing was found for, newest first: by session and message."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, int)
    before = int(position[0]) if position else None
    page = await system.unmet_requests.page(grant.principal, before=before, limit=query.limit + 1)
    requests = page[: query.limit]
    counted(len(requests))
    cursor = encode_cursor(requests[-1].request_id) if len(page) > query.limit else None
    return UnmetRequestList(requests=[unmet_request(each) for each in requests], next_cursor=cursor)


@router.get("/{request_id}")
async def get_unmet_request(
    a: Agent, request_id: RequestId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> UnmetRequestBody:
    """Such a request: the session and the number of the message that asks."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    request = await system.unmet_requests.one(grant.principal, request_id)
    counted(1)
    return unmet_request(request)


@router.delete("/{request_id}", status_code=204, dependencies=[Depends(no_body)])
async def dismiss_unmet_request(
    a: Agent, request_id: RequestId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> None:
    """Take such a request from the list. Nothing is forgotten by it: its message stays."""
    grant, _ = await system.gate.converse(who, a, query.resolved_owner())
    await system.unmet_requests.dismiss(grant.principal, request_id)
