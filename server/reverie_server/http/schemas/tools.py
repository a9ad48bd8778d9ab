"""Models of the tools for agents."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reverie_server.http.schemas.common import Owner, request_config, response_config
from reverie_server.tools.forms import Format

_FUNCTION = {
    "name": "memory_expand",
    "description": "Show a passage that memory_search found together with what stands before and after it.",
    "parameters": {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "The id of a passage."}},
        "required": ["id"],
        "additionalProperties": False,
    },
}


class ToolsQuery(BaseModel):
    """How the tools are listed."""

    model_config = ConfigDict(extra="forbid")

    format: Format = Field("openai", description="Whose API the entries are for")


class ToolList(BaseModel):
    """The tools, each as the API of the chosen format wants it."""

    model_config = response_config(tools=[{"type": "function", "function": _FUNCTION}])

    tools: list[dict[str, Any]]


class ToolCall(Owner):
    """A call of a tool, as a model made it. What is wrong with `arguments` is answered to the model."""

    model_config = request_config(arguments={"query": "When is the review with Ada?"}, owner_key="user:42")

    arguments: Any = Field(None, description="The tool's arguments by name, a JSON object; left out: none")


class ToolError(BaseModel):
    """Why there is no result. `message` says what to do next."""

    code: str
    message: str


class ToolAnswer(BaseModel):
    """What the model is to read: `result` where `ok`, else `error`."""

    model_config = response_config(
        ok=False,
        error={
            "code": "not_found",
            "message": "there is no file 'a.md'. See what there is with list_workspace_memory_files.",
        },
    )

    ok: bool
    result: dict[str, Any] | None = None
    error: ToolError | None = None
