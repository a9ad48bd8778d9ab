"""Backups: the whole database as of one instant, while servers and workers go on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from reverie_indexer.database.database import Connection
from reverie_indexer.database.faults import start_errors
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.programs import dump
from reverie_server.app.backups.backup_file import FORMAT, LogMark, Manifest, Part, write_backup
from reverie_server.app.backups.forgotten import forgotten_log_of
from reverie_server.app.databases import open_server
from reverie_server.provenance.forgotten_log import begin, read_log
from reverie_server.settings.server import Settings

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a backup or a restore is: rows of tables that are done, of how many, and what is at work."""

    step: str
    done: int
    total: int


Show = Callable[[Progress], None]


@asynccontextmanager
async def connected(conninfo: str) -> AsyncIterator[Connection]:
    """A connection outside any transaction that sees all rows; SetupError where there is none to be had."""
    with start_errors():
        async with await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, row_factory=dict_row, connect_timeout=15, client_encoding="utf8"
        ) as connection:
            await connection.execute(SQL["set_up_session"])
            yield connection


async def take_backup(settings: Settings, target: Path, show: Show) -> Manifest:
    """Write a backup of the configured database to a file, which is whole or not there. SetupError where it cannot be.

    The schema is left as it is. What is forgotten while the backup is made is in the log, by which it is restored.
    """
    async with open_server(settings) as (conninfo, _):
        return await back_up(conninfo, forgotten_log_of(settings), target, show)


async def back_up(conninfo: str, forgotten_log: Path, target: Path, show: Show) -> Manifest:
    """As `take_backup`, of a server that is there, beside a log of what was forgotten."""
    mark = mark_of(forgotten_log)
    async with connected(conninfo) as connection:
        await require_one_node(connection)
        if not (await one(connection, SQL["has_schema"]))["has_schema"]:
            raise SetupError("there is nothing to back up: the database has no schema yet; `reverie upgrade` makes it")
        state = await one(connection, SQL["state"])
        if state["tables_owner"] != state["login"]:
            await become(connection, state["tables_owner"])
        await connection.execute(SQL["begin_snapshot"])
        facts = await one(connection, SQL["facts"])
        tables = await count_rows(connection)
        options = [
            f"--snapshot={facts.pop('exported')}",
            f"--role={state['tables_owner']}",
            "--enable-row-security",
            "--no-comments",
            "--compress=1",
        ]
        pieces = dump(conninfo, options, by_rows("backing up", tables, show))

        def manifest_of(parts: dict[str, Part]) -> Manifest:
            return Manifest(
                format=FORMAT, program=version("reverie"), tables=tables, forgotten=mark, parts=parts, **facts
            )

        return await write_backup(target, pieces, manifest_of)


async def require_one_node(connection: Connection) -> None:
    """SetupError for a database that Citus spreads over nodes: none of its snapshots is of all of them."""
    if (await one(connection, SQL["nodes"]))["has_nodes"]:
        raise SetupError(
            "the database is spread over several nodes, which have no instant in common: back them up by means of "
            "PostgreSQL, and restore all of them to one restore point of Citus (docs/operations.md, Several nodes)"
        )


def mark_of(log_path: Path) -> LogMark:
    """The log of what was forgotten, begun where there is none: a backup without it could not be restored."""
    try:
        begin(log_path)
    except OSError as error:
        raise SetupError(
            f"the log of what was forgotten, {log_path}, cannot be written: {error.strerror}. Mend that, or choose "
            "another REVERIE_FORGOTTEN_LOG"
        ) from None
    log = read_log(log_path)
    return LogMark(log_id=log.log_id, entries=len(log.entries))


def by_rows(step: str, tables: Mapping[str, int], show: Show) -> Callable[[str], None]:
    """What is told which table is at work, and shows how many rows are done."""
    done = 0
    at_work: str | None = None

    def began(table: str) -> None:
        nonlocal done, at_work
        done += tables.get(at_work, 0) if at_work else 0
        at_work = table
        show(Progress(f"{step} {table}", done, sum(tables.values())))

    return began


async def count_rows(connection: Connection) -> dict[str, int]:
    """The rows of each table, as the connection's transaction sees them."""
    names = [row["name"] for row in await (await connection.execute(SQL["tables"])).fetchall()]
    counts = {}
    for name in names:
        counted = sql.SQL("SELECT count(*) AS rows FROM {}").format(sql.Identifier(name))
        counts[name] = int((await one(connection, counted))["rows"])
    return counts


async def become(connection: Connection, role: str) -> None:
    """Work as another role until the connection is closed."""
    await connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))


async def one(connection: Connection, query: bytes | sql.Composed, params: Mapping[str, Any] | None = None) -> DictRow:
    """The only row of a statement's answer."""
    row = await (await connection.execute(query, params)).fetchone()
    if row is None:
        raise LookupError("a statement that always answers with a row gave none")
    return row
