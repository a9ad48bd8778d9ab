"""Which memories were shown to somebody, for which query and when: noted in passing, written in batches.

Noted are search results and what is injected into prompts; never what the system finds for its own work. Of a query a
keyed hash alone is kept.
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

from reverie_indexer.analyse import fold
from reverie_indexer.db import Database
from reverie_indexer.errors import Conflict, DatabaseUnavailable, ReverieError
from reverie_indexer.queries import Queries

log = structlog.get_logger()
SQL = Queries(__file__)
Source = Literal["search", "inject"]
# What waits beyond that is lost, and counted: a database that is down must not fill the memory of the server.
MAX_WAITING = 10_000
BATCH = 1000
INTERVAL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Recall:
    tenant_id: str
    chunk_id: int
    query: str
    score: float
    source: Source
    at: datetime


class Recalls:
    """Takes notes of recalls without waiting, and writes them when `run` or `flush` gets to it.

    `secret` gives the key of the hashes. `written` and `lost` count recalls; lost is what did not fit into the buffer
    or could not be stored at all. `failures` counts the times that a batch could not be written.
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

    def note(self, tenant_id: str, query: str, shown: Iterable[tuple[int, float]], source: Source) -> None:
        """Note passages, each by its id with its relevance, that answered a query. Never fails, never waits."""
        at = self._now()
        for chunk_id, score in shown:
            if len(self._waiting) >= self._max_waiting:
                self.lost += 1
                continue
            self._waiting.append(_Recall(tenant_id, chunk_id, query, score, source, at))
        if self._waiting:
            self._noted.set()

    async def run(self) -> None:
        """Write what is noted, in batches, until stopped, and then what is left. What fails is tried again."""
        while not self._stopping.is_set():
            await self._noted.wait()
            # What comes close together is written together.
            with suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL_SECONDS):
                    await self._stopping.wait()
            self._noted.clear()
            if not await self.flush():
                self._noted.set()

    def stop(self) -> None:
        """Let `run` write what is left and end: cancelled within a batch, it could not tell what is written."""
        self._stopping.set()
        self._noted.set()

    async def flush(self) -> bool:
        """Write all that is noted. False, logged and counted, when it could not be now: it stays noted."""
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
                    # No other time would do better, and the next ones wait behind it.
                    self.lost += len(batch)
                for _ in batch:
                    self._waiting.popleft()
        return True

    async def _write(self, batch: list[_Recall]) -> int:
        secret = await self._secret()
        params = {
            "tenant_ids": [recall.tenant_id for recall in batch],
            "chunk_ids": [recall.chunk_id for recall in batch],
            "query_hashes": [query_hash(secret, recall.tenant_id, recall.query) for recall in batch],
            "scores": [recall.score for recall in batch],
            "sources": [recall.source for recall in batch],
            "times": [recall.at for recall in batch],
        }
        # Over all tenants at once, each row by its tenant: it is no request's, and reads nothing out.
        async with self._database.maintenance() as connection:
            return (await connection.execute(SQL["record"], params)).rowcount


def query_hash(secret: bytes, tenant_id: str, query: str) -> bytes:
    """The same for queries that are equal but for case, width and white space; of no use in another tenant. Pure."""
    folded = " ".join(fold(query).split())
    return hmac.digest(secret, f"query\x00{tenant_id}\x00{folded}".encode(), "sha256")
