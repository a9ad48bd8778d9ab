"""Whether a sentence asks to remember something, or how likely to forget, by its words and by an embedding model."""

from __future__ import annotations

import math

import numpy as np
import structlog

from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.requests.forget_kinds import asks, odds, opening
from reverie_server.heuristics.requests.likely_requests import LikelyRequest
from reverie_server.heuristics.requests.memory_requests import Kind
from reverie_server.heuristics.requests.request_model import KINDS, by_meaning, by_words, knows
from reverie_server.search.query_vector import query_vector

log = structlog.get_logger()
# The log-odds from which a part of a sentence asks to remember something; with a vector, and without.
# `python -m reverie_bench.requests` shows what that finds of messages that nothing was fitted to, and how many others
# it takes for requests.
_BY_MEANING, _BY_WORDS = 1.0, 2.0
LEAST_ALONE = 0.15
"""What asks to forget something with less chance by itself is no request, whatever the answer."""


async def asks_to_remember(models: ModelSlot, likely: LikelyRequest) -> bool:
    """Whether a sentence asks to remember something."""
    both, name = await _odds(models, likely)
    best = max(both, key=lambda odds: odds["remember"])
    return best["remember"] == max(best.values()) and best["remember"] > (_BY_MEANING if name else _BY_WORDS)


async def chance_of_forgetting(models: ModelSlot, likely: LikelyRequest, answer: str | None) -> float:
    """How likely a sentence asks to forget something (0..1), with the answer to its message, if there is one."""
    both, name = await _odds(models, likely)
    best = max(both, key=lambda odds: odds["forget"])
    if best["forget"] < max(best.values()):
        return 0.0
    of_answer = None if answer is None else await _odds_of_answer(models, answer, name)
    alone, chance = (
        1 / (1 + math.exp(-asks(best["forget"], best["remember"], each, name))) for each in (None, of_answer)
    )
    return chance if alone >= LEAST_ALONE else 0.0


async def _odds_of_answer(models: ModelSlot, answer: str, name: str) -> float:
    text = opening(answer)
    if name and (ready := models.ready) is not None and text:
        try:
            return odds("confirms", text, np.asarray(await query_vector(ready, text), np.float32), name)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("answer_not_embedded", detail=str(error))
    # By its words alone "OK." looks like one that confirms: they only speak against it.
    return min(odds("confirms", text, None, ""), 0.0)


async def _odds(models: ModelSlot, likely: LikelyRequest) -> tuple[list[dict[Kind, float]], str]:
    """The log-odds of each part of a sentence by kind, and the model by which they are.

    They are by words ("") where the model does not answer, or nothing was fitted for it.
    """
    ready = models.ready
    if ready is not None and knows(name := ready.embedder.identity.name):
        try:
            vectors = [np.asarray(await query_vector(ready, part), np.float32) for part in likely.parts]
            both = [
                {each: by_meaning(each, part, vector, name) or 0.0 for each in KINDS}
                for part, vector in zip(likely.parts, vectors, strict=True)
            ]
            return both, name
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("request_not_embedded", detail=str(error))
    return [{each: by_words(each, part) for each in KINDS} for part in likely.parts], ""
