"""The CPU and memory of processes on this machine: of the server, and of PostgreSQL where it is here too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import psutil
import psycopg

from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError

SQL = Queries(__file__)
# Of a second of CPU in a second, for so many seconds: what a server at rest stays below.
_AT_REST, _RESTING_SECONDS = 0.05, 6


def cpu_seconds(processes: Sequence[psutil.Process], *, with_ended_children: bool = False) -> float:
    """User and system time of processes so far, and of their children that have ended; an ended one counts nothing."""
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
        if with_ended_children:
            total += times.children_user + times.children_system
    return total


async def until_at_rest(program: psutil.Process, *, seconds: float = 600) -> None:
    """Wait for a program and its children to have done what follows from earlier requests, which would be measured with
    the next ones.

    SetupError where they are not done after so many seconds.
    """
    deadline = time.monotonic() + seconds
    resting = 0
    while resting < _RESTING_SECONDS:
        if time.monotonic() > deadline:
            raise SetupError(f"the server is not at rest after {seconds:.0f} s")
        before = _family_seconds(program)
        await asyncio.sleep(1)
        resting = resting + 1 if abs(_family_seconds(program) - before) < _AT_REST else 0


def _family_seconds(program: psutil.Process) -> float:
    try:
        return cpu_seconds([program, *program.children(recursive=True)], with_ended_children=True)
    except psutil.NoSuchProcess:
        return 0.0


async def postgres_processes(connection: psycopg.AsyncConnection[Any]) -> list[psutil.Process]:
    """PostgreSQL's processes, the postmaster first; none when the server is on another machine or out of sight."""
    row = await (await connection.execute(SQL["backend"])).fetchone()
    assert row is not None
    process_id, is_local = row
    if not is_local:
        return []
    try:
        backend = psutil.Process(process_id)
        postmaster = backend.parent()
        # Another container's process numbers mean something else here.
        if "postgres" not in backend.name() or postmaster is None:
            return []
        return [postmaster, *postmaster.children()]
    except psutil.Error:
        return []


def memory_mb(processes: Sequence[psutil.Process]) -> dict[str, float] | None:
    """Resident memory of processes in MB: `resident` counts shared pages for each, `proportional` (Linux) once.

    None without processes, or where they may not be looked at.
    """
    resident = proportional = 0.0
    for process in processes:
        try:
            full = process.memory_full_info()
        except psutil.NoSuchProcess:
            continue
        except psutil.Error:
            return None
        resident += full.rss / 1e6
        proportional += getattr(full, "pss", 0) / 1e6
    if not resident:
        return None
    return {"resident": round(resident, 1)} | ({"proportional": round(proportional, 1)} if proportional else {})
