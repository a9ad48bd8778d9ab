"""All routes in one router. They find the running system in `app.state.runtime`."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter

from reverie_server.http import problems
from reverie_server.http.routes import (
    agents,
    audit,
    card_entries,
    control,
    dreams,
    episodes,
    events,
    facts,
    files,
    graph,
    inject,
    keys,
    listings,
    longterm,
    memory,
    operations,
    owners,
    pipeline,
    proxy,
    receipts,
    sessions,
    snapshots,
    tools,
    turns,
    unmet_requests,
)

API = "/api/v1"
RESPONSES: dict[int | str, dict[str, Any]] = {422: {"model": problems.Problem, "description": "Not valid"}}
PARTS = (
    agents,
    files,
    memory,
    inject,
    longterm,
    receipts,
    unmet_requests,
    snapshots,
    listings,
    sessions,
    turns,
    events,
    episodes,
    graph,
    facts,
    pipeline,
    tools,
    keys,
    owners,
    audit,
)
CONTROLS = (control, dreams, card_entries)


@cache
def routes() -> APIRouter:
    """The routes, put together once in a process: the models of one route's answers take milliseconds to make.

    An application takes over `routes().routes` as they are; to include the router would make them all again.
    """
    together = APIRouter(responses=RESPONSES)
    together.include_router(operations.router)
    for part in PARTS:
        together.include_router(part.router, prefix=API)
    for part in CONTROLS:
        together.include_router(part.router, prefix=API)
        # Their paths as such clients have them.
        together.include_router(part.router, include_in_schema=False)
    together.include_router(proxy.router)
    return together
