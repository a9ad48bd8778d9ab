"""The floor under a search: what it cannot do without, measured alone, in a process of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_bench.frame import LoadEmbedder
from reverie_bench.latency.statements import Statement, bare_connection, replay
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Embedder

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of each call, and the CPU of this process for all of them (not PostgreSQL's)."""

    seconds: Sequence[float]
    cpu_seconds: float


class Floor:
    """The worker: an embedder, a bare connection for what the program sends, and one for what it need not send.

    The first calls of each method are slower than the rest.
    """

    def __init__(self, conninfo: str, load_embedder: LoadEmbedder) -> None:
        self._runner = asyncio.Runner()
        self._embedder: Embedder = self._runner.run(load_embedder())
        self._connection = bare_connection(conninfo)
        self._scanning = bare_connection(conninfo)
        self._scanning.execute(SQL["as_owner"])

    def embed(self, texts: Sequence[str], limit_seconds: float | None = None) -> Timing:
        """Embed texts, one a call; with a limit, over and over until it is reached."""
        cpu = time.process_time()
        return Timing(self._runner.run(self._embed(texts, limit_seconds)), time.process_time() - cpu)

    def round_trips(self, count: int) -> Timing:
        """Send the smallest statement there is `count` times."""
        cpu = time.process_time()
        return Timing([self._execute(SQL["round_trip"]) for _ in range(count)], time.process_time() - cpu)

    def scans(self, all_params: Sequence[Mapping[str, Any]]) -> Timing:
        """Scan the vectors that a search sees exactly, once for each set of parameters."""
        cpu = time.process_time()
        seconds = [self._execute(SQL["exact_scan"], params) for params in all_params]
        return Timing(seconds, time.process_time() - cpu)

    def replays(self, searches: Sequence[Sequence[Statement]]) -> Timing:
        """Send the statements of each search once."""
        cpu = time.process_time()
        seconds = [replay(self._connection, statements) for statements in searches]
        return Timing(seconds, time.process_time() - cpu)

    def _execute(self, query: bytes, params: Mapping[str, Any] | None = None) -> float:
        began = time.perf_counter()
        self._scanning.execute(query, params).fetchall()
        return time.perf_counter() - began

    async def _embed(self, texts: Sequence[str], limit_seconds: float | None) -> list[float]:
        seconds: list[float] = []
        began = time.perf_counter()
        while not seconds or limit_seconds is not None:
            for text in texts:
                at = time.perf_counter()
                if limit_seconds is not None and at - began > limit_seconds:
                    return seconds
                await self._embedder.embed([text])
                seconds.append(time.perf_counter() - at)
        return seconds
