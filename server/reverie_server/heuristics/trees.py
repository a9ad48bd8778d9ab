"""Decision trees, as they are stored and as they judge rows of numbers. Pure."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Trees:
    """Log-odds from numbers: what some decision trees say, in sum.

    Arrays are (trees, nodes); a leaf leads to itself.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    below: NDArray[np.int16]
    above: NDArray[np.int16]
    value: NDArray[np.float32]
    depth: int
    offset: float

    def log_odds(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of each row of numbers."""
        trees = np.arange(len(self.feature))[None, :]
        every = np.arange(len(rows))[:, None]
        at = np.zeros((len(rows), len(self.feature)), np.int16)
        for _ in range(self.depth):
            is_below = rows[every, self.feature[trees, at]] <= self.threshold[trees, at]
            at = np.where(is_below, self.below[trees, at], self.above[trees, at])
        return np.asarray(self.value[trees, at].sum(axis=1) + np.float32(self.offset))


def read_trees(source: Mapping[str, Any]) -> Trees:
    """Trees out of a file of models."""
    shape = (source["trees"], source["nodes"])
    whole = {part: _bytes(source[part], np.int16).reshape(shape) for part in ("feature", "below", "above")}
    numbers = {part: read_floats(source[part]).reshape(shape) for part in ("threshold", "value")}
    return Trees(**whole, **numbers, depth=source["depth"], offset=source["offset"])


def read_floats(data: str) -> NDArray[np.float32]:
    """Numbers out of a file of models."""
    return _bytes(data, np.float32)


def _bytes(data: str, kind: type) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(data)), kind)
