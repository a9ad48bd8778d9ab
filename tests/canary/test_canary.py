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
from tests.canary.operations_pages import OPERATIONS_OF_PAGES
from tests.canary.stage import TABLE, staged
from tests.canary.stored import logged_by_postgres, misplaced
from tests.canary.tools import TOOL_ROUTE, TOOLS
from tests.conftest import ServeRuntime
from tests.consistency import assert_index_consistent
from tests.scripted_model import ScriptedModel

from reverie_server.runtime import Runtime
from reverie_server.tools.catalogue import REGISTRY

# Not in the OpenAPI document.
UNDOCUMENTED = {"POST /mcp", "GET /openapi.json", "GET /docs", "nowhere", *OPERATIONS_OF_PAGES}
# Whoever asks.
ALWAYS_ANSWERED = {f"GET {path}" for path in PUBLIC}
# Entries of the morning card are of the newest nights, and are tried one by one in `test_dreams_http`.
CARD_ENTRY = "/api/v1/memory/{a}/dream/reports/{report_id}/entries/{key}"
AGENT = "/api/v1/agents/{a}"
NEVER_FOUND = {"nowhere", TOOL_ROUTE, *(f"POST {CARD_ENTRY}/{action}" for action in ("confirm", "edit", "forget"))}
# Asked for what the caller does not have alone, and so always refused; own facts are changed in `test_facts`.
NEVER_DONE = {
    "POST /mcp",
    "GET /api/v1/memory/{a}/dream/archive/{month}",
    f"POST {AGENT}/contradictions/{{contradiction_id}}/resolve",
    *(f"POST {AGENT}/facts/{{fact_id}}/{action}" for action in ("feedback", "confirm", "edit", "forget")),
    # Nobody asks to forget what is not there: such requests are tried in `test_unmet_requests_http`.
    *(f"{method} {AGENT}/unmet-requests/{{request_id}}" for method in ("GET", "DELETE")),
}
# What is there to read.
SHOWING = {
    *("PAGE look", "PAGE file", "PAGE conversation", "PAGE find"),
    "GET /api/v1/agents",
    f"GET {AGENT}",
    f"GET {AGENT}/files",
    f"GET {AGENT}/files/{{path}}",
    f"GET {AGENT}/files/{{path}}/versions",
    f"POST {AGENT}/memory/search",
    f"POST {AGENT}/memory/keyword-search",
    f"POST {AGENT}/memory/forget",
    f"POST {AGENT}/memory/save",
    f"POST {AGENT}/memory/inject",
    f"POST {AGENT}/context",
    f"GET {AGENT}/sessions/{{s}}",
    f"GET {AGENT}/sessions/{{s}}/messages",
    f"POST {AGENT}/sessions/{{s}}/compact",
    f"GET {AGENT}/workspace/memory/export",
    f"GET {AGENT}/episodes",
    f"GET {AGENT}/episodes/{{episode_id}}",
    f"POST {AGENT}/episodes/search",
    f"GET {AGENT}/memory/{{memory_id}}/sources",
    f"POST {AGENT}/graph/search",
    f"GET {AGENT}/graph/entities",
    f"GET {AGENT}/graph/entities/{{entity_id}}",
    f"POST {AGENT}/graph/merge",
    f"POST {AGENT}/graph/merges/{{merge_id}}/undo",
    f"GET {AGENT}/graph/duplicates",
    f"POST {AGENT}/graph/duplicates/{{duplicate_id}}/dismiss",
    "GET /api/v1/memory/{a}/dreaming/status",
    "GET /api/v1/memory/{a}/dreaming/candidates",
    "GET /api/v1/memory/{a}/dream/reports",
    "GET /api/v1/memory/{a}/dream/reports/{report_id}",
    "GET /api/v1/memory/{a}/dream/morning-card",
    "tool knowledge_graph_search",
    "tool memory_search",
    "tool memory_get",
    "tool memory_expand",
    "tool list_workspace_memory_files",
    "tool read_workspace_memory_file",
    "tool search_workspace_memory",
}
# Where the dice left something out: so often so many requests more, of those operations alone and of any.
MORE = 12
# At random and anew each time: whatever is found once, is found again by its seed.
RUNS = [(800, 20260403), *(pytest.param(5000, None, marks=pytest.mark.slow, id=f"long-{n}") for n in range(4))]


