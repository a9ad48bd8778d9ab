"""The contract of every embedder. Light on purpose: importing it loads no model library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.errors import EmbeddingRejected
from reverie_indexer.model import ModelIdentity

Vector: TypeAlias = NDArray[np.float32]
"""One embedding: shape `(dimension,)`, float32, length 1 within rounding."""

Role: TypeAlias = Literal["query", "question", "message", "change", "passage"]
"""What a text is for: some models embed queries otherwise than passages. `question`: to find what answers it;
`message`: to find what an assistant needs for it, if anything; `change`: to find what it ends. A model without an
adapter for one of these embeds it as a `query`."""

Embedding: TypeAlias = Vector | EmbeddingRejected
"""The vector of one text, or, as a value and not raised, why it can never have one."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates: they have no UTF-8, and one must not lose a batch."""
    return _SURROGATE.sub("\ufffd", text)


def unit_vector(raw: NDArray[np.floating]) -> Vector | None:
    """Return `raw / ‖raw‖₂`; None where that is no direction: all zero, or any NaN or infinity."""
    length = np.linalg.norm(raw.astype(np.float64))
    if not np.isfinite(length) or length == 0.0:
        return None
    return (raw / length).astype(np.float32)


class Embedder(Protocol):
    """Turns texts into vectors of one model. Safe for concurrent calls from one process."""

    @property
    def identity(self) -> ModelIdentity:
        """The model whose vectors these are. Constant for the life of the embedder."""
        ...

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """Embed `texts` of one role; the i'th item belongs to the i'th text. Empty in, empty out.

        Equal texts of the same role get equal vectors, alone or in any batch, within 1e-5 per component. A text
        longer than the model reads is cut by the model. A vector may be a view into a batch: copy it before
        writing to it.

        Raises `EmbedderUnavailable` when the provider cannot be used at all now; nothing is then returned,
        not even for texts that were done.
        """
        ...

    def familiarity(self, text: str) -> float:
        """How well the model knows the text's script: the share of its letters that are read in pieces of several.

        A script that a model was not trained on falls into single letters and unknown pieces: 0.0 to 0.3 with
        MiniLM for Chinese, Thai, Cyrillic, Arabic and others, above 0.7 for what is written in Latin letters. 1.0
        where the embedder cannot tell, or there are too few letters to tell by.
        """
        ...

    async def aclose(self) -> None:
        """Release threads and connections. Later calls of `embed` raise `EmbedderUnavailable`. Idempotent."""
        ...
