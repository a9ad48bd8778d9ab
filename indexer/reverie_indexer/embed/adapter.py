"""Adapters of an encoder by role (LoRA): the product of two thin matrices is added to some dense layers.

"Can I pull a double on Wednesday?" needs "class is Mondays and Wednesdays", and an embedding model puts what sounds
like the question before it. The matrices for questions and for messages are learnt from what needs something that
somebody said months before, most of it in other words (`python -m reverie_bench.answers`); those for changes from what
sentences end of all that was said before them (`python -m reverie_bench.changes.adapter`). Texts of other roles,
passages above all, have the vectors that they have without.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.protocol import Role

_FOLDER = Path(__file__).parent / "adapters"
_LEVELS = 127


@dataclass(frozen=True, slots=True)
class LowRank:
    """The product `up` · `down` is added to the weights `[out, in]` of a layer: `[out, rank]` and `[rank, in]`."""

    up: NDArray[np.float32]
    down: NDArray[np.float32]


Adapter: TypeAlias = Mapping[str, LowRank]
"""By the name of the dense layer in Hugging Face's BERT."""


def adapter_file(model: str, use: Role | Literal["marks"]) -> Path:
    """Where the adapter of a built-in model for a role is, or for marking spans (`embed.marks`)."""
    return _FOLDER / f"{model}.{use}.npz"


def read_adapter(content: bytes) -> Adapter:
    """The adapter that `packed` made the content of."""
    with np.load(io.BytesIO(content), allow_pickle=False) as source:
        names = [key.removesuffix(".up") for key in source if key.endswith(".up")]
        return {name: LowRank(*(_read(source, f"{name}.{part}") for part in ("up", "down"))) for name in names}


def packed(adapter: Adapter) -> bytes:
    """An adapter as the content of a file: each number as a whole one from -127 to 127, and a scale for each rank."""
    found: dict[str, NDArray[np.generic]] = {}
    for name, matrices in adapter.items():
        for part, rows in (("up", matrices.up.T), ("down", matrices.down)):
            scales = np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / _LEVELS
            found[f"{name}.{part}"] = np.round(rows / scales).astype(np.int8)
            found[f"{name}.{part}.scales"] = scales.astype(np.float32)
    content = io.BytesIO()
    np.savez_compressed(content, **found)  # type: ignore[arg-type] # its stub takes the arrays for its one flag
    return content.getvalue()


def _read(source: Mapping[str, NDArray[np.float32]], name: str) -> NDArray[np.float32]:
    rows = source[name].astype(np.float32) * source[f"{name}.scales"]
    return np.asarray(rows.T if name.endswith(".up") else rows)