@pytest.mark.parametrize(("steps", "seed"), RUNS)
async def test_no_canary_is_where_it_does_not_belong(
    talking: Runtime,
    scripted: ScriptedModel,
    serve_runtime: ServeRuntime,
    conninfo: str,
    steps: int,
    seed: int | None,
) -> None:
    """In no answer, list, count, archive, version, metric, log or row; and what was forgotten is nowhere."""
    seed = int(os.environ.get("REVERIE_CANARY_SEED") or seed or secrets.randbelow(10**9))
    async with staged(talking, await serve_runtime(talking), seed, scripted) as driver:
        await driver.run(steps)
        await driver.perform_all(sorted(ALWAYS_ANSWERED))
        for _ in range(MORE):
            if missing := unreached(driver):
                await driver.run(40, of={label for label in TABLE if any(_is_of(label, what) for what in missing)})
                # What enters the long-term memory is on the morning card and in the status.
                if any("morning-card" in what or "dreaming/status" in what for what in missing):
                    await driver.run(20, of={label for label in TABLE if label.endswith("/dreaming/focused")})
                # A key is revoked by whoever has just made it.
                if any("/keys/{key_id} done" in what for what in missing):
                    await driver.run(10, of={label for label in TABLE if label.endswith("POST /api/v1/keys")})
                await driver.run(40)
        await driver.work()
        await settled(talking)
    assert "\n".join(misplaced(conninfo, driver.world)) == "", f"REVERIE_CANARY_SEED={seed}"
    assert logged_by_postgres(conninfo) == set(), f"REVERIE_CANARY_SEED={seed}"
    assert_index_consistent(conninfo)
    assert unreached(driver) == set(), f"REVERIE_CANARY_SEED={seed}"
    assert driver.logged_characters > 1000


async def settled(runtime: Runtime) -> None:
    """All that goes on beside the answers is done."""
    assert runtime.proxy is not None
    await runtime.proxy.idle()
    await runtime.compactions.idle()
    assert await runtime.recalls.flush()
    assert await runtime.turn_log.flush()


def unreached(driver: Driver) -> set[str]:
    """What a run that means something has done, and this one not yet: everything, refused too, and shown what may be
    seen; much was forgotten."""
    labels = (TABLE.keys() | {f"tool {tool.name}" for tool in REGISTRY}) - NEVER_FOUND
    missing = {f"{label} done" for label in labels - NEVER_DONE if not driver.answers[label, True]}
    missing |= {f"{label} refused" for label in labels - ALWAYS_ANSWERED if not driver.answers[label, False]}
    missing |= {f"{label} shown" for label in SHOWING if not driver.sightings[label]}
    if len(driver.world.forgotten) <= 5:
        missing.add(f"POST {AGENT}/memory/forget, of much")
    # Tools are reached by either way.
    return {f"{TOOL_ROUTE}: {what}" if what.startswith("tool ") else what for what in missing}


def _is_of(label: str, what: str) -> bool:
    return what.startswith((f"{label} ", f"{label},", f"{label}:"))


async def test_every_route_and_every_tool_has_its_operation(client: httpx.AsyncClient) -> None:
    """A new one without an entry in the table fails here: write its operation, and what it may show."""
    response = await client.get(str(client.base_url).replace("/api/v1/", "/openapi.json"))
    paths: dict[str, dict[str, Any]] = response.json()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert TABLE.keys() - UNDOCUMENTED == routes
    assert TOOLS.keys() >= {tool.name for tool in REGISTRY}
