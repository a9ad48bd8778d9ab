"""The MCP server: it lists the registry's tools and runs them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

import mcp_types as types
import structlog
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from reverie_indexer.errors import ReverieError, SetupError
from reverie_server.access.connection import Connection
from reverie_server.runtime import Runtime
from reverie_server.tools.descriptions import instructions
from reverie_server.tools.forms import listed
from reverie_server.tools.registry import Answer, Registry

log = structlog.get_logger()
Context = ServerRequestContext[Any, Any]
# For a call: the running system and whose memory it is. Raises ReverieError.
Open = Callable[[Context], Awaitable[tuple[Runtime, Connection]]]


def build_server(registry: Registry, open_connection: Open) -> Server[Any]:
    """An MCP server over the tools. Listing them needs nothing else; a call opens its connection first."""
    tools = [types.Tool.model_validate(entry) for entry in listed(registry, "mcp")]
    schemas = {tool.name: tool.input_schema for tool in tools}

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Context, call: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            system, connection = await open_connection(context)
            async with system.audit.call():
                answer = await registry.run(system, connection, call.name, call.arguments)
        except SetupError as error:
            # Its words are for the operator: they name files of the server.
            answer = registry.refusal(call.name, error.code, "the memory server could not start; its log says why")
        except ReverieError as error:
            log.warning("tool_failed", tool=call.name[:64], code=error.code, detail=error.detail)
            answer = registry.refusal(call.name, error.code, error.detail)
        except Exception:  # the edge of a request: the transport would put the exception's text on the wire
            log.exception("tool_failed", tool=call.name[:64])
            answer = registry.refusal(call.name, "internal_error", "the memory server failed; its log says why")
        return tool_result(answer)

    return Server(
        "reverie",
        version=version("reverie"),
        title="Reverie",
        instructions=instructions(),
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_result(answer: Answer) -> types.CallToolResult:
    """An answer as MCP has it: the result, or the error as `{ok: false, error}`, each as text and as data."""
    content = answer.as_json() if answer.result is None else answer.result
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=content, is_error=not answer.ok
    )
