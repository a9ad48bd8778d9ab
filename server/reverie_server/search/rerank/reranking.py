"""The configured reranker: loaded when it is first wanted, and asked within limits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence

import structlog

from reverie_indexer.breaker import Breaker
from reverie_indexer.embed.protocol import replace_surrogates
from reverie_indexer.errors import ReverieError
from reverie_server.access.work_slot import long_wait
from reverie_server.search.rerank.protocol import Reranker, RerankFailed

log = structlog.get_logger()
# Of a longer text a reranker reads the beginning: most models would cut it off further before.
MAX_CHARS = 4000
_PAUSED = "has not answered lately, and is not asked for a while"


class Reranking:
    """A reranker, of which a call may take `timeout_seconds`; one that does not answer is left alone for a while.

    `load` gives it, and may take long. A search has its best `candidates` results scored.
    """

    def __init__(
        self, load: Callable[[], Awaitable[Reranker]], *, candidates: int = 30, timeout_seconds: float = 2.0
    ) -> None:
        self.candidates = candidates
        self.breaker = Breaker()
        self._load = load
        self._timeout_seconds = timeout_seconds
        self._loading: asyncio.Task[None] | None = None
        self._reranker: Reranker | None = None
        self._error: ReverieError | None = None

    async def wait(self) -> None:
        """Load the reranker, or fail to: `unusable` then says why."""
        await asyncio.shield(self._load_once())

    def unusable(self) -> str | None:
        """Why it cannot be asked now, as what follows `the reranker`; None where it can. Begins to load it."""
        self._load_once()
        if self._error is not None:
            return f"could not be loaded ({self._error.detail})"
        if self._reranker is None:
            return "is still loading"
        return _PAUSED if self.breaker.state == "open" else None

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """A finite score for each text, in the order of the texts. Raises RerankFailed."""
        if (reason := self.unusable()) is not None:
            raise RerankFailed(reason)
        if self.breaker.wait_seconds() > 0:
            raise RerankFailed(_PAUSED)
        try:
            with long_wait():
                async with asyncio.timeout(self._timeout_seconds):
                    scores = await self._asked(query, texts)
        except TimeoutError:
            self.breaker.fail(timed_out=True)
            raise RerankFailed("did not answer in time") from None
        except RerankFailed as error:
            if error.is_outage:
                self.breaker.fail()
            else:
                self.breaker.succeed()  # an answer that is of no use is an answer
            raise
        except BaseException:
            self.breaker.give_up()
            raise
        self.breaker.succeed()
        return scores

    async def aclose(self) -> None:
        """Release the reranker."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)
        if self._reranker is not None:
            await self._reranker.aclose()

    async def _asked(self, query: str, texts: Sequence[str]) -> list[float]:
        assert self._reranker is not None
        sent = [replace_surrogates(text[:MAX_CHARS]) for text in texts]
        scores = list(await self._reranker.scores(replace_surrogates(query), sent))
        if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
            raise RerankFailed("answered something that is not a score for each text")
        return scores

    def _load_once(self) -> asyncio.Task[None]:
        if self._loading is None:
            self._loading = asyncio.create_task(self._fill(), name="load-reranker")
        return self._loading

    async def _fill(self) -> None:
        try:
            self._reranker = await self._load()
        except ReverieError as error:
            self._error = error
            log.error("reranker_failed", code=error.code, detail=error.detail)
        else:
            log.info("reranker_ready")
