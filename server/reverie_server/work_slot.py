"""The slot of the request that is at work, for code that waits for somebody else and needs none meanwhile."""

from __future__ import annotations

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
