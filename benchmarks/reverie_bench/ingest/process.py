"""`reverie index` as a process of its own: what it used, and what it had done when it was killed."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from reverie_indexer.errors import SetupError

_SUMMARY = re.compile(r"^(\d+) new, (\d+) changed, (\d+) unchanged, .*; (\d+) chunks written", re.MULTILINE)
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_LOOK_EVERY_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Indexing:
    """What one run did, in files and chunks, and what it used. `peak_mb` is the resident memory at its highest."""

    new: int
    unchanged: int
    chunks: int
    seconds: float
    cpu_seconds: float
    peak_mb: float


def index(folder: Path, environment: Mapping[str, str]) -> Indexing:
    """Run the command to its end. SetupError with its last line when it fails."""
    started = time.perf_counter()
    process = _start(folder, environment)
    used = _Used()
    while process.poll() is None:
        used.look(process.pid)
        time.sleep(_LOOK_EVERY_SECONDS)
    seconds = time.perf_counter() - started
    answer, complaints = process.communicate()
    found = _SUMMARY.search(answer)
    if process.returncode != 0 or found is None:
        last = (complaints.strip().splitlines() or ["it said nothing"])[-1]
        raise SetupError(f"`reverie index` failed: {last}")
    new, _, unchanged, chunks = map(int, found.groups())
    return Indexing(new, unchanged, chunks, seconds, used.cpu_seconds, used.peak_mb)


async def index_until(folder: Path, environment: Mapping[str, str], enough: Callable[[], bool]) -> bool:
    """Run the command and end it by SIGKILL as soon as `enough` says so; whether it was killed before its end."""

    def work() -> bool:
        process = _start(folder, environment)
        try:
            while process.poll() is None:
                if enough():
                    process.kill()
                    return True
                time.sleep(_LOOK_EVERY_SECONDS)
            return False
        finally:
            process.kill()
            process.communicate()

    return await asyncio.to_thread(work)


class _Used:
    """The most that a process was seen to use. Of an ended process nobody can ask it, so it is looked at on the way."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.peak_mb = 0.0

    def look(self, process_id: int) -> None:
        try:
            process = psutil.Process(process_id)
            times = process.cpu_times()
            self.cpu_seconds = max(self.cpu_seconds, times.user + times.system)
            self.peak_mb = max(self.peak_mb, process.memory_info().rss / 1e6, _highest_mb(process_id))
        except psutil.Error:
            return


def _highest_mb(process_id: int) -> float:
    """The peak that Linux keeps; 0 elsewhere. Unlike getrusage's it does not count the process that forked this one."""
    try:
        found = _PEAK.search(Path(f"/proc/{process_id}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0.0
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _start(folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    # Output is some lines: the pipes never fill.
    return subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, "-m", "reverie_server.cli.main", "index", os.fspath(folder), "--agent", "bench"],
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
