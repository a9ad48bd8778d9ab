"""Routes of the tools for agents."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Path as PathParameter

from reverie_server.access.connection import connect
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.tools import ToolAnswer, ToolCall, ToolList, ToolsQuery
from reverie_server.tools.catalogue import REGISTRY
from reverie_server.tools.forms import listed

router = APIRouter(tags=["Tools for agents"], responses=may_answer(401, 422, 503))
ToolName = Annotated[str, PathParameter(description="The tool's name", examples=["memory_search"])]


@router.get("/tools")
async def list_tools(_: Who, query: Annotated[ToolsQuery, Query()]) -> ToolList:
    """The tools, to be given to a model: their names, what they do, and the schemas of their arguments."""
    return ToolList(tools=listed(REGISTRY, query.format))


@router.post(
    "/agents/{a}/tools/{name}",
    response_model_exclude_unset=True,
    dependencies=[Depends(no_query)],
    responses=may_answer(400, 403, 413),
)
async def run_tool(a: Agent, name: ToolName, body: ToolCall, system: System, who: Who) -> ToolAnswer:
    """Run a tool. What is wrong with the call or with memory is an answer with `ok` false, for the model to read."""
    connection = connect(who, a, body.resolved_owner())
    answer = await REGISTRY.run(system, connection, name, body.arguments)
    return ToolAnswer.model_validate(answer.as_json())
