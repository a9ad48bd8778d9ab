"""PostgreSQL: start-up checks, the pool, and transactions that work as one tenant and see its slices only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import psycopg
import structlog
from pgvector.psycopg import register_vector_async
from psycopg import IsolationLevel
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from reverie_indexer.database.faults import Faults, start_errors
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.upgrade import (
    Program,
    SchemaState,
    Step,
    bring_up_to_date,
    hold_schema,
    read_state,
    shipped_program,
)
from reverie_indexer.errors import DatabaseUnavailable, ReverieError, SetupError

log = structlog.get_logger()
Connection = psycopg.AsyncConnection[DictRow]
SQL = Queries(__file__)
MIN_SERVER_VERSION = 150000
MIN_VECTOR_VERSION = (0, 8, 4)

# Begins a transaction on a connection.
_Begin = Callable[[Connection], Awaitable[None]]
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


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The state of a database, which `doctor` and `upgrade` print.

    `number` is the newest migration it has (None: no schema that is known), `pending` are the steps it lacks, and
    `taken` those that were just taken.
    """

    server_version: str
    vector_version: str
    number: int | None
    pending: tuple[Step, ...] = ()
    taken: tuple[Step, ...] = ()

    @property
    def schema_current(self) -> bool:
        """Whether there is a schema without pending steps."""
        return self.number is not None and not self.pending


def _problem_of(facts: DictRow) -> str | None:
    if facts["version_num"] < MIN_SERVER_VERSION:
        return f"PostgreSQL {facts['version']} is too old: Reverie needs 15 or newer"
    if facts["encoding"] != "UTF8":
        return f"the database's encoding is {facts['encoding']}: create it with ENCODING 'UTF8'"
    vector = facts["vector_version"] or facts["vector_available"]
    if vector is None:
        return "the pgvector extension is not installed on the PostgreSQL server: install pgvector 0.8.4 or newer"
    if tuple(int(part) for part in vector.split(".")) < MIN_VECTOR_VERSION:
        return (
            f"pgvector {vector} is too old (crashes and corruption in HNSW before 0.8.4): install 0.8.4 or "
            "newer on the server, then run ALTER EXTENSION vector UPDATE"
        )
    if facts["role_too_strong"]:
        return (
            "role reverie_app is a superuser or bypasses row-level security: "
            "ALTER ROLE reverie_app NOSUPERUSER NOBYPASSRLS"
        )
    if not facts["may_be_owner"]:
        return (
            f"the tables belong to the role {facts['tables_owner']}, as which {facts['login']} may not work: mend "
            f'REVERIE_DATABASE_URL, or GRANT "{facts["tables_owner"]}" TO "{facts["login"]}"'
        )
    return None


@asynccontextmanager
async def _connect(conninfo: str) -> AsyncIterator[Connection]:
    async with await psycopg.AsyncConnection.connect(
        conninfo, autocommit=True, row_factory=dict_row, connect_timeout=15, client_encoding="utf8"
    ) as connection:
        yield connection


async def prepare_database(conninfo: str, program: Program | None = None) -> DatabaseReport:
    """Check the server and bring the schema up to date, under a lock. SetupError names the remedy.

    `program` is the target, by default the schema and migrations that ship with this program.
    """
    program = program or shipped_program()
    with start_errors():
        async with _connect(conninfo) as connection:
            await connection.execute(SQL["set_up_session"])
            await hold_schema(connection)
            facts = await _one(connection, SQL["server_facts"])
            problem = _problem_of(facts)
            if problem:
                raise SetupError(problem)
            # Roles belong to the cluster: a restored database has its schema, and may yet lack the role.
            if not facts["role_usable"]:
                await connection.execute(SQL["create_role"])
                await connection.execute(SQL["grant_role"])
            await _become_owner(connection, facts)
            if facts["tables_owner"] is not None:
                await connection.execute(SQL["take_maintenance"])
            taken = await bring_up_to_date(connection, program)
            facts = await _one(connection, SQL["server_facts"])
    return DatabaseReport(facts["version"], facts["vector_version"], program.number, taken=taken)


