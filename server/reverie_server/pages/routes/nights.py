"""What the nights concluded: reports, and each candidate with the gate that stopped it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.http.routes import dreams
from reverie_server.http.schemas.control import ControlQuery, FocusBody, ReportPage
from reverie_server.nights.emergence.candidates import STOPPED
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_CANDIDATES = 100


@router.get("/nights")
async def list_nights(visit: Visiting) -> Response:
    """Reports, newest first; with `month` those of a month of the archive."""
    a, system, who = visit.agent_id, visit.system, visit.who
    query, month = visit.asked(ReportPage, "cursor", limit=20), visit.request.query_params.get("month", "")
    reading = dreams.dream_archive_month(a, month, system, who, query) if month else None
    found = await (reading or dreams.dream_reports(a, system, who, query))
    archive = await dreams.dream_archive(a, system, who, visit.asked(ControlQuery))
    return await visit.show(
        "nights.html",
        reports=found.data.reports,
        next_cursor=found.data.next_cursor,
        months=archive.data.months,
        month=month,
    )


@router.get("/nights/next")
async def list_candidates(visit: Visiting) -> Response:
    """What the next night would look at: each candidate with its score, and what stops it."""
    query = visit.asked(ControlQuery)
    found = await dreams.dreaming_candidates(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "candidates.html", candidates=found.data[:_CANDIDATES], count=len(found.data), stopped=STOPPED
    )


@router.get("/nights/{report_id}")
async def show_report(visit: Visiting, report_id: str) -> Response:
    """A report: what was seen, what entered, what did not and why, and the diff."""
    query = visit.asked(ControlQuery)
    found = await dreams.dream_report(visit.agent_id, report_id, visit.system, visit.who, query)
    return await visit.show("night.html", report=found.data, stopped=STOPPED)


@router.post("/nights")
async def consolidate(visit: Visiting, form: Sent) -> Response:
    """Run the night now for a topic."""
    body = FocusBody.model_validate({**visit.whose, "topic": form.text("topic")})
    done = await dreams.run_focused(visit.agent_id, body, visit.system, visit.who)
    return visit.go(f"nights/{done.data.report_id}") if done.data.report_id else visit.go("nights")
