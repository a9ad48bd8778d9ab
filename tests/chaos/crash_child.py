"""A program that kills itself in the middle of its work: `python -m tests.chaos.crash_child CONNINFO WORK INSTANT`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer import index, store, vectors
from reverie_indexer.db import Database
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline, Rules, migrate, overwrite

TEAM = Place("default", "wren", "team")
OLD = "the old lantern\n\nstays as it is\n"
NEW = "the new lantern\n\nstays as it is\n"


def die_after(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def wrapped(*arguments: Any, **options: Any) -> Any:
        await function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    return wrapped


def arm(instant: str) -> None:
    """Die after an embedding, after the cache was written, or after a statement of that name."""
    if instant == "embed":
        MoodyEmbedder.embed = die_after(MoodyEmbedder.embed)  # type: ignore[method-assign]
        return
    if instant == "remember":
        vectors.remember = die_after(vectors.remember)
        return
    module, _, name = instant.partition(".")
    fatal = {"index": index, "store": store, "vectors": vectors}[module].SQL[name]
    execute = psycopg.AsyncConnection.execute

    async def execute_or_die(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        result = await execute(self, query, *arguments, **options)
        if query == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    psycopg.AsyncConnection.execute = execute_or_die  # type: ignore[method-assign]


async def main(conninfo: str, work: str, instant: str) -> None:
    async with Database(conninfo, pool_size=2) as database:
        slot = await filled_slot(database, MoodyEmbedder(64))
        pipeline = Pipeline(database, slot, Rules())
        if work == "migrate":
            new = await filled_slot(database, MoodyEmbedder(32), check_active=False)
            assert new.ready is not None
            arm(instant)
            await migrate(database, new.ready)
            return
        arm(instant)
        if work == "write":
            await pipeline.write(TEAM, overwrite("notes/a.md", NEW, by="user", reason="put"))
        elif work == "delete":
            await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete")
        else:
            await vectors.promote_large_slices(database, exact_max_chunks=1, max_partitions=5)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
