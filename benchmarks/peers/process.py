"""One adapter as a process: requests in, answers out, killed when that is what is measured."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# An adapter may have the name of the library that it imports, so its directory comes last on the path.
_LAUNCH = "import runpy, sys; sys.path.append(sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
_LOG_LINES = 400
_ENDED = ""
_READ_SECONDS = 10.0  # what is left in the pipes once the process is gone


class PeerFailed(Exception):
    """The adapter said that something failed, ended, or did not answer in time; the text is for the table."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How an adapter is started: its interpreter, its script, where it keeps its data, its environment."""

    python: Path
    script: Path
    directory: Path
    environment: Mapping[str, str]


class PeerProcess:
    """A running adapter. Not for several threads."""

    def __init__(self, launch: Launch) -> None:
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603  # our own scripts
            [str(launch.python), "-P", "-c", _LAUNCH, str(launch.script.parent), str(launch.script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=launch.directory,
            env=dict(launch.environment),
            start_new_session=True,
        )
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_answers, self._read_log)]
        for reader in self._readers:
            reader.start()

    def ask(self, operation: str, timeout_seconds: float, **fields: Any) -> dict[str, Any]:
        """Send one request and wait for its answer; PeerFailed unless it says `ok`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"op": operation, **fields}) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PeerFailed(self._why_ended(operation)) from error
        while True:
            try:
                line = self._answers.get(timeout=timeout_seconds)
            except queue.Empty:
                raise PeerFailed(f"{operation}: no answer in {timeout_seconds:.0f} s") from None
            if line == _ENDED:
                raise PeerFailed(self._why_ended(operation))
            answer = as_answer(line)
            if answer is None:
                continue
            if not answer["ok"]:
                raise PeerFailed(f"{operation}: {first_line(str(answer.get('error', '')))}")
            return answer

    def kill(self) -> None:
        """SIGKILL to the process and all it started, at once; then wait for it. Once more does nothing."""
        assert self._process.stdin is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for reader in self._readers:
            reader.join(_READ_SECONDS)
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def close(self, timeout_seconds: float = 60) -> None:
        """Ask it to end, and kill what is left of it."""
        with suppress(PeerFailed, subprocess.TimeoutExpired):
            self.ask("close", timeout_seconds)
            self._process.wait(timeout_seconds)
        self.kill()

    def log(self) -> str:
        """The last lines that it and its libraries wrote to standard error."""
        return "\n".join(self._log)

    def _why_ended(self, operation: str) -> str:
        self._process.wait()
        # What it said last may still be on its way.
        self._readers[1].join(_READ_SECONDS)
        last = next((line for line in reversed(self._log) if line.strip()), "it said nothing")
        return f"{operation}: the adapter ended ({self._process.returncode}): {first_line(last)}"

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._answers.put(line)
        self._answers.put(_ENDED)

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._log.append(line.rstrip())


def as_answer(line: str) -> dict[str, Any] | None:
    """The line as an answer; None for anything else, which a library may print before the adapter takes over."""
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and isinstance(answer.get("ok"), bool) else None


def first_line(text: str) -> str:
    """The first line, short enough for a table and for a result file, which must not carry the data's texts."""
    lines = text.strip().splitlines()
    return lines[0][:200] if lines else "no reason given"
