"""A database for one run, on the embedded PostgreSQL or on one that is there, gone afterwards."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from reverie_indexer.database.preparing import DatabaseReport, prepare_database
from reverie_indexer.errors import DatabaseUnavailable, SetupError
from reverie_indexer.postgres.embedded import EmbeddedPostgres


@asynccontextmanager
async def scratch_database(database_url: str | None) -> AsyncIterator[tuple[str, DatabaseReport]]:
    """The conninfo of an empty database with the schema, and what serves it; gone at the end.

    Without a `database_url` an embedded server is started for it. With one, a database is created beside the
    one it names, whose own content is not touched; its role must be allowed to create databases.
    """
    if database_url is None:
        async with _embedded() as conninfo:
            yield conninfo, await prepare_database(conninfo)
        return
    name = f"reverie_bench_{secrets.token_hex(6)}"
    try:
        async with await psycopg.AsyncConnection.connect(
            database_url, autocommit=True, connect_timeout=15
        ) as connection:
            await connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(sql.Identifier(name))
            )
    except psycopg.errors.InsufficientPrivilege:
        raise SetupError(
            "the database user may not create the benchmark's own database: ALTER ROLE … CREATEDB"
        ) from None
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable("PostgreSQL does not answer; check --database-url") from error
    try:
        conninfo = make_conninfo(database_url, dbname=name)
        yield conninfo, await prepare_database(conninfo)
    finally:
        async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
            await connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@asynccontextmanager
async def _embedded() -> AsyncIterator[str]:
    with reachable_directory() as home:
        server = EmbeddedPostgres(home / "data")
        try:
            yield await asyncio.to_thread(server.start)
        finally:
            await asyncio.to_thread(server.stop)


@contextmanager
def reachable_directory() -> Iterator[Path]:
    """Directly in the temporary directory and open to others: as root PostgreSQL runs as another user. Gone after."""
    home = Path(tempfile.mkdtemp(prefix="reverie-bench-"))
    home.chmod(0o711)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)
