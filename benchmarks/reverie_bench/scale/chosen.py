"""A model with a table of vectors: queries get those that a benchmark chose, at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reverie_bench.synthetic.vectors import Halves
from reverie_indexer.embed import Embedding, Role
from reverie_indexer.model import ModelIdentity


class ChosenVectors:
    """See `Embedder`. A text that is not in the table is a KeyError."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._vectors: dict[str, Embedding] = {}

    @property
    def identity(self) -> ModelIdentity:
        """Provider `bench`: no index of a user has such vectors."""
        return ModelIdentity("bench", "clusters", "1", self._dimension, True)

    def choose(self, vectors: Mapping[str, Halves]) -> None:
        """Set the vectors of these texts."""
        # Search strips a query.
        self._vectors |= {text.strip(): vector.astype(np.float32) for text, vector in vectors.items()}

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """The vectors that were chosen, in any role."""
        del role
        return [self._vectors[text] for text in texts]

    def familiarity(self, text: str) -> float:
        """It takes any text as it is."""
        del text
        return 1.0

    async def aclose(self) -> None:
        """Nothing to release."""
