"""What has to be done in a thread is done, also when whoever waits for it is cancelled first."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reverie_server.app.databases import uninterrupted


async def test_a_function_that_still_waits_for_a_thread_runs_although_it_is_cancelled() -> None:
    busy, done = threading.Event(), []
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    blocker = loop.run_in_executor(None, busy.wait)
    task = asyncio.create_task(uninterrupted(lambda: done.append(True)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    busy.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == [True]
    assert await blocker


async def test_what_the_function_raises_is_raised() -> None:
    def fail() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        await uninterrupted(fail)
