"""How a blocking model is shared between queries and bulk work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reverie_indexer.embed.worker import BatchLimits, BatchWorker, plan_batches
from reverie_indexer.errors import EmbedderUnavailable


class SteppedModel:
    """Encodes a text as its length; `step` lets one batch through."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.started = threading.Semaphore(0)
        self._permits = threading.Semaphore(0)

    def step(self, times: int = 1) -> None:
        self._permits.release(times)

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(texts)
        self.started.release()
        assert self._permits.acquire(timeout=10)
        return np.array([[len(text)] for text in texts], np.float32)


async def test_the_ith_vector_belongs_to_the_ith_text_whatever_the_batches() -> None:
    model = SteppedModel()
    model.step(100)
    worker = BatchWorker(model, BatchLimits(texts=2))
    texts = ["eeeee", "a", "ccc", "a", "", "bb", "dddd"]
    vectors = await worker.embed(texts)
    await worker.aclose()
    assert [vector.tolist() for vector in vectors] == [[5.0], [1.0], [3.0], [1.0], [0.0], [2.0], [4.0]]
    assert model.batches == [["", "a"], ["bb", "ccc"], ["dddd", "eeeee"]]


async def test_a_query_waits_for_the_running_batch_only_while_several_bulk_calls_are_under_way() -> None:
    model = SteppedModel()
    worker = BatchWorker(model, BatchLimits(texts=1))
    bulk = [asyncio.create_task(worker.embed([f"{name}{i}" for i in range(3)])) for name in "abc"]
    await asyncio.to_thread(model.started.acquire)
    query = asyncio.create_task(worker.embed(["query"]))
    await asyncio.sleep(0)  # lets the query hand its batch over
    model.step(2)
    assert [vector.tolist() for vector in await query] == [[5.0]]
    assert model.batches[1] == ["query"]
    model.step(100)
    await asyncio.gather(*bulk)
    await worker.aclose()
    rounds = [batch[0][0] for batch in model.batches if batch != ["query"]]
    assert {"a", "b", "c"} == set(rounds[:3]), "bulk calls take turns"


async def test_queries_that_wait_together_go_before_the_model_together_as_far_as_they_fit() -> None:
    model = SteppedModel()
    worker = BatchWorker(model, BatchLimits(texts=3, padded_tokens=100))
    first = asyncio.create_task(worker.embed(["first"]))
    await asyncio.to_thread(model.started.acquire)
    waiting = [asyncio.create_task(worker.embed([text])) for text in ("a", "bb", "ccc", "d" * 200, "e")]
    await asyncio.sleep(0)
    waiting[1].cancel()
    await asyncio.sleep(0)
    model.step(100)
    answers = await asyncio.gather(first, *waiting, return_exceptions=True)
    await worker.aclose()
    assert [answer[0].tolist() for answer in answers if isinstance(answer, list)] == [
        [5.0],
        [1.0],
        [3.0],
        [200.0],
        [1.0],
    ]
    assert isinstance(answers[2], asyncio.CancelledError)
    assert model.batches == [["first"], ["a", "ccc"], ["d" * 200], ["e"]]


async def test_a_query_does_not_wait_as_padding_of_a_much_longer_one() -> None:
    model = SteppedModel()
    worker = BatchWorker(model, BatchLimits())
    first = asyncio.create_task(worker.embed(["first"]))
    await asyncio.to_thread(model.started.acquire)
    message, sentence, other = "m" * 160, "s" * 60, "o" * 70
    waiting = [asyncio.create_task(worker.embed([text])) for text in (message, sentence, other)]
    await asyncio.sleep(0)
    model.step(100)
    answers = await asyncio.gather(first, *waiting)
    await worker.aclose()
    assert [answer[0].tolist() for answer in answers] == [[5.0], [160.0], [60.0], [70.0]]
    assert model.batches == [["first"], [message], [sentence, other]]


async def test_calls_of_different_functions_do_not_go_together() -> None:
    model, other = SteppedModel(), SteppedModel()
    worker = BatchWorker(model, BatchLimits())
    first = asyncio.create_task(worker.embed(["first"]))
    await asyncio.to_thread(model.started.acquire)
    waiting = [
        asyncio.create_task(worker.embed([text], encode))
        for text, encode in (("a", None), ("b", None), ("c", other), ("d", other), ("e", None))
    ]
    await asyncio.sleep(0)
    model.step(100)
    other.step(100)
    answers = await asyncio.gather(first, *waiting)
    await worker.aclose()
    assert all(answer[0].shape == (1,) for answer in answers)
    assert model.batches == [["first"], ["a", "b"], ["e"]]
    assert other.batches == [["c", "d"]]


