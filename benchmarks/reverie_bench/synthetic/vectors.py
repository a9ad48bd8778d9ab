"""Vectors for a memory of any size: a seeded mixture of clusters on the unit sphere. Pure.

Embedding a million texts takes hours. What an index costs and finds depends on how vectors lie, and those of a
sentence model lie in clusters, each spread in few directions much more than in the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Halves = NDArray[np.float16]
Floats = NDArray[np.float32]

CLUSTERS = 1000
# How far a point lies from its centre (of length 1): along the common directions, and in all others.
ALONG, AROUND = 0.9, 0.3
DIRECTIONS = 48


class Mixture:
    """Points of owners, each of whom has clusters of their own among CLUSTERS; the same seed gives the same points."""

    def __init__(self, seed: int, dimension: int) -> None:
        self._seed = seed
        self._dimension = dimension
        generator = np.random.default_rng([seed, 2])
        self._centres = _unit(generator.standard_normal((CLUSTERS, dimension), np.float32))
        spread = generator.standard_normal((min(DIRECTIONS, dimension), dimension), np.float32)
        # So that ‖z · spread‖ is about 1 for normal z.
        self._spread = (spread / np.sqrt(spread.size)).astype(np.float32)

    def points(self, owner: int, stream: int, chunks: int, number: int) -> Halves:
        """`number` points of unit length (within the rounding of halves), shape (number, dimension).

        `owner` and `chunks` (how much the owner has) decide the clusters, `stream` which points of them: two
        streams of an owner are other points of the same clusters.
        """
        topics = np.random.default_rng([self._seed, 3, owner]).integers(
            0, CLUSTERS, int(np.clip(chunks // 40, 4, CLUSTERS))
        )
        generator = np.random.default_rng([self._seed, 4, owner, stream])
        centres = self._centres[topics[generator.integers(0, len(topics), number)]]
        along = generator.standard_normal((number, len(self._spread)), np.float32) @ self._spread
        around = generator.standard_normal((number, self._dimension), np.float32) / np.float32(np.sqrt(self._dimension))
        return _unit(centres + np.float32(ALONG) * along + np.float32(AROUND) * around).astype(np.float16)


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
    return unit
