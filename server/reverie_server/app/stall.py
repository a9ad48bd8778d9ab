"""The end of a process whose event loop stands still: the kernel sends it, also while C code holds the interpreter."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

REARM_SECONDS = 0.25


@asynccontextmanager
async def ends_when_stalled(stall_seconds: float) -> AsyncIterator[None]:
    """While this is open, the process ends once it has used `stall_seconds` of CPU time and its loop did not turn.

    The loop winds up a timer of the process's CPU time again and again. When that runs out, the kernel sends SIGPROF,
    which prints where each thread is (names of functions, no values) and ends the process. A machine that is suspended
    uses no CPU time. Without such a timer (Windows) this does nothing. Open it in the main thread.
    """
    if not hasattr(signal, "setitimer") or not hasattr(faulthandler, "register"):
        yield
        return
    faulthandler.register(signal.SIGPROF, all_threads=True, chain=True)
    # Beside a loop that is well, libraries may keep every processor at work (a model that embeds, say).
    seconds = stall_seconds + REARM_SECONDS * (os.cpu_count() or 1)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    winding = asyncio.create_task(_wind(seconds), name="stall-timer")
    try:
        yield
    finally:
        winding.cancel()
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.unregister(signal.SIGPROF)


async def _wind(seconds: float) -> None:
    while True:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        await asyncio.sleep(REARM_SECONDS)
