"""Control routes of emergence: run it, read its status, candidates and reports, show the morning card."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi import Path as PathParameter

from reverie_indexer.errors import NotFound
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import place_for
from reverie_server.http.context import Agent, System, Who, cursor_time, decode_cursor, encode_cursor, no_body, no_query
from reverie_server.http.routes.control import may_fail
from reverie_server.http.schemas.common import response_from
from reverie_server.http.schemas.control import (
    ArchiveAnswer,
    ArchiveData,
    ArchivedMonthData,
    CandidateData,
    CandidatesAnswer,
    CandidatesQuery,
    CardAnswer,
    CardEntry,
    ControlBody,
    ControlQuery,
    FocusBody,
    ReportAnswer,
    ReportData,
    ReportPage,
    ReportsAnswer,
    ReportsData,
    RunAnswer,
    RunData,
    SeenAnswer,
    SeenData,
    StatusAnswer,
    StatusData,
)
from reverie_server.jobs.model import Work
from reverie_server.jobs.nights_due import next_nightly
from reverie_server.nights.emergence.collect import Candidate
from reverie_server.nights.emergence.report import rounded
from reverie_server.nights.reports import Report
from reverie_server.runtime import Runtime

router = APIRouter(prefix="/memory/{a}", tags=["Control"], responses=may_fail(401, 403, 404, 422, 503))
BODY_ONLY = [Depends(no_query)]
QUERY_ONLY = [Depends(no_body)]
_MONTH = re.compile(r"[12][0-9]{3}-(?:0[1-9]|1[0-2])")
WRITE_ERRORS = may_fail(400, 413)


@router.post("/emergence", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def run_emergence(
    a: Agent, system: System, who: Who, body: Annotated[ControlBody | None, Body()] = None
) -> RunAnswer:
    """Let enter MEMORY.md what the last daily notes hold and people asked for, now instead of at night."""
    return await _run(system, who, a, body.resolved_owner() if body else None, None)


@router.post("/dreaming/focused", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def run_focused(a: Agent, body: FocusBody, system: System, who: Who) -> RunAnswer:
    """Emergence of what the notes of the last weeks hold about a topic, whether or not it was asked for before."""
    return await _run(system, who, a, body.resolved_owner(), body.topic.strip())


@router.get("/dreaming/status", dependencies=QUERY_ONLY)
async def dreaming_status(a: Agent, system: System, who: Who, query: Annotated[ControlQuery, Query()]) -> StatusAnswer:
    """How emergence stands: its last and its next night, what it concluded so far, what waits for the next."""
    grant, place = await _read_place(system, who, a, query.resolved_owner())
    emergence = system.consolidation.emergence
    status = await system.consolidation.reports.emergence_status(place)
    found = await emergence.candidates(grant, place)
    hour = system.settings.nightly_hour
    enabled = grant.settings.emergence_enabled and grant.principal.leader_agent_id is None
    return StatusAnswer(
        data=StatusData(
            enabled=enabled,
            cron=f"0 {hour} * * *",
            last_run=status.last_run,
            next_run=next_nightly(emergence.now(), grant.settings.time_zone, hour) if enabled else None,
            last_status=status.last_status,
            latest_entry=await emergence.diary.latest(place),
            pending_candidates=sum(candidate.scored.stopped_by is None for candidate in found),
            promoted=status.promoted,
        )
    )


@router.get("/dreaming/candidates", dependencies=QUERY_ONLY, response_model_exclude_none=True)
async def dreaming_candidates(
    a: Agent, system: System, who: Who, query: Annotated[CandidatesQuery, Query()]
) -> CandidatesAnswer:
    """What may enter MEMORY.md, best first, with the parts of its score and the gates that it has to pass."""
    grant, place = await _read_place(system, who, a, query.resolved_owner())
    found = await system.consolidation.emergence.best_candidates(grant, place, query.limit)
    count = None if query.limit is None else found.count
    return CandidatesAnswer(data=[_candidate(candidate) for candidate in found.candidates], count=count)


@router.get("/dream/reports", dependencies=QUERY_ONLY)
async def dream_reports(a: Agent, system: System, who: Who, query: Annotated[ReportPage, Query()]) -> ReportsAnswer:
    """What each run of emergence and dreaming saw, concluded and changed, newest first."""
    _, place = await _read_place(system, who, a, query.resolved_owner())
    return await _page(system, place, query, None)


@router.get("/dream/archive", dependencies=QUERY_ONLY)
async def dream_archive(a: Agent, system: System, who: Who, query: Annotated[ControlQuery, Query()]) -> ArchiveAnswer:
    """The months that have reports older than 30 days, newest first."""
    _, place = await _read_place(system, who, a, query.resolved_owner())
    months = await system.consolidation.reports.months(place)
    return ArchiveAnswer(
        data=ArchiveData(
            months=[
                ArchivedMonthData(
                    month=f"{each.month:%Y-%m}",
                    reports=each.reports,
                    success=each.success,
                    skipped=each.skipped,
                    failed=each.failed,
                    promoted=each.promoted,
                )
                for each in months
            ]
        )
    )


@router.get("/dream/archive/{month}", dependencies=QUERY_ONLY)
async def dream_archive_month(
    a: Agent,
    month: Annotated[str, PathParameter(description="yyyy-mm", examples=["2026-03"])],
    system: System,
    who: Who,
    query: Annotated[ReportPage, Query()],
) -> ReportsAnswer:
    """The reports of a month that are older than 30 days, newest first."""
    _, place = await _read_place(system, who, a, query.resolved_owner())
    if not _MONTH.fullmatch(month):
        raise NotFound("there is no such month: it is written as yyyy-mm")
    return await _page(system, place, query, date.fromisoformat(f"{month}-01"))


@router.get("/dream/reports/{report_id}", dependencies=QUERY_ONLY)
async def dream_report(
    a: Agent,
    report_id: Annotated[str, PathParameter(description="A report's id", examples=["5f2c9a01d4b7e683"])],
    system: System,
    who: Who,
    query: Annotated[ControlQuery, Query()],
) -> ReportAnswer:
    """One report."""
    _, place = await _read_place(system, who, a, query.resolved_owner())
    if not re.fullmatch(r"[0-9a-f]{16}", report_id):
        raise NotFound("there is no such report")
    return ReportAnswer(data=_report(await system.consolidation.reports.report(place, report_id)))


@router.get("/dream/morning-card", dependencies=QUERY_ONLY)
async def morning_card(a: Agent, system: System, who: Who, query: Annotated[ControlQuery, Query()]) -> CardAnswer:
    """What entered MEMORY.md and its owner has not seen yet; null where there is nothing."""
    grant, place = await _read_place(system, who, a, query.resolved_owner())
    card = await system.consolidation.morning_cards.card(place, grant.principal.owner_key, grant.settings.language)
    entries = None if card is None else [response_from(CardEntry, e) for e in card]
    return CardAnswer(data=entries)


@router.post("/dream/morning-card/seen", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def see_morning_card(
    a: Agent, system: System, who: Who, body: Annotated[ControlBody | None, Body()] = None
) -> SeenAnswer:
    """The morning card is seen: it does not come again."""
    owner_key = body.resolved_owner() if body else None
    await system.gate.read(who, a, owner_key)
    grant, place = await system.gate.write(who, a, owner_key, None)
    seen = await system.consolidation.morning_cards.see(place, grant.principal.owner_key, grant.settings.language)
    return SeenAnswer(data=SeenData(seen=seen))


async def _run(system: Runtime, who: Caller, a: str, owner_key: str | None, topic: str | None) -> RunAnswer:
    await system.gate.read(who, a, owner_key)
    _, place = await system.gate.write(who, a, owner_key, None)
    work = Work("emergence", who.tenant_id, a, place.owner_key, trigger="api", topic=topic)
    outcome = await system.consolidation.stages["emergence"].run(work)
    return RunAnswer(data=response_from(RunData, outcome))


async def _page(system: Runtime, place: Place, query: ReportPage, month: date | None) -> ReportsAnswer:
    position = decode_cursor(query.cursor, str, str)
    before = (cursor_time(position[0]), str(position[1])) if position else None
    page = await system.consolidation.reports.page(place, before=before, limit=query.limit + 1, month=month)
    reports = page[: query.limit]
    if month is not None and not reports and before is None:
        raise NotFound(f"the archive has no reports of {month:%Y-%m}")
    cursor = (
        encode_cursor(reports[-1].started_at.isoformat(), reports[-1].report_id) if len(page) > len(reports) else None
    )
    return ReportsAnswer(data=ReportsData(reports=[_report(report) for report in reports], next_cursor=cursor))


async def _read_place(system: Runtime, who: Caller, a: str, owner_key: str | None) -> tuple[Grant, Place]:
    """The permission to read, and the place that emergence works on for this caller."""
    grant = await system.gate.read(who, a, owner_key)
    return grant, place_for(grant.principal, None if grant.settings.memory_isolation else "team")


def _candidate(candidate: Candidate) -> CandidateData:
    scored = candidate.scored
    return response_from(
        CandidateData,
        candidate,
        snippet=candidate.text,
        score=round(scored.score, 4),
        parts=rounded(scored.parts),
        gates=scored.gates,
    )


def _report(report: Report) -> ReportData:
    return response_from(ReportData, report, id=report.report_id)
