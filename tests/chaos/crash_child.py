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
from reverie_server.access.gate import Grant
from reverie_server.access.keys import OPERATOR
from reverie_server.agents.settings import AgentSettings
from reverie_server.recall.request import Rules as SearchRules
from reverie_server.recall.search import Search
from reverie_server.workspace import forget, tombstones
from reverie_server.workspace.clear import Clearing, Selection
from reverie_server.workspace.files import Reader

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
    modules = {"forget": forget, "index": index, "store": store, "tombstones": tombstones, "vectors": vectors}
    fatal = modules[module].SQL[name]
    execute = psycopg.AsyncConnection.execute

    async def execute_or_die(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        result = await execute(self, query, *arguments, **options)
        if query == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    psycopg.AsyncConnection.execute = execute_or_die  # type: ignore[method-assign]


async def forget_new(database: Database, pipeline: Pipeline, search: Search) -> forget.Receipt:
    """Forget the passage that is not in both texts."""
    forgetting = forget.Forgetting(database, pipeline, search, tombstones.Tombstones(database))
    grant = Grant(OPERATOR, Reader("default", "wren", None), AgentSettings())
    return await forgetting.forget(grant, TEAM, forget.Target(text="the old lantern"), dry_run=False)


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
        elif work == "forget":
            await forget_new(database, pipeline, Search(database, slot, SearchRules()))
        elif work == "clear":
            await Clearing(database).clear(TEAM, Selection(None, "notes/", ("document",)), dry_run=False)
        else:
            await vectors.promote_large_slices(database, exact_max_chunks=1, max_partitions=5)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
