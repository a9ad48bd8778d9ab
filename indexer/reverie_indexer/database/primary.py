"""Connections to the primary: its pool, and the wait for a server that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from reverie_indexer.database.watched import WatchedConnection, connection_parameters
from reverie_indexer.errors import DatabaseUnavailable, SetupError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class PoolUse:
    """The connections of a pool now, of at most `most`, and who waits for one; `waits`, in all, took `wait_seconds`."""

    most: int
    used: int
    idle: int
    waiting: int
    waits: int
    wait_seconds: float


class Primary:
    """A pool of connections to the server that takes writes.

    `prepare` makes a new connection ready. `recover`, where given, brings a dead embedded server back; it is called at
    most once at a time, when a connection cannot be had. Who asks tries again up to `patience_seconds` after the server
    was first found to be away.
    """

    def __init__(
        self,
        conninfo: str,
        pool_size: int,
        prepare: Callable[[WatchedConnection], Awaitable[None]],
        *,
        recover: Callable[[], Awaitable[None]] | None,
        patience_seconds: float,
        silence_seconds: float,
    ) -> None:
        self._prepare = prepare
        self._recover = recover
        self._recovering: asyncio.Task[bool] | None = None
        self._draining: asyncio.Task[None] | None = None
        self._patience_seconds = patience_seconds
        # When the server was first found to be away, since it last answered.
        self._lost_at: float | None = None
        self._silence_seconds = silence_seconds
        self._pool: AsyncConnectionPool[WatchedConnection] = AsyncConnectionPool(
            conninfo,
            open=False,
            min_size=1,
            max_size=pool_size,
            timeout=5.0,
            configure=self._configure,
            connection_class=WatchedConnection,
            # A prepared statement may flip to a generic plan, which takes HNSW on a small slice: none is but those that
            # say so (`messages`).
            kwargs={"row_factory": dict_row, "prepare_threshold": None, **connection_parameters(conninfo)},
            reconnect_timeout=2.0,
        )

    async def _configure(self, connection: WatchedConnection) -> None:
        connection.silence_seconds = self._silence_seconds
        connection.on_silence = self._drop_idle
        await self._prepare(connection)

    def _drop_idle(self) -> None:
        """The server is silent: without this each idle connection would be found out by a request of its own."""
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._pool.drain(), name="drop-connections")

    async def open(self) -> None:
        """Open the pool; DatabaseUnavailable when no connection can be had."""
        try:
            await self._pool.open(wait=True, timeout=15.0)
        except PoolTimeout as error:
            await self._pool.close()
            raise DatabaseUnavailable("PostgreSQL gives no connection") from error

    async def close(self) -> None:
        """Close every connection."""
        tasks = [task for task in (self._recovering, self._draining) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._pool.close()

    def use(self) -> PoolUse:
        """How much of the pool is used; asks no server."""
        stats = self._pool.get_stats()
        # A connection that is being made counts as one that is used.
        idle = stats["pool_available"]
        return PoolUse(
            most=stats["pool_max"],
            used=stats["pool_size"] - idle,
            idle=idle,
            waiting=stats["requests_waiting"],
            waits=stats.get("requests_queued", 0),
            wait_seconds=stats.get("requests_wait_ms", 0) / 1000,
        )

    def deadline(self) -> float:
        """Until when what begins now may be tried again, in the event loop's time."""
        return asyncio.get_running_loop().time() + self._patience_seconds

    def has_answered(self) -> None:
        """The server has answered: whoever loses it from now on has all the patience again."""
        self._lost_at = None

    async def connection(self, deadline: float) -> WatchedConnection:
        """A connection; DatabaseUnavailable where none can be had."""
        while True:
            try:
                return await self._pool.getconn()
            except PoolTimeout as error:
                await self.recover_or_raise(error, deadline)

    async def put(self, connection: WatchedConnection) -> None:
        """Give a connection back to the pool, which drops it where it is broken."""
        await self._pool.putconn(connection)

    async def recover_or_raise(self, cause: Exception, deadline: float) -> None:
        """Have the server brought back, or pause: the caller may try again. DatabaseUnavailable at the deadline."""
        now = asyncio.get_running_loop().time()
        # In a long outage a request makes one attempt: it must not wait for as long as the first did.
        self._lost_at = now if self._lost_at is None else self._lost_at
        deadline = min(deadline, self._lost_at + self._patience_seconds)
        if now > deadline:
            raise DatabaseUnavailable("PostgreSQL does not answer; try again") from cause
        log.warning("database_connection_lost")
        if self._recover is not None:
            recovering = self._recovering
            if recovering is None or recovering.done():
                recovering = asyncio.create_task(_is_brought_back(self._recover), name="recover-database")
                self._recovering = recovering
            # What takes longer goes on, for whoever asks next.
            done, _ = await asyncio.wait({recovering}, timeout=deadline - now)
            if not done:
                raise DatabaseUnavailable("PostgreSQL does not answer; try again") from cause
            if not recovering.result():
                raise DatabaseUnavailable("PostgreSQL does not answer and cannot be started") from cause
        # Broken connections of the pool are found out one by one by their first statement.
        await asyncio.sleep(0.05)


async def _is_brought_back(recover: Callable[[], Awaitable[None]]) -> bool:
    try:
        await recover()
    except SetupError as error:
        # Its words are for the operator: they name files of the server.
        log.error("postgres_not_recovered", detail=error.detail)
        return False
    return True
