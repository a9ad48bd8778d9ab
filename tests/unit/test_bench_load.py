"""The lean client: whole answers, in any pieces, and no answer but 200."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from reverie_bench.load.client import Target, answer_length, drive
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
