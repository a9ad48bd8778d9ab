"""Embeddings of queries, kept for a while: people and agents ask the same thing again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from reverie_indexer.embed.protocol import Embedder, Vector
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model import ModelIdentity


class CachedQueries:
    """The `size` most recently used query embeddings of one embedder, which it does not own.

    Equal texts asked for at the same time are embedded once. To be used from one event loop.
    """

    def __init__(self, embedder: Embedder, size: int = 1024) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._running: dict[str, asyncio.Task[Vector]] = {}
        self._closed = False

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the embedder behind."""
        return self._embedder.identity

    async def embed(self, text: str) -> Vector:
        """The vector of one query, read-only.

        Raises `EmbedderUnavailable`, or `EmbeddingRejected` when the provider refuses this text; neither is
        remembered. Cancelling one caller leaves the others, and the cache, their answer.
        """
        if (known := self._vectors.get(text)) is not None:
            self._vectors.move_to_end(text)
            return known
        if self._closed:
            raise EmbedderUnavailable("The embedder is closed.")
        task = self._begun(text)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # Of the task alone, by `aclose`, and not of this caller: an error like any other.
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise EmbedderUnavailable("The embedder is closed.") from None
            raise

    def begin(self, text: str) -> None:
        """Begin to embed a query that is asked for soon, while its caller does something else. Raises nothing."""
        if not self._closed and text not in self._vectors:
            self._begun(text)

    async def aclose(self) -> None:
        """Stop what is running, forget everything. The embedder itself stays open."""
        self._closed = True
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._vectors.clear()

    def _begun(self, text: str) -> asyncio.Task[Vector]:
        task = self._running.get(text)
        if task is None:
            task = self._running[text] = asyncio.create_task(self._ask(text))
            task.add_done_callback(lambda done: self._settle(text, done))
        return task

    async def _ask(self, text: str) -> Vector:
        [answer] = await self._embedder.embed([text], "query")
        if isinstance(answer, EmbeddingRejected):
            raise answer
        vector = answer.copy()
        vector.setflags(write=False)
        return vector

    def _settle(self, text: str, done: asyncio.Task[Vector]) -> None:
        del self._running[text]
        # Asking for the exception also marks it as seen, for the case that every caller has gone.
        if done.cancelled() or done.exception() is not None:
            return
        self._vectors[text] = done.result()
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
