"""The control route that extracts a conversation now. Control routes answer in an envelope, `{"code", "data"}`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends
from fastapi import Path as PathParameter

from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.schemas.common import response_from
from reverie_server.http.schemas.control import ControlBody, Failure, RunAnswer, RunData
from reverie_server.jobs.model import Work

_TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not found",
    409: "Conflict",
    413: "Payload too large",
    422: "Not valid",
    503: "Unavailable",
}


def may_fail(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a control route, for its OpenAPI document: `http.problems` puts them into the envelope."""
    return {status: {"model": Failure, "description": _TITLES[status]} for status in statuses}


router = APIRouter(prefix="/memory/{a}", tags=["Control"], responses=may_fail(401, 403, 404, 422, 503))


@router.post("/summarize/{conversation_id}", dependencies=[Depends(no_query)], responses=may_fail(400, 409, 413))
async def summarize(
    a: Agent,
    conversation_id: Annotated[str, PathParameter(description="The id of the session", examples=["web:42"])],
    system: System,
    who: Who,
    body: Annotated[ControlBody | None, Body()] = None,
) -> RunAnswer:
    """Take what the conversation has said so far into the owner's files now, whether it is complete or not.

    Skipped where nothing new was said, or too little.
    """
    grant, _ = await system.gate.write(who, a, body.resolved_owner() if body else None, None)
    session, place = await system.sessions.locate(grant.principal, conversation_id, to_write=True)
    work = Work("extraction", place.tenant_id, a, place.owner_key, session.session_key, trigger="api")
    outcome = await system.consolidation.stages["extraction"].run(work)
    return RunAnswer(data=response_from(RunData, outcome))
