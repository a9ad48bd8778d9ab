"""Processes of a measurement's own, so that what is measured shares no interpreter with what measures it."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from typing import Any

from reverie_indexer.errors import ReverieError, SetupError

Worker = Callable[[Any], Any]
"""Does one job; lives in the other process."""


class Child:
    """A process that does one job at a time."""

    def __init__(self, make: Callable[..., Worker], *arguments: Any) -> None:
        # Not forked: the parent has threads and an event loop.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, make, arguments), daemon=True)
        self._process.start()
        theirs.close()

    async def do(self, job: Any) -> Any:
        """What the worker makes of a job.

        Raises the worker's own ReverieError, SetupError when its process has ended, which says why on stderr.
        """
        made = await asyncio.to_thread(self._do, job)
        if isinstance(made, ReverieError):
            raise made
        return made

    def _do(self, job: Any) -> Any:
        try:
            self._pipe.send(job)
            return self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise SetupError("a process of the measurement ended; what it said is above") from None

    def close(self) -> None:
        """Have the process end, and wait for it."""
        self._pipe.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(pipe: Connection, make: Callable[..., Worker], arguments: tuple[Any, ...]) -> None:
    worker = make(*arguments)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            pipe.send(worker(job))
        except ReverieError as error:
            pipe.send(error)


@asynccontextmanager
async def child(make: Callable[..., Worker], *arguments: Any) -> AsyncIterator[Child]:
    """A process whose worker `make(*arguments)` makes there; both must be picklable. Gone at the end."""
    process = await asyncio.to_thread(Child, make, *arguments)
    try:
        yield process
    finally:
        await asyncio.to_thread(process.close)
