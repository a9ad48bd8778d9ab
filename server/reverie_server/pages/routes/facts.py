"""Facts with their trust, validity and source, and the contradictions among them."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import NotFound
from reverie_server.http.routes import facts
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.facts import (
    ContradictionResolve,
    ContradictionsQuery,
    FactEdit,
    FactFeedback,
    FactOwner,
    FactsQuery,
)
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.time_slider import time_slider
from reverie_server.pages.visit import PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_FILTERS = ("q", "category", "min_trust", "state", "as_of", "cursor")


@router.get("/facts")
async def list_facts(visit: Visiting) -> Response:
    """Facts by trust, filtered by the parameters of the address."""
    filters = {name: visit.request.query_params.get(name, "") for name in _FILTERS}
    slider = time_slider(visit.request.query_params, datetime.now(UTC).date())
    filters["as_of"] = slider.as_of
    # A date alone is the end of that day: what held then.
    found = await facts.list_facts(
        visit.agent_id, visit.system, visit.who, visit.query(FactsQuery, *_FILTERS, as_of=slider.until, limit=25)
    )
    return await visit.show(
        "facts.html", facts=found.facts, next_cursor=found.next_cursor, filters=filters, slider=slider
    )


@router.get("/facts/{fact_id}")
async def show_fact(visit: Visiting, fact_id: str) -> Response:
    """A fact, with those that it replaced and what replaced it."""
    found = await facts.get_fact(visit.agent_id, fact_id, visit.system, visit.who, visit.query(Owner))
    return await visit.show("fact.html", fact=found.fact, chain=found.chain)


@router.post("/facts/{fact_id}/{action}")
async def change_fact(visit: Visiting, form: Sent, fact_id: str, action: str) -> Response:
    """Vote for a fact, confirm, edit or forget it."""
    a, system, who, owner = visit.agent_id, visit.system, visit.who, visit.whose
    done = {"confirm": "fact-confirmed", "edit": "fact-saved"}.get(action, "fact-rated")
    if action in ("helpful", "unhelpful"):
        await facts.rate_fact(a, fact_id, FactFeedback.model_validate({**owner, "kind": action}), system, who)
    elif action == "confirm":
        await facts.confirm_fact(a, fact_id, system, who, FactOwner.model_validate(owner))
    elif action == "edit":
        body = FactEdit.model_validate({**owner, "text": form.text("text").strip()})
        await facts.edit_fact(a, fact_id, body, system, who)
    elif action == "forget":
        receipt = await facts.forget_fact(a, fact_id, system, who, FactOwner.model_validate(owner))
        return visit.go(f"forget/{receipt.receipt_id}") if receipt.receipt_id else visit.go("facts", done="nothing")
    else:
        raise NotFound("there is no such page")
    return visit.go("facts", **{name: form.optional(name) for name in _FILTERS}, done=done)


@router.get("/contradictions")
async def list_contradictions(visit: Visiting) -> Response:
    """Pairs of facts that cannot both hold, side by side."""
    query = visit.query(ContradictionsQuery, "state", "cursor", limit=20)
    found = await facts.list_contradictions(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "contradictions.html", pairs=found.contradictions, next_cursor=found.next_cursor, state=query.state
    )


@router.post("/contradictions/{contradiction_id}")
async def resolve(visit: Visiting, form: Sent, contradiction_id: str) -> Response:
    """Say which of a pair holds."""
    keep = form.text("keep")
    text = form.text("text").strip() if keep == "merge" else None
    body = ContradictionResolve.model_validate({**visit.whose, "keep": keep, "text": text})
    await facts.resolve_contradiction(visit.agent_id, contradiction_id, body, visit.system, visit.who)
    return visit.go("contradictions", done="ignored" if keep == "ignore" else "kept")
