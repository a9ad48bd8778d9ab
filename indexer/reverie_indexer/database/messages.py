"""Several statements sent as one message, which costs half of what a pipeline does.

A message is a text, which PostgreSQL parses and plans each time. So the statements that a `.sql` file calls prepared
are prepared by their first message on a connection, and only executed by those after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import psycopg
from psycopg.rows import DictRow

from reverie_indexer.database.queries import NamedStatement

_PLACEHOLDER = re.compile(rb"%\((?P<name>\w+)\)s|%%")
# A prepared statement has one plan for any values; what else is sent in the transaction is planned by its values.
_GENERIC = "SET LOCAL plan_cache_mode = force_generic_plan"
_BY_VALUE = "SET LOCAL plan_cache_mode = force_custom_plan"


@dataclass(slots=True)
class _Prepared:
    """What the statements are called that a connection has prepared, by their texts. No name is given twice: a message
    that fails may have prepared a statement or not."""

    names: dict[bytes, bytes] = field(default_factory=dict)
    given: int = 0
    is_off: bool = False

    def new_name(self) -> bytes:
        self.given += 1
        return b"reverie_%d" % self.given


_prepared: MutableMapping[psycopg.AsyncConnection[Any], _Prepared] = WeakKeyDictionary()


def prepare_nothing(connection: psycopg.AsyncConnection[Any]) -> None:
    """Have every message of a connection parsed and planned anew."""
    _prepared.setdefault(connection, _Prepared()).is_off = True


class Statement(NamedTuple):
    """A statement with its parameters."""

    query: bytes
    params: Mapping[str, Any]


class Message(bytes):
    """Statements as one text with their parameters in it; `statements` are what it was made of.

    `positions` are the numbers of their results among those of the text, which says more than they do. `prepares` are
    the names of those that it prepares before it executes them, by their texts.
    """

    statements: Sequence[Statement]
    positions: Sequence[int]
    prepares: Mapping[bytes, bytes]

    @classmethod
    def of(cls, connection: psycopg.AsyncConnection[DictRow], statements: Sequence[Statement]) -> Self:
        """The statements in order, each with its parameters as literals of this connection."""
        cursor = psycopg.AsyncClientCursor(connection)
        known = _prepared.setdefault(connection, _Prepared())
        prepares: dict[bytes, bytes] = {}
        texts: list[str] = []
        positions: list[int] = []
        for query, params in statements:
            if _is_prepared(query) and not known.is_off:
                if _GENERIC not in texts:
                    texts.append(_GENERIC)
                name = known.names.get(query) or prepares.get(query)
                if name is None:
                    name = prepares[query] = known.new_name()
                    texts.append(f"PREPARE {name.decode()} AS {numbered(query).text}")
                text = cursor.mogrify(b"EXECUTE " + name + numbered(query).arguments, params)
            else:
                text = cursor.mogrify(query.rstrip().rstrip(b";"), params)
            positions.append(len(texts))
            texts.append(text)
        if _GENERIC in texts:
            texts.append(_BY_VALUE)
        message = cls(";\n".join(texts).encode())
        message.statements = statements
        message.positions = positions
        message.prepares = prepares
        return message


def _is_prepared(query: bytes) -> bool:
    return isinstance(query, NamedStatement) and query.is_prepared


class Numbered(NamedTuple):
    """A statement with `$1` where it had `%(name)s`, and these names in the order of their numbers, as arguments."""

    text: str
    arguments: bytes


@lru_cache(maxsize=1000)
def numbered(query: bytes) -> Numbered:
    """A statement as PREPARE takes it."""
    numbers: dict[bytes, int] = {}

    def number(placeholder: re.Match[bytes]) -> bytes:
        name = placeholder["name"]
        return b"%" if name is None else b"$%d" % numbers.setdefault(name, len(numbers) + 1)

    text = _PLACEHOLDER.sub(number, query.rstrip().rstrip(b";"))
    return Numbered(text.decode(), b"(" + b", ".join(b"%%(%s)s" % name for name in numbers) + b")")


async def in_one_message(
    connection: psycopg.AsyncConnection[DictRow], statements: Sequence[Statement]
) -> list[list[DictRow]]:
    """The rows of each statement, in order; none for one that gives no rows. Where one fails, none after it is run."""
    message = Message.of(connection, statements)
    with _remembering(connection, message):
        cursor = await connection.execute(message)
    rows: list[list[DictRow]] = []
    for position in message.positions:
        await cursor.set_result(position)
        result = cursor.pgresult
        rows.append(await cursor.fetchall() if result is not None and result.ntuples else [])
    return rows


@contextmanager
def _remembering(connection: psycopg.AsyncConnection[DictRow], message: Message) -> Iterator[None]:
    """Remember what a connection has prepared."""
    try:
        yield
    except (psycopg.errors.InvalidSqlStatementName, psycopg.errors.FeatureNotSupported):
        # Somebody has discarded them, or changed the tables under them.
        _prepared[connection].names.clear()
        raise
    _prepared[connection].names.update(message.prepares)
