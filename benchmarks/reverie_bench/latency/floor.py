"""The floor under a search: what it cannot do without, measured alone, in a process of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from reverie_bench.latency.statements import Statement, bare_connection, replay
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Embedder

SQL = Queries(__file__)
LoadEmbedder = Callable[[], Coroutine[Any, Any, Embedder]]


@dataclass(frozen=True, slots=True)
class Embedding:
    """Embed texts, one a call."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Rate:
    """Embed texts, one a call, over and over for some seconds."""

    texts: Sequence[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """The smallest statement there is, so many times."""

    count: int


@dataclass(frozen=True, slots=True)
class Scans:
    """The exact vector scan of what a search sees, once a set of parameters."""

    params: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Replays:
    """The statements of searches, once each."""

    searches: Sequence[Sequence[Statement]]


Job = Embedding | Rate | RoundTrips | Scans | Replays


@dataclass(frozen=True, slots=True)
class Taken:
    """The seconds of each call, and the CPU of this process for all of them (not PostgreSQL's)."""

    seconds: Sequence[float]
    cpu_seconds: float


class Floor:
    """The worker: an embedder, a bare connection for what the program sends, and one for what it need not send."""

    def __init__(self, conninfo: str, load_embedder: LoadEmbedder) -> None:
        self._runner = asyncio.Runner()
        self._embedder: Embedder = self._runner.run(load_embedder())
        self._connection = bare_connection(conninfo)
        self._scanning = bare_connection(conninfo)
        self._scanning.execute(SQL["as_owner"])

    def __call__(self, job: Job) -> Taken:
        """Do a job; the first calls of a kind are slower than the rest."""
        cpu = time.process_time()
        match job:
            case Embedding(texts):
                seconds = self._runner.run(self._embed(texts))
            case Rate(texts, limit):
                seconds = self._runner.run(self._embed(texts, limit))
            case RoundTrips(count):
                seconds = [self._timed(SQL["round_trip"]) for _ in range(count)]
            case Scans(all_params):
                seconds = [self._timed(SQL["exact_scan"], params) for params in all_params]
            case Replays(searches):
                seconds = [replay(self._connection, statements) for statements in searches]
            case _:
                assert_never(job)
        return Taken(seconds, time.process_time() - cpu)

    def _timed(self, query: bytes, params: Mapping[str, Any] | None = None) -> float:
        began = time.perf_counter()
        self._scanning.execute(query, params).fetchall()
        return time.perf_counter() - began

    async def _embed(self, texts: Sequence[str], limit_seconds: float | None = None) -> list[float]:
        """One call a text; with a limit, round and round until it is over."""
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
