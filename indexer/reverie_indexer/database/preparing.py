"""A database made ready for this program, or looked at: its server checked, its schema brought up to date."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import structlog
from psycopg.rows import DictRow, dict_row

from reverie_indexer.database.faults import start_errors
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.sessions import POOLED, is_pooled
from reverie_indexer.database.upgrade import (
    Program,
    SchemaState,
    Step,
    bring_up_to_date,
    hold_schema,
    read_state,
    shipped_program,
)
from reverie_indexer.database.watched import WatchedConnection, connection_parameters
from reverie_indexer.errors import SetupError

log = structlog.get_logger()
Connection = psycopg.AsyncConnection[DictRow]
SQL = Queries(__file__)
MIN_SERVER_VERSION = 150000
MIN_VECTOR_VERSION = (0, 8, 4)


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The state of a database, which `doctor` and `upgrade` print.

    `number` is the newest migration it has (None: no schema that is known), `pending` are the steps it lacks, and
    `taken` those that were just taken; `is_made` says that the schema was just made.
    """

    server_version: str
    vector_version: str
    number: int | None
    pending: tuple[Step, ...] = ()
    taken: tuple[Step, ...] = ()
    is_made: bool = False

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
async def connect(conninfo: str) -> AsyncIterator[Connection]:
    """A connection of its own, in autocommit mode, as the login of the URL."""
    async with await WatchedConnection.connect(
        conninfo, autocommit=True, row_factory=dict_row, client_encoding="utf8", **connection_parameters(conninfo)
    ) as connection:
        yield connection


async def prepare_database(
    conninfo: str, program: Program | None = None, *, distributes: bool = False
) -> DatabaseReport:
    """Check the server and bring the schema up to date, under a lock. SetupError names the remedy.

    `program` is the target, by default the schema and migrations that ship with this program. Where the database is
    spread over nodes, new tables of tenants are to be distributed, too, and jobs to commit together with their causes;
    `distributes`: the caller sees to that.
    """
    program = program or shipped_program()
    with start_errors():
        async with connect(conninfo) as connection:
            if await is_pooled(conninfo, connection):
                raise SetupError(POOLED)
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
            is_made = facts["tables_owner"] is None
            if not is_made:
                await connection.execute(SQL["take_maintenance"])
            taken = await bring_up_to_date(connection, program)
            facts = await _one(connection, SQL["server_facts"])
            if not distributes and await _is_spread(connection):
                await _check_distributed(connection)
                await _keep_two_phases(connection)
    return DatabaseReport(facts["version"], facts["vector_version"], program.number, taken=taken, is_made=is_made)


async def inspect_database(
    conninfo: str, program: Program | None = None, *, distributes: bool = False
) -> tuple[DatabaseReport, str | None]:
    """The state of the database, and what is wrong with it (None: nothing). Changes nothing.

    `distributes`: the caller sees to what is not distributed yet.
    """
    with start_errors():
        async with connect(conninfo) as connection:
            facts = await _one(connection, SQL["server_facts"])
            problem = _problem_of(facts) or (POOLED if await is_pooled(conninfo, connection) else None)
            state = SchemaState(None, (), facts["has_jobs"])
            if facts["may_be_owner"]:
                await _become_owner(connection, facts)
                try:
                    state = await read_state(connection, program or shipped_program())
                    if not distributes and await _is_spread(connection):
                        await _check_distributed(connection)
                        await _check_two_phases(connection)
                except SetupError as error:
                    problem = problem or error.detail
    vector = facts["vector_version"] or facts["vector_available"] or "missing"
    return DatabaseReport(facts["version"], vector, state.number, pending=state.pending), problem


async def undistributed(connection: Connection) -> tuple[str, ...]:
    """The tables of tenants that are on the coordinator yet, of a database with Citus: `agents` first."""
    return tuple(row["name"] for row in await (await connection.execute(SQL["undistributed"])).fetchall())


async def commit_in_two_phases(connection: Connection) -> None:
    """Have what writes jobs or keys, which the coordinator has, commit in two phases. It may be done again."""
    await connection.execute(SQL["two_phases_of_writes"])


async def _is_spread(connection: Connection) -> bool:
    """Whether the tables of tenants are on several nodes; not where that was begun only: all is on the coordinator."""
    if not (await _one(connection, SQL["spread"]))["has_nodes"]:
        return False
    return "agents" not in await undistributed(connection)


async def _check_distributed(connection: Connection) -> None:
    if tables := await undistributed(connection):
        raise SetupError(
            f"the database is spread over nodes, and on the coordinator alone are yet: {', '.join(tables)}. Stop "
            "servers and workers of Reverie, and run `reverie doctor --distribute`"
        )


async def _keep_two_phases(connection: Connection) -> None:
    """Put back what an upgrade of the library of jobs took away with its table, or SetupError."""
    try:
        await _check_two_phases(connection)
    except SetupError as error:
        log.warning("jobs_did_not_commit_with_their_causes", mended="the trigger commit_in_two_phases is put back")
        try:
            await commit_in_two_phases(connection)
        except psycopg.ProgrammingError:
            raise error from None
        await _check_two_phases(connection)


async def _check_two_phases(connection: Connection) -> None:
    rows = await (await connection.execute(SQL["in_one_phase"])).fetchall()
    if rows:
        raise SetupError(
            "the database is spread over nodes, and jobs would not commit with their causes: "
            f"the trigger commit_in_two_phases is missing on {', '.join(row['name'] for row in rows)}, or what it is "
            "made of. Stop servers and workers of Reverie, and run `reverie doctor --distribute`"
        )


async def _become_owner(connection: Connection, facts: DictRow) -> None:
    """Take the role that owns the tables, if there are tables, until the connection is closed."""
    if facts["tables_owner"] not in (None, facts["login"]):
        await connection.execute(SQL["become_owner"], {"owner": facts["tables_owner"]})


async def _one(connection: Connection, query: bytes, params: dict[str, Any] | None = None) -> DictRow:
    row = await (await connection.execute(query, params)).fetchone()
    if row is None:
        raise LookupError("a statement that always answers with a row gave none")
    return row
