"""Where the time of a request goes: the application driven in process, span by span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI

from reverie_bench.load.client import Target
from reverie_indexer.errors import SetupError
from reverie_server.text.spans import recording, span


async def breakdown(app: FastAPI, target: Target, path: str, bodies: Sequence[bytes]) -> dict[str, Any]:
    """The tree of spans of these requests, one after another; times are means over them, in ms.

    The root is the time that a server's event loop would give to a request; reading and writing the socket is not in
    it. SetupError for any answer but 200.
    """
    with recording() as recorder:
        for body in bodies:
            with span("request"):
                status = await _ask(app, target, path, body)
            if status != 200:
                raise SetupError(f"the application answered a request of the breakdown with {status}")
    return recorder.root.children["request"].tree(per=len(bodies))


async def _ask(app: FastAPI, target: Target, path: str, body: bytes) -> int:
    """One POST as a server would hand it to the application; the status of the answer."""
    headers = {"host": f"{target.host}:{target.port}", "content-type": "application/json", **target.headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [
            *((name.lower().encode(), value.encode()) for name, value in headers.items()),
            (b"content-length", str(len(body)).encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": (target.host, target.port),
        "state": {},
    }
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    return statuses[0]
