"""Moves the vector of a query towards what answers it, for embedding models that this was learnt for. Pure.

    adapted = (q + U Vᵀ q) / |q + U Vᵀ q|,   U and V of (dimensions, rank)

"Can I pull a double on Wednesday?" needs "class is Mondays and Wednesdays", and an embedding model puts what sounds
like the question before it. The map is learnt from messages that need something which somebody said months before, most
of them in other words (`python -m reverie_bench.answers`). Only the query moves: what is stored stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.model import ModelIdentity
from reverie_server.search.asked.trees import read_floats
from reverie_server.search.relevance import BUILT_IN_PROVIDER

ADAPTERS_FILE = Path(__file__).with_name("query_adapters.json")

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class QueryAdapter:
    """The map of one embedding model; `up` is U and `down` V, each of (dimensions, rank)."""

    up: Matrix
    down: Matrix

    def adapted(self, vector: NDArray[np.floating]) -> Matrix:
        """The adapted vector of a query, of length 1 (0 of none); of several where each is a row."""
        rows = np.asarray(vector, np.float32)
        moved = rows + (rows @ self.down) @ self.up.T
        lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
        return np.asarray(moved / np.where(lengths > 0, lengths, 1), np.float32)


def adapter_of(identity: ModelIdentity) -> QueryAdapter | None:
    """The adapter of an embedding model; None of any but the built-in ones, whatever its name."""
    adapter = _adapters().get(identity.name) if identity.provider == BUILT_IN_PROVIDER else None
    return adapter if adapter is not None and len(adapter.up) == identity.dimension else None


def adapted(vector: NDArray[np.float32], identity: ModelIdentity) -> NDArray[np.float32]:
    """The vector of a query by an embedding model, adapted where the model has an adapter."""
    adapter = adapter_of(identity)
    return vector if adapter is None else adapter.adapted(vector)


@cache
def _adapters() -> Mapping[str, QueryAdapter]:
    source = json.loads(ADAPTERS_FILE.read_text(encoding="utf-8"))
    return {
        name: QueryAdapter(*(read_floats(each[part]).reshape(-1, each["rank"]) for part in ("up", "down")))
        for name, each in source.items()
    }
