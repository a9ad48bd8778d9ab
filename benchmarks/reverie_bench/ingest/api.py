"""What a client brings over the API, beside the model alone on the very same passages, in one batch.

The application answers in this process, without a socket: what is timed is the API's own work, the model's, and the
database's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg

from reverie_bench.ingest.figures import way_figures
from reverie_bench.ingest.noting import NotingEmbedder
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError
from reverie_server.app.http_app import create_app
from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

SQL = Queries(__file__)
# Of a client that brings many notes: so many requests are under way.
REQUESTS_AT_ONCE = 4
MESSAGES_PER_CALL = 40
CALLS_PER_SESSION = 4
SINGLE_TURNS = 120
COMPLETED_CALLS = 8
_OWNER = "user:1"
_ZIP = {"Content-Type": "application/zip"}
_FEWEST_CHARS = 20


@dataclass(frozen=True, slots=True)
class Api:
    """The product behind its API, with the model that notes what it is asked; a connection that owns the tables."""

    runtime: Runtime
    embedder: NotingEmbedder
    connection: psycopg.AsyncConnection[Any]
    tenant_id: str


async def api_figures(
    api: Api, notes: Mapping[str, str], spoken: Mapping[str, str], progress: Callable[[str], None]
) -> dict[str, Any]:
    """The figures of each way by its name. `notes` are written and imported, the lines of `spoken` are said."""
    lines = [line for text in spoken.values() for line in text.splitlines() if len(line) >= _FEWEST_CHARS]
    half = len(lines) // 2
    transport = httpx.ASGITransport(create_app(api.runtime), client=("127.0.0.1", 1))
    base_url = "http://127.0.0.1/api/v1/agents"
    async with httpx.AsyncClient(transport=transport, base_url=base_url, timeout=None) as client:  # noqa: S113

        async def imported() -> None:
            _check(await client.post("/copied/workspace/memory/import", content=archive, headers=_ZIP))

        figures: dict[str, Any] = {}
        progress("notes over the API")
        figures["notes"] = await _measured(api, len(notes), lambda: _notes(client, notes))
        progress("a snapshot over the API")
        archive = _check(await client.get("/written/workspace/memory/export")).content
        figures["import"] = await _measured(api, len(notes), imported)
        progress("messages of sessions over the API")
        calls = _calls(lines[:half], MESSAGES_PER_CALL)
        count = sum(map(len, calls)) // 2
        figures["messages"] = await _measured(api, count, lambda: _messages(client, "told", calls))
        progress("single turns over the API")
        turns = _calls(lines[half:], 2)[:SINGLE_TURNS]
        figures["single turns"] = await _measured(api, len(turns), lambda: _messages(client, "spoken", turns))
        progress("sessions over the API, completed, with all that follows")
        # What follows from the ways before is none of it.
        await drain(api.runtime)
        whole = calls[:COMPLETED_CALLS]

        async def completed() -> None:
            sessions = await _messages(client, "completed", whole)
            for session in sessions:
                _check(await client.post(f"/completed/sessions/{session}/complete", json={"owner_key": _OWNER}))
            await drain(api.runtime)

        figures["completed sessions"] = await _measured(api, sum(map(len, whole)) // 2, completed)
    return figures


async def _measured(api: Api, items: int, work: Callable[[], Awaitable[object]]) -> dict[str, Any]:
    """One way with an empty cache of vectors, and then the model alone on what it embedded for it."""
    async with api.connection.transaction():
        await api.connection.execute(SQL["enter_maintenance"])
        await api.connection.execute(SQL["empty_cache"], {"tenant_id": api.tenant_id})
    api.embedder.calls.clear()
    cpu, started = time.process_time(), time.perf_counter()
    await work()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    texts = [text for call in api.embedder.calls for text in call]
    cpu, started = time.process_time(), time.perf_counter()
    await api.embedder.embed(texts)
    alone = time.perf_counter() - started
    own_cpu = max(0.0, cpu_seconds - (time.process_time() - cpu))
    return way_figures(items, len(texts), seconds, alone, own_cpu)


async def _notes(client: httpx.AsyncClient, notes: Mapping[str, str]) -> None:
    free = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def put(path: str, text: str) -> None:
        async with free:
            _check(await client.put(f"/written/files/memory/{path}", json={"content": text}))

    await asyncio.gather(*(put(path, text) for path, text in notes.items()))


async def _messages(client: httpx.AsyncClient, agent: str, calls: Sequence[Sequence[str]]) -> list[str]:
    """Calls of messages, one after the other, some to a session; the sessions."""
    sessions: dict[str, None] = {}
    for number, call in enumerate(calls):
        session = f"bench:{number // CALLS_PER_SESSION}"
        sessions[session] = None
        said = [{"role": ("user", "assistant")[place % 2], "content": line} for place, line in enumerate(call)]
        body = {"owner_key": _OWNER, "messages": said}
        _check(await client.post(f"/{agent}/sessions/{session}/messages", json=body))
    return list(sessions)


def _calls(lines: Sequence[str], size: int) -> list[Sequence[str]]:
    """The lines as calls of an even size, the last one shorter; each line is a message, and two are a turn."""
    even = lines[: len(lines) - len(lines) % 2]
    return [even[start : start + size] for start in range(0, len(even), size)]


def _check(response: httpx.Response) -> httpx.Response:
    if response.status_code >= 300:
        raise SetupError(f"{response.request.method} {response.request.url.path} gave {response.status_code}")
    return response
