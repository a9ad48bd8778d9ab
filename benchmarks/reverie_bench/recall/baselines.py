"""Simple ways to find units, on the very same texts: what a search engine has to beat.

Each gives the indices of units, best first, at most DEPTH. Ties go to the later unit, that is the newer one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.errors import SetupError

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
    """How many distinct words of the question occur in the unit, anywhere, parts of words too."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [text.lower() for text in texts]

    def search(self, query: str) -> list[int]:
        """Units that hold at least one of the words."""
        wanted = set(words(query))
        return best([sum(word in text for word in wanted) for text in self._texts], above=0)


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
