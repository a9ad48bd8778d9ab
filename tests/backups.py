"""Databases that are backed up and restored, and what is in them, row by row."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import tuple_row
from tests.embedders import filled_slot
from tests.rows import tables_of, written_out

from reverie_indexer.database.database import Database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_server.app.backups.backup import Progress
from reverie_server.app.backups.forgotten import open_forgotten_log
from reverie_server.app.backups.restore import close
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings


def shown_nowhere(_: Progress) -> None:
    """Where nobody looks at the progress."""


def settings_of(conninfo: str, directory: Path, log: str = "forgotten.log") -> Settings:
    """The settings of a server of a database, whose log of what was forgotten is in a directory."""
    return Settings(
        embedder="hashing",
        database_url=conninfo,
        data_dir=directory,
        forgotten_log=directory / log,  # type: ignore[arg-type]
    )


@asynccontextmanager
async def serving(settings: Settings, kind: type[Database] = Database) -> AsyncIterator[Runtime]:
    """Everything wired over the database of the settings, as a server is; gone in the end."""
    assert settings.database_url is not None
    async with kind(settings.database_url.get_secret_value()) as database:
        models = await filled_slot(database, HashingEmbedder(64))
        log = await open_forgotten_log(settings, database)
        runtime = assemble(settings, database, models, forgotten_log=log)
        try:
            yield runtime
        finally:
            await close(runtime)
            await models.aclose()


@contextmanager
def empty_database(conninfo: str) -> Iterator[str]:
    """An empty database beside another one."""
    name = f"test_{uuid.uuid4().hex[:16]}"
    server = make_conninfo(conninfo, dbname="postgres")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield make_conninfo(conninfo, dbname=name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def all_rows(conninfo: str) -> dict[str, list[str]]:
    """Every row of every table, written out in full, in order."""
    with psycopg.connect(conninfo, row_factory=tuple_row) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        statement = sql.SQL("SELECT {} FROM {} t ORDER BY 1")
        return {
            name: [
                row
                for (row,) in connection.execute(
                    statement.format(written_out(connection, name), sql.Identifier(name))
                ).fetchall()
            ]
            for name in tables_of(connection)
        }


def beside(conninfo: str) -> list[str]:
    """The databases that a restore into this one has left beside it."""
    name = conninfo_to_dict(conninfo)["dbname"]
    with psycopg.connect(make_conninfo(conninfo, dbname="postgres")) as connection:
        found = connection.execute(
            "SELECT datname FROM pg_database WHERE datname = ANY (%s) ORDER BY 1",
            [[f"{name}_replaced", f"{name}_restoring"]],
        ).fetchall()
    return [str(each) for (each,) in found]
