"""Ends what a process of the tests leaves when it is killed: the programs it started, their PostgreSQL servers, and the
directories of its clusters. Run as `python -m tests.reaper PID PREFIX`, in a session of its own.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from reverie_indexer.postgres.host import kill_all, open_lock, try_flock

# In the environment of all that a process of the tests starts: whose child it is.
MARK = "TESTS_OF_REVERIE"
_ROOT = Path(__file__).parents[1]
_KILL_SECONDS = 20.0


def start_reaper(directories: str) -> None:
    """From now on the end of this process is the end of all it started, and of `directories` (an absolute path with
    `*`). A directory in use by another process of the same run stays.
    """
    _started(directories)


@cache
def _started(directories: str) -> subprocess.Popen[bytes]:
    """Kept, since nobody waits for it."""
    unmarked = {name: value for name, value in os.environ.items() if name != MARK}
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    reaper = subprocess.Popen(  # ourselves
        [sys.executable, "-m", "tests.reaper", str(os.getpid()), directories],
        env={**unmarked, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.environ[MARK] = f"{os.environ.get(MARK, '')}/{os.getpid()}/"
    return reaper


def remove_cluster_directory(directory: Path) -> None:
    """Kill every PostgreSQL that works on a cluster in the directory, and delete the directory."""
    for cluster in directory.rglob("postgres"):
        kill_all(cluster, time.monotonic() + _KILL_SECONDS)
    shutil.rmtree(directory, ignore_errors=True)


def _reap(pid: int, directories: str) -> None:
    programs = list(_marked(pid))
    clusters = {data_dir for program in programs for data_dir in _data_dirs(program)}
    for program in programs:
        with suppress(psutil.Error):
            program.kill()
    psutil.wait_procs(programs, _KILL_SECONDS)
    for data_dir in clusters:
        if _is_unused(data_dir):
            kill_all(data_dir / "postgres", time.monotonic() + _KILL_SECONDS)
    pattern = Path(directories)
    for directory in pattern.parent.glob(pattern.name):
        if _is_unused(directory):
            remove_cluster_directory(directory)


def _marked(pid: int) -> Iterator[psutil.Process]:
    """What the process started, and what that started, as far as it still runs."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if f"/{pid}/" in process.environ().get(MARK, ""):
                yield process


def _data_dirs(program: psutil.Process) -> Iterator[Path]:
    """Where the clusters lie that the program is a client of."""
    with suppress(psutil.Error):
        for file in program.open_files():
            if Path(file.path).name == "clients.lock":
                yield Path(file.path).parent


def _is_unused(data_dir: Path) -> bool:
    """Whether no client of the cluster is left. Each locks this file as long as it lives."""
    if not (data_dir / "clients.lock").exists():
        return True
    descriptor = open_lock(data_dir / "clients.lock")
    try:
        return try_flock(descriptor, "exclusive")
    finally:
        os.close(descriptor)


def _wait_for_end(pid: int) -> None:
    """Return when the process is gone, or nothing but its exit status is left of it."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        select.select([descriptor], [], [])


if __name__ == "__main__":
    _wait_for_end(int(sys.argv[1]))
    _reap(int(sys.argv[1]), sys.argv[2])
