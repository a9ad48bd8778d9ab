"""Whether the request at work only reads, what its client has seen, and whether it has written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class RequestReads:
    """What a request tells the database. `seen` is the highest position that its client knows of; "": none.

    Only what `may_go_elsewhere` reads on a standby: a request that the gate let read, until it begins to write.
    """

    seen: str = ""
    is_reader: bool = False
    wrote: bool = False

    @property
    def may_go_elsewhere(self) -> bool:
        """Whether what comes next may be read on a standby."""
        return self.is_reader and not self.wrote


current: ContextVar[RequestReads | None] = ContextVar("request_reads", default=None)


@contextmanager
def of_request(seen: str) -> Iterator[RequestReads]:
    """The reads and writes of the block are one request's."""
    reads = RequestReads(seen)
    token = current.set(reads)
    try:
        yield reads
    finally:
        current.reset(token)


def begins_to_read() -> None:
    """Say that the request at work has leave to read, and for nothing else."""
    if (reads := current.get()) is not None:
        reads.is_reader = True


def begins_to_write() -> None:
    """Say that the request at work writes: what it reads from now on is read on the primary."""
    if (reads := current.get()) is not None:
        reads.wrote = True
