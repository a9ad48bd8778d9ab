"""Whether a worker lives: it holds a lock of its id, which PostgreSQL releases at once when the worker's process dies.

A heartbeat would show a death half a minute late.
"""

from __future__ import annotations

import psycopg
import structlog
from psycopg.rows import dict_row

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.watched import WatchedConnection, connection_parameters
from reverie_indexer.errors import DatabaseUnavailable

SQL = Queries(__file__)
log = structlog.get_logger()


class Liveness:
    """A worker's id and its lock, on a connection of its own, since a lock goes with its connection."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: Connection | None = None
        self._worker_id: int | None = None

    async def enter(self) -> int:
        """Get a new worker id, whose lock is held from before anybody can see it; DatabaseUnavailable."""
        await self.leave()
        try:
            connection = await self._connect()
            row = await (await connection.execute(SQL["enter"])).fetchone()
        except psycopg.Error as error:
            raise DatabaseUnavailable("PostgreSQL does not answer") from error
        self._worker_id = int((row or {})["worker_id"])
        return self._worker_id

    async def renew(self) -> None:
        """Take the lock again where it or its connection is lost; DatabaseUnavailable where that fails.

        Until then others take the worker for dead and may run its jobs a second time, which every stage allows.
        """
        if self._worker_id is None:
            return
        try:
            if self._connection is not None and not self._connection.closed:
                cursor = await self._connection.execute(SQL["alive"], {"worker_id": self._worker_id})
                if (await cursor.fetchone() or {})["held"]:
                    return
                log.warning("worker_lock_lost", worker=self._worker_id)
        except psycopg.Error:
            log.warning("worker_connection_lost", worker=self._worker_id)
        try:
            connection = await self._connect()
            row = await (await connection.execute(SQL["hold"], {"worker_id": self._worker_id})).fetchone()
        except psycopg.Error as error:
            raise DatabaseUnavailable("PostgreSQL does not answer") from error
        if not (row or {})["held"]:
            # The server has not noticed yet that the old connection is gone: until it does, that one holds the lock.
            await connection.close()

    async def leave(self) -> None:
        """Give up the id and the lock; never raises."""
        connection, worker_id = self._connection, self._worker_id
        self._connection = self._worker_id = None
        if connection is None:
            return
        try:
            if worker_id is not None and not connection.closed:
                await connection.execute(SQL["leave"], {"worker_id": worker_id})
        except psycopg.Error:
            log.warning("worker_not_unregistered", worker=worker_id)
        finally:
            await connection.close()

    async def _connect(self) -> Connection:
        if self._connection is not None:
            await self._connection.close()
        parameters = connection_parameters(self._conninfo)
        self._connection = await WatchedConnection.connect(
            self._conninfo, row_factory=dict_row, autocommit=True, prepare_threshold=None, **parameters
        )
        await self._connection.execute(SQL["notice_death"])
        return self._connection
