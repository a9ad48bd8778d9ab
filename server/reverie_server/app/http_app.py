"""The HTTP application over a running system."""

from __future__ import annotations

import asyncio
import ipaddress
from importlib.metadata import version
from typing import TYPE_CHECKING

from reverie_server.runtime import Runtime

if TYPE_CHECKING:
    from fastapi import FastAPI

    from reverie_server.http.routes.operations import Metrics


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def create_app(runtime: Runtime) -> FastAPI:
    """The HTTP application over a running system; `/mcp` answers while its lifespan is entered."""
    # These are slow to import, and no other command than `serve` needs them.
    from fastapi import FastAPI

    from reverie_server.app.entrance import wire_entrance
    from reverie_server.http import problems, requests
    from reverie_server.http.all_routes import RESPONSES, routes
    from reverie_server.http.positions import Positions
    from reverie_server.http.read_again import ReadAgain
    from reverie_server.http.readiness import DatabaseLook
    from reverie_server.http.routes import operations, reference
    from reverie_server.mcp.endpoint import McpEndpoint
    from reverie_server.pages.all_pages import REFERENCE, pages
    from reverie_server.tools.catalogue import REGISTRY

    mcp = McpEndpoint(runtime, REGISTRY)
    settings = runtime.settings
    is_local = is_loopback(settings.host)
    has_public_docs = is_local if settings.public_docs is None else settings.public_docs
    app = FastAPI(
        openapi_url=None,
        lifespan=lambda _: mcp.running(),
        title="Reverie",
        summary="A memory server for AI agents",
        version=version("reverie"),
        responses=RESPONSES,
    )
    app.state.runtime = runtime
    app.state.database_look = DatabaseLook(runtime.database, runtime.consolidation.backups)
    app.router.routes.extend(routes().routes)
    app.router.routes.extend(pages().routes)
    metrics = _wire_metrics(app, runtime, is_local=is_local)
    app.include_router(reference.reference_router(app, REFERENCE, is_public=has_public_docs))
    app.router.routes.extend(mcp.routes)
    problems.install(app)
    app.add_middleware(ReadAgain)
    if runtime.database.reads is not None:
        app.add_middleware(Positions, database=runtime.database)
    app.add_middleware(operations.HeadAsGet)
    app.state.load = wire_entrance(app, runtime)
    metrics.registry.register(app.state.load)
    app.add_middleware(operations.Measured, metrics=metrics, logs=settings.log_format == "json")
    app.add_middleware(requests.Requests, audit=runtime.audit)
    return app


def _wire_metrics(app: FastAPI, runtime: Runtime, *, is_local: bool) -> Metrics:
    """The metrics of a server, with their route."""
    from reverie_server.http.counters import TurnCounters
    from reverie_server.http.job_metrics import JobMetrics
    from reverie_server.http.read_metrics import ReadMetrics
    from reverie_server.http.routes import operations

    settings = runtime.settings
    metrics = operations.Metrics(version("reverie"))
    jobs = JobMetrics(runtime.consolidation.health, runtime.consolidation.backups, settings.llm_calls_per_day)
    reads = ReadMetrics(runtime.database)
    turns = TurnCounters(runtime.injector, runtime.recalls, runtime.proxy, runtime.recorder, runtime.audit)
    for collector in (turns, jobs, reads):
        metrics.registry.register(collector)

    async def look() -> None:
        await asyncio.gather(jobs.look(), reads.look())

    is_public = is_local if settings.public_metrics is None else settings.public_metrics
    app.include_router(operations.metrics_router(metrics, look, is_public=is_public))
    return metrics
