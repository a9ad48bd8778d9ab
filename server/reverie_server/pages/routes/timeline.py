"""The days of a memory: what was said, what came of it, what was learned, ended, or forgotten."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.browse.timeline import KINDS
from reverie_server.http.routes import dreams, listings
from reverie_server.http.schemas.control import ControlQuery
from reverie_server.http.schemas.timeline import TimelineQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/timeline")
async def timeline(visit: Visiting) -> Response:
    """Days on which something happened, twenty a page, of all kinds or of one."""
    a, system, who = visit.agent_id, visit.system, visit.who
    query = visit.query(TimelineQuery, "kind", "until", "cursor")
    found = await listings.get_timeline(a, system, who, query)
    archive = await dreams.dream_archive(a, system, who, visit.query(ControlQuery))
    return await visit.show(
        "timeline.html",
        days=found.days,
        zone=found.time_zone,
        next_cursor=found.next_cursor,
        kind=query.kind or "",
        day=query.until or "",
        kinds=KINDS,
        months=archive.data.months,
    )
