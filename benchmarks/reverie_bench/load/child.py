"""Processes of a measurement's own, so that a measured program shares no interpreter with the measurement."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from typing import Any

from reverie_indexer.errors import SetupError

# The object that does the jobs of this process, where it is one of these.
_worker: Any = None


class Child:
    """A process with a worker, an object whose methods are called there, one call at a time."""

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        # Not forked: the parent has threads and an event loop.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(make, arguments))

    async def do(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker; its result.

        Raises what the method raises, SetupError when the process has ended, which says why on stderr.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _call, method, arguments)
        except BrokenProcessPool:
            raise SetupError("a process of the measurement ended; what it said is above") from None

    def close(self) -> None:
        """End the process after its call, and wait for it."""
        self._pool.shutdown(cancel_futures=True)


def _begin(make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    global _worker
    _worker = make(*arguments)


def _call(method: str, arguments: tuple[Any, ...]) -> Any:
    return getattr(_worker, method)(*arguments)


@asynccontextmanager
async def child(make: Callable[..., Any], *arguments: Any) -> AsyncIterator[Child]:
    """A process whose worker `make(*arguments)` makes there; both must be picklable. Gone at the end."""
    process = Child(make, *arguments)
    try:
        yield process
    finally:
        await asyncio.to_thread(process.close)
