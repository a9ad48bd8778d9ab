"""The floor: the embedder alone, on this machine, in the same minutes as the peers. In this process."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.local import LocalEmbedder, load_local

_BATCH = 256


class Bare:
    """As many embedders as there are CPUs, of one thread each: what the machine can do and nothing else."""

    def __init__(self, model_dir: Path) -> None:
        self._embedders = [load_local(model_dir, MINILM, weights_dir=model_dir) for _ in range(os.cpu_count() or 1)]
        self._loop = asyncio.new_event_loop()
        self.query_seconds("warm")

    def query_seconds(self, query: str) -> float:
        """How long one query takes, by one caller."""
        began = time.perf_counter()
        self._embed(self._embedders[0], [query])
        return time.perf_counter() - began

    def batch_rate(self, texts: Sequence[str]) -> float:
        """Texts a second in batches, by one embedder with one thread, as a writer uses it. At least one text."""
        began = time.perf_counter()
        for start in range(0, len(texts), _BATCH):
            self._embed(self._embedders[0], texts[start : start + _BATCH])
        return len(texts) / (time.perf_counter() - began)

    def query_rate(self, queries: Sequence[str]) -> float:
        """Single queries a second with one caller a CPU. At least one query."""
        by_embedder: list[list[str]] = [[] for _ in self._embedders]
        for query, own in zip(queries, cycle(by_embedder), strict=False):
            own.append(query)
        with ThreadPoolExecutor(len(self._embedders)) as threads:
            began = time.perf_counter()
            list(threads.map(_one_by_one, self._embedders, by_embedder))
            return len(queries) / (time.perf_counter() - began)

    def close(self) -> None:
        """Release threads."""
        for embedder in self._embedders:
            self._loop.run_until_complete(embedder.aclose())
        self._loop.close()

    def _embed(self, embedder: LocalEmbedder, texts: Sequence[str]) -> None:
        self._loop.run_until_complete(embedder.embed(texts))


def _one_by_one(embedder: LocalEmbedder, queries: Sequence[str]) -> None:
    async def run() -> None:
        for query in queries:
            await embedder.embed([query])

    asyncio.run(run())