async def inspect_database(conninfo: str, program: Program | None = None) -> tuple[DatabaseReport, str | None]:
    """The state of the database, and what is wrong with it (None: nothing). Changes nothing."""
    with start_errors():
        async with _connect(conninfo) as connection:
            facts = await _one(connection, SQL["server_facts"])
            problem = _problem_of(facts)
            state = SchemaState(None, (), facts["has_jobs"])
            if facts["may_be_owner"]:
                await _become_owner(connection, facts)
                try:
                    state = await read_state(connection, program or shipped_program())
                except SetupError as error:
                    problem = problem or error.detail
    vector = facts["vector_version"] or facts["vector_available"] or "missing"
    return DatabaseReport(facts["version"], vector, state.number, pending=state.pending), problem


async def _become_owner(connection: Connection, facts: DictRow) -> None:
    """Take the role that owns the tables, if there are tables, until the connection is closed."""
    if facts["tables_owner"] not in (None, facts["login"]):
        await connection.execute(SQL["become_owner"], {"owner": facts["tables_owner"]})


async def _one(connection: Connection, query: bytes, params: dict[str, Any] | None = None) -> DictRow:
    row = await (await connection.execute(query, params)).fetchone()
    if row is None:
        raise LookupError("a statement that always answers with a row gave none")
    return row


