"""What sentences are worth, by their words and by an embedding model: nothing in a month, or who the speaker is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import structlog

from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_server.heuristics.line_worth import Passing
from reverie_server.heuristics.worth_model import WorthKind, model
from reverie_server.search.query_vector import query_vector

log = structlog.get_logger()
# The log-odds from which a sentence is likely of no use in a month, and from which it surely is. By cross-validation
# (`python -m reverie_bench.worth`) the former loses 3 % of what is of use, the latter 0.4 %.
_PASSING = (0.8, 2.5)
# From these log-odds a sentence says who the speaker is, if they are by so much more than those that it is of no use in
# a month: nine of ten do. A vector is worth its cost from these log-odds of the words on.
_PERSON, _MARGIN, _LEAST_BY_WORDS = 1.0, 3.5, -2.5
# A worker loads the model once somebody waits for it.
_WAIT_SECONDS = 30.0


async def passing_of(models: ModelSlot, texts: Iterable[str]) -> dict[str, Passing]:
    """Whether each text is of no use in a month; by its words where nothing was fitted for the model."""
    likely, surely = _PASSING
    found: dict[str, Passing] = {}
    distinct = list(dict.fromkeys(texts))
    ready = await models.wait(_WAIT_SECONDS) if distinct else None
    for text in distinct:
        (odds,) = await _log_odds(ready, text, ("passing",))
        found[text] = "surely" if odds > surely else "likely" if odds > likely else "no"
    return found


async def persons_among(models: ModelSlot, texts: Iterable[str]) -> frozenset[str]:
    """The texts that say who their speaker is."""
    distinct = list(dict.fromkeys(texts))
    ready = await models.wait(_WAIT_SECONDS) if distinct else None
    found: set[str] = set()
    for text in distinct:
        if model().by_words("person", text) > _LEAST_BY_WORDS:
            person, passing = await _log_odds(ready, text, ("person", "passing"))
            if person > _PERSON and person - passing > _MARGIN:
                found.add(text)
    return frozenset(found)


async def _log_odds(ready: Ready | None, text: str, kinds: Sequence[WorthKind]) -> list[float]:
    """The log-odds of each kind."""
    fitted = model()
    if ready is not None and fitted.knows(name := ready.embedder.identity.name):
        try:
            vector = np.asarray(await query_vector(ready, text), np.float32)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("worth_not_embedded", detail=str(error))
        else:
            return [fitted.by_meaning(kind, text, vector, name) or 0.0 for kind in kinds]
    return [fitted.by_words(kind, text) for kind in kinds]
