"""What is known about somebody at a glance, what happened last night, and what waits for a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.heuristics.stated_fact import SELF
from reverie_server.http.routes import card_entries, dreams, facts, listings, pipeline
from reverie_server.http.schemas.control import ControlBody, ControlQuery, EntryBody, ReportPage
from reverie_server.http.schemas.facts import ContradictionBody, ContradictionsQuery, FactBody, FactsQuery
from reverie_server.http.schemas.pipeline import DeadLetterBody, PipelineQuery
from reverie_server.http.schemas.timeline import TimelineQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.routes.forget import waiting_requests
from reverie_server.pages.visit import SENT, PageRoute, Sent, Visit, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_KNOWN, _READ, _WAITING, _REPORTS, _DAYS = 10, 40, 5, 20, 30
_CURVES = (("messages", "Said"), ("learned", "Learned"), ("ended", "No longer holds"))


@router.get("/overview")
async def overview(visit: Visiting) -> Response:
    """The overview of a memory."""
    a, system, who = visit.agent_id, visit.system, visit.who
    known = await _known(visit)
    reports = (await dreams.dream_reports(a, system, who, visit.query(ReportPage, limit=_REPORTS))).data.reports
    # A night goes before what was done by day.
    report = next((each for each in reports if each.mode == "full"), next(iter(reports), None))
    changed = next((each for each in reports if each.diff), None)
    # What there is none of is not asked for.
    summary = await visit.summary()
    card = (await dreams.morning_card(a, system, who, visit.query(ControlQuery))).data if summary.card else None
    return await visit.show(
        "overview.html",
        summary=summary,
        facts=known,
        contradictions=await _contradictions(visit) if summary.contradictions else [],
        unmet=await waiting_requests(visit, _WAITING) if summary.unmet_requests else [],
        report=report,
        scope=await visit.write_scope(),
        changed=changed,
        card=card,
        # Without an owner the summary counts the team's jobs alone, and this page names those of everybody.
        failed=await _failed(visit) if summary.failed_jobs or visit.owner_key is None else [],
        curves=await _curves(visit),
    )


async def _contradictions(visit: Visit) -> list[ContradictionBody]:
    query = visit.query(ContradictionsQuery, limit=_WAITING)
    return (await facts.list_contradictions(visit.agent_id, visit.system, visit.who, query)).contradictions


async def _failed(visit: Visit) -> list[DeadLetterBody]:
    query = visit.query(PipelineQuery)
    return (await pipeline.get_pipeline(visit.agent_id, visit.system, visit.who, query)).dead_letters


async def _known(visit: Visiting) -> list[FactBody]:
    """What is known, in ten lines: who somebody is, what they like, then all else; of each, what is trusted most."""
    found: dict[str, FactBody] = {}
    for category in ("profile", "preference", None):
        if len(found) < _KNOWN:
            query = visit.query(FactsQuery, state="current", category=category, limit=_READ)
            page = (await facts.list_facts(visit.agent_id, visit.system, visit.who, query)).facts
            # A profile has others in it, too: those that somebody spoke of.
            page.sort(key=lambda fact: category is not None and fact.subject != SELF)
            found |= {fact.id: fact for fact in page if fact.id not in found}
    return list(found.values())[:_KNOWN]


async def _curves(visit: Visit) -> list[tuple[str, list[int]]]:
    """How much was said, learned and ended on each of the last thirty days; a curve with nothing on it is left out."""
    since = datetime.now(UTC) - timedelta(days=_DAYS)
    query = visit.query(TimelineQuery, since=since.isoformat(), entries="false", limit=_DAYS + 1)
    found = await listings.get_timeline(visit.agent_id, visit.system, visit.who, query)
    counts = {day.day: day.counts for day in found.days}
    today = datetime.now(ZoneInfo(found.time_zone)).date()
    days = [today - timedelta(days=back) for back in reversed(range(_DAYS))]
    curves = [(label, [counts.get(day, {}).get(name, 0) for day in days]) for name, label in _CURVES]
    return [(label, values) for label, values in curves if any(values)]


@router.post("/card/seen", dependencies=SENT)
async def dismiss_card(visit: Visiting) -> Response:
    """Dismiss the morning card; the next is that of an earlier night."""
    await dreams.see_morning_card(visit.agent_id, visit.system, visit.who, ControlBody.model_validate(visit.whose))
    return visit.go("overview", done="card-seen")


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
    return visit.go("overview", done="card")
