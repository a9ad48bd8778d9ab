"""Many files in groups: the model embeds the next ones while PostgreSQL stores the last ones."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from reverie_indexer.change import Change
from reverie_indexer.model import Place, Written
from reverie_indexer.pipeline import Pipeline

# One group is stored, one is embedded, one is chunked and waits for the model: the model always has work, and only
# these groups are in memory.
GROUPS_AT_ONCE = 3


async def write_groups(
    pipeline: Pipeline, place: Place, groups: AsyncGenerator[Sequence[Change], None]
) -> AsyncGenerator[list[Written], None]:
    """Write groups of files, each in a transaction of its own, and yield the results of each, in the order given.

    Groups commit in that order too, so that after a stop there is no gap in what was written, and none commits while
    the caller looks at the one before. No group is begun more than GROUPS_AT_ONCE ahead. Raises what
    `Pipeline.write_many` and the source of the groups raise; nothing of later groups is then written.
    """
    writes: deque[tuple[asyncio.Event, asyncio.Task[list[Written]]]] = deque()
    try:
        async with aclosing(groups):
            async for group in groups:
                turn = asyncio.Event()
                writes.append((turn, asyncio.create_task(pipeline.write_many(place, group, turn=turn))))
                if len(writes) == GROUPS_AT_ONCE:
                    yield await _first(writes)
        while writes:
            yield await _first(writes)
    finally:
        for _, task in writes:
            task.cancel()
        await asyncio.gather(*(task for _, task in writes), return_exceptions=True)


async def _first(writes: deque[tuple[asyncio.Event, asyncio.Task[list[Written]]]]) -> list[Written]:
    """Let the oldest group commit. Returns its results; a group that fails stays among the running."""
    turn, task = writes[0]
    turn.set()
    written = await task
    writes.popleft()
    return written
