"""The vector of a query, from an embedding model that may be remote and slow."""

from __future__ import annotations

import asyncio

from reverie_indexer.embed.protocol import Vector
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model_slot import Ready
from reverie_server.access.work_slot import long_wait

# No search waits longer for an endpoint that hangs: it goes on by words.
QUERY_SECONDS = 5.0


async def query_vector(ready: Ready, text: str) -> Vector:
    """The vector of a text. EmbedderUnavailable where there is none in time, EmbeddingRejected where there never is."""
    try:
        with long_wait():
            async with asyncio.timeout(QUERY_SECONDS):
                return await ready.queries.embed(text)
    except TimeoutError:
        raise EmbedderUnavailable("the embedding model did not answer in time") from None
