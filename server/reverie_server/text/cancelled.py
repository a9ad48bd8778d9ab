"""Whether a task was asked to end."""

from __future__ import annotations

import asyncio


def is_cancelled() -> bool:
    """Whether this task was asked to end.

    A task that may otherwise run for ever asks this: before Python 3.12 `asyncio.wait_for`, which the database driver
    uses, sometimes swallows a cancellation.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
