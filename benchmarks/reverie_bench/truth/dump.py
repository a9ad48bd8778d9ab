"""Looks for words in every row of every table of a database, also inside of compressed bytes."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from reverie_indexer.database.queries import Queries

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Found:
    """Words that stand in rows of a table, in one of its columns; `example` is the beginning of such a value."""

    words: str
    table: str
    column: str
    rows: int
    example: str


async def find_everywhere(connection: psycopg.AsyncConnection[Any], wanted: Sequence[str]) -> list[Found]:
    """Where the words stand, in any case, in any column of any table that is not PostgreSQL's own."""
    if not wanted:
        return []
    found: dict[tuple[str, str, str], Found] = {}
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(SQL["tables"])
        for table in await cursor.fetchall():
            name = sql.Identifier(table["schema"], table["name"])
            await cursor.execute(sql.SQL("SELECT * FROM {}").format(name))
            async for row in cursor:
                for column, value in row.items():
                    if column in table["vectors"] or not isinstance(value, (str, list, dict, bytes)):
                        continue
                    for words in words_in(value, wanted):
                        key = (words, table["name"], column)
                        rows = found[key].rows + 1 if key in found else 1
                        found[key] = Found(*key, rows, str(value)[:200])
    return list(found.values())


def words_in(value: Any, wanted: Sequence[str]) -> Iterator[str]:
    """Those of the words that a value has, in any case; a number not within letters and digits."""
    texts = [text.casefold() for text in _texts(value)]
    for words in wanted:
        pattern = re.escape(words.casefold())
        if words.isdecimal():
            # One within a random id or a hash is none of what was said.
            pattern = rf"(?<![0-9a-z]){pattern}(?![0-9a-z])"
        if any(re.search(pattern, text) for text in texts):
            yield words


def _texts(value: Any) -> Iterator[str]:
    if not isinstance(value, (bytes, memoryview)):
        yield str(value)
        return
    plain = bytes(value)
    yield plain.decode("utf-8", "replace")
    for unpack in (gzip.decompress, zlib.decompress):
        with suppress(OSError, EOFError, zlib.error):
            yield unpack(plain).decode("utf-8", "replace")