async def test_of_queries_that_went_together_only_the_one_to_blame_fails() -> None:
    started, go_on = threading.Event(), threading.Event()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        started.set()
        assert go_on.wait(10)
        if "bad" in texts:
            raise EmbedderUnavailable("out of memory")
        return np.array([[len(text)] for text in texts], np.float32)

    worker = BatchWorker(encode, BatchLimits())
    tasks = [asyncio.create_task(worker.embed(["first"]))]
    await asyncio.to_thread(started.wait)
    tasks += [asyncio.create_task(worker.embed([text])) for text in ("good", "bad", "better")]
    await asyncio.sleep(0)
    go_on.set()
    first, good, bad, better = await asyncio.gather(*tasks, return_exceptions=True)
    await worker.aclose()
    assert isinstance(bad, EmbedderUnavailable)
    assert [first, good, better] == [[[5.0]], [[4.0]], [[6.0]]]


async def test_closing_ends_a_bulk_call_after_its_current_batch() -> None:
    model = SteppedModel()
    worker = BatchWorker(model, BatchLimits(texts=1))
    bulk = asyncio.create_task(worker.embed(["a", "b", "c"]))
    await asyncio.to_thread(model.started.acquire)
    model.step(100)
    await worker.aclose()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await bulk
    assert len(model.batches) < 3
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await worker.embed(["d"])
    await worker.aclose()


async def test_a_failing_batch_fails_its_call_and_not_the_worker() -> None:
    def encode(texts: list[str]) -> NDArray[np.float32]:
        if "bad" in texts:
            raise EmbedderUnavailable("out of memory")
        return np.ones((len(texts), 1), np.float32)

    worker = BatchWorker(encode, BatchLimits(texts=1))
    with pytest.raises(EmbedderUnavailable, match="out of memory"):
        await worker.embed(["bad", "good"])
    assert len(await worker.embed(["good"])) == 1
    await worker.aclose()


async def test_texts_that_fit_one_batch_wait_for_no_bulk_call_where_they_are_apart() -> None:
    model = SteppedModel()
    worker = BatchWorker(model, BatchLimits(texts=2))
    bulk = [asyncio.create_task(worker.embed([f"{name}{i}" for i in range(9)])) for name in "ab"]
    await asyncio.to_thread(model.started.acquire)
    message = asyncio.create_task(worker.embed(["yes", "m" * 400]))
    await asyncio.sleep(0)
    model.step(3)
    assert [vector.tolist() for vector in await message] == [[3.0], [400.0]]
    assert model.batches[1:3] == [["yes"], ["m" * 400]]
    model.step(100)
    await asyncio.gather(*bulk)
    await worker.aclose()


def test_batches_bound_their_padding_and_a_single_long_text_still_fits() -> None:
    limits = BatchLimits(texts=16, padded_tokens=1024, max_tokens=256)
    long, short = ["x" * 5000 + str(i) for i in range(5)], [str(i) for i in range(20)]
    sizes = [len(batch) for batch in plan_batches(long + short, limits)]
    assert sizes == [4, 16, 1, 4]
    assert plan_batches(["y" * 9000], BatchLimits(padded_tokens=1)) == [["y" * 9000]]
    assert plan_batches([], limits) == []


@given(st.lists(st.integers(0, 400), max_size=10, unique=True), st.integers(1, 4), st.integers(20, 300))
def test_no_other_batches_of_texts_in_their_order_take_less(lengths: list[int], texts: int, padded_tokens: int) -> None:
    limits = BatchLimits(texts=texts, padded_tokens=padded_tokens, max_tokens=80, tokens_a_call=16)
    ordered = ["x" * length for length in sorted(lengths)]
    found = plan_batches(["x" * length for length in lengths], limits)
    assert [text for batch in found for text in batch] == ordered
    assert all(limits.fit(len(batch), limits.tokens_of(batch[-1])) for batch in found)
    assert _cost(found, limits) == min(_cost(each, limits) for each in _all_batches(ordered, limits))


def _cost(batches: Sequence[Sequence[str]], limits: BatchLimits) -> int:
    return sum(len(batch) * limits.tokens_of(batch[-1]) + limits.tokens_a_call for batch in batches)


def _all_batches(texts: Sequence[str], limits: BatchLimits) -> list[list[Sequence[str]]]:
    """Every way to cut texts into batches that are allowed."""
    if not texts:
        return [[]]
    firsts = [texts[:size] for size in range(1, len(texts) + 1)]
    allowed = [first for first in firsts if limits.fit(len(first), limits.tokens_of(first[-1]))]
    return [[first, *rest] for first in allowed for rest in _all_batches(texts[len(first) :], limits)]
