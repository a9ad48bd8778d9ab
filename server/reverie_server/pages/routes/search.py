"""The recall debugger: what a query finds, why in this order, and whether it would be injected."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.http.routes import inject, memory
from reverie_server.http.schemas.inject import InjectBody
from reverie_server.http.schemas.memory import SearchRequest
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_TIERS = ("document", "episodic", "message", "fact")


@router.get("/search")
async def ask(visit: Visiting) -> Response:
    """The form of a search. What is searched for is sent by it, and so stands in no address and in no log."""
    return await visit.show(
        "search.html", query="", mode="hybrid", tiers=_TIERS, all_tiers=_TIERS, found=None, injected=None
    )


@router.post("/search")
async def find(visit: Visiting, form: Sent) -> Response:
    """What is found, with the parts of each score, and what would be injected for the same words."""
    query, mode = form.text("query"), form.optional("mode") or "hybrid"
    tiers = form.values.get("tier") or list(_TIERS)
    wanted: dict[str, Any] = {**visit.whose, "query": query, "mode": mode, "tiers": tiers, "max_results": 20}
    if day := form.optional("as_of"):
        wanted["as_of"] = f"{day}T23:59:59Z"
    request = SearchRequest.model_validate({**wanted, "explain": True})
    found = await memory.search(visit.agent_id, request, visit.system, visit.who)
    body = InjectBody.model_validate({**visit.whose, "message": query, "explain": True})
    injected = await inject.inject(visit.agent_id, body, visit.system, visit.who)
    return await visit.show(
        "search.html", query=query, mode=mode, tiers=tiers, all_tiers=_TIERS, found=found, injected=injected
    )
