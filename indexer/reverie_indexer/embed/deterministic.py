"""An embedder without a model: signed feature hashing of words and character trigrams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.protocol import Embedding, Role
from reverie_indexer.embed.worker import BatchLimits, BatchWorker
from reverie_indexer.model import ModelIdentity

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 2.0
_PAIR_WEIGHT = 1.0
_MAX_KEPT_CHARS = 128
_TRIGRAM_WEIGHT = 0.5
# Part of the identity: raise it with any change of the features or their hashes.
_REVISION = "1"


class HashingEmbedder:
    """Similar where texts share words, word pairs or spelling; it knows no synonyms.

    Each feature f adds its weight × s(f) to component h(f), with the sign s and the index h from a BLAKE2b
    hash, indexes from 0; the sum is divided by its L2 norm (Weinberger et al., Feature Hashing for Large
    Scale Multitask Learning, 2009). The same on every machine and in every release.
    """

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._worker = BatchWorker(self._encode, BatchLimits(texts=64, padded_tokens=16_384, tokens_a_call=16_384))

    @property
    def identity(self) -> ModelIdentity:
        """Provider `hashing`; nothing to install, nothing to load."""
        return ModelIdentity("hashing", "words-pairs-trigrams", _REVISION, self._dimension, True)

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """See `Embedder.embed`. Never rejects a text; all texts without a word have the same vector, in any role."""
        del role
        return list(await self._worker.embed(texts))

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`: it cannot tell."""
        del text
        return 1.0

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        await self._worker.aclose()

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        return np.stack([hashed_vector(text, self._dimension) for text in texts])


def hashed_vector(text: str, dimension: int) -> NDArray[np.float32]:
    """The unit vector of one text; texts that differ only in case, spacing or punctuation have the same."""
    sums = np.zeros(dimension, np.float64)
    for feature, weight in _features(text):
        code = _hash(feature)
        sums[(code >> 1) % dimension] += weight if code & 1 else -weight
    length = float(np.linalg.norm(sums))
    if length == 0.0:  # no word in the text, or, for the tiniest texts, features that cancel out
        sums[_hash("") % dimension] = length = 1.0
    return (sums / length).astype(np.float32)


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(normalize("NFKC", text).casefold())
    for word in words:
        yield f"w:{word}", _WORD_WEIGHT
        padded = f"^{word}$"
        for start in range(len(padded) - 2):
            yield f"t:{padded[start : start + 3]}", _TRIGRAM_WEIGHT
    for left, right in pairwise(words):
        yield f"p:{left} {right}", _PAIR_WEIGHT


def _hash(feature: str) -> int:
    # A feature as long as a passage is not kept.
    return _known_hash(feature) if len(feature) <= _MAX_KEPT_CHARS else _new_hash(feature)


def _new_hash(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")


_known_hash = lru_cache(maxsize=65_536)(_new_hash)
