"""Commands as processes of their own, from their start: until they end, or until a server answers."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil

from reverie_indexer.errors import SetupError

REVERIE = (sys.executable, "-m", "reverie_server.cli.main")
_LISTENS = re.compile(r"reverie listens on http://([^:]+):(\d+)")
_PATIENCE_SECONDS = 180.0
_AGAIN_SECONDS = 0.005
AGENT_PATH = "/api/v1/agents/bench"
NOTE = "# Harbour\n\nThe lantern at the harbour is green since Thursday.\n"
QUERY = "Which colour has the lantern at the harbour?"


@dataclass(frozen=True, slots=True)
class Took:
    """From the start of a process: seconds on the clock and of CPU, its children's included."""

    seconds: float
    cpu_seconds: float


def to_its_end(command: Sequence[str], environment: Mapping[str, str]) -> Took:
    """Run a command; SetupError when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603  # our own commands
        command, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process.stderr:
        complaints = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        last = (complaints.strip().splitlines() or ["it said nothing"])[-1]
        raise SetupError(f"{' '.join(command[1:4])} failed: {last}")
    return Took(seconds, usage.ru_utime + usage.ru_stime)


@dataclass
class Served:
    """A server as it comes up; `took` has what was reached when."""

    process: psutil.Popen
    started: float
    host: str = ""
    port: int = 0
    took: dict[str, Took] = field(default_factory=dict)

    def until(self, reached: str, attempt: Callable[[Served], bool]) -> None:
        """Try until it succeeds, and note when that was. SetupError when it never does."""
        while time.perf_counter() - self.started < _PATIENCE_SECONDS:
            if self.process.poll() is not None:
                break
            try:
                done = attempt(self)
            except (OSError, http.client.HTTPException):
                done = False
            if done:
                seconds = time.perf_counter() - self.started
                self.took[reached] = Took(seconds, _cpu_seconds(self.process))
                return
            time.sleep(_AGAIN_SECONDS)
        raise SetupError(f"the server to be measured did not come as far as the {reached}")

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the answer of one request."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()


@contextmanager
def serve(environment: Mapping[str, str]) -> Iterator[Served]:
    """`reverie serve` on a free port, ended at the end."""
    started = time.perf_counter()
    process = psutil.Popen(
        [*REVERIE, "serve", "--port", "0"],
        env=dict(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Served(process, started)
    listens = threading.Event()

    def read() -> None:
        # To its end, so that the pipe never fills.
        for line in process.stderr:
            if match := _LISTENS.search(line):
                served.host, served.port = match[1], int(match[2])
                listens.set()

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    try:
        served.until("listening", lambda _: listens.is_set())
        yield served
    finally:
        process.terminate()
        process.wait()
        reading.join()
        process.stderr.close()


def write_note(served: Served) -> bool:
    """Write the one note; whether that was accepted."""
    status, _ = served.ask("PUT", f"{AGENT_PATH}/files/notes/harbour.md", {"content": NOTE})
    return status in (200, 201)


def found_by_words(served: Served) -> bool:
    """Whether a search by words finds the note."""
    status, answer = served.ask("POST", f"{AGENT_PATH}/memory/search", {"query": QUERY, "mode": "text"})
    return status == 200 and answer["count"] > 0


def found_by_meaning(served: Served) -> bool:
    """Whether a hybrid search had the query's embedding, and finds the note."""
    status, answer = served.ask("POST", f"{AGENT_PATH}/memory/search", {"query": QUERY})
    return status == 200 and answer["mode"] == "hybrid" and answer["count"] > 0


def _cpu_seconds(process: psutil.Popen) -> float:
    """Of a process, of its children that have ended, and of those that live."""
    own = process.cpu_times()
    total: float = own.user + own.system + own.children_user + own.children_system
    for child in process.children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