class Database:
    """A pool of connections and the only ways to open a transaction.

    `recover`, where given, brings a dead embedded server back; it is called at most once at a time, when a
    connection cannot be had, and the transaction is then begun again. Once begun, a transaction is never
    repeated: its outcome may already be durable. While `faults` says that the disk is full, transactions are read-only.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        pool_size: int = 10,
        statement_timeout_seconds: float = 30.0,
        recover: Callable[[], Awaitable[None]] | None = None,
        faults: Faults | None = None,
        patience_seconds: float = 20.0,
    ) -> None:
        self.conninfo = conninfo
        self.faults = faults or Faults()
        self._timeout_ms = int(statement_timeout_seconds * 1000)
        self._recover = recover
        self._recovery = asyncio.Lock()
        self._patience_seconds = patience_seconds
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            conninfo,
            open=False,
            min_size=1,
            max_size=pool_size,
            timeout=5.0,
            configure=self._configure,
            connection_class=psycopg.AsyncConnection[DictRow],
            # A prepared statement may flip to a generic plan, which takes HNSW on a small slice: never prepare.
            kwargs={"row_factory": dict_row, "prepare_threshold": None, "connect_timeout": 10},
            reconnect_timeout=2.0,
        )

    async def _configure(self, connection: Connection) -> None:
        await connection.execute(SQL["configure_connection"], {"statement_timeout": f"{self._timeout_ms}ms"})
        await register_vector_async(connection)
        await connection.commit()

    async def open(self) -> None:
        """Open the pool; DatabaseUnavailable when no connection can be had."""
        try:
            await self._pool.open(wait=True, timeout=15.0)
        except PoolTimeout as error:
            await self._pool.close()
            raise DatabaseUnavailable("PostgreSQL gives no connection") from error

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def __aenter__(self) -> Database:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def tenant(self, tenant_id: str, *, snapshot: bool = False) -> AsyncIterator[Connection]:
        """A transaction as reverie_app for one tenant, that sees no slice yet; rolled back on any error.

        `snapshot` makes it read-only with one snapshot for all its statements.
        """
        async with self._transaction(self._entering("enter_tenant", {"tenant_id": tenant_id}, snapshot)) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(
        self, tenant_id: str, statements: Sequence[Statement]
    ) -> AsyncIterator[tuple[Connection, list[list[DictRow]]]]:
        """A transaction as that of `tenant` with a snapshot, and the rows of its first statements: one round trip."""
        opening = [Statement(SQL["begin_snapshot"], {}), Statement(SQL["enter_tenant"], {"tenant_id": tenant_id})]
        answers: list[list[DictRow]] = []

        async def begin(connection: Connection) -> None:
            # The message itself begins the transaction.
            await connection.set_autocommit(True)
            answers[:] = (await in_one_message(connection, [*opening, *statements]))[len(opening) :]

        async with self._transaction(begin) as connection:
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
        entering = [Statement(SQL["in_snapshot"], {}), Statement(SQL["enter_tenant"], {"tenant_id": tenant_id})]
        return (await self._query([*entering, *statements]))[len(entering) :]

    async def maintenance_query(self, statement: bytes, params: Mapping[str, Any]) -> list[DictRow]:
        """The rows of one statement that reads as `maintenance` does: one round trip."""
        return (await self._query([Statement(SQL["enter_maintenance"], {}), Statement(statement, params)]))[-1]

    async def ping(self) -> None:
        """One round trip; DatabaseUnavailable when it fails."""
        await self.maintenance_query(SQL["ping"], {})

    async def _query(self, statements: Sequence[Statement]) -> list[list[DictRow]]:
        deadline = asyncio.get_running_loop().time() + self._patience_seconds
        while True:
            connection = await self._connection(deadline)
            try:
                # Sent as one message, which is one transaction: half the work of a pipeline for two statements.
                await connection.set_autocommit(True)
                return await in_one_message(connection, statements)
            except psycopg.Error as error:
                if not (connection.closed and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)):
                    _raise(self.faults.translated(error, "refused"), error)
                # It only reads: it may be done again.
                await self._recover_or_raise(error, deadline)
            finally:
                await self._pool.putconn(connection)

    @asynccontextmanager
    async def _transaction(self, begin: _Begin) -> AsyncIterator[Connection]:
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
            _raise(self.faults.translated(error), error)
        finally:
            await self._pool.putconn(connection)

    def _entering(self, enter: str, params: dict[str, Any], snapshot: bool) -> _Begin:
        async def begin(connection: Connection) -> None:
            await connection.set_autocommit(False)
            await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ if snapshot else None)
            await connection.set_read_only(snapshot or self.faults.storage_full or None)
            # BEGIN and what follows it in one round trip.
            async with connection.pipeline():
                await connection.execute(SQL[enter], params)

        return begin

    async def _begin(self, begin: _Begin) -> Connection:
        """A connection inside a begun transaction. Nothing has been done yet, so it may be tried again."""
        deadline = asyncio.get_running_loop().time() + self._patience_seconds
        while True:
            connection = await self._connection(deadline)
            try:
                await begin(connection)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                is_refused = not connection.closed and isinstance(error, psycopg.errors.QueryCanceled)
                await self._give_back(connection)
                if is_refused:
                    _raise(self.faults.translated(error), error)
                await self._recover_or_raise(error, deadline)
                continue
            except BaseException:
                await self._give_back(connection)
                raise
            return connection

    async def _give_back(self, connection: Connection) -> None:
        """Give a connection back to the pool, out of what was begun on it."""
        try:
            if not connection.closed:
                await connection.rollback()
        finally:
            await self._pool.putconn(connection)

    async def _connection(self, deadline: float) -> Connection:
        while True:
            try:
                return await self._pool.getconn()
            except PoolTimeout as error:
                await self._recover_or_raise(error, deadline)

    async def _recover_or_raise(self, cause: Exception, deadline: float) -> None:
        if asyncio.get_running_loop().time() > deadline:
            raise DatabaseUnavailable("PostgreSQL does not answer; try again") from cause
        log.warning("database_connection_lost")
        async with self._recovery:
            if self._recover is not None:
                try:
                    await self._recover()
                except SetupError as error:
                    # Its words are for the operator: they name files of the server.
                    log.error("postgres_not_recovered", detail=error.detail)
                    raise DatabaseUnavailable("PostgreSQL does not answer and cannot be started") from error
        # Broken connections of the pool are found out one by one by their first statement.
        await asyncio.sleep(0.05)


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
        Statement(SQL["visible_slices"], params),
    ]


async def visible_slices(
    connection: Connection, tenant_id: str, agent_id: str, owner_key: str | None, *, with_past: bool = False
) -> list[Slice]:
    """Open the slices that (agent, owner) may see to this transaction and return them, by id.

    Without an owner: the agent's team slice and the tenant's global one; with ALL_OWNERS everybody's. A slice is
    made by its first write. `with_past` adds the twins that hold the passages files no longer have.
    """
    params = {"tenant_id": tenant_id, "agent_id": agent_id, "owner_key": owner_key, "with_past": with_past}
    async with connection.pipeline():
        await act_for(connection, agent_id, owner_key)
        cursor = await connection.execute(SQL["visible_slices"], params)
        return [Slice(**row) for row in await cursor.fetchall()]
