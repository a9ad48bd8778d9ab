"""Simple ways to find units on the very same texts, which a search engine has to beat.

Each gives the indices of units, best first, at most DEPTH. Ties go to the later unit, that is the newer one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector_async

from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError

SQL = Queries(__file__)
DEPTH = 100
_WORD = re.compile(r"\w+")
Matrix = NDArray[np.float32]


def words(text: str) -> list[str]:
    """Lower-cased runs of word characters, as a plain BM25 takes them."""
    return _WORD.findall(text.lower())


def best(scores: Sequence[float] | NDArray[np.floating], *, above: float = -np.inf) -> list[int]:
    """The indices by falling score, the later first among equals; those at or under `above` left out."""
    order = sorted(range(len(scores)), key=lambda unit: (-scores[unit], -unit))
    return [unit for unit in order[:DEPTH] if scores[unit] > above]


def by_chance(unit_count: int, generator: np.random.Generator) -> list[int]:
    """Units drawn without looking."""
    return [int(unit) for unit in generator.permutation(unit_count)[:DEPTH]]


class Grep:
    """Scores a unit by the number of the question's distinct words in it, parts of words too."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [text.lower() for text in texts]

    def search(self, query: str) -> list[int]:
        """Units that hold at least one of the words."""
        distinct = set(words(query))
        return best([sum(word in text for word in distinct) for text in self._texts], above=0)


class Bm25:
    """`rank_bm25`'s Okapi with its own defaults over plain words: no stems, no stop words, no n-grams."""

    def __init__(self, texts: Sequence[str]) -> None:
        try:
            from rank_bm25 import BM25Okapi
        except ImportError:
            raise SetupError("the BM25 baseline is not installed: pip install 'reverie[bench]'") from None
        self._index = BM25Okapi([words(text) for text in texts])

    def search(self, query: str) -> list[int]:
        """Units that share a word with the question."""
        return best(self._index.get_scores(words(query)), above=0)


def by_vector(query: NDArray[np.float32], units: Matrix) -> list[int]:
    """By cosine similarity; a row of `units` is a unit's vector, all of length 1."""
    return best(units @ query)


class Recipe:
    """The recipe of many hybrid memories, as it is usually written: AND of words, ts_rank, raw 0.3/0.7.

    Its units are in a temporary table of one connection, which it does not own.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def create(self) -> None:
        """Create the table. The database has the vector extension."""
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
