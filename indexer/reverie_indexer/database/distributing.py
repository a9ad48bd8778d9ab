"""A database spread over several nodes with Citus: the rows of a tenant together on one of them, by `tenant_id`.

Jobs, keys and what else has no tenant stay on the coordinator, which the program connects to. The names of models are
copied to every node, since foreign keys lead to them.
"""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql
from psycopg.rows import DictRow

from reverie_indexer.database.faults import start_errors
from reverie_indexer.database.preparing import (
    Connection,
    commit_in_two_phases,
    connect,
    inspect_database,
    prepare_database,
    undistributed,
)
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError

SQL = Queries(__file__)
# The table that all others are placed by.
_FIRST = "agents"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution, done or planned: the tables that go to the nodes by tenant, and those that are copied to each."""

    workers: int
    distributed: tuple[str, ...]
    copied: tuple[str, ...]


async def distribute(conninfo: str, *, dry_run: bool = False) -> Distribution:
    """Distribute what is not distributed yet, with its rows, in one transaction; SetupError names what is in the way.

    It may be run again, and has to be after a worker was added. `dry_run` changes nothing.
    """
    if dry_run:
        report, problem = await inspect_database(conninfo, distributes=True)
        if problem:
            raise SetupError(problem)
        if not report.schema_current:
            raise SetupError("the database has no schema of this release yet: `reverie upgrade` makes it")
    with start_errors():
        async with connect(conninfo) as connection:
            workers = await _workers(connection)
        if not dry_run:
            await prepare_database(conninfo, distributes=True)
        async with connect(conninfo) as connection:
            tables = await undistributed(connection)
            copied = tuple(row["name"] for row in await (await connection.execute(SQL["uncopied"])).fetchall())
            if dry_run:
                return Distribution(workers, tables, copied)
            await _alone(connection)
            await _tell_nodes(connection)
        # What the database was told counts from the next connection on.
        async with connect(conninfo) as connection, connection.transaction():
            await _move(connection, tables, copied)
        async with connect(conninfo) as connection:
            # Again: the tables have brought their sequences.
            await _tell_nodes(connection)
            await connection.execute(SQL["two_phases"])
            await commit_in_two_phases(connection)
    return Distribution(workers, tables, copied)


async def _workers(connection: Connection) -> int:
    """How many workers take rows; SetupError where this is no coordinator of any."""
    citus = await _row(connection, "citus")
    if not citus["is_available"]:
        raise SetupError("Citus is not installed on this PostgreSQL: install it on every node (docs/operations.md)")
    if not citus["is_installed"]:
        raise SetupError(
            "the database has no Citus: on every node, with shared_preload_libraries = 'citus', run CREATE EXTENSION "
            "citus and CREATE EXTENSION vector in it, then citus_add_node on the coordinator"
        )
    nodes = await _row(connection, "nodes")
    if not nodes["is_coordinator"]:
        raise SetupError("REVERIE_DATABASE_URL leads to a worker: it must lead to the coordinator")
    if nodes["workers"] == 0:
        raise SetupError("the coordinator has no workers that take rows: SELECT citus_add_node('HOST', PORT) adds one")
    lacking = [row["node"] for row in await (await connection.execute(SQL["vectors_missing"])).fetchall()]
    if lacking:
        raise SetupError(f"run CREATE EXTENSION vector in the database on {', '.join(lacking)}")
    return int(nodes["workers"])


async def _alone(connection: Connection) -> None:
    others = (await _row(connection, "others"))["others"]
    if others:
        raise SetupError(
            f"{others} other clients are connected to the database: stop servers and workers of Reverie, and try again"
        )


async def _tell_nodes(connection: Connection) -> None:
    params = {"statement": SQL["tell_node"].decode()}
    refused = await (await connection.execute(SQL["tell_nodes"], params)).fetchall()
    if refused:
        raise SetupError(f"the node {refused[0]['node']} refuses what it is to know: {refused[0]['result']}")


async def _move(connection: Connection, tables: tuple[str, ...], copied: tuple[str, ...]) -> None:
    """Distribute tables: without foreign keys and policies, which are made again where the rows are then."""
    moved = {"tables": [*copied, *tables]}
    keys = await (await connection.execute(SQL["foreign_keys"], moved)).fetchall()
    policies = await (await connection.execute(SQL["policies"], {"tables": list(tables)})).fetchall()
    await connection.execute(SQL["one_connection"])
    for key in keys:
        await connection.execute(
            sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(key["name"]), sql.Identifier(key["key"]))
        )
    for policy in policies:
        await connection.execute(
            sql.SQL("DROP POLICY {} ON {}").format(sql.Identifier(policy["policy"]), sql.Identifier(policy["name"]))
        )
    for table in tables:
        await connection.execute(
            sql.SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY").format(
                sql.Identifier(table)
            )
        )
    for table in copied:
        await connection.execute(SQL["copy"], {"name": table})
        await connection.execute(SQL["forget_local"], {"name": table})
    for table in tables:
        await connection.execute(SQL["distribute"], {"name": table, "beside": "none" if table == _FIRST else _FIRST})
        await connection.execute(SQL["forget_local"], {"name": table})
    for key in keys:
        await connection.execute(
            sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}").format(
                sql.Identifier(key["name"]), sql.Identifier(key["key"]), _text(key["definition"])
            )
        )
    for table in tables:
        await connection.execute(
            sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY").format(sql.Identifier(table))
        )
    for policy in policies:
        await connection.execute(_policy(policy))


def _policy(policy: DictRow) -> sql.Composed:
    statement = sql.SQL("CREATE POLICY {} ON {} FOR {} TO {}").format(
        sql.Identifier(policy["policy"]),
        sql.Identifier(policy["name"]),
        _text(policy["cmd"]),
        sql.SQL(", ").join(sql.Identifier(role) for role in policy["roles"]),
    )
    if policy["using"] is not None:
        statement += sql.SQL(" USING ({})").format(_text(policy["using"]))
    if policy["with_check"] is not None:
        statement += sql.SQL(" WITH CHECK ({})").format(_text(policy["with_check"]))
    return statement


def _text(definition: str) -> sql.SQL:
    """The statements that PostgreSQL itself wrote, from its catalogue."""
    return sql.SQL(definition)


async def _row(connection: Connection, statement: str) -> DictRow:
    row = await (await connection.execute(SQL[statement])).fetchone()
    assert row is not None
    return row
