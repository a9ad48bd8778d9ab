"""The slot of a request at work. Code that waits for another program gives the slot back for that time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class WorkSlot(Protocol):
    """The right of a request to work, of which there are few at a time."""

    def pause(self) -> None:
        """Give the slot to another request until `resume`."""

    def resume(self) -> None:
        """Take the slot back at once, if need be above the limit."""


# A request keeps its slot for this time while it waits for vectors: most waits are shorter.
_PATIENCE_SECONDS = 0.5
current: ContextVar[WorkSlot | None] = ContextVar("work_slot", default=None)


@contextmanager
def without_slot() -> Iterator[None]:
    """Wait without a slot for something that is not this server's work, such as a model's answer."""
    slot = current.get()
    if slot is None:
        yield
        return
    slot.pause()
    try:
        yield
    finally:
        slot.resume()


@contextmanager
def long_wait() -> Iterator[None]:
    """Wait for something that is usually fast. A longer wait gives the slot back."""
    slot = current.get()
    if slot is None:
        yield
        return
    is_paused = False

    def pause() -> None:
        nonlocal is_paused
        is_paused = True
        slot.pause()

    timer = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, pause)
    try:
        yield
    finally:
        timer.cancel()
        if is_paused:
            slot.resume()
