"""Runs a blocking model in threads of its own, so that a query never waits behind a whole re-index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.protocol import Vector, replace_surrogates
from reverie_indexer.errors import EmbedderUnavailable

EncodeBatch = Callable[[list[str]], NDArray[np.float32]]
"""Blocking: texts to `[len(texts), dimension]`, the i'th row for the i'th text."""

_BYTES_PER_TOKEN = 4  # English prose in UTF-8; scripts with more tokens per byte make a batch dearer, never wrong


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one call of the model may take: the time a query may have to wait for it.

    `padded_tokens` bounds texts × the (estimated) longest of them. At 1,024 a batch of MiniLM takes about
    0.3 s on one core, and larger ones were no faster per text.
    """

    texts: int = 16
    padded_tokens: int = 1024
    max_tokens: int = 256


class BatchWorker:
    """Embeds texts in small batches on `max_workers` threads.

    Texts are sorted by length, so that little of a batch is padding. The batches of all calls with more than
    one batch pass one by one through a gate, so that at most one of them is before the model at a time; a
    call that fits one batch, as a query does, waits for that one and for other such calls only.
    """

    def __init__(self, encode: EncodeBatch, limits: BatchLimits, *, max_workers: int = 1) -> None:
        self._encode = encode
        self._limits = limits
        self._model = ThreadPoolExecutor(max_workers, thread_name_prefix="reverie-embed")
        self._gate = ThreadPoolExecutor(max_workers, thread_name_prefix="reverie-embed-gate")
        self._closed = False

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in the order of the texts. Raises `EmbedderUnavailable` once closed."""
        texts = [replace_surrogates(text) for text in texts]
        vectors: dict[str, Vector] = {}
        batches = list(plan_batches(texts, self._limits))
        loop = asyncio.get_running_loop()
        for batch in batches:
            if self._closed:
                raise EmbedderUnavailable("The embedder is closed.")
            if len(batches) == 1:
                rows = await loop.run_in_executor(self._model, self._encode, batch)
            else:
                rows = await loop.run_in_executor(self._gate, self._encode_in_turn, batch)
            vectors.update(zip(batch, rows, strict=True))
        return [vectors[text] for text in texts]

    def _encode_in_turn(self, batch: list[str]) -> NDArray[np.float32]:
        return self._model.submit(self._encode, batch).result()

    async def aclose(self) -> None:
        """Finish the batches that were handed over, at most one of each call, and end the threads."""
        self._closed = True
        await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._gate.shutdown()
        self._model.shutdown()


def plan_batches(texts: Sequence[str], limits: BatchLimits) -> Iterator[list[str]]:
    """Yield the distinct `texts`, shortest first, in batches within `limits`; a single text always fits."""
    batch: list[str] = []
    for length, text in sorted((len(text.encode()), text) for text in set(texts)):
        tokens = min(limits.max_tokens, length // _BYTES_PER_TOKEN + 2)
        if len(batch) == limits.texts or (batch and (len(batch) + 1) * tokens > limits.padded_tokens):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch
