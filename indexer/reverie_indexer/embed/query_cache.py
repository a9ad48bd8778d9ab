"""Embeddings of queries, kept for a while: people and agents ask the same thing again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from reverie_indexer.embed.built_in import BUILT_IN_PROVIDER
from reverie_indexer.embed.protocol import Embedder, Role, Vector
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model import ModelIdentity


class CachedQueries:
    """The `size` most recently used query embeddings of one embedder, which it does not own.

    Equal texts asked for at the same time are embedded once. To be used from one event loop.
    """

    def __init__(self, embedder: Embedder, size: int = 1024) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[tuple[str, Role], Vector] = OrderedDict()
        self._running: dict[tuple[str, Role], asyncio.Task[Vector]] = {}
        self._closed = False

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the embedder behind."""
        return self._embedder.identity

    async def embed(self, text: str, role: Role = "query") -> Vector:
        """The vector of one text in a role of a query, read-only.

        Raises `EmbedderUnavailable`, or `EmbeddingRejected` when the provider refuses this text; neither is
        remembered. Cancelling one caller leaves the others, and the cache, their answer.
        """
        key = self._key(text, role)
        if (known := self._vectors.get(key)) is not None:
            self._vectors.move_to_end(key)
            return known
        if self._closed:
            raise EmbedderUnavailable("The embedder is closed.")
        task = self._begun(key)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # Of the task alone, by `aclose`, and not of this caller: an error like any other.
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise EmbedderUnavailable("The embedder is closed.") from None
            raise

    def begin(self, text: str, role: Role = "query") -> None:
        """Begin to embed a query that is asked for soon, while its caller does something else. Raises nothing."""
        key = self._key(text, role)
        if not self._closed and key not in self._vectors:
            self._begun(key)

    async def aclose(self) -> None:
        """Stop what is running, forget everything. The embedder itself stays open."""
        self._closed = True
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._vectors.clear()

    def _key(self, text: str, role: Role) -> tuple[str, Role]:
        # To any but a built-in model questions and messages are queries like others.
        return text, role if self.identity.provider == BUILT_IN_PROVIDER else "query"

    def _begun(self, key: tuple[str, Role]) -> asyncio.Task[Vector]:
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(self._ask(*key))
            task.add_done_callback(lambda done: self._settle(key, done))
        return task

    async def _ask(self, text: str, role: Role) -> Vector:
        [answer] = await self._embedder.embed([text], role)
        if isinstance(answer, EmbeddingRejected):
            raise answer
        vector = answer.copy()
        vector.setflags(write=False)
        return vector

    def _settle(self, key: tuple[str, Role], done: asyncio.Task[Vector]) -> None:
        del self._running[key]
        # Asking for the exception also marks it as seen, for the case that every caller has gone.
        if done.cancelled() or done.exception() is not None:
            return
        self._vectors[key] = done.result()
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
