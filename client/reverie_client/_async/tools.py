"""The tools for agents: run one as a model called it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reverie_client._async.bound import AsyncBound
from reverie_client.model import ToolAnswer
from reverie_client.request import Call, segment


class AsyncTools(AsyncBound):
    """Tools. Agent and owner are the view's, never the model's to choose. `AsyncReverie.tools` lists them."""

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Run a tool with the arguments as the model gave them.

        What is wrong with the call, an unknown tool included, is an answer for the model to read and raises nothing.
        """
        path = f"{self._path}/tools/{segment(name, 'the name of a tool')}"
        call = Call(method="POST", path=path, body={**self._owner, "arguments": arguments})
        return await self._connection.ask(ToolAnswer, call)
