"""The client of a life: an agent's HTTP routes for one owner. An answer that the contract does not promise raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from reverie_indexer.errors import SetupError

_READ = ("MEMORY.md", "PROFILE.md")


class Client:
    """One owner's view of one agent."""

    def __init__(self, http: httpx.AsyncClient, agent_id: str, owner_key: str) -> None:
        self._http = http
        self._agent = f"/agents/{agent_id}"
        self._agent_id = agent_id
        self._owner = {"owner_key": owner_key}

    async def put_agent(self, settings: Mapping[str, Any]) -> None:
        """Make the agent."""
        await self._send("PUT", self._agent, {"settings": dict(settings)})

    async def delete_agent(self) -> None:
        """Delete the agent with its memory."""
        await self._send("DELETE", self._agent)

    async def say(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Append messages to a session."""
        path = f"{self._agent}/sessions/{quote(session_id)}/messages"
        await self._send("POST", path, {**self._owner, "messages": list(messages)})

    async def complete(self, session_id: str) -> None:
        """End a conversation."""
        path = f"{self._agent}/sessions/{quote(session_id)}/complete"
        await self._send("POST", path, {**self._owner, "trigger_source": "web"})

    async def context(self, session_id: str, message: str) -> Mapping[str, Any]:
        """The prompt of a turn."""
        body = {**self._owner, "session_id": session_id, "message": message, "system_prompt": "You are an assistant."}
        prompt: Mapping[str, Any] = await self._send("POST", f"{self._agent}/context", body)
        return prompt

    async def inject(self, message: str) -> str:
        """The section that a message injects."""
        answer = await self._send("POST", f"{self._agent}/memory/inject", {**self._owner, "message": message})
        section: str = answer["section"]
        return section

    async def search(self, query: str, max_results: int) -> list[Mapping[str, Any]]:
        """The results of a search."""
        body = {**self._owner, "query": query, "max_results": max_results}
        results: list[Mapping[str, Any]] = (await self._send("POST", f"{self._agent}/memory/search", body))["results"]
        return results

    async def finds(self, words: str) -> bool:
        """Whether a search for the words has a result with them."""
        return any(words.casefold() in each["text"].casefold() for each in await self.search(words, 50))

    async def files(self) -> dict[str, str]:
        """The owner's MEMORY.md and PROFILE.md."""
        found = {}
        for path in _READ:
            response = await self._http.get(f"{self._agent}/files/{path}", params=self._owner)
            found[path] = response.json()["content"] if response.status_code == 200 else ""
        return found

    async def reports(self) -> list[Mapping[str, Any]]:
        """The reports of the nights, with what entered. None where the route does not answer."""
        path = f"/memory/{self._agent_id}/dream/reports"
        response = await self._http.get(path, params={**self._owner, "limit": 500})
        data = response.json().get("data") or [] if response.status_code == 200 else []
        listed: list[Mapping[str, Any]] = data.get("reports", []) if isinstance(data, Mapping) else data
        return listed

    async def facts(self) -> list[Mapping[str, Any]]:
        """The facts; none where the server has no such route."""
        response = await self._http.get(f"{self._agent}/facts", params={**self._owner, "limit": 500})
        facts: list[Mapping[str, Any]] = response.json()["facts"] if response.status_code == 200 else []
        return facts

    async def _send(self, method: str, path: str, body: Any = None) -> Any:
        response = await self._http.request(method, path, json=body)
        if response.is_error:
            raise SetupError(f"{method} {path} was answered with {response.status_code}: {response.text[:300]}")
        return response.json() if response.content else None
