"""Routes of operations: liveness, readiness and metrics; and the middleware that measures requests."""

from __future__ import annotations

import platform
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import structlog
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from pydantic import BaseModel, ConfigDict
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie_indexer import tracing
from reverie_indexer.breaker import Breaker
from reverie_indexer.errors import Forbidden
from reverie_indexer.tracing import Span
from reverie_server.http.context import System, Who
from reverie_server.http.load_metrics import breakers_of
from reverie_server.http.problems import may_answer
from reverie_server.http.readiness import DatabaseLook

log = structlog.get_logger()
router = APIRouter(tags=["Operations"])


class Metrics:
    """The counters of one server of a version of the program, apart from any other server in the process.

    Memory, processor time and descriptors, where the system tells them, are of the whole process.
    """

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = Gauge("reverie_build_info", "1: the program that runs", ["version", "python"], registry=self.registry)
        build.labels(version, platform.python_version()).set(1)
        self.requests = Counter(
            "reverie_http_requests",
            "Requests answered",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "reverie_http_request_seconds", "Time to answer", ["method", "route"], registry=self.registry
        )
        self.ready = Gauge("reverie_embedder_ready", "Whether the embedding model is loaded", registry=self.registry)


class Health(BaseModel):
    """The process is up."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ok"}})

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Whether database and embedder answer, and why not. `degraded`: they do, and something is wrong all the same.

    An endpoint of a model that is `paused` has not answered lately: what needs it goes its way without it meanwhile.
    """

    model_config = ConfigDict(
        json_schema_extra={"example": {"status": "ready", "database": "ok", "embedder": "ready", "reasons": []}}
    )

    status: Literal["ready", "degraded", "not_ready"]
    database: Literal["ok", "read_only", "unavailable"]
    embedder: str
    language_model: Literal["ok", "paused"] | None = None
    reasons: list[str]


@router.get("/healthz")
async def healthz() -> Health:
    """The process is up; nothing else is looked at."""
    return Health()


@router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def readyz(request: Request, system: System) -> JSONResponse:
    """Whether the database and the embedder answer; 503 with the reasons when not, or when the server ends.

    What is `degraded` (the disk is full, damaged data was met, the database is read-only, a backup or the archive of
    its log fails or is late) answers 200: reads go on, and every server of the database has the same trouble, so that a
    load balancer that took them all out would make an outage of it.
    """
    look: DatabaseLook = request.app.state.database_look
    seen = await look.seen()
    is_ending: Callable[[], bool] = getattr(request.app.state, "is_ending", bool)
    reasons = ["the server ends"] if is_ending() else []
    if seen.database == "unavailable":
        reasons.append("the database does not answer")
    state: str = system.models.state
    if state == "loading":
        reasons.append("the embedding model is still loading; search goes by words")
    elif state == "failed":
        reasons.append(f"the embedding model could not be loaded: {system.models.error}")
    breakers = breakers_of(system)
    if "embedder" in breakers and breakers["embedder"].state != "closed":
        state = "paused"
    troubles = system.database.faults.reasons()
    if seen.database == "read_only":
        troubles.append("the database is read-only (a standby, or set so): writes are refused, reads go on")
    troubles += seen.backup_troubles
    status: Literal["ready", "degraded", "not_ready"] = "not_ready" if reasons else "degraded" if troubles else "ready"
    body = Readiness(
        status=status,
        database=seen.database,
        embedder=state,
        language_model=_language_model(breakers),
        reasons=reasons + troubles,
    )
    return JSONResponse(body.model_dump(exclude_none=True), 503 if reasons else 200)


def _language_model(breakers: Mapping[str, Breaker]) -> Literal["ok", "paused"] | None:
    if "llm" not in breakers:
        return None
    return "ok" if breakers["llm"].state == "closed" else "paused"


async def of_operators(who: Who) -> None:
    """Forbidden for a key that is bound to an owner: the metrics are of the whole server."""
    if who.owner_key is not None:
        raise Forbidden("this is of the whole server: it takes a key that is bound to no owner")


def metrics_router(metrics: Metrics, look: Callable[[], Awaitable[None]], *, is_public: bool) -> APIRouter:
    """The route that shows one server's metrics, to anybody where `is_public`; `look` is awaited before each time."""
    dependencies = [] if is_public else [Depends(of_operators)]
    refused = {} if is_public else may_answer(401, 403)
    metrics_routes = APIRouter(tags=["Operations"], dependencies=dependencies, responses=refused)

    text_example = {CONTENT_TYPE_LATEST.partition(";")[0]: {"example": "reverie_embedder_ready 1.0\n"}}

    @metrics_routes.get("/metrics", response_class=Response, responses={200: {"content": text_example}})
    async def show(system: System) -> Response:
        """Metrics in Prometheus' text format."""
        metrics.ready.set(system.models.state == "ready")
        await look()
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return metrics_routes


class Measured:
    """ASGI middleware: counts and times requests by route template, never by path, which names people's files.

    With `logs` each request is also a line of the log, without its path, its query and its body.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, *, logs: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with tracing.root("request", "server", parent=_traceparent(scope)) as span:
            await self._measure(scope, receive, send, span)

    async def _measure(self, scope: Scope, receive: Receive, send: Send, span: Span) -> None:
        started = time.perf_counter()
        status = 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            method = scope["method"] if route != "unmatched" else "any"
            self._metrics.requests.labels(method, route, str(status)).inc()
            span.rename(f"{method} {route}")
            about = {"http.request.method": method, "http.route": route, "http.response.status_code": status}
            span.put(**about)
            seconds = time.perf_counter() - started
            self._metrics.seconds.labels(method, route).observe(seconds)
            if self._logs:
                log.info("request", method=method, route=route, status=status, duration_ms=round(seconds * 1000, 1))


def _traceparent(scope: Scope) -> str | None:
    """Of which trace of the caller's a request is; None without traces."""
    if not tracing.is_on():
        return None
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"traceparent"), None)


class HeadAsGet:
    """ASGI middleware: answers HEAD wherever GET is answered, with the headers and without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask for what GET would give and pass on its head."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def head_only(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, head_only)
