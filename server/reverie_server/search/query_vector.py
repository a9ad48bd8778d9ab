"""The vector of a query, from an embedding model that may be remote and slow."""

from __future__ import annotations

import asyncio
import math
import time
from weakref import WeakKeyDictionary

from reverie_indexer.embed.protocol import Role, Vector
from reverie_indexer.embed.query_cache import CachedQueries
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model_slot import Ready
from reverie_server.access.work_slot import long_wait

# No search waits longer for an endpoint that hangs: it goes on by words.
QUERY_SECONDS = 5.0
# When a model last did not answer in time: one append may have hundreds of queries, and would wait for each.
_hung: WeakKeyDictionary[CachedQueries, float] = WeakKeyDictionary()


async def query_vector(ready: Ready, text: str, role: Role = "query") -> Vector:
    """The vector of a text. EmbedderUnavailable where there is none in time, EmbeddingRejected where there never is.

    For as long as one query may wait, a model that did not answer another in time is not asked again.
    """
    if time.monotonic() < _hung.get(ready.queries, -math.inf):
        raise EmbedderUnavailable("the embedding model did not answer a moment ago")
    try:
        with long_wait():
            async with asyncio.timeout(QUERY_SECONDS):
                return await ready.queries.embed(text, role)
    except TimeoutError:
        _hung[ready.queries] = time.monotonic() + QUERY_SECONDS
        raise EmbedderUnavailable("the embedding model did not answer in time") from None
