"""The vectors by which it is judged what a request means."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import structlog

from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.requests.forget_requests import ForgetRequest
from reverie_server.heuristics.requests.memory_requests import Kind as Asked
from reverie_server.search.asked.features import Vectors, named_by
from reverie_server.search.asked.targets import knows
from reverie_server.search.query_vector import QUERY_SECONDS, query_vector

log = structlog.get_logger()
# For dozens of statements at once.
_SECONDS = 2 * QUERY_SECONDS


async def vectors_of(
    models: ModelSlot, request: ForgetRequest, texts: Sequence[str], language: str, asks: Asked = "forget"
) -> Vectors | None:
    """The vectors of a request, of its message, of the words by which it names something, and of statements; None
    without a model for which trees were learnt."""
    ready = models.ready
    if ready is None or not knows(ready.embedder.identity.name):
        return None
    whole = " ".join((*request.before, request.sentence, *request.after))
    named = named_by(request.sentence, language, asks)
    try:
        asked = [np.asarray(await query_vector(ready, text), np.float32) for text in (request.sentence, whole, named)]
        async with asyncio.timeout(_SECONDS):
            found = await ready.embedder.embed([text for text in texts if text])
    except TimeoutError:
        log.warning("request_not_embedded", detail="the embedding model did not answer in time")
        return None
    except (EmbedderUnavailable, EmbeddingRejected) as error:
        log.warning("request_not_embedded", detail=str(error))
        return None
    rows = dict(zip(filter(None, texts), found, strict=True))
    known = {text: np.asarray(row, np.float32) for text, row in rows.items() if not isinstance(row, EmbeddingRejected)}
    return Vectors(ready.embedder.identity.name, asked[0], asked[1], asked[2], known)
