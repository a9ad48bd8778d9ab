"""How the configured database is opened: one's own by URL, else the embedded PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from reverie_indexer.database.database import Database
from reverie_indexer.database.faults import Faults
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.errors import DatabaseStarting
from reverie_indexer.postgres.archive import WalArchive
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_server.app.embedders import data_dir_of
from reverie_server.settings.server import Settings

T = TypeVar("T")

# How often a PostgreSQL that is starting is asked again.
_STARTING_SECONDS = 0.2


def archive_of(settings: Settings) -> WalArchive | None:
    """Where the embedded PostgreSQL archives its log; None where it does not."""
    if settings.wal_archive_dir is None:
        return None
    return WalArchive(settings.wal_archive_dir.expanduser().resolve(), settings.wal_archive_seconds)


async def uninterrupted(function: Callable[[], None]) -> None:
    """Run a function in a thread to its end, also when cancelled: what waits for a thread would else never begin."""
    task = asyncio.create_task(asyncio.to_thread(function))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _in_new_thread(function: Callable[[], T]) -> T:
    """Run a function with the priority of the event loop, which what it starts inherits: a worker's threads may have
    less."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="start-database")
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, function)
    finally:
        executor.shutdown(wait=False)


@asynccontextmanager
async def open_server(settings: Settings) -> AsyncIterator[tuple[str, Callable[[], Awaitable[None]] | None]]:
    """How to reach the database, and what brings its server back: one's own by URL, else the embedded one, started."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value(), None
        return
    async with AsyncExitStack() as stack:
        # Fresh statistics and visibility maps soon after a bulk load: search plans live on them.
        server = EmbeddedPostgres(
            data_dir_of(settings), options={"autovacuum_naptime": "10s"}, archive=archive_of(settings)
        )
        # Before it is started: a start that is given up goes on in its thread, and is then stopped too.
        stack.push_async_callback(uninterrupted, server.stop)
        conninfo = await _in_new_thread(server.start)

        async def recover() -> None:
            await _in_new_thread(server.start)

        yield conninfo, recover


async def prepared_when_started(conninfo: str, patience_seconds: float) -> None:
    """Prepare the database; where PostgreSQL is just starting or recovers, as soon as it takes connections.

    Raises what `prepare_database` raises, for a server that is not there at once.
    """
    deadline = asyncio.get_running_loop().time() + patience_seconds
    while True:
        try:
            await prepare_database(conninfo)
        except DatabaseStarting:
            if asyncio.get_running_loop().time() >= deadline:
                raise
            await asyncio.sleep(_STARTING_SECONDS)
        else:
            return


@asynccontextmanager
async def open_database(settings: Settings, *, reads_elsewhere: bool = False) -> AsyncIterator[Database]:
    """The database, checked and with its schema up to date; `reads_elsewhere`: with the standby that is set, if any."""
    async with open_server(settings) as (conninfo, recover):
        await prepared_when_started(conninfo, settings.database_patience_seconds)
        # The disk of a PostgreSQL elsewhere cannot be looked at: there its errors tell.
        directory = data_dir_of(settings) if settings.database_url is None else None
        standby = settings.read_database_url if reads_elsewhere else None
        async with Database(
            conninfo,
            read_conninfo=None if standby is None else standby.get_secret_value(),
            faults=Faults(directory, settings.min_free_disk_mb << 20),
            pool_size=settings.pool_size,
            statement_timeout_seconds=settings.statement_timeout_seconds,
            recover=recover,
            patience_seconds=settings.database_patience_seconds,
        ) as database:
            yield database
