"""An HTTP endpoint with `/rerank` that scores as it is told, and misbehaves at will."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    has_length: bool = True


Score = Callable[[str, str], float]
Script = Callable[[str, Sequence[str]], Reply]


def scored(scores: Sequence[float]) -> Reply:
    """An answer with these scores, best first as endpoints give them."""
    results = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
    return Reply({"results": sorted(results, key=lambda result: -result["relevance_score"])})


def by(score: Score) -> Script:
    """Scores each document by itself."""
    return lambda query, documents: scored([score(query, document) for document in documents])


class RerankServer(ThreadingHTTPServer):
    """Answers by `script` once `released` is set. Remembers what was asked; `asked` is set by a request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: Script = by(lambda query, document: 0.0)
        self.requests: list[dict[str, Any]] = []
        self.asked = threading.Event()
        self.released = threading.Event()
        self.released.set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: RerankServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({**body, "path": self.path, "key": self.headers["Authorization"]})
        self.server.asked.set()
        self.server.released.wait(30)
        reply = self.server.script(body["query"], body["documents"])
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        with contextlib.suppress(ConnectionError):  # the client may not want to read it all
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.has_length:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def rerank_server() -> Iterator[RerankServer]:
    """A running server."""
    server = RerankServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
