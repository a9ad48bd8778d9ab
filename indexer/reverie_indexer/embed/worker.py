"""Runs a blocking model in threads of its own, so that a query never waits behind a whole re-index."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import structlog
from numpy.typing import NDArray

from reverie_indexer.background_threads import begin_thread
from reverie_indexer.embed.protocol import Vector, replace_surrogates
from reverie_indexer.errors import EmbedderUnavailable

log = structlog.get_logger()
EncodeBatch = Callable[[list[str]], NDArray[Any]]
"""Blocking: texts to `[len(texts), dimension]`, or as many objects, the i'th row for the i'th text."""

_BYTES_PER_TOKEN = 4  # English prose in UTF-8; scripts with more tokens per byte make a batch dearer, never wrong


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one call of the model may take: the time a query may have to wait for it.

    `padded_tokens` bounds texts × the (estimated) longest of them. At 1,024 a batch of MiniLM takes about
    0.3 s on one core, and larger ones were no faster per text. A call takes as long as `tokens_a_call` besides, for the
    built-in models to read their weights: with more padding than that, texts take longer together than by themselves.
    """

    texts: int = 16
    padded_tokens: int = 1024
    max_tokens: int = 256
    tokens_a_call: int = 16

    def tokens_of(self, text: str) -> int:
        """How many tokens a text has, by estimate."""
        return min(self.max_tokens, len(text.encode()) // _BYTES_PER_TOKEN + 2)

    def fit(self, texts: int, longest: int) -> bool:
        """Whether so many texts, the longest of so many tokens, are one batch; a single one always is."""
        return texts <= 1 or (texts <= self.texts and texts * longest <= self.padded_tokens)


class BatchWorker:
    """Embeds texts in small batches on `max_workers` threads.

    Texts of about the same length are put before the model together, so that little of a batch is padding. The batches
    of all calls that do not fit one pass one by one through a gate, so that at most one of them is before the model at
    a time; a call that fits one batch, as a query does, waits for that one and for other such calls only. What waits at
    the same time for the same function is put before the model together, as far as it fits one batch and is about as
    long: the weights are read once.
    """

    def __init__(self, encode: EncodeBatch, limits: BatchLimits, *, max_workers: int = 1) -> None:
        self._encode = encode
        self._limits = limits
        self._model = ThreadPoolExecutor(max_workers, thread_name_prefix="reverie-embed", initializer=begin_thread)
        self._gate = ThreadPoolExecutor(max_workers, thread_name_prefix="reverie-embed-gate")
        self._waiting: deque[_Call] = deque()
        self._taking = Lock()
        self._closed = False

    async def embed(self, texts: Sequence[str], encode: EncodeBatch | None = None) -> list[Vector]:
        """One vector a text, in the order of the texts, by another function than the worker's where there is one.
        Raises `EmbedderUnavailable` once closed."""
        encode = encode or self._encode
        texts = [replace_surrogates(text) for text in texts]
        vectors: dict[str, Vector] = {}
        batches = plan_batches(texts, self._limits)
        if batches and self._limits.fit(sum(map(len, batches)), self._limits.tokens_of(batches[-1][-1])):
            for batch, rows in zip(batches, await self._encode_soon(encode, batches), strict=True):
                vectors.update(zip(batch, rows, strict=True))
            return [vectors[text] for text in texts]
        loop = asyncio.get_running_loop()
        for batch in batches:
            self._check_open()
            rows = await loop.run_in_executor(self._gate, self._encode_in_turn, encode, batch)
            vectors.update(zip(batch, rows, strict=True))
        return [vectors[text] for text in texts]

    def _check_open(self) -> None:
        if self._closed:
            raise EmbedderUnavailable("The embedder is closed.")

    async def _encode_soon(self, encode: EncodeBatch, batches: Sequence[list[str]]) -> list[NDArray[Any]]:
        """The rows of each batch, which wait for no other call than such."""
        self._check_open()
        calls = [_Call(batch, encode, Future()) for batch in batches]
        self._waiting.extend(calls)
        for _ in calls:
            self._model.submit(self._encode_waiting)
        return await asyncio.gather(*(asyncio.wrap_future(call.rows) for call in calls))

    def _encode_in_turn(self, encode: EncodeBatch, batch: list[str]) -> NDArray[Any]:
        return self._model.submit(encode, batch).result()

    def _encode_waiting(self) -> None:
        """Answer the calls that wait, together as many as fit; there may be none left."""
        calls = self._take()
        if len(calls) > 1:
            try:
                rows = calls[0].encode([text for call in calls for text in call.texts])
            except Exception as error:  # noqa: BLE001 — one of them is to blame: each by itself finds out which
                log.debug("embed_batch_failed", error=type(error).__name__)
            else:
                start = 0
                for call in calls:
                    call.rows.set_result(rows[start : start + len(call.texts)])
                    start += len(call.texts)
                return
        for call in calls:
            try:
                call.rows.set_result(call.encode(call.texts))
            except BaseException as error:  # noqa: BLE001 — whatever it is, who waits for the answer gets it
                call.rows.set_exception(error)

    def _take(self) -> list[_Call]:
        taken: list[_Call] = []
        count = longest = 0
        with self._taking:
            while self._waiting:
                following = self._waiting[0]
                following_longest = max(self._limits.tokens_of(text) for text in following.texts)
                texts, tokens = count + len(following.texts), max(longest, following_longest)
                apart = count * longest + len(following.texts) * following_longest + self._limits.tokens_a_call
                is_too_much = texts * tokens > apart or not self._limits.fit(texts, tokens)
                if taken and (is_too_much or following.encode != taken[0].encode):
                    break
                self._waiting.popleft()
                # False for one that was given up: nobody waits for its answer.
                if following.rows.set_running_or_notify_cancel():
                    taken.append(following)
                    count, longest = texts, tokens
        return taken

    async def aclose(self) -> None:
        """Finish the batches that were handed over, at most one of each call, and end the threads."""
        self._closed = True
        await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._gate.shutdown()
        self._model.shutdown()


@dataclass(frozen=True, slots=True)
class _Call:
    """Texts of one batch that wait for the model, by which function, and where their rows are to go."""

    texts: list[str]
    encode: EncodeBatch
    rows: Future[NDArray[Any]]


def plan_batches(texts: Sequence[str], limits: BatchLimits) -> list[list[str]]:
    """The distinct `texts`, shortest first, in batches within `limits`; a single text always fits.

    Of all such batches those that take least: Σ (texts × the longest of them + `tokens_a_call`). Time
    O(texts × `limits.texts`).
    """
    ordered = [text for _, text in sorted((len(text.encode()), text) for text in set(texts))]
    tokens = [limits.tokens_of(text) for text in ordered]
    # The least that the first so many texts take, and where the last batch of them begins.
    least, begins = [0], [0]
    for end in range(1, len(ordered) + 1):
        best = least[end - 1] + tokens[end - 1], end - 1
        for begin in range(end - 2, max(-1, end - 1 - limits.texts), -1):
            together = (end - begin) * tokens[end - 1]
            if not limits.fit(end - begin, tokens[end - 1]):
                break
            best = min(best, (least[begin] + together, begin))
        least.append(best[0] + limits.tokens_a_call)
        begins.append(best[1])
    batches: list[list[str]] = []
    end = len(ordered)
    while end:
        batches.append(ordered[begins[end] : end])
        end = begins[end]
    return batches[::-1]
