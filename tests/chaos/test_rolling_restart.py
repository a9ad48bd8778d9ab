"""Servers and workers of one database are restarted in turn behind a proxy, under load: no request fails."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.chaos import haproxy
from tests.chaos.kept import check_conversations
from tests.chaos.supervised import Program
from tests.conftest import PLAIN
from tests.consistency import assert_index_consistent
from tests.ports import free_ports

CLIENTS = 3
READY_SECONDS = 90.0


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@dataclass
class Traffic:
    """Clients that keep their connections, and never try again."""

    base_url: str
    failures: list[str] = field(default_factory=list)
    succeeded: int = 0
    messages: dict[str, list[str]] = field(default_factory=dict)
    ends: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))

    async def _client(self, number: int) -> None:
        session, file = f"web:{number}", f"files/notes/c{number}.md"
        said = self.messages.setdefault(session, [])
        async with httpx.AsyncClient(base_url=self.base_url, timeout=60, verify=PLAIN) as http:
            while not self.ends.is_set():
                turn = len(said)
                text = f"Lantern {number}x{turn} is lit."
                await self._send(http, "PUT", file, content=text)
                await self._send(http, "GET", file)
                message = {"id": f"m{turn}", "role": "user", "content": text}
                await self._send(http, "POST", f"sessions/{session}/messages", messages=[message])
                await self._send(http, "POST", "memory/search", query=text)
                said.append(f"m{turn}")
                # What waits for a processor shows nothing of the restart.
                await asyncio.sleep(0.2)
            await self._send(http, "POST", f"sessions/{session}/complete")

    async def _send(self, http: httpx.AsyncClient, method: str, path: str, **body: Any) -> None:
        try:
            answer = await http.request(method, path, json=body or None)
        except httpx.TransportError as error:
            self.failures.append(f"{method} {path}: {error!r}")
            return
        if answer.status_code < 300:
            self.succeeded += 1
        else:
            self.failures.append(f"{method} {path}: {answer.status_code} {answer.text}")


def start(conninfo: str, stack: ExitStack, *arguments: str) -> Program:
    settings = {
        "REVERIE_DATABASE_URL": conninfo,
        "REVERIE_SHUTDOWN_DRAIN_SECONDS": haproxy.DRAIN_SECONDS,
        "REVERIE_TRUSTED_PROXIES": "127.0.0.1",
        "REVERIE_STALL_SECONDS": "20",
        "REVERIE_SHUTDOWN_GRACE_SECONDS": "30",
    }
    started = Program(*arguments, module="reverie_server.cli.main", **settings)
    stack.callback(started.stop)
    return started


def end(program: Program) -> None:
    program.process.send_signal(signal.SIGTERM)
    # uvicorn raises the signal again that ended it.
    assert program.process.wait(60) in (0, 130), "\n".join(program.lines[-50:])


async def answers(program: Program) -> None:
    """Until a server has been given requests by the proxy, beside its questions whether it is ready."""
    await asyncio.to_thread(
        program.until, lambda: any("/agents/" in each["route"] for each in program.events("request"))
    )


async def until_ready(port: int) -> None:
    async with asyncio.timeout(READY_SECONDS), httpx.AsyncClient(verify=PLAIN, timeout=10) as http:
        while True:
            try:
                if (await http.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)


async def test_a_rolling_restart_fails_no_request(conninfo: str, tmp_path: Path, stack: ExitStack) -> None:
    haproxy.program()
    entrance, *ports = free_ports(3)
    serving = [start(conninfo, stack, "serve", "--no-worker", "--port", str(port)) for port in ports]
    for port in ports:
        await until_ready(port)
    working = [start(conninfo, stack, "worker") for _ in range(2)]
    stack.enter_context(haproxy.haproxy(tmp_path, entrance, ports))
    await until_ready(entrance)
    traffic = Traffic(f"http://127.0.0.1:{entrance}/api/v1/agents/wren/")
    running = asyncio.create_task(traffic.run())
    try:
        for number, port in enumerate(ports):
            await answers(serving[number])
            await asyncio.to_thread(end, serving[number])
            serving.append(start(conninfo, stack, "serve", "--no-worker", "--port", str(port)))
            await until_ready(port)
            await asyncio.to_thread(end, working[number])
            working.append(start(conninfo, stack, "worker"))
        for program in working[2:]:
            await asyncio.to_thread(program.until, lambda program=program: program.pid_of("worker"))
        for program in serving:
            await answers(program)
    finally:
        traffic.ends.set()
        await running
    print(f"rolling restart: {traffic.succeeded} requests, {len(traffic.failures)} failed")
    assert traffic.failures == []
    assert traffic.succeeded > 20 * CLIENTS
    for program in serving:
        assert not any("Traceback" in line for line in program.lines)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{ports[0]}/api/v1/agents/wren/", timeout=60, verify=PLAIN
    ) as http:
        await check_conversations(http, traffic.messages)
    await asyncio.to_thread(assert_index_consistent, conninfo)
