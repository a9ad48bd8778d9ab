"""Commands as processes of their own: their time, CPU and memory to their end, or until a server answers."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from pydantic import SecretStr

from reverie_bench.load.host import cpu_seconds
from reverie_indexer.errors import SetupError
from reverie_server.settings.server import Settings

REVERIE = (sys.executable, "-m", "reverie_server.cli.main")
Environment = Mapping[str, str]
_LISTENS = re.compile(r"reverie listens on http://([^:]+):(\d+)")
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_START_SECONDS = 180.0
_RETRY_SECONDS = 0.005
_LOOK_EVERY_SECONDS = 0.02


def environment_of(settings: Settings, **changes: str) -> dict[str, str]:
    """This process's environment with the settings that are set, and changes on top, as `REVERIE_*` variables."""
    variables = dict(os.environ)
    for name in settings.model_fields_set:
        value = getattr(settings, name)
        if value is not None:
            text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            variables[f"REVERIE_{name.upper()}"] = text
    return variables | {f"REVERIE_{name.upper()}": value for name, value in changes.items()}


@dataclass(frozen=True, slots=True)
class Usage:
    """Of a process from its start: seconds on the clock and of CPU, its children's included.

    `peak_mb` is the resident memory at its highest, 0.0 where nobody watched it.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float = 0.0


def run_command(command: Sequence[str], environment: Environment, *, watch_memory: bool = False) -> tuple[Usage, str]:
    """Run a command to its end: its usage, and its output. SetupError with its last line on stderr when it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=dict(environment), stdout=output, stderr=errors)  # noqa: S603  # ours
        watch = _MemoryWatch(process.pid) if watch_memory else None
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        peak_mb = watch.stop() if watch else 0.0
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            last = (errors.read().strip().splitlines() or ["nothing on stderr"])[-1]
            raise SetupError(f"{' '.join(command[1:4])} failed: {last}")
        return Usage(seconds, usage.ru_utime + usage.ru_stime, peak_mb), output.read()


def run_until(command: Sequence[str], environment: Environment, enough: Callable[[], bool]) -> bool:
    """Run a command and end it by SIGKILL as soon as `enough`; whether it was killed before its end."""
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while process.poll() is None:
            if enough():
                return True
            time.sleep(_LOOK_EVERY_SECONDS)
        return False
    finally:
        process.kill()
        process.wait()


class _MemoryWatch:
    """Looks at a process's memory on the way, because nobody can look at that of an ended process.

    getrusage would count the memory of the process that forked it.
    """

    def __init__(self, process_id: int) -> None:
        self._process_id = process_id
        self._peak_mb = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """The highest resident memory in MB."""
        self._ended.set()
        self._thread.join()
        return self._peak_mb

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_SECONDS):
            try:
                self._peak_mb = max(self._peak_mb, psutil.Process(self._process_id).memory_info().rss / 1e6)
                # The peak that Linux keeps.
                status = Path(f"/proc/{self._process_id}/status").read_text(encoding="utf-8")
            except (psutil.Error, OSError):
                continue
            if kept := _PEAK.search(status):
                self._peak_mb = max(self._peak_mb, int(kept[1]) * 1024 / 1e6)


@dataclass
class Served:
    """A server as it comes up; `usage` is by the step that it reached."""

    process: psutil.Popen
    started: float
    host: str = ""
    port: int = 0
    usage: dict[str, Usage] = field(default_factory=dict)

    def until(self, reached: str, attempt: Callable[[Served], bool]) -> None:
        """Try until it succeeds, and note the usage. SetupError when it never does."""
        while time.perf_counter() - self.started < _START_SECONDS:
            if self.process.poll() is not None:
                break
            try:
                done = attempt(self)
            except (OSError, http.client.HTTPException):
                done = False
            if done:
                self.usage[reached] = Usage(time.perf_counter() - self.started, cpu_of_family(self.process))
                return
            time.sleep(_RETRY_SECONDS)
        raise SetupError(f"the server to be measured did not come as far as the {reached}")

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the answer of one request."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()


@contextmanager
def serve(environment: Environment) -> Iterator[Served]:
    """`reverie serve` on a free port of loopback, ended at the end. SetupError when it does not come up."""
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

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        served.until("listening", lambda _: listens.is_set())
        yield served
    finally:
        process.terminate()
        process.wait()
        reader.join()
        process.stderr.close()


def is_ready(served: Served) -> bool:
    """Whether the server is ready with its model."""
    return served.ask("GET", "/readyz")[0] == 200


def cpu_of_family(process: psutil.Popen) -> float:
    """CPU seconds of a process, of its children that have ended, and of those that live."""
    family = [process, *process.children(recursive=True)]
    return cpu_seconds(family, with_ended_children=True)
