"""How likely a sentence asks to remember or to forget, by its words, an embedding model, and the answer to it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import structlog

from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.requests.likely_requests import LikelyRequest
from reverie_server.heuristics.requests.memory_requests import Kind
from reverie_server.heuristics.requests.promises import promises_to_keep
from reverie_server.heuristics.requests.request_kinds import OF_ANSWER, asks, odds, opening
from reverie_server.heuristics.requests.request_model import KINDS, by_meaning, by_words, knows
from reverie_server.search.query_vector import query_vector

log = structlog.get_logger()
LEAST_ALONE: Mapping[Kind, float] = {"forget": 0.15, "remember": 0.03}
"""What asks with less chance by itself is no request, whatever the answer."""
# The same by words alone, which tell much less: "that is all that I have to say of it" has words of requests, too.
_LEAST_BY_WORDS: Mapping[Kind, float] = {"forget": 0.25, "remember": 0.5}


async def chance_of_asking(models: ModelSlot, kind: Kind, likely: LikelyRequest, answer: str | None) -> float:
    """How likely a sentence asks to remember or to forget (0..1), with the answer to its message, if there is one."""
    both, name = await _odds(models, likely)
    best = max(both, key=lambda odds: odds[kind])
    if best[kind] < max(best.values()):
        return 0.0
    is_promised = answer is not None and promises_to_keep(answer)
    if is_promised and kind == "forget":
        return 0.0
    ends = [] if answer is None else await _odds_of_answer(models, answer, name)
    alone, chance = (1 / (1 + math.exp(-asks(kind, likely.sentence, best, each, name))) for each in ([], ends))
    least = LEAST_ALONE[kind] if name else _LEAST_BY_WORDS[kind]
    # What an answer says in so many words its vector does not make less likely.
    chance = max(alone, chance) if is_promised else chance
    return chance if alone >= least else 0.0


async def most_odds(models: ModelSlot, kind: Kind, likely: LikelyRequest) -> float:
    """The highest log-odds of a part of a sentence that it asks for something, whatever else it may ask for; -inf by
    words alone, which tell the one from the other too badly."""
    both, name = await _odds(models, likely)
    return max(odds[kind] for odds in both) if name else -math.inf


async def _odds_of_answer(models: ModelSlot, answer: str, name: str) -> list[float]:
    text = opening(answer)
    if name and (ready := models.ready) is not None and text:
        try:
            vector = np.asarray(await query_vector(ready, text), np.float32)
            return [odds(kind, text, vector, name) for kind in OF_ANSWER]
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("answer_not_embedded", detail=str(error))
    # By its words alone "OK." looks like one that confirms: they only speak against it.
    return [min(odds(kind, text, None, ""), 0.0) for kind in OF_ANSWER]


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
