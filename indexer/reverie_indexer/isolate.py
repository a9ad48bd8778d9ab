"""Runs long work over texts in a process of its own, which the kernel ends at a limit of CPU time.

A thread cannot be stopped, and one that holds the interpreter stops everybody. So a function over a long text runs in a
fork of this process: nothing is pickled but its result, and nothing imported. Other threads may hold locks at that
instant; what runs in the fork takes none of theirs, and were it to wait for one, it would be ended like the rest.
"""

from __future__ import annotations

import asyncio
import gc
import math
import os
import pickle
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from reverie_indexer.errors import Overloaded, TextTooCostly

T = TypeVar("T")
# From here on a fork (4 to 10 ms) costs less than a third of what it does to cut such a text (31 ms of CPU, 2026).
ISOLATED_FROM_CHARS = 65_536
# A file of a megabyte is cut in 0.6 s of CPU time. The wall clock is for a process that waits, of whatever.
CPU_SECONDS = 20.0
WALL_SECONDS = 120.0
PROCESSES = max(2, os.cpu_count() or 1)
# A call that waits longer for a free process is refused.
PATIENCE_SECONDS = 10.0
_HIGHEST_DESCRIPTOR = 65_536
_slots = threading.BoundedSemaphore(PROCESSES)
_is_supported = hasattr(os, "fork") and hasattr(signal, "setitimer")


async def isolated(
    function: Callable[..., T], *args: Any, chars: int, before_fork: Callable[[], object] | None = None
) -> T:
    """The result or error of a pure function, computed in a process that can be ended; `chars` is its text's length.

    Changes to anything but the result are lost, so the function should be pure. It must neither wait for anything nor
    use a connection. What `before_fork` caches is there for the fork, and stays here. With less than
    `ISOLATED_FROM_CHARS` it runs in a thread, as with any platform that cannot fork. Cancelled, the process is ended.
    Raises TextTooCostly after `CPU_SECONDS`, and Overloaded when as many processes as there may be are at work and none
    ends soon, or the system has no room for another.
    """
    if chars < ISOLATED_FROM_CHARS or not _is_supported:
        return await asyncio.to_thread(function, *args)
    if before_fork is not None:
        await asyncio.to_thread(before_fork)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _slots.acquire(blocking=False):
        if time.monotonic() > deadline:
            raise Overloaded(f"{PROCESSES} long texts are being worked on; try again in a moment")
        await asyncio.sleep(0.02)
    process = _Process(function, args, CPU_SECONDS)
    run = asyncio.create_task(asyncio.to_thread(process.run))
    run.add_done_callback(lambda _: _slots.release())
    try:
        succeeded, outcome = await asyncio.shield(run)
    except asyncio.CancelledError:
        process.kill()
        # Also when this is cancelled again: nobody else asks what became of it.
        run.add_done_callback(lambda task: task.cancelled() or task.exception())
        raise
    if succeeded:
        result: T = outcome
        return result
    raise outcome


class _Process:
    """One call of a function in a fork."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], cpu_seconds: float) -> None:
        self._function = function
        self._args = args
        self._cpu_seconds = cpu_seconds
        self._lock = threading.Lock()
        self._pid: int | None = None
        self._is_abandoned = False

    def kill(self) -> None:
        """End the process, also before it has begun."""
        with self._lock:
            self._is_abandoned = True
            if self._pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)

    def run(self) -> tuple[bool, Any]:
        """Whether the function returned, and its result or error. Blocks. TextTooCostly where the process was ended."""
        pid, reader = self._begin()
        try:
            content = _read(reader, time.monotonic() + WALL_SECONDS)
        finally:
            os.close(reader)
            with self._lock:
                self._pid = None
                # It has nothing more to say. Reaped under the lock: its number may belong to another at once.
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        if content is None:
            raise TextTooCostly(
                f"working on this text took more than {self._cpu_seconds:g} s of CPU time; send less, or other text"
            )
        outcome: tuple[bool, Any] = pickle.loads(content)  # noqa: S301  # of our own fork
        return outcome

    def _begin(self) -> tuple[int, int]:
        """Fork. Returns the process's id and the descriptor to read its result from."""
        pipe: tuple[int, ...] = ()
        try:
            reader, writer = pipe = os.pipe()
            with self._lock:
                if self._is_abandoned:
                    raise TextTooCostly("nobody waits for it any more")
                pid = self._pid = os.fork()
                if pid == 0:
                    self._become(writer)
        except BaseException as error:
            for descriptor in pipe:
                os.close(descriptor)
            if isinstance(error, OSError):
                # No memory, processes or files are left: that passes.
                raise Overloaded("the system has no room for another process; try again in a moment") from error
            raise
        os.close(writer)
        return pid, reader

    def _become(self, writer: int) -> None:
        """In the fork: compute, write, end. Nothing of what the other process has open is touched."""
        try:
            # What the other process is about to throw away is not ours to close.
            gc.disable()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPROF, signal.SIGALRM):
                signal.signal(number, signal.SIG_DFL)
            # By the kernel, also when whoever asked has died.
            signal.setitimer(signal.ITIMER_PROF, self._cpu_seconds)
            signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
            # A client whose connection is closed meanwhile must see that.
            os.closerange(3, writer)
            os.closerange(writer + 1, _HIGHEST_DESCRIPTOR)
            try:
                outcome = (True, self._function(*self._args))
            except Exception as error:  # noqa: BLE001  # it is raised where it was asked for
                outcome = (False, error.with_traceback(None))
            content = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(len(content).to_bytes(8, "big"))
                pipe.write(content)
        finally:
            os._exit(0)


def _read(reader: int, deadline: float) -> bytes | None:
    """All that a process writes; None where it ended before the last byte, or missed the deadline."""
    pieces: list[bytes] = []
    size, expected_bytes = 0, math.inf
    while size < expected_bytes:
        seconds = deadline - time.monotonic()
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        if seconds <= 0 or not poll.poll(seconds * 1000):
            return None
        piece = os.read(reader, 1 << 20)
        if not piece:
            return None
        pieces.append(piece)
        size += len(piece)
        if expected_bytes == math.inf and size >= 8:
            pieces = [b"".join(pieces)]
            expected_bytes = 8 + int.from_bytes(pieces[0][:8], "big")
    return b"".join(pieces)[8:]
