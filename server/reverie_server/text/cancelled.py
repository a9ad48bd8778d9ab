"""Whether a task was asked to end."""

from __future__ import annotations

import asyncio


def is_cancelled() -> bool:
    """Whether this task was asked to end.

    Before Python 3.12 `asyncio.wait_for`, which the database driver uses, now and then swallows a cancellation; a
    task that would otherwise run for ever asks.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
