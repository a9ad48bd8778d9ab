"""The lean client: whole answers, in any pieces, and no answer but 200."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from reverie_bench.load.client import Target, answer_length, drive
from reverie_bench.load.host import cpu_seconds, until_at_rest
from reverie_indexer.errors import SetupError


def test_a_request_is_whole_and_says_its_length() -> None:
    target = Target("127.0.0.1", 80, {"authorization": "Bearer x"})
    head, _, body = target.request("POST", "/a", {"query": "naïve"}).partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /a HTTP/1.1"
    assert b"authorization: Bearer x" in head
    assert b"content-length: %d" % len(body) in head
    assert json.loads(body) == {"query": "naïve"}
    assert b"content-length" not in target.request("GET", "/healthz")


def test_an_answer_is_as_long_as_its_head_says() -> None:
    head = b"HTTP/1.1 200 OK\r\nserver: x\r\nContent-Length: 5\r\n\r\n"
    assert answer_length(head[:-1]) is None
    assert answer_length(head) == (200, len(head) + 5)
    with pytest.raises(SetupError, match="content-length"):
        answer_length(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")


@contextmanager
def answering(status: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers every request in two pieces; its port, and the first lines it saw."""
    seen: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(65536):
                seen.append(data.split(b"\r\n")[0])
                connection.sendall(b"HTTP/1.1 " + status + b"\r\ncontent-le")
                connection.sendall(b"ngth: 4\r\n\r\nab")
                connection.sendall(b"cd")

    def accept(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1], seen
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("clients", [1, 3, 50])
def test_every_request_is_sent_once_and_timed(clients: int) -> None:
    with answering(b"200 OK") as (port, seen):
        target = Target("127.0.0.1", port, {})
        loaded = drive(target, [target.request("GET", f"/{number}") for number in range(20)], clients)
    assert len(loaded.seconds) == 20
    assert sorted(seen) == sorted(f"GET /{number} HTTP/1.1".encode() for number in range(20))
    assert 0 < max(loaded.seconds) <= loaded.wall_seconds


def test_an_error_ends_the_load() -> None:
    with answering(b"503 Unavailable") as (port, _):
        target = Target("127.0.0.1", port, {})
        with pytest.raises(SetupError, match="503"):
            drive(target, [target.request("GET", "/")], 1)


@contextmanager
def busy_for(seconds: float) -> Iterator[psutil.Process]:
    """A process that takes so many seconds of CPU, and then waits."""
    code = f"import time\nwhile time.process_time() < {seconds}: pass\ntime.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code]) as program:
        try:
            yield psutil.Process(program.pid)
        finally:
            program.kill()


async def test_a_server_is_measured_when_it_rests() -> None:
    with busy_for(2) as process:
        await until_at_rest(process)
        assert cpu_seconds([process]) > 1.5
    with busy_for(600) as process, pytest.raises(SetupError, match="at rest"):
        await until_at_rest(process, seconds=2)
