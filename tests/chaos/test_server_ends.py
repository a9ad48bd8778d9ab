"""SIGTERM ends the server within its grace, whatever it is at; and one that stands still is started again."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from tests.chaos.supervised import Program
from tests.clusters import cluster_directory
from tests.conftest import PLAIN
from tests.jobs import deferred, jobs_of

from reverie_indexer.database.database import Database
from reverie_server.jobs.model import Work

GRACE_SECONDS = 6.0
# What the machine may take on top, of which the server knows nothing.
SLACK_SECONDS = 6.0


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def started(stack: ExitStack, *arguments: str, **settings: str) -> tuple[Program, str]:
    program = Program("serve", "--port", "0", *arguments, **settings)
    stack.callback(program.stop)
    url = program.url()
    program.until(lambda: program.pid_of("server"))
    with httpx.Client(base_url=url, verify=PLAIN, timeout=30) as http:
        note = {"content": "# Lanterns\n\nThe lantern is lit.\n"}
        assert http.put("/api/v1/agents/wren/files/MEMORY.md", json=note).status_code in (200, 201)
    return program, url


def send(url: str, path: str, body: object, stack: ExitStack) -> socket.socket:
    """A request whose answer nobody waits for."""
    where = urlsplit(url)
    connection = socket.create_connection((where.hostname, where.port))
    stack.callback(connection.close)
    content = json.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json"
    connection.sendall(f"{head}\r\nContent-Length: {len(content)}\r\n\r\n{content}".encode())
    return connection


def search(url: str, query: str, stack: ExitStack) -> socket.socket:
    return send(url, "/api/v1/agents/wren/memory/search", {"query": query}, stack)


def assert_ends_in_grace(program: Program) -> int:
    began = time.monotonic()
    program.process.send_signal(signal.SIGTERM)
    status = program.process.wait(GRACE_SECONDS + SLACK_SECONDS)
    assert time.monotonic() - began < GRACE_SECONDS + SLACK_SECONDS
    assert program.children() == []
    return status


@pytest.mark.parametrize("query", ["freeze the loop", "freeze a thread", "spin in a thread", "wait for ever"])
def test_a_request_that_does_not_end(conninfo: str, stack: ExitStack, query: str) -> None:
    program, url = started(stack, REVERIE_DATABASE_URL=conninfo, REVERIE_STALL_SECONDS="1000")
    connection = search(url, query, stack)
    connection.settimeout(2)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    status = assert_ends_in_grace(program)
    if query == "spin in a thread":
        # It is left behind, and not waited for until the process is killed.
        assert status == 0


async def test_a_job_that_does_not_end(database: Database, conninfo: str, stack: ExitStack) -> None:
    """Nor does it hold the server, which answers while it goes on."""
    program, url = await asyncio.to_thread(started, stack, REVERIE_DATABASE_URL=conninfo, REVERIE_STALL_SECONDS="1000")
    await deferred(database, Work("dedup", "default", "wren", "hang:regex"))
    while [job["status"] for job in await jobs_of(database)] != ["doing"]:  # noqa: ASYNC110  # it is a row
        await asyncio.sleep(0.1)
    async with httpx.AsyncClient(verify=PLAIN) as http:
        assert (await http.get(f"{url}/healthz", timeout=10)).status_code == 200
    await asyncio.to_thread(assert_ends_in_grace, program)


def test_idle_connections_and_a_slow_body(conninfo: str, stack: ExitStack) -> None:
    program, url = started(stack, REVERIE_DATABASE_URL=conninfo)
    for _ in range(50):
        http = stack.enter_context(httpx.Client(base_url=url, verify=PLAIN))
        assert http.get("/healthz").status_code == 200
    where = urlsplit(url)
    slow = stack.enter_context(socket.create_connection((where.hostname, where.port)))
    slow.sendall(b"POST /api/v1/agents/wren/memory/search HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert assert_ends_in_grace(program) in (0, 130)


def test_a_server_that_drains_answers_and_says_that_it_ends(conninfo: str, stack: ExitStack) -> None:
    settings = {"REVERIE_SHUTDOWN_DRAIN_SECONDS": "8", "REVERIE_SHUTDOWN_GRACE_SECONDS": "30"}
    program, url = started(stack, "--no-worker", REVERIE_DATABASE_URL=conninfo, **settings)
    kept = stack.enter_context(httpx.Client(base_url=url, verify=PLAIN, timeout=30))
    assert "Connection" not in kept.get("/readyz").headers
    began = time.monotonic()
    program.process.send_signal(signal.SIGTERM)
    program.until(lambda: httpx.get(f"{url}/readyz", timeout=30).status_code == 503)
    for client in (kept, stack.enter_context(httpx.Client(base_url=url, verify=PLAIN, timeout=30))):
        answer = client.get("/api/v1/agents/wren/files/MEMORY.md")
        assert answer.status_code == 200
        assert answer.headers["Connection"] == "close"
    ready = kept.get("/readyz").json()
    assert (ready["status"], ready["reasons"]) == ("not_ready", ["the server ends"])
    assert program.process.wait(60) in (0, 130), "\n".join(program.lines)
    assert time.monotonic() - began >= 8


def test_a_database_that_hangs(stack: ExitStack) -> None:
    directory = stack.enter_context(cluster_directory())
    program, url = started(stack, REVERIE_DATA_DIR=str(directory / "data"))
    cluster = str(directory.resolve() / "data" / "postgres")
    stopped = []
    for process in psutil.process_iter(["name"]):
        with suppress(psutil.Error):
            if process.info["name"] == "postgres" and process.cwd() == cluster:
                process.suspend()
                stopped.append(process)
    assert stopped

    def resume() -> None:
        for process in stopped:
            with suppress(psutil.Error):
                process.resume()
                process.kill()

    stack.callback(resume)
    connection = search(url, "lantern", stack)
    connection.settimeout(2)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    assert_ends_in_grace(program)


@pytest.mark.parametrize("streams", [True, False])
def test_a_model_that_hangs(conninfo: str, stack: ExitStack, streams: bool) -> None:
    """The proxy's caller waits for an answer, or has read the beginning of a stream that does not go on."""
    model = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    asked = threading.Event()

    def answer() -> None:
        with suppress(OSError):
            while True:
                connection, _ = model.accept()
                stack.callback(connection.close)
                connection.recv(65536)
                if streams:
                    piece = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "Hm"}}]}\n\n'
                    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                    connection.sendall(head + f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                asked.set()

    threading.Thread(target=answer, daemon=True).start()
    address = f"http://127.0.0.1:{model.getsockname()[1]}/v1"
    program, url = started(
        stack,
        REVERIE_DATABASE_URL=conninfo,
        REVERIE_LLM_BASE_URL=address,
        REVERIE_LLM_MODEL="m",
        REVERIE_LLM_API_KEY="k",
    )
    said = {"model": "m", "stream": streams, "messages": [{"role": "user", "content": "Is the lantern lit?"}]}
    reading = send(url, "/v1/chat/completions", said, stack)
    assert asked.wait(30), "\n".join(program.lines)
    if streams:
        assert reading.recv(1024).startswith(b"HTTP/1.1 200")
    assert assert_ends_in_grace(program) in (0, 130)


@pytest.mark.parametrize("query", ["freeze the loop", "freeze a thread"])
def test_a_server_that_stands_still_is_started_again_and_connections_wait(
    conninfo: str, stack: ExitStack, query: str
) -> None:
    program, url = started(stack, REVERIE_DATABASE_URL=conninfo)
    frozen = program.pid_of("server")
    search(url, query, stack)
    program.until(lambda: program.events("process_died"))
    answer = httpx.get(f"{url}/api/v1/agents/wren/files/MEMORY.md", timeout=60)
    assert "lantern is lit" in answer.text
    assert program.pid_of("server") != frozen
    assert [(each["process"], each["status"]) for each in program.events("process_died")] == [("server", "SIGPROF")]
    # Where it stood is printed, and nothing of what it read.
    assert any("never_ends" in line for line in program.lines)
    assert not any("aaaa" in line or "lantern" in line for line in program.lines)
    assert assert_ends_in_grace(program) in (0, 130)


def test_clients_that_hang_up_on_their_answers_do_not_end_it(conninfo: str, stack: ExitStack) -> None:
    settings = {"REVERIE_DATABASE_URL": conninfo, "REVERIE_STALL_SECONDS": "20"}
    program = Program("serve", "--port", "0", module="reverie_server.cli.main", **settings)
    stack.callback(program.stop)
    url = program.url()
    where = urlsplit(url)
    for _ in range(100):
        with socket.create_connection((where.hostname, where.port)) as connection:
            # The first answer is met by a reset, so that the second is an error, or SIGPIPE.
            connection.sendall(f"GET /readyz HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode() * 3)
    with httpx.Client(base_url=url, verify=PLAIN, timeout=30) as http:
        assert http.get("/healthz").status_code == 200
    assert program.events("process_died") == []
