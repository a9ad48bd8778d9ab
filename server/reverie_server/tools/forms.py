"""The tools in the list formats of OpenAI, Anthropic and MCP. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from reverie_server.tools.registry import Tool

Format = Literal["openai", "anthropic", "mcp"]


def openai(tool: Tool) -> dict[str, Any]:
    """An entry of `tools` of the chat completions API and of all that follow it."""
    function = {"name": tool.name, "description": tool.description.text, "parameters": tool.schema}
    return {"type": "function", "function": function}


def anthropic(tool: Tool) -> dict[str, Any]:
    """An entry of `tools` of the messages API."""
    return {"name": tool.name, "description": tool.description.text, "input_schema": tool.schema}


def mcp(tool: Tool) -> dict[str, Any]:
    """An entry of the answer to `tools/list`."""
    return {
        "name": tool.name,
        "title": tool.description.title,
        "description": tool.description.text,
        "inputSchema": tool.schema,
        "annotations": {
            "title": tool.description.title,
            "readOnlyHint": tool.hints.read_only,
            "destructiveHint": tool.hints.destructive,
            "idempotentHint": tool.hints.idempotent,
            "openWorldHint": False,
        },
    }


FORMS: Mapping[Format, Callable[[Tool], dict[str, Any]]] = {"openai": openai, "anthropic": anthropic, "mcp": mcp}


def listed(tools: Iterable[Tool], form: Format) -> list[dict[str, Any]]:
    """All tools in one form, in their order."""
    return [FORMS[form](tool) for tool in tools]
