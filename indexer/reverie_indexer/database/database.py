"""PostgreSQL: the pool, and transactions that work as one tenant and see its slices only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import IsolationLevel
from psycopg.rows import DictRow

from reverie_indexer import tracing
from reverie_indexer.database import request_reads
from reverie_indexer.database.faults import Faults
from reverie_indexer.database.messages import Statement, in_one_message, prepare_nothing
from reverie_indexer.database.primary import PoolUse, Primary
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.standby import SQL as STANDBY_SQL
from reverie_indexer.database.standby import Lag, ReadCounts, Standby, StandbyConnection
from reverie_indexer.database.traced import TracedCursor
from reverie_indexer.database.watched import SILENCE_SECONDS, WatchedConnection
from reverie_indexer.errors import ReadInterrupted, ReverieError, SetupError

Connection = psycopg.AsyncConnection[DictRow]
SQL = Queries(__file__)

ServerState = Literal["ok", "read_only", "unavailable"]
# Begins a transaction on a connection.
_Begin = Callable[[WatchedConnection], Awaitable[None]]
# No owner has this key: it stands for all of them, where the gate allows it.
ALL_OWNERS = "*"


@dataclass(frozen=True, slots=True)
class Slice:
    """One owner's, one agent's or the tenant's shared memory, with the statistics BM25 needs.

    `revision` has grown with every change of its passages.
    """

    slice_id: int
    agent_id: str | None
    owner_key: str | None
    past: bool
    chunk_count: int
    term_total: int
    partition_id: int
    revision: int


class Database:
    """The only ways to open a transaction.

    When a connection cannot be had, the transaction is begun again while `primary` has patience, which may `recover` a
    dead embedded server. Once begun, a transaction is never repeated: its outcome may already be durable. While
    `faults` says that the disk is full, transactions are read-only.

    `read_conninfo` leads to a standby, or to several: what requests only read is read there (`request_reads` says which
    do, `standby` why nothing is older for it), and here where that cannot be.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        read_conninfo: str | None = None,
        pool_size: int = 10,
        statement_timeout_seconds: float = 30.0,
        recover: Callable[[], Awaitable[None]] | None = None,
        faults: Faults | None = None,
        patience_seconds: float = 40.0,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self.conninfo = conninfo
        self.faults = faults or Faults()
        self._timeout_ms = int(statement_timeout_seconds * 1000)
        self._looking: asyncio.Task[ServerState] | None = None
        self._primary = Primary(
            conninfo,
            pool_size,
            self._prepare,
            recover=recover,
            patience_seconds=patience_seconds,
            silence_seconds=silence_seconds,
        )
        self._standby = None if read_conninfo is None else Standby(read_conninfo, pool_size, self._prepare)

    async def _prepare(self, connection: WatchedConnection) -> None:
        if tracing.is_on():
            connection.cursor_factory = TracedCursor
        timeout = {"statement_timeout": f"{self._timeout_ms}ms"}
        row = await (await connection.execute(SQL["configure_connection"], timeout)).fetchone()
        if row is not None and row["has_nodes"]:
            # Citus sends a statement to a node by the tenant in it, which a plan for any values does not know.
            prepare_nothing(connection)
        await register_vector_async(connection)
        await connection.commit()

    async def open(self) -> None:
        """Open the pool. DatabaseUnavailable when no connection can be had, SetupError where no standby may be read."""
        await self._primary.open()
        if self._standby is None:
            return
        [row] = await self.maintenance_query(STANDBY_SQL["identity"], {})
        if row["has_citus"]:
            await self.close()
            raise SetupError(
                "read_database_url is not for a database that Citus spreads over nodes: how far the coordinator's "
                "standby is says nothing of theirs; leave it out"
            )
        self._standby.identity = row["identity"]
        await self._standby.open()

    async def close(self) -> None:
        """Close every connection."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        if self._standby is not None:
            await self._standby.close()
        await self._primary.close()

    async def __aenter__(self) -> Database:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def pool_use(self) -> PoolUse:
        """How much of the primary's pool is used; asks no server."""
        return self._primary.use()

    @property
    def reads(self) -> ReadCounts | None:
        """The reads of requests by server; None where all are the primary's."""
        return None if self._standby is None else self._standby.counts

    async def position(self) -> str | None:
        """How far the primary's log is: whatever is acknowledged is before it. Positions sort. None on a standby."""
        [[row]] = await self._query([Statement(STANDBY_SQL["position"], {})])
        position: str | None = row["position"]
        return position

    async def lag(self) -> Lag | None:
        """How far the standby is behind; None where there is none, or none that follows."""
        if self._standby is None or (position := await self.position()) is None:
            return None
        return await self._standby.lag(position)

    @asynccontextmanager
    async def tenant(self, tenant_id: str, *, snapshot: bool = False) -> AsyncIterator[Connection]:
        """A transaction as reverie_app for one tenant, that sees no slice yet; rolled back on any error.

        `snapshot` makes it read-only with one snapshot for all its statements: ReadInterrupted when its connection is
        lost, and the caller may begin again.
        """
        begin = self._entering("enter_tenant", {"tenant_id": tenant_id}, snapshot)
        async with self._transaction(begin, only_reads=snapshot) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(
        self, tenant_id: str, statements: Sequence[Statement]
    ) -> AsyncIterator[tuple[Connection, list[list[DictRow]]]]:
        """A transaction as that of `tenant` with a snapshot, and the rows of its first statements: one round trip."""
        opening = [Statement(SQL["begin_snapshot"], {}), Statement(SQL["enter_tenant"], {"tenant_id": tenant_id})]
        answers: list[list[DictRow]] = []

        async def begin(connection: WatchedConnection) -> None:
            # The message itself begins the transaction.
            await connection.set_autocommit(True)
            answers[:] = (await in_one_message(connection, [*opening, *statements]))[len(opening) :]

        async with self._transaction(begin, only_reads=True) as connection:
            yield connection, answers

    @asynccontextmanager
    async def maintenance(self) -> AsyncIterator[Connection]:
        """A transaction as the tables' owner, across tenants: for upkeep, never for a request."""
        async with self._transaction(self._entering("enter_maintenance", {}, snapshot=False)) as connection:
            yield connection

    async def query(self, tenant_id: str, statement: bytes, params: Mapping[str, Any]) -> list[DictRow]:
        """The rows of one statement that reads as `tenant` does, in a transaction of its own: one round trip."""
        entering = Statement(SQL["enter_tenant"], {"tenant_id": tenant_id})
        return (await self._query([entering, Statement(statement, params)]))[-1]

    async def read(self, tenant_id: str, statements: Sequence[Statement]) -> list[list[DictRow]]:
        """The rows of each of some statements that read as `tenant` does, in one snapshot: one round trip."""
        entering = [Statement(SQL["begin_snapshot"], {}), Statement(SQL["enter_tenant"], {"tenant_id": tenant_id})]
        # Not by SET TRANSACTION in the transaction of the message: Citus would send all of it to the nodes.
        message = [*entering, *statements, Statement(SQL["end"], {})]
        answers: list[list[DictRow]] = []

        async def ask(connection: WatchedConnection) -> None:
            await connection.set_autocommit(True)
            answers[:] = await in_one_message(connection, message)

        connection = await self._begin_elsewhere(ask)
        if connection is None:
            answers = await self._query(message)
        else:
            await self._put(connection)
        return answers[len(entering) : -1]

    async def maintenance_query(self, statement: bytes, params: Mapping[str, Any]) -> list[DictRow]:
        """The rows of one statement that reads as `maintenance` does: one round trip."""
        return (await self._query([Statement(SQL["enter_maintenance"], {}), Statement(statement, params)]))[-1]

    async def ping(self) -> None:
        """One round trip; DatabaseUnavailable when it fails."""
        await self.maintenance_query(SQL["ping"], {})

    async def state(self, within_seconds: float) -> ServerState:
        """Whether the server answers in time, and whether it takes writes. All who ask at once ask it once."""
        looking = self._looking
        if looking is None or looking.done():
            looking = self._looking = asyncio.create_task(self._look(), name="look-at-database")
        done, _ = await asyncio.wait({looking}, timeout=within_seconds)
        return looking.result() if done else "unavailable"

    async def _look(self) -> ServerState:
        try:
            [row] = await self.maintenance_query(SQL["takes_writes"], {})
        except ReverieError:
            return "unavailable"
        return "ok" if row["takes_writes"] else "read_only"

    async def _query(self, statements: Sequence[Statement]) -> list[list[DictRow]]:
        deadline = self._primary.deadline()
        while True:
            connection = await self._primary.connection(deadline)
            try:
                # Sent as one message, which is one transaction: half the work of a pipeline for two statements.
                await connection.set_autocommit(True)
                answers = await in_one_message(connection, statements)
                self._primary.has_answered()
                return answers
            except psycopg.Error as error:
                if not connection.closed:
                    await connection.rollback()
                if not (connection.closed and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)):
                    _raise(self.faults.translated(error, "refused"), error)
                # It only reads: it may be done again.
                await self._primary.recover_or_raise(error, deadline)
            finally:
                await self._primary.put(connection)

    async def _begin_elsewhere(self, begin: _Begin) -> StandbyConnection | None:
        """A connection to a standby inside a begun transaction that only reads; None where it is the primary's."""
        if self._standby is None:
            return None
        try:
            return await self._standby.begin(self.position, begin)
        except psycopg.Error as error:
            _raise(self.faults.translated(error, "refused"), error)

    @asynccontextmanager
    async def _transaction(self, begin: _Begin, *, only_reads: bool = False) -> AsyncIterator[Connection]:
        connection: WatchedConnection | None = None
        if only_reads:
            connection = await self._begin_elsewhere(begin)
        else:
            request_reads.begins_to_write()
        if connection is None:
            connection = await self._begin(begin)
        try:
            try:
                yield connection
                await connection.commit()
            except BaseException:
                # Roll back what can be; a broken connection is dropped by putconn.
                if not connection.closed:
                    await connection.rollback()
                raise
        except psycopg.Error as error:
            if isinstance(connection, StandbyConnection) and connection.standby.is_lost(connection, error):
                raise ReadInterrupted("the standby went away in the middle of the request; try again") from error
            if isinstance(error, psycopg.errors.ReadOnlySqlTransaction) and not connection.read_only:
                # Of several hosts, or behind a proxy, another server may take writes by now.
                await connection.close()
            if only_reads and connection.closed and isinstance(error, psycopg.OperationalError):
                raise ReadInterrupted("PostgreSQL went away in the middle of the request; try again") from error
            _raise(self.faults.translated(error), error)
        finally:
            await self._put(connection)

    def _entering(self, enter: str, params: dict[str, Any], snapshot: bool) -> _Begin:
        async def begin(connection: WatchedConnection) -> None:
            await connection.set_autocommit(False)
            await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ if snapshot else None)
            await connection.set_read_only(snapshot or self.faults.storage_full or None)
            # BEGIN and what follows it in one round trip.
            async with connection.pipeline():
                await connection.execute(SQL[enter], params)

        return begin

    async def _begin(self, begin: _Begin) -> WatchedConnection:
        """A connection inside a begun transaction. Nothing has been done yet, so it may be tried again."""
        deadline = self._primary.deadline()
        while True:
            connection = await self._primary.connection(deadline)
            try:
                await begin(connection)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                is_refused = not connection.closed and isinstance(error, psycopg.errors.QueryCanceled)
                await self._give_back(connection)
                if is_refused:
                    _raise(self.faults.translated(error), error)
                await self._primary.recover_or_raise(error, deadline)
                continue
            except BaseException:
                await self._give_back(connection)
                raise
            self._primary.has_answered()
            return connection

    async def _give_back(self, connection: WatchedConnection) -> None:
        """Give a connection back to the pool, out of what was begun on it."""
        try:
            if not connection.closed:
                await connection.rollback()
        finally:
            await self._put(connection)

    async def _put(self, connection: WatchedConnection) -> None:
        if isinstance(connection, StandbyConnection):
            await connection.standby.give_back(connection)
        else:
            await self._primary.put(connection)


