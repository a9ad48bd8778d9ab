"""What the nights concluded: reports, and each candidate with the gate that stopped it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import NotFound, StaleVersion
from reverie_indexer.model import Scope
from reverie_server.http.routes import dreams, files
from reverie_server.http.schemas.common import ScopedOwner, VersionsQuery
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
    return await _report(visit, report_id)


async def _report(visit: Visit, report_id: str, *, status: int = 200) -> Response:
    report = (
        await dreams.dream_report(visit.agent_id, report_id, visit.system, visit.who, visit.query(ControlQuery))
    ).data
    # Reports are of the place that a write goes to, and so are the files that they tell of.
    scope = await visit.write_scope()
    present = await _version(visit, report.path, scope) if report.path and report.diff else None
    # Of what dreaming wrote beside others' lines no version is noted.
    may_undo = report.version_after is not None and (report.version_before or present) is not None
    return await visit.show(
        "night.html", status, report=report, stopped=STOPPED, present=present, scope=scope, may_undo=may_undo
    )


async def _version(visit: Visit, path: str, scope: Scope) -> int | None:
    """The present version of the file that a night changed; None where there is none any more."""
    query = visit.query(VersionsQuery, limit=1, scope=scope)
    try:
        history = await files.list_versions(visit.agent_id, path, visit.system, visit.who, query)
    except NotFound:
        return None
    return next((each.version for each in history.versions if not each.deleted), None)


@router.post("/nights/{report_id}/undo")
async def undo(visit: Visiting, form: Sent, report_id: str) -> Response:
    """Take back what a night changed in a file, at the version that the page has shown: make the text before it the
    present one, or delete a file that there was not. Where the file has changed meanwhile the page says so again."""
    a, system, who = visit.agent_id, visit.system, visit.who
    report = (await dreams.dream_report(a, report_id, system, who, visit.query(ControlQuery))).data
    if report.path is None or report.version_after is None:
        raise NotFound("this night has nothing to undo")
    place = ScopedOwner.model_validate({**visit.whose, "scope": await visit.write_scope()})
    tag = f'"{form.number("version")}"' if form.optional("version") else None
    try:
        if report.version_before is None:
            await files.delete_file(a, report.path, system, who, place, tag)
            return visit.go(f"nights/{report_id}", done="undone")
        await files.restore_version(a, report.path, report.version_before, Response(), system, who, place, tag)
    except StaleVersion:
        return await _report(visit, report_id, status=412)
    return visit.go("memory/file", path=report.path, scope=place.scope, done="restored")


@router.post("/nights")
async def consolidate(visit: Visiting, form: Sent) -> Response:
    """Run the night now for a topic."""
    body = FocusBody.model_validate({**visit.whose, "topic": form.text("topic")})
    done = await dreams.run_focused(visit.agent_id, body, visit.system, visit.who)
    return visit.go(f"nights/{done.data.report_id}") if done.data.report_id else visit.go("nights")
