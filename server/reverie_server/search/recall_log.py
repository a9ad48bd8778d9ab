"""The log of recalls: which memories were shown to somebody, for which query and when.

Search results and injected memories are noted from a relevance of MIN_RELEVANCE on, never the results of the system's
own searches. The log keeps a keyed hash of the query and not its text. Recalls are noted without waiting and written in
batches.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, DatabaseUnavailable, ReverieError
from reverie_indexer.text.analyse import fold
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.text.error_site import error_site

log = structlog.get_logger()
SQL = Queries(__file__)
Source = Literal["search", "inject"]
# Further recalls are lost, and counted: a database that is down must not fill the memory of the server.
MAX_WAITING = 10_000
BATCH = 1000
INTERVAL_SECONDS = 1.0
# While the database takes no writes, the attempts become rarer up to this.
MAX_INTERVAL_SECONDS = 30.0
# The relevance from which on a fact that was shown was used.
USED_FROM = 0.3


@dataclass(frozen=True, slots=True)
class _Recall:
    tenant_id: str
    chunk_id: int
    query: str
    score: float
    source: Source
    at: datetime


class RecallLog:
    """Notes recalls without waiting; `run` and `flush` write them.

    `secret` gives the key of the hashes. `written` and `lost` count recalls; a recall is lost that did not fit into the
    buffer or could never be stored. `failures` counts the attempts to write a batch that failed.
    """

    def __init__(
        self,
        database: Database,
        secret: Callable[[], Awaitable[bytes]],
        *,
        max_waiting: int = MAX_WAITING,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._secret = secret
        self._waiting: deque[_Recall] = deque()
        self._max_waiting = max_waiting
        self._now = now
        self._noted = asyncio.Event()
        self._stopping = asyncio.Event()
        self._flushing = asyncio.Lock()
        self.written = 0
        self.lost = 0
        self.failures = 0

    def note(self, tenant_id: str, query: str, relevances: Iterable[tuple[int, float]], source: Source) -> None:
        """Note the passages that answered a query, by chunk id and relevance. Never fails, never waits.

        A passage below MIN_RELEVANCE fills a list and answers nothing: it is not noted.
        """
        at = self._now()
        for chunk_id, score in relevances:
            if score < MIN_RELEVANCE:
                continue
            if len(self._waiting) >= self._max_waiting:
                self.lost += 1
                continue
            self._waiting.append(_Recall(tenant_id, chunk_id, query, score, source, at))
        if self._waiting:
            self._noted.set()

    async def run(self) -> None:
        """Write the noted recalls in batches until `stop`, and then the rest. A batch that fails is tried again."""
        wait_seconds = INTERVAL_SECONDS
        while not self._stopping.is_set():
            await self._noted.wait()
            # Recalls that come close together are written together.
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self._stopping.wait()
            self._noted.clear()
            if await self.flush():
                wait_seconds = INTERVAL_SECONDS
            else:
                wait_seconds = min(2 * wait_seconds, MAX_INTERVAL_SECONDS)
                self._noted.set()
        if self._waiting:
            log.warning("recalls_lost", lost=len(self._waiting))

    def stop(self) -> None:
        """Let `run` write the rest and end. Cancelled within a batch, it could not tell which recalls are written."""
        self._stopping.set()
        self._noted.set()

    async def flush(self) -> bool:
        """Write all noted recalls. False, logged and counted, when the database cannot now: they stay noted."""
        async with self._flushing:
            while self._waiting:
                batch = [self._waiting[i] for i in range(min(BATCH, len(self._waiting)))]
                try:
                    self.written += await self._write(batch)
                except ReverieError as error:
                    self.failures += 1
                    log.warning("recalls_not_written", code=error.code, detail=error.detail, waiting=len(self._waiting))
                    if isinstance(error, DatabaseUnavailable | Conflict):
                        return False
                    # The batch would fail at any other time too, and the next ones wait behind it.
                    self.lost += len(batch)
                except Exception as error:  # noqa: BLE001  # one batch must not end the recorder
                    log.error("recalls_lost", error=error_site(error), lost=len(batch))
                    self.lost += len(batch)
                for _ in batch:
                    self._waiting.popleft()
        return True

    async def _write(self, batch: list[_Recall]) -> int:
        secret = await self._secret()
        written = 0
        # As maintenance, because a batch has recalls of several tenants. Nothing is read out.
        async with self._database.maintenance() as connection:
            for tenant_id in sorted({recall.tenant_id for recall in batch}):
                own = [recall for recall in batch if recall.tenant_id == tenant_id]
                params = {
                    "tenant_id": tenant_id,
                    "chunk_ids": [recall.chunk_id for recall in own],
                    "query_hashes": [query_hash(secret, tenant_id, recall.query) for recall in own],
                    "scores": [recall.score for recall in own],
                    "sources": [recall.source for recall in own],
                    "times": [recall.at for recall in own],
                }
                written += (await connection.execute(SQL["record"], params)).rowcount
                await connection.execute(SQL["use_facts"], {**params, "from_relevance": USED_FROM})
        return written


def query_hash(secret: bytes, tenant_id: str, query: str) -> bytes:
    """The keyed hash of a query: equal for queries that differ in case, width and white space only. Pure.

    It differs from tenant to tenant.
    """
    folded = " ".join(fold(query).split())
    return hmac.digest(secret, f"query\x00{tenant_id}\x00{folded}".encode(), "sha256")
