"""The slot of the request that is at work, for code that waits for somebody else and needs none meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class WorkSlot(Protocol):
    """What a request has while it works."""

    def pause(self) -> None:
        """Give the slot to another request until `go_on`."""

    def go_on(self) -> None:
        """Take the slot back at once, over the limit where need be."""


# So long a request keeps its slot while it waits for vectors: most are there sooner.
_PATIENCE_SECONDS = 0.5
current: ContextVar[WorkSlot | None] = ContextVar("work_slot", default=None)


@contextmanager
def without_slot() -> Iterator[None]:
    """Wait for something that is not this server's work, such as a model's answer, without a slot."""
    slot = current.get()
    if slot is None:
        yield
        return
    slot.pause()
    try:
        yield
    finally:
        slot.go_on()


@contextmanager
def long_wait() -> Iterator[None]:
    """Wait for something that is soon there as a rule, and without a slot where it is not."""
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
            slot.go_on()
