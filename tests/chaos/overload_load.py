"""Clients that send one request after the other whatever is answered, and one that asks `/healthz` meanwhile.

A process of its own: `python -m tests.chaos.overload_load HOST:PORT CLIENTS SECONDS PATHS [KEY]`. It prints one object.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import threading
import time
from collections import Counter
from typing import Any

from reverie_bench.load.client import Target, answer_length

_PATIENCE_SECONDS = 120.0


class Client:
    """A connection with one request on the way; made anew where the server closed it."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.received = bytearray()
        self.sent_at = 0.0
        self.socket = self._connect()

    def _connect(self) -> socket.socket:
        made = socket.create_connection((self._target.host, self._target.port), _PATIENCE_SECONDS)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def send(self, request: bytes) -> None:
        self.received.clear()
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def reconnect(self) -> None:
        self.socket.close()
        self.socket = self._connect()


class Load:
    """What was answered: statuses, and the seconds of each answer by status."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.good: list[float] = []

    def note(self, status: int | str, seconds: float) -> None:
        self.statuses[str(status)] += 1
        self.seconds.append(seconds)
        if status == 200:
            self.good.append(seconds)


def drive(target: Target, requests: list[bytes], clients: int, seconds: float) -> Load:
    """Send requests for so many seconds; then wait for the last answers."""
    load = Load()
    selector = selectors.DefaultSelector()
    following = 0
    for _ in range(clients):
        client = Client(target)
        selector.register(client.socket, selectors.EVENT_READ, client)
    for key in list(selector.get_map().values()):
        key.data.send(requests[following % len(requests)])
        following += 1
    end = time.perf_counter() + seconds
    waiting = clients
    while waiting:
        ready = selector.select(1.0)
        if time.perf_counter() > end + _PATIENCE_SECONDS:
            load.statuses["unanswered"] += waiting
            break
        for key, _ in ready:
            client = key.data
            try:
                data = client.socket.recv(262_144)
            except ConnectionError:
                data = b""
            client.received += data
            answer = answer_length(client.received) if client.received else None
            if data and (answer is None or len(client.received) < answer[1]):
                continue
            took = time.perf_counter() - client.sent_at
            load.note(answer[0] if answer else "closed", took)
            closes = not data or b"\r\nconnection: close\r\n" in bytes(client.received[:2000]).lower()
            if closes:
                selector.unregister(client.socket)
                client.reconnect()
                selector.register(client.socket, selectors.EVENT_READ, client)
            if time.perf_counter() < end:
                client.send(requests[following % len(requests)])
                following += 1
            else:
                selector.unregister(client.socket)
                client.socket.close()
                waiting -= 1
    return load


def watch_health(target: Target, stop: threading.Event, into: list[float]) -> None:
    """Ask `/healthz` ten times a second, each time over a connection of its own."""
    request = target.request("GET", "/healthz")
    while not stop.wait(0.1):
        began = time.perf_counter()
        with socket.create_connection((target.host, target.port), 60) as connection:
            connection.sendall(request)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        into.append(time.perf_counter() - began)


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4) if ordered else 0.0


def main() -> None:
    address, clients, seconds, agent = sys.argv[1:5]
    host, _, port = address.partition(":")
    headers = {"authorization": f"Bearer {sys.argv[5]}"} if len(sys.argv) > 5 else {}
    target = Target(host, int(port), headers)
    words = ["garden", "tomato", "deadline", "invoice", "harbour", "violin", "recipe", "winter", "protocol", "lantern"]
    queries = [f"{a} {b} {c}" for a in words for b in words for c in words]
    requests = [target.request("POST", f"/api/v1/agents/{agent}/memory/search", {"query": query}) for query in queries]
    health: list[float] = []
    stop = threading.Event()
    watcher = threading.Thread(target=watch_health, args=(Target(host, int(port), {}), stop, health))
    watcher.start()
    began = time.perf_counter()
    load = drive(target, requests, int(clients), float(seconds))
    wall = time.perf_counter() - began
    stop.set()
    watcher.join()
    found: dict[str, Any] = {
        "clients": int(clients),
        "statuses": dict(load.statuses),
        "good_per_second": round(len(load.good) / wall, 1),
        "good_p50": _quantile(load.good, 0.5),
        "all_p50": _quantile(load.seconds, 0.5),
        "all_p99": _quantile(load.seconds, 0.99),
        "all_max": _quantile(load.seconds, 1),
        "health_p50": _quantile(health, 0.5),
        "health_max": _quantile(health, 1),
        "health_asked": len(health),
        "health_slowest_at": [health.index(seconds) for seconds in sorted(health)[-4:]],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
