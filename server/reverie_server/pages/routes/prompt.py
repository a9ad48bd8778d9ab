"""The prompt of a turn, as a message that is typed in would get it: its sections, and what memory gave to it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.http.routes import turns
from reverie_server.http.schemas.turns import ContextRequest
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/prompt")
async def ask(visit: Visiting) -> Response:
    """The form for a message."""
    session = visit.request.query_params.get("session", "")
    return await visit.show("prompt.html", message="", session=session, turn=None, pieces=[])


@router.post("/prompt")
async def make(visit: Visiting, form: Sent) -> Response:
    """The prompt for the message. Nothing of it is stored."""
    message, session = form.text("message"), form.optional("session")
    fields = {**visit.whose, "message": message, "session_id": session, "explain": True}
    turn = await turns.context(visit.agent_id, ContextRequest.model_validate(fields), visit.system, visit.who)
    pieces, position = [], 0
    for section in turn.sections:
        if section.start is not None and section.end is not None:
            pieces.append(("", turn.system_prompt[position : section.start]))
            pieces.append((section.name, turn.system_prompt[section.start : section.end]))
            position = section.end
    pieces.append(("", turn.system_prompt[position:]))
    return await visit.show("prompt.html", message=message, session=session or "", turn=turn, pieces=pieces)
