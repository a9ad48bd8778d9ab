"""Whether a sentence asks to remember or to forget something, by its words and by an embedding model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import structlog

from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.requests.likely_requests import LikelyRequest
from reverie_server.heuristics.requests.memory_requests import Kind
from reverie_server.heuristics.requests.request_model import KINDS, by_meaning, by_words, knows
from reverie_server.search.query_vector import query_vector

log = structlog.get_logger()
Asks: TypeAlias = Literal["no", "may", "does"]
# The log-odds from which a part of a sentence may ask, and from which it does; with a vector, and without.
# `python -m reverie_bench.requests` shows what that finds of messages that nothing was fitted to, and how many others
# it takes for requests.
_BY_MEANING: Mapping[Kind, tuple[float, float]] = {"forget": (1.2, 2.8), "remember": (1.0, 2.0)}
_BY_WORDS: Mapping[Kind, tuple[float, float]] = {"forget": (2.0, 4.0), "remember": (2.0, 3.0)}


async def asks_for(models: ModelSlot, kind: Kind, likely: LikelyRequest) -> Asks:
    """Whether a sentence asks for it; by its words where the model does not answer, or nothing was fitted for it."""
    ready = models.ready
    if ready is not None and knows(name := ready.embedder.identity.name):
        try:
            vectors = [np.asarray(await query_vector(ready, part), np.float32) for part in likely.parts]
            both = [
                {each: by_meaning(each, part, vector, name) or 0.0 for each in KINDS}
                for part, vector in zip(likely.parts, vectors, strict=True)
            ]
            return _judged(kind, both, _BY_MEANING[kind])
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("request_not_embedded", detail=str(error))
    both = [{each: by_words(each, part) for each in KINDS} for part in likely.parts]
    return _judged(kind, both, _BY_WORDS[kind])


def _judged(kind: Kind, parts: Sequence[Mapping[Kind, float]], limits: tuple[float, float]) -> Asks:
    """By the part that asks for it most, unless that asks for the other more."""
    best = max(parts, key=lambda odds: odds[kind])
    may, does = limits
    if best[kind] <= may or best[kind] < max(best.values()):
        return "no"
    return "does" if best[kind] > does else "may"
