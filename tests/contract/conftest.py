"""A client that knows nothing but the contract, and what every error must look like."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.conftest import ServeRuntime
from tests.proxied import Served

from reverie_server.runtime import Runtime

PROBLEM_FIELDS = {"type", "title", "status", "detail", "code"}
# What no answer may carry: SQL, a stack trace, a path of the server, a name of its inside.
LEAKS = re.compile(
    r"\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|Traceback|File \"|\.py\b|psycopg|site-packages"
    r"|/work/|/home/|/usr/|/tmp/|/dev/shm/|/root/|reverie_indexer|reverie_server|pydantic\.dev"
)


def check_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The body, if it is the RFC 9457 problem that the contract promises."""
    assert response.status_code == status, f"{response.status_code}: {response.text[:500]}"
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body.keys() >= PROBLEM_FIELDS
    assert (body["status"], body["code"]) == (status, code), body
    assert all(isinstance(body[name], str) and body[name] for name in PROBLEM_FIELDS - {"status"})
    assert not LEAKS.search(response.text), response.text[:500]
    return body


@dataclass(frozen=True)
class Agent:
    """One agent's routes, by path relative to `/agents/{agent}`; unexpected statuses fail at once."""

    http: httpx.AsyncClient
    agent_id: str = "wren"

    def url(self, path: str) -> str:
        return f"/agents/{self.agent_id}/{path}"

    async def put(self, path: str, content: str, **body: Any) -> dict[str, Any]:
        response = await self.http.put(self.url(f"files/{path}"), json={"content": content, **body})
        assert response.status_code in (200, 201), response.text
        return response.json()

    async def write(self, path: str, strategy: str, content: str, **body: Any) -> httpx.Response:
        wanted = {"strategy": strategy, "content": content, **body}
        return await self.http.post(self.url(f"files/{path}/writes"), json=wanted)

    async def read(self, path: str, **query: Any) -> dict[str, Any]:
        response = await self.http.get(self.url(f"files/{path}"), params=query)
        assert response.status_code == 200, response.text
        return response.json()

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.http.get(self.url(path), params=query)

    async def delete(self, path: str, **query: Any) -> httpx.Response:
        return await self.http.delete(self.url(f"files/{path}"), params=query)

    async def patch(self, path: str, old: str, new: str, **body: Any) -> httpx.Response:
        wanted = {"old_text": old, "new_text": new, **body}
        return await self.http.patch(self.url(f"files/{path}"), json=wanted)

    async def search(self, query: str, **body: Any) -> dict[str, Any]:
        response = await self.http.post(self.url("memory/search"), json={"query": query, **body})
        assert response.status_code == 200, response.text
        return response.json()

    async def found_paths(self, query: str, **body: Any) -> list[str]:
        return [result["path"] for result in (await self.search(query, **body))["results"]]


@pytest.fixture
def wren(client: httpx.AsyncClient) -> Agent:
    """An agent that nobody has written to yet."""
    return Agent(client)


@pytest.fixture
def problem() -> Callable[[httpx.Response, int, str], dict[str, Any]]:
    return check_problem


@pytest.fixture
def agent_of(client: httpx.AsyncClient) -> Callable[[str], Agent]:
    return lambda agent_id: Agent(client, agent_id)


@dataclass(frozen=True)
class RawAnswer:
    status: int
    content_type: str
    body: Any


RawRequest = Callable[..., Any]


@pytest.fixture
def raw(client: httpx.AsyncClient) -> RawRequest:
    """Send a request byte for byte, as no client library would write its path or body."""
    address = urlsplit(str(client.base_url))

    async def send(
        method: str, path: str, body: bytes = b"", content_type: str = "application/json", agent_id: str = "wren"
    ) -> RawAnswer:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = (
            f"{method} {address.path.rstrip('/')}/agents/{agent_id}/{path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Connection: close\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode("latin-1") + body)
        await writer.drain()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        top, _, text = answer.partition(b"\r\n\r\n")
        found = re.search(rb"^content-type: *(\S+)", top, re.IGNORECASE | re.MULTILINE)
        kind = found[1].decode() if found else ""
        return RawAnswer(int(top.split()[1]), kind, json.loads(text) if "json" in kind else text)

    return send


@pytest.fixture
async def served(talking: Runtime, serve_runtime: ServeRuntime) -> AsyncIterator[Served]:
    """A server with a proxy before the scripted language model."""
    base_url = await serve_runtime(talking)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", timeout=30) as api:
        yield Served(base_url, api, talking)
