"""Work that begins again: when others were faster, and reads whose connection was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from reverie_indexer.errors import Conflict, ReadInterrupted

T = TypeVar("T")


class Superseded(Exception):
    """Somebody else changed what an attempt was based on. Its transaction is undone, and the attempt begins again."""


async def read_again(attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of an attempt that only reads, or of a second one where the first lost its connection."""
    with suppress(ReadInterrupted):
        return await attempt()
    return await attempt()


async def until_stable(
    attempt: Callable[[], Awaitable[T]], *, attempts: int, what: str, on: type[Superseded] = Superseded
) -> T:
    """The result of the first attempt that nobody supersedes.

    An attempt reads, prepares without holding a connection, and writes in one transaction that raises Superseded where
    what it read has changed. Nested attempts name their own kind of Superseded in `on`: any other kind ends the inner
    attempt and reaches the outer one. Raises Conflict, which names `what` others changed, after `attempts` attempts.
    """
    for number in range(attempts):
        with suppress(on):
            return await attempt()
        await asyncio.sleep(0.001 * number)
    raise Conflict(f"others changed {what} {attempts} times meanwhile; try again")
