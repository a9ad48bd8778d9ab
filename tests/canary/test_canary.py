"""Nobody sees what is not theirs: thousands of random requests, and every answer is searched for canaries.

A failure names its seed: with REVERIE_CANARY_SEED set to it, all happens again as it did, but for the order of requests
that were made at once.
"""

from __future__ import annotations

import os
import secrets
from typing import Any

import httpx
import pytest
from tests.canary.driver import Driver
from tests.canary.operations_agents import PUBLIC
from tests.canary.stage import TABLE, staged
from tests.canary.stored import logged_by_postgres, misplaced
from tests.canary.tools import TOOLS
from tests.conftest import ServeRuntime
from tests.consistency import assert_index_consistent

from reverie_server.runtime import Runtime
from reverie_server.tools.catalogue import REGISTRY

# Not in the OpenAPI document.
UNDOCUMENTED = {"POST /mcp", "GET /openapi.json", "GET /docs", "nowhere"}
# Whoever asks.
ALWAYS_ANSWERED = {f"GET {path}" for path in PUBLIC}
NEVER_FOUND = {"nowhere", "POST /api/v1/agents/{a}/tools/{name}"}
AGENT = "/api/v1/agents/{a}"
# What is there to read.
SHOWING = {
    "GET /api/v1/agents",
    f"GET {AGENT}",
    f"GET {AGENT}/files",
    f"GET {AGENT}/files/{{path}}",
    f"GET {AGENT}/files/{{path}}/versions",
    f"POST {AGENT}/memory/search",
    f"POST {AGENT}/memory/keyword-search",
    f"POST {AGENT}/memory/forget",
    f"POST {AGENT}/memory/save",
    f"GET {AGENT}/workspace/memory/export",
    "tool memory_search",
    "tool memory_get",
    "tool memory_expand",
    "tool list_workspace_memory_files",
    "tool read_workspace_memory_file",
    "tool search_workspace_memory",
}
# At random and anew each time: whatever is found once, is found again by its seed.
RUNS = [(2000, 20260403), *(pytest.param(5000, None, marks=pytest.mark.slow, id=f"long-{n}") for n in range(4))]


@pytest.mark.parametrize(("steps", "seed"), RUNS)
async def test_no_canary_is_where_it_does_not_belong(
    runtime: Runtime, serve_runtime: ServeRuntime, conninfo: str, steps: int, seed: int | None
) -> None:
    """In no answer, list, count, archive, version, metric, log or row; and what was forgotten is nowhere."""
    seed = int(os.environ.get("REVERIE_CANARY_SEED") or seed or secrets.randbelow(10**9))
    async with staged(runtime, await serve_runtime(runtime), seed) as driver:
        await driver.run(steps)
        await driver.perform_all(sorted(ALWAYS_ANSWERED))
    assert misplaced(conninfo, driver.world) == [], f"REVERIE_CANARY_SEED={seed}"
    assert logged_by_postgres(conninfo) == set(), f"REVERIE_CANARY_SEED={seed}"
    assert_index_consistent(conninfo)
    assert_reach(driver)


def assert_reach(driver: Driver) -> None:
    """The run meant something: everything was done, refused, and showed what may be seen; much was forgotten."""
    labels = (TABLE.keys() | {f"tool {tool.name}" for tool in REGISTRY}) - NEVER_FOUND
    assert {label for label in labels - {"POST /mcp"} if not driver.answers[label, True]} == set()
    assert {label for label in labels - ALWAYS_ANSWERED if not driver.answers[label, False]} == set()
    assert {label for label in SHOWING if not driver.sightings[label]} == set()
    assert len(driver.world.forgotten) > 5
    assert driver.logged_characters > 1000


async def test_every_route_and_every_tool_has_its_operation(client: httpx.AsyncClient) -> None:
    """A new one without an entry in the table fails here: write its operation, and what it may show."""
    response = await client.get(str(client.base_url).replace("/api/v1/", "/openapi.json"))
    paths: dict[str, dict[str, Any]] = response.json()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert TABLE.keys() - UNDOCUMENTED == routes
    assert TOOLS.keys() >= {tool.name for tool in REGISTRY}
