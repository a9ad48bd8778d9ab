"""PostgreSQL dies under a server whose worker is at work: it comes back, and so does the worker, with all its jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import psutil
import pytest
from tests.chaos.serving import Server
from tests.clusters import cluster_directory
from tests.conftest import PLAIN

SESSIONS = 8


@pytest.fixture
def server() -> Iterator[Server]:
    with cluster_directory() as directory:
        server = Server(directory, REVERIE_WORKER_ENABLED="true", REVERIE_JOB_RETRY_SECONDS="0.2")
        try:
            yield server
        finally:
            if server.is_running:
                server.kill()


async def insist(http: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Until it is acknowledged."""
    while True:
        with suppress(httpx.TransportError):
            answer = await http.request(method, path, json=body)
            if answer.status_code < 300:
                return answer.json()
            assert answer.status_code == 503, answer.text
        await asyncio.sleep(0.05)


def kill_postgres(server: Server) -> None:
    with suppress(psutil.Error):
        server.postgres()[0].kill()


async def test_work_goes_on_when_postgres_was_killed(server: Server) -> None:
    await asyncio.to_thread(server.start)
    async with httpx.AsyncClient(base_url=server.base_url, timeout=60, verify=PLAIN) as http:
        for number in range(SESSIONS):
            said = [
                {"id": f"{number}-{n}", "role": role, "content": f"We decided to light lantern {number}, part {n}."}
                for n, role in enumerate(("user", "assistant"))
            ]
            await insist(http, "POST", f"/sessions/web:{number}/messages", {"messages": said, "owner_key": "user:1"})
            await insist(http, "POST", f"/sessions/web:{number}/complete", {"owner_key": "user:1"})
            if number == 3:
                await asyncio.to_thread(kill_postgres, server)
        while True:
            there = await insist(http, "GET", "/pipeline?owner_key=user:1")
            health = there["stages"]["episodic"]
            # A job that failed while PostgreSQL was away waits for its next attempt.
            if health["pending"] + health["running"] + health["scheduled"] == 0 and health["last_success_at"]:
                break
            await asyncio.sleep(0.1)
        assert there["dead_letters"] == []
        found = (await insist(http, "GET", "/episodes?owner_key=user:1&limit=100"))["episodes"]
        assert sorted(each["session_id"] for each in found) == sorted(f"web:{n}" for n in range(SESSIONS))
        assert await asyncio.to_thread(server.stop) in (0, 130)
        assert not any("Traceback" in line for line in server.log)
        assert not any("lantern" in line for line in server.log)
