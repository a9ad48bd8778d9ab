"""Which aspect of a life a sentence is of, by its vector: a home, a boss, a price. Pure.

What says how it is with one aspect is replaced by what says it anew, in whatever words: "Keith runs our depot" is of a
boss as much as "the new supervisor is called Farah". The model is a softmax over directions of an
embedding model, made of labelled sentences (`python -m reverie_bench.changes.fit`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ASPECTS_FILE = Path(__file__).with_name("aspects.json")
NO_ASPECT = "none"

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AspectModel:
    """Directions in the space of an embedding model, a row for each of `names`, with their offsets."""

    names: tuple[str, ...]
    directions: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def shares(self, vector: Vector) -> Vector:
        """How likely a sentence is of each aspect, in the order of the names, without how likely it is of none."""
        scores = self.directions @ vector + self.offsets
        likely = np.exp(scores - scores.max())
        return np.asarray(np.delete(likely / likely.sum(), self.names.index(NO_ASPECT)), np.float32)


def same_aspect(one: Vector, other: Vector) -> float:
    """How likely two sentences are of one aspect, by their shares: 0 to 1."""
    return float(one @ other)


@cache
def aspect_models() -> Mapping[str, AspectModel]:
    """The models, by the names of the embedding models that they were made for."""
    source = json.loads(ASPECTS_FILE.read_text(encoding="utf-8"))
    return {
        name: AspectModel(
            tuple(each["names"]), np.array(each["directions"], np.float32), np.array(each["offsets"], np.float32)
        )
        for name, each in source.items()
    }
