"""`reverie serve` or `reverie worker` over a test's database, with the processes that it consists of."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from reverie_indexer.postgres.host import is_live

# In a line of text, or in one of JSON.
LISTENING = re.compile(r'listens on (http://[^\s"]+)')
PROMPT = {
    "REVERIE_EMBEDDER": "hashing",
    "REVERIE_LOG_FORMAT": "json",
    "REVERIE_WORKER_POLL_SECONDS": "0.2",
    "REVERIE_JOB_RETRY_SECONDS": "0.1",
    "REVERIE_STALL_SECONDS": "1",
    "REVERIE_SHUTDOWN_GRACE_SECONDS": "6",
}


class Program:
    """A command as a process, what it logs, and its children. End it with `stop`."""

    def __init__(self, *arguments: str, module: str = "tests.chaos.hostile_cli", **settings: str) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env={**given, **PROMPT, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._started: list[psutil.Process] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                if '"process_started"' in line:
                    # Looked at while it is there: later its number may be another process's.
                    with suppress(psutil.NoSuchProcess):
                        self._started.append(psutil.Process(json.loads(line)["pid"]))
                self.lines.append(line.rstrip())

    def events(self, name: str) -> list[dict[str, Any]]:
        """What was logged under a name."""
        found = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [each for each in found if each["event"] == name]

    def pid_of(self, service: str) -> int | None:
        """The process that runs a service now."""
        pids = [each["pid"] for each in self.events("process_started") if each["process"] == service]
        return pids[-1] if pids and pids[-1] in [child.pid for child in self.children()] else None

    def children(self) -> list[psutil.Process]:
        """The processes of services, as far as they live."""
        return [process for process in list(self._started) if process.is_running() and is_live(process)]

    def url(self) -> str:
        """Where the server listens, as soon as it does."""
        self.until(lambda: any(LISTENING.search(line) for line in self.lines))
        return next(found.group(1) for line in self.lines if (found := LISTENING.search(line)))

    def until(self, condition: Callable[[], Any], seconds: float = 60) -> None:
        """Wait for something; what was logged meanwhile says why it does not come."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "\n".join(self.lines[-100:])
            time.sleep(0.02)

    def stop(self) -> None:
        """End it and its children, however they are."""
        victims = self.children()
        for victim in victims:
            if is_live(victim):
                victim.kill()
        self.process.kill()
        self.process.wait()
        self._reading.join()
