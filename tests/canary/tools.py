"""The table of operations: a request for every tool, over HTTP and over MCP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import BAD_PATHS, CATEGORIES, Draw
from tests.canary.operations import (
    AGENT,
    Operation,
    check_listing,
    file_before,
    found_as_known,
    found_own_text,
    may_write,
    old_text,
    wrote,
)
from tests.canary.operations_graph import check_found, graph_question
from tests.canary.operations_keeping import as_forgetting, target
from tests.canary.operations_memory import check_rows_living, found_in_memory, remembered
from tests.canary.words import canaries_in
from tests.canary.world import Acting, World

from reverie_server.tools.catalogue import REGISTRY

# Fills in what a call of the tool may do and show, and gives the arguments.
UseTool = Callable[[Draw, Acting, Call], dict[str, Any]]
TOOL_ROUTE = f"POST {AGENT}/tools/{{name}}"
MCP_VERSION = "2025-06-18"


def memory_search(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    call.said = True
    call.exact = lambda world, answer: check_rows_living(world, acting, answer) if answer.ok else None
    prefix = {"pathPrefix": d.prefix()} if d.chance(0.2) else {}
    return {"query": d.query(), "max_results": d.one_of((2, 100)), **prefix}


def is_for_tools(path: str) -> bool:
    """Whether the tools know a file of that path."""
    return path.endswith(".md") and not path.startswith("MEMORY_backup_")


def memory_get(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    path = d.path_to_read(acting, d.world.own_home(acting))
    if is_for_tools(path) and path not in BAD_PATHS:
        call.exact = found_as_known(acting, path)
    return {"path": path, **({"from_line": 1, "lines": 2} if d.chance(0.3) else {})}


def memory_expand(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    call.said = True
    call.exact = lambda world, answer: check_rows_living(world, acting, answer) if answer.ok else None
    return {"id": d.public_id("episodes", acting) if d.chance(0.4) else d.passage_id(acting)}


def knowledge_graph_search(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    call.said = True
    call.check = lambda world, answer: check_found(world, acting, answer.result) if answer.ok else None
    return graph_question(d, acting)


def save_memory(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    line = d.line()
    call.may, call.effects = may_write(acting), remembered(acting, [line])
    return {"content": line, "category": d.one_of(CATEGORIES)}


def update_memory(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    old, new = old_text(d, d.world.place(acting, None), "MEMORY.md"), d.line()
    call.may, call.effects = may_write(acting), remembered(acting, sorted(canaries_in(new)), edits=True)
    call.exact = found_in_memory(acting, old)
    return {"oldText": old, "newText": new}


def forget_memory(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    what, confirmed = target(d, acting), d.chance(0.4)
    as_forgetting(call, acting, what, is_dry=not confirmed)
    return {**what, "confirm": confirmed}


def list_workspace_memory_files(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    prefix = d.prefix() if d.chance(0.4) else ""

    def exact(world: World, answer: Answer) -> None:
        if answer.ok and not answer.result["has_more"]:
            rows = answer.result["files"]
            check_listing(world, acting, lambda path: path.startswith(prefix) and is_for_tools(path), rows, None)

    call.exact = exact
    return {"filename_prefix": prefix} if prefix else {}


def read_workspace_memory_file(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    return {"filename": memory_get(d, acting, call)["path"]}


def write_workspace_memory_file(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    path = d.path()
    content, forms = d.text(path)
    before = file_before(d, acting, None, path)
    call.may, call.effects = may_write(acting), wrote(acting, None, path, forms=forms, replaces=True)

    def exact(world: World, answer: Answer) -> None:
        if answer.ok and before is None:
            demand(answer.result["created"] and answer.result["version"] == 1, "a new file is said to be an old one")

    call.exact = exact
    return {"filename": path, "content": content}


def edit_workspace_memory_file(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    path = d.path_at(d.world.place(acting, None))
    old, new = old_text(d, d.world.place(acting, None), path), d.line()
    call.may = may_write(acting)
    call.effects = wrote(acting, None, path, forms=tuple(sorted(canaries_in(new))), edits=True)
    call.exact = found_own_text(file_before(d, acting, None, path), old)
    return {"filename": path, "old_text": old, "new_text": new, "replaceAll": d.chance(0.5)}


def search_workspace_memory(d: Draw, acting: Acting, call: Call) -> dict[str, Any]:
    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            counted, shown = answer.result["total_hits"], len(answer.result["hits"])
            demand(counted == shown or counted > shown == 100, f"{counted} hits are counted, and {shown} shown")

    call.exact = exact
    return {"query": d.query(), "limit": 100}


TOOLS: dict[str, UseTool] = {
    use.__name__: use
    for use in (
        memory_search,
        memory_get,
        memory_expand,
        knowledge_graph_search,
        save_memory,
        update_memory,
        forget_memory,
        list_workspace_memory_files,
        read_workspace_memory_file,
        write_workspace_memory_file,
        edit_workspace_memory_file,
        search_workspace_memory,
    )
}


def use_tool(d: Draw, acting: Acting, call: Call) -> tuple[str, dict[str, Any]]:
    """One of the tools there are, or none, and what it is given; `call` gets what may come of it."""
    if d.chance(0.03):
        return f"no_tool_{d.known_canary()}", {"text": d.line()}
    name = d.one_of([tool.name for tool in REGISTRY])
    call.label = f"tool {name}"
    return name, TOOLS[name](d, acting, call)


def over_http(d: Draw) -> Call:
    acting, fields = d.acting()
    call = Call(TOOL_ROUTE, acting.key, "POST", "", acting)
    name, arguments = use_tool(d, acting, call)
    call.url = d.url_of(acting.agent, "tools", name)
    call.body = {"arguments": arguments, **fields}
    return call


def over_mcp(d: Draw) -> Call:
    """Agent and owner are in headers; the agent may be in the path, or left out where the key is bound to it alone."""
    acting, fields = d.acting()
    in_path = bool(acting.agent) and d.chance(0.3)
    url = f"/mcp/{quote(acting.agent, safe='').replace('..', '%2e%2e')}" if in_path else "/mcp"
    call = Call("POST /mcp", acting.key, "POST", url, acting)
    call.headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MCP_VERSION}
    if (not in_path and acting.key.agents != {acting.agent}) or d.chance(0.5):
        call.headers["X-Reverie-Agent"] = acting.agent
    named = {"owner_key": "X-Reverie-Owner", "end_user_id": "X-Reverie-End-User"}
    call.headers |= {named[field]: value if value.isprintable() else "nobody" for field, value in fields.items()}
    if d.chance(0.1):
        method, params = d.one_of((("tools/list", {}), ("ping", {}), ("no/such", {"text": d.known_canary()})))
        call.may = None if acting.key.works else lambda world: False
        call.acting = None
    else:
        name, arguments = use_tool(d, acting, call)
        method, params = "tools/call", {"name": name, "arguments": arguments}
    call.body = {"jsonrpc": "2.0", "id": d.rng.randint(1, 9), "method": method, "params": params}
    return call


def list_tools(d: Draw) -> Call:
    params = {"format": d.one_of(("openai", "anthropic", "mcp"))}
    return Call("GET /api/v1/tools", d.key(wrong=0.3), "GET", "/api/v1/tools", params=params)


OPERATIONS_OF_TOOLS: dict[str, tuple[int, Operation]] = {
    "GET /api/v1/tools": (3, list_tools),
    TOOL_ROUTE: (22, over_http),
    "POST /mcp": (22, over_mcp),
}
