"""What is known about somebody at a glance, what happened last night, and what waits for a person."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.http.routes import card_entries, dreams, facts, pipeline
from reverie_server.http.schemas.control import ControlBody, ControlQuery, EntryBody, ReportPage
from reverie_server.http.schemas.facts import ContradictionsQuery, FactsQuery
from reverie_server.http.schemas.pipeline import PipelineQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import SENT, PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_KNOWN, _WAITING = 10, 5


@router.get("/overview")
async def overview(visit: Visiting) -> Response:
    """The overview of a memory. The form at the top of each page names another agent, or another person, by it."""
    if (agent := visit.request.query_params.get("agent", visit.agent_id)) != visit.agent_id:
        return visit.elsewhere(agent).go("overview")
    a, system, who = visit.agent_id, visit.system, visit.who
    known = await facts.list_facts(a, system, who, visit.asked(FactsQuery, state="current", limit=_KNOWN))
    open_pairs = visit.asked(ContradictionsQuery, limit=_WAITING)
    pairs = await facts.list_contradictions(a, system, who, open_pairs)
    reports = await dreams.dream_reports(a, system, who, visit.asked(ReportPage, limit=1))
    card = await dreams.morning_card(a, system, who, visit.asked(ControlQuery))
    work = await pipeline.get_pipeline(a, system, who, visit.asked(PipelineQuery))
    return await visit.show(
        "overview.html",
        facts=known.facts,
        contradictions=pairs.contradictions,
        report=next(iter(reports.data.reports), None),
        card=card.data,
        failed=work.dead_letters,
        stages=work.stages,
    )


@router.post("/card/seen", dependencies=SENT)
async def dismiss_card(visit: Visiting) -> Response:
    """Dismiss the morning card."""
    await dreams.see_morning_card(visit.agent_id, visit.system, visit.who, ControlBody.model_validate(visit.whose))
    return visit.go("overview")


@router.post("/card/{report_id}/{key}/{action}")
async def decide_entry(visit: Visiting, form: Sent, report_id: str, key: str, action: str) -> Response:
    """Confirm, edit or forget an entry of the morning card."""
    a, system, who = visit.agent_id, visit.system, visit.who
    if action == "confirm":
        await card_entries.confirm_entry(a, report_id, key, system, who, ControlBody.model_validate(visit.whose))
    elif action == "forget":
        await card_entries.forget_entry(a, report_id, key, system, who, ControlBody.model_validate(visit.whose))
    else:
        body = EntryBody.model_validate({**visit.whose, "content": form.text("content")})
        await card_entries.edit_entry(a, report_id, key, body, system, who)
    return visit.go("overview")
