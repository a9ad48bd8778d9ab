"""What the nights concluded: reports, and each candidate with the gate that stopped it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import NotFound
from reverie_server.http.routes import dreams, files
from reverie_server.http.schemas.common import VersionsQuery
from reverie_server.http.schemas.control import CandidatesQuery, ControlQuery, FocusBody, ReportPage
from reverie_server.nights.emergence.candidates import STOPPED
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Sent, Visit, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_CANDIDATES = 20


@router.get("/nights")
async def list_nights(visit: Visiting) -> Response:
    """Reports, newest first; with `month` those of a month of the archive."""
    a, system, who = visit.agent_id, visit.system, visit.who
    query, month = visit.query(ReportPage, "cursor", limit=20), visit.request.query_params.get("month", "")
    reading = dreams.dream_archive_month(a, month, system, who, query) if month else None
    found = await (reading or dreams.dream_reports(a, system, who, query))
    archive = await dreams.dream_archive(a, system, who, visit.query(ControlQuery))
    return await visit.show(
        "nights.html",
        reports=found.data.reports,
        next_cursor=found.data.next_cursor,
        months=archive.data.months,
        month=month,
        scope=await visit.write_scope(),
    )


@router.get("/nights/next")
async def list_candidates(visit: Visiting) -> Response:
    """What the next night would look at: each candidate with its score, and what stops it."""
    query = visit.query(CandidatesQuery, limit=_CANDIDATES)
    found = await dreams.dreaming_candidates(visit.agent_id, visit.system, visit.who, query)
    scope = await visit.write_scope()
    return await visit.show("candidates.html", candidates=found.data, count=found.count, stopped=STOPPED, scope=scope)


@router.get("/nights/{report_id}")
async def show_report(visit: Visiting, report_id: str) -> Response:
    """A report: what was seen, what entered, what did not and why, and the diff."""
    query = visit.query(ControlQuery)
    found = await dreams.dream_report(visit.agent_id, report_id, visit.system, visit.who, query)
    present = await _version(visit, found.data.path) if found.data.diff else None
    scope = await visit.write_scope()
    return await visit.show("night.html", report=found.data, stopped=STOPPED, present=present, scope=scope)


async def _version(visit: Visit, path: str | None) -> int | None:
    """The present version of the file that a night changed; None where there is none any more."""
    query = visit.query(VersionsQuery, limit=1, scope="personal" if visit.owner_key else "team")
    try:
        history = await files.list_versions(visit.agent_id, path or "", visit.system, visit.who, query)
    except NotFound:
        return None
    return history.versions[0].version if history.versions else None


@router.post("/nights")
async def consolidate(visit: Visiting, form: Sent) -> Response:
    """Run the night now for a topic."""
    body = FocusBody.model_validate({**visit.whose, "topic": form.text("topic")})
    done = await dreams.run_focused(visit.agent_id, body, visit.system, visit.who)
    return visit.go(f"nights/{done.data.report_id}") if done.data.report_id else visit.go("nights")
