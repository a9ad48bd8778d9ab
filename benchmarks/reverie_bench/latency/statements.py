"""The very statements that a search sends, noted as it sends them, to be sent again without the search around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.pq import Format
from psycopg.rows import DictRow

from reverie_indexer.database.database import SQL as DB_SQL
from reverie_indexer.database.database import Database
from reverie_indexer.database.messages import Message
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.watched import WatchedConnection

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its parameters, as the driver was given it, and the form its rows come in."""

    query: bytes
    params: Mapping[str, Any] | None
    binary: bool = False


_noted: ContextVar[list[Statement] | None] = ContextVar("reverie_noted_statements", default=None)


class _NotingCursor(psycopg.AsyncCursor[DictRow]):
    async def execute(self, query: Any, params: Any = None, **how: Any) -> Self:
        statements = _noted.get()
        if statements is not None and isinstance(query, Message):
            statements += (Statement(*each) for each in query.statements if each.params)
        elif statements is not None:
            text = query.as_bytes(self) if isinstance(query, sql.Composable) else query
            binary = bool(how.get("binary")) or self.format == Format.BINARY
            statements.append(Statement(text.encode() if isinstance(text, str) else text, params, binary))
        return await super().execute(query, params, **how)


class NotingDatabase(Database):
    """The database of a program whose statements are to be noted."""

    async def _prepare(self, connection: WatchedConnection) -> None:
        await super()._prepare(connection)
        connection.cursor_factory = _NotingCursor


@contextmanager
def noting() -> Iterator[list[Statement]]:
    """Note the statements that this context sends through a NotingDatabase, in order."""
    statements: list[Statement] = []
    token = _noted.set(statements)
    try:
        yield statements
    finally:
        _noted.reset(token)


def bare_connection(conninfo: str) -> psycopg.Connection[Any]:
    """A connection without pool or event loop, with the settings that the program's have."""
    connection = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
    connection.execute(DB_SQL["configure_connection"], {"statement_timeout": "0"})
    register_vector(connection)
    return connection


def replay(connection: psycopg.Connection[Any], statements: Sequence[Statement]) -> float:
    """Send statements in one read-only snapshot and fetch every row; the seconds it took.

    All of them in one go, without waiting for any answer: no search that looks at an answer before it asks on can
    do with fewer round trips.
    """
    began = perf_counter()
    with connection.pipeline():
        connection.execute(SQL["begin_snapshot"])
        cursors = [connection.execute(s.query, s.params, binary=s.binary) for s in statements]
        connection.execute(SQL["end_snapshot"])
    for cursor in cursors:
        cursor.fetchall()
    return perf_counter() - began
