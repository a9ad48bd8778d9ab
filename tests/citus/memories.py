"""Memories of several tenants, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.backups import serving, settings_of

from reverie_indexer.database.database import Database
from reverie_server.app.http_app import create_app
from reverie_server.runtime import Runtime

OWNER = "user:1"
TALK = (
    ("user", "I live in Bergen. My boss is Petra Lind, and my sister Ines works at Kilde."),
    ("assistant", "Bergen, Petra Lind, and Ines at Kilde."),
    ("user", "My gym locker code is 4471. Please remember that the boat is called Alma."),
    ("assistant", "I will remember that the boat is called Alma."),
)


class Tenant:
    """What a tenant's administrator asks of a server, for one person and one agent."""

    def __init__(self, client: httpx.AsyncClient, name: str, key: str) -> None:
        self._client = client
        self.name = name
        self._headers = {"Authorization": f"Bearer {key}"}

    async def ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        """The answer, whatever it is."""
        given = {"params": {"owner_key": OWNER, **body}} if method == "GET" else {"json": {"owner_key": OWNER, **body}}
        return await self._client.request(method, f"agents/wren/{path}", headers=self._headers, **given)

    async def do(self, method: str, path: str, **body: Any) -> Any:
        """What a request answers that has to succeed."""
        answer = await self.ask(method, path, **body)
        assert answer.status_code < 300, (path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    async def delete_agent(self) -> None:
        """Delete the agent with all its memory."""
        answer = await self._client.request("DELETE", "agents/wren", headers=self._headers)
        assert answer.status_code == 204, answer.text

    async def found(self, query: str) -> str:
        """The texts of what a search finds."""
        return "\n".join(result["text"] for result in (await self.do("POST", "memory/search", query=query))["results"])


@asynccontextmanager
async def tenants(
    conninfo: str, directory: Path, names: Sequence[str], kind: type[Database] = Database
) -> AsyncIterator[tuple[Runtime, list[Tenant]]]:
    """A server over a database, and tenants with keys of their own."""
    async with serving(settings_of(conninfo, directory), kind) as runtime:
        keys = [(name, (await runtime.keys.create(name, "admin"))[1]) for name in names]
        transport = httpx.ASGITransport(app=create_app(runtime))
        async with httpx.AsyncClient(transport=transport, base_url="http://test/api/v1", timeout=60) as client:
            yield runtime, [Tenant(client, name, key) for name, key in keys]


async def remember(conninfo: str, directory: Path, names: Sequence[str]) -> None:
    """Give each tenant a memory: files, and a conversation with what follows from it."""
    async with tenants(conninfo, directory, names) as (_, memories):
        for tenant in memories:
            await fill(tenant)


async def fill(tenant: Tenant) -> None:
    """A file that names the tenant, MEMORY.md, and a conversation."""
    note = (
        f"# Notes\n\n- The heron of {tenant.name} keeps its lantern in the boathouse.\n- The gym locker code is 4471.\n"
    )
    await tenant.do("PUT", "files/notes.md", content=note)
    await tenant.do("PUT", "files/MEMORY.md", content="# Long-term Memory\n\n## Notes\n\n- Alma is a green boat.\n")
    messages = [{"role": role, "content": content} for role, content in TALK]
    await tenant.do("POST", "sessions/web:1/messages", messages=messages)
