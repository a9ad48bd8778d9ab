"""The embedding model of a running program: loading, ready, failed, or none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.errors import ReverieError
from reverie_indexer.index import vectors

if TYPE_CHECKING:
    # They bring numpy along, which nobody needs before there is a model.
    from reverie_indexer.embed import Embedder
    from reverie_indexer.embed.query_cache import CachedQueries

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ready:
    """A loaded model: `model_id` names its vectors in the database."""

    embedder: Embedder
    queries: CachedQueries
    model_id: int


class ModelSlot:
    """Loads a model in the background and tells when it is ready.

    `load` gives the embedder and may take long; None means that no model is configured. `error` is why there
    is none after a failure.
    """

    def __init__(
        self,
        load: Callable[[], Awaitable[Embedder]] | None,
        *,
        query_cache_size: int = 1024,
        check_active: bool = True,
    ) -> None:
        self._load = load
        self._query_cache_size = query_cache_size
        self._check_active = check_active
        self._settled = asyncio.Event()
        # Set once somebody waits for the model: who only then loads it may find that nobody does.
        self.wanted = asyncio.Event()
        self.ready: Ready | None = None
        self.error: ReverieError | None = None
        if load is None:
            self._settled.set()

    @property
    def state(self) -> Literal["loading", "ready", "failed", "none"]:
        """The state of the model."""
        if self.ready is not None:
            return "ready"
        if self._load is None:
            return "none"
        return "failed" if self.error is not None else "loading"

    async def fill(self, database: Database) -> None:
        """Load the model and make sure that the index holds its vectors and no other's.

        Never raises ReverieError: what went wrong is in `error`, and `fill` may be called again.
        """
        if self._load is None:
            return
        from reverie_indexer.embed.query_cache import CachedQueries

        embedder: Embedder | None = None
        try:
            embedder = await self._load()
            if self._check_active:
                model_id = await vectors.activate_or_check(database, embedder.identity)
            else:
                model_id, _ = await vectors.register(database, embedder.identity)
        except ReverieError as error:
            self.error = error
            log.error("embedder_failed", code=error.code, detail=error.detail)
            if embedder is not None:
                await embedder.aclose()
        else:
            self.error = None
            self.ready = Ready(embedder, CachedQueries(embedder, self._query_cache_size), model_id)
            log.info("embedder_ready", model=str(embedder.identity))
        finally:
            self._settled.set()

    async def wait(self, timeout_seconds: float | None = None) -> Ready | None:
        """The model, as soon as it is ready; None when there is none or it takes longer."""
        self.wanted.set()
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._settled.wait()
        except TimeoutError:
            return None
        return self.ready

    async def aclose(self) -> None:
        """Release the model."""
        if self.ready is not None:
            await self.ready.queries.aclose()
            await self.ready.embedder.aclose()
