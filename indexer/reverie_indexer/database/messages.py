"""Several statements sent as one message, which costs half of what a pipeline does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import psycopg
from psycopg.rows import DictRow


class Statement(NamedTuple):
    """A statement with its parameters."""

    query: bytes
    params: Mapping[str, Any]


class Message(bytes):
    """Statements as one text with their parameters in it; `statements` are what it was made of."""

    statements: Sequence[Statement]

    @classmethod
    def of(cls, connection: psycopg.AsyncConnection[DictRow], statements: Sequence[Statement]) -> Self:
        """The statements in order, each with its parameters as literals of this connection."""
        cursor = psycopg.AsyncClientCursor(connection)
        texts = [cursor.mogrify(query.rstrip().rstrip(b";"), params) for query, params in statements]
        message = cls(";\n".join(texts).encode())
        message.statements = statements
        return message


async def in_one_message(
    connection: psycopg.AsyncConnection[DictRow], statements: Sequence[Statement]
) -> list[list[DictRow]]:
    """The rows of each statement, in order; none for one that gives no rows. Where one fails, none after it is run."""
    cursor = await connection.execute(Message.of(connection, statements))
    rows: list[list[DictRow]] = []
    for number in range(len(statements)):
        if number:
            cursor.nextset()
        rows.append(await cursor.fetchall() if cursor.description is not None else [])
    return rows
