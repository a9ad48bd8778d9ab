"""The threads of jobs. A thread cannot be stopped, so this module knows for which job each one works, since when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

from reverie_indexer.background_threads import begin_thread

T = TypeVar("T")
LOOK_SECONDS = 0.05
# The id of the job that a task works for, and with it the calls that the task hands to threads.
current_job: ContextVar[int | None] = ContextVar("current_job", default=None)


class JobThreads(ThreadPoolExecutor):
    """Runs functions in threads, as the default executor of an event loop, and knows for which jobs it does."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="job", initializer=begin_thread)
        self._calls: dict[Future[Any], tuple[int | None, float]] = {}

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a function for the job of the caller's context."""
        call = super().submit(fn, *args, **kwargs)
        self._calls[call] = (current_job.get(), time.monotonic())
        # Runs when the call has ended, at once where it has already, also when nobody waits for it any more.
        call.add_done_callback(lambda done: self._calls.pop(done, None))
        return call

    async def ended(self, job_id: int) -> None:
        """Wait until no thread works for a job."""
        while any(job_id == each for each, _ in list(self._calls.values())):  # noqa: ASYNC110  # other threads end it
            await asyncio.sleep(LOOK_SECONDS)

    def longer_than(self, seconds: float) -> set[int]:
        """The jobs with a call that has been running for longer than this."""
        since = time.monotonic() - seconds
        calls = list(self._calls.values())
        return {job_id for job_id, began in calls if job_id is not None and began < since}

    def is_busy(self) -> bool:
        """Whether a thread works, for a job or for none."""
        return bool(self._calls)
