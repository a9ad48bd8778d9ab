"""The recipe of many hybrid memories, as it is usually written: AND of words, ts_rank, raw 0.3/0.7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector_async

from reverie_indexer.database.queries import Queries

SQL = Queries(__file__)


class Recipe:
    """Searches temporary tables of one connection, which it does not own."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def create(self) -> None:
        """Make the table. The database has the vector extension."""
        await register_vector_async(self._connection)
        await self._connection.execute(SQL["create"])

    async def load(self, collection: int, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store a collection's units; the i'th row is the vector of the i'th text."""
        async with self._connection.cursor() as cursor:
            await cursor.executemany(
                SQL["insert"],
                [
                    {"collection": collection, "unit": unit, "text": text, "embedding": vector}
                    for unit, (text, vector) in enumerate(zip(texts, vectors, strict=True))
                ],
            )
        await self._connection.execute(SQL["analyse"])

    async def search(self, collection: int, query: str, vector: NDArray[np.float32]) -> list[int]:
        """Units of the collection, best first."""
        cursor = await self._connection.execute(
            SQL["search"], {"collection": collection, "query": query, "embedding": vector}
        )
        return [row[0] for row in await cursor.fetchall()]
