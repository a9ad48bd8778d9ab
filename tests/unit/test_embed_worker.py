"""How a blocking model is shared between queries and bulk work."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
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


def test_batches_bound_their_padding_and_a_single_long_text_still_fits() -> None:
    limits = BatchLimits(texts=16, padded_tokens=1024, max_tokens=256)
    long, short = ["x" * 5000 + str(i) for i in range(5)], [str(i) for i in range(20)]
    sizes = [len(batch) for batch in plan_batches(long + short, limits)]
    assert sizes == [16, 4, 4, 1]
    assert list(plan_batches(["y" * 9000], BatchLimits(padded_tokens=1))) == [["y" * 9000]]
    assert list(plan_batches([], limits)) == []
