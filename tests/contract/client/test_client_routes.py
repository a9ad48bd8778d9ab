"""The Python client and the server's routes: neither has what the other does not know."""

from __future__ import annotations

import contextlib
import inspect
import re
from typing import Any

import httpx

from reverie_client import CardEntry, Reverie, ReverieError
from reverie_server.app.http_app import create_app
from reverie_server.runtime import Runtime

NO_CALLS = {"agent", "close"}
ARGUMENTS = {
    "str": "a.md",
    "int": 1,
    "KeyRole": "member",
    "Feedback": "helpful",
    "Keep": "a",
    "bytes": b"zip",
    "Mapping[str, Any]": {},
    "Sequence[Mapping[str, Any]]": [],
    "CardEntry": CardEntry(key="5f2c9a01d4b7e683:1", text="Tea.", source="memory/2026-04-01.md:3"),
}


def call_all(target: Any) -> None:
    """Call every public method of a client with whatever arguments it must have."""
    for name, method in inspect.getmembers(target, inspect.ismethod):
        if name.startswith("_") or name in NO_CALLS:
            continue
        needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        with contextlib.suppress(ReverieError):
            answer = method(*[ARGUMENTS[p.annotation] for p in needed])
            if inspect.isgenerator(answer):
                next(answer)


def test_every_route_has_its_method_and_every_method_its_route(runtime: Runtime) -> None:
    asked: set[tuple[str, str]] = set()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.add((request.method, request.url.path))
        return httpx.Response(503)

    with Reverie("http://reverie.test", max_retries=0, transport=httpx.MockTransport(answer)) as reverie:
        call_all(reverie)
        call_all(reverie.agent("me"))

    routes = {
        (method.upper(), path)
        for path, operations in create_app(runtime).openapi()["paths"].items()
        if path.startswith("/api/v1/")
        for method in operations
    }
    by_route = {route: re.compile(re.sub(r"\{\w+\}", "[^/]+", route[1])) for route in routes}
    reached = {
        ask: [route for route, pattern in by_route.items() if route[0] == ask[0] and pattern.fullmatch(ask[1])]
        for ask in asked
    }
    assert [ask for ask, found in reached.items() if not found] == []
    assert routes - {route for found in reached.values() for route in found} == set()
