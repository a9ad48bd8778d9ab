"""A lean HTTP/1.1 client for load: keep-alive connections in one thread, each sending when its answer has come.

A general client costs about as much CPU as the server it measures, and on two cores that is the server's. This one
writes requests that were made before and reads no more of an answer than its status and its length.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from reverie_indexer.errors import SetupError

_TIMEOUT_SECONDS = 60.0
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """A server, and the headers that every request to it carries."""

    host: str
    port: int
    headers: Mapping[str, str]

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        """A whole request, with a JSON body where there is one."""
        data = b"" if body is None else json.dumps(body).encode()
        headers = {"host": f"{self.host}:{self.port}", **self.headers}
        if body is not None:
            headers |= {"content-type": "application/json", "content-length": str(len(data))}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + data


@dataclass(frozen=True, slots=True)
class Load:
    """The result of a load: each request's seconds in the order of their answers, all of it, and this process's CPU."""

    seconds: Sequence[float]
    wall_seconds: float
    cpu_seconds: float


def answer_length(received: bytes | bytearray) -> tuple[int, int] | None:
    """The status of an answer and its length in bytes, head included; None while its head is not whole.

    SetupError for an answer without a length, which this client does not read.
    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(received[: end + 2])
    status, length = _STATUS.match(head), _LENGTH.search(head)
    if status is None or length is None:
        raise SetupError("the server's answer is not HTTP/1.1 with a content-length")
    return int(status[1]), end + 4 + int(length[1])


class _Connection:
    """One client: a socket with at most one request on the way."""

    def __init__(self, target: Target) -> None:
        self.socket = socket.create_connection((target.host, target.port), _TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._sent_at = 0.0

    def send(self, request: bytes) -> None:
        self._received.clear()
        self._sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> float | None:
        """Read what is there; the seconds since the request when the answer is whole, else None."""
        data = self.socket.recv(262_144)
        if not data:
            raise SetupError("the server closed a connection in the middle of the load")
        self._received += data
        answer = answer_length(self._received)
        if answer is None or len(self._received) < answer[1]:
            return None
        if answer[0] // 100 != 2:
            raise SetupError(f"the server answered a request of the load with {answer[0]}")
        return time.perf_counter() - self._sent_at


def drive(target: Target, requests: Sequence[bytes], clients: int) -> Load:
    """Send requests in order over `clients` connections, one at a time on each; SetupError for a refusal."""
    seconds: list[float] = []
    waiting = iter(requests)
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for _ in range(min(clients, len(requests))):
            connection = _Connection(target)
            stack.callback(connection.socket.close)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        began, cpu = time.perf_counter(), time.process_time()
        for key in list(selector.get_map().values()):
            key.data.send(next(waiting))
        while len(seconds) < len(requests):
            ready = selector.select(_TIMEOUT_SECONDS)
            if not ready:
                raise SetupError(f"the server did not answer for {_TIMEOUT_SECONDS:.0f} seconds")
            for key, _ in ready:
                answered = key.data.receive()
                if answered is None:
                    continue
                seconds.append(answered)
                if (request := next(waiting, None)) is not None:
                    key.data.send(request)
                else:
                    # Nothing more for it, and the server may close it while others still wait for their answers.
                    selector.unregister(key.fileobj)
        return Load(seconds, time.perf_counter() - began, time.process_time() - cpu)


def drive_general(target: Target, path: str, bodies: Sequence[Any]) -> Load:
    """The same for one client with httpx, to know what a general client costs."""
    import httpx

    seconds = []
    with httpx.Client(
        base_url=f"http://{target.host}:{target.port}", headers=dict(target.headers), timeout=_TIMEOUT_SECONDS
    ) as general:
        general.post(path, json=bodies[0]).raise_for_status()
        began, cpu = time.perf_counter(), time.process_time()
        for body in bodies:
            at = time.perf_counter()
            general.post(path, json=body).raise_for_status()
            seconds.append(time.perf_counter() - at)
        return Load(seconds, time.perf_counter() - began, time.process_time() - cpu)


class LoadClient:
    """The worker of a process that loads a server."""

    drive = staticmethod(drive)
    drive_general = staticmethod(drive_general)