def _raise(translated: ReverieError | None, error: psycopg.Error) -> NoReturn:
    if translated is None:
        raise error
    raise translated from error


async def act_for(connection: Connection, agent_id: str, owner_key: str | None) -> None:
    """Set whose slices the rest of the transaction may see: row-level security hides all others."""
    await connection.execute(SQL["act_for"], {"agent_id": agent_id, "owner_key": owner_key})


def opening_slices(tenant_id: str, agent_id: str, owner_key: str | None, *, with_past: bool = False) -> list[Statement]:
    """The statements of `visible_slices`; the rows of the last are the slices."""
    params = {"tenant_id": tenant_id, "agent_id": agent_id, "owner_key": owner_key, "with_past": with_past}
    return [
        Statement(SQL["act_for"], {"agent_id": agent_id, "owner_key": owner_key}),
        Statement(SQL["every_slice" if owner_key == ALL_OWNERS else "visible_slices"], params),
    ]


async def visible_slices(
    connection: Connection, tenant_id: str, agent_id: str, owner_key: str | None, *, with_past: bool = False
) -> list[Slice]:
    """Open the slices that (agent, owner) may see to this transaction and return them, by id.

    Without an owner: the agent's team slice and the tenant's global one; with ALL_OWNERS everybody's. A slice is
    made by its first write. `with_past` adds the twins that hold the passages files no longer have.
    """
    statements = opening_slices(tenant_id, agent_id, owner_key, with_past=with_past)
    return [Slice(**row) for row in (await in_one_message(connection, statements))[-1]]
