"""The cache of query embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from reverie_indexer.embed import Embedding, Role
from reverie_indexer.embed.built_in import BUILT_IN_PROVIDER
from reverie_indexer.embed.query_cache import CachedQueries
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model import ModelIdentity


class GatedEmbedder:
    """Answers with a vector made from the text once `gate` is set; answers in `planned` come first."""

    identity = ModelIdentity("test", "gated", "1", 2, True)

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.roles: list[Role] = []
        self.planned: list[Embedding | Exception] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        self.roles.append(role)
        self.calls.append(list(texts))
        await self.gate.wait()
        if self.planned:
            answer = self.planned.pop(0)
            if isinstance(answer, EmbeddingRejected) or not isinstance(answer, Exception):
                return [answer]
            raise answer
        return [np.array([len(text), 1], np.float32) for text in texts]

    def familiarity(self, text: str) -> float:
        del text
        return 1.0

    async def aclose(self) -> None:
        pass


async def test_a_text_is_embedded_once_and_its_vector_cannot_be_written_to() -> None:
    embedder = GatedEmbedder()
    queries = CachedQueries(embedder)
    first, second = await queries.embed("abc"), await queries.embed("abc")
    assert embedder.calls == [["abc"]]
    assert [3.0, 1.0] == first.tolist() == second.tolist()
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0


@pytest.mark.parametrize(("provider", "roles"), [(BUILT_IN_PROVIDER, ["query", "question"]), ("endpoint", ["query"])])
async def test_a_question_is_another_text_than_a_query_to_a_built_in_model_alone(
    provider: str, roles: list[Role]
) -> None:
    embedder = GatedEmbedder()
    embedder.identity = ModelIdentity(provider, "gated", "1", 2, True)
    queries = CachedQueries(embedder)
    for _ in range(2):
        await queries.embed("abc")
        await queries.embed("abc", "question")
    assert embedder.roles == roles


async def test_the_least_recently_used_text_is_forgotten() -> None:
    embedder = GatedEmbedder()
    queries = CachedQueries(embedder, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await queries.embed(text)
    assert embedder.calls == [["a"], ["b"], ["c"], ["b"]]


async def test_equal_concurrent_queries_share_one_call_and_survive_the_cancellation_of_one() -> None:
    embedder = GatedEmbedder()
    embedder.gate.clear()
    queries = CachedQueries(embedder)
    waiters = [asyncio.create_task(queries.embed("same")) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    await asyncio.sleep(0)
    embedder.gate.set()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert [r.tolist() for r in results[1:] if isinstance(r, np.ndarray)] == [[4.0, 1.0]] * 2
    assert embedder.calls == [["same"]]


async def test_the_answer_is_kept_even_when_every_caller_has_gone() -> None:
    embedder = GatedEmbedder()
    embedder.gate.clear()
    queries = CachedQueries(embedder)
    waiter = asyncio.create_task(queries.embed("x"))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    embedder.gate.set()
    assert (await queries.embed("x")).tolist() == [1.0, 1.0]
    assert embedder.calls == [["x"]]


@pytest.mark.parametrize("error", [EmbedderUnavailable("down"), EmbeddingRejected("too long")])
async def test_errors_are_raised_and_not_remembered(error: EmbedderUnavailable | EmbeddingRejected) -> None:
    embedder = GatedEmbedder()
    embedder.planned.append(error)
    queries = CachedQueries(embedder)
    with pytest.raises(type(error)):
        await queries.embed("x")
    assert (await queries.embed("x")).tolist() == [1.0, 1.0]


async def test_an_error_nobody_waits_for_any_more_is_not_reported_as_lost() -> None:
    lost: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))
    embedder = GatedEmbedder()
    embedder.planned.append(EmbedderUnavailable("down"))
    embedder.gate.clear()
    queries = CachedQueries(embedder)
    waiter = asyncio.create_task(queries.embed("x"))
    await asyncio.sleep(0)
    waiter.cancel()
    embedder.gate.set()
    await asyncio.gather(waiter, return_exceptions=True)
    await queries.embed("x")
    del waiter
    await asyncio.sleep(0)
    assert lost == []


async def test_closing_stops_what_runs_and_tells_its_callers() -> None:
    embedder = GatedEmbedder()
    embedder.gate.clear()
    queries = CachedQueries(embedder)
    waiter = asyncio.create_task(queries.embed("x"))
    await asyncio.sleep(0)
    await queries.aclose()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await waiter
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await queries.embed("y")


async def test_a_query_that_was_begun_is_not_embedded_again() -> None:
    embedder = GatedEmbedder()
    queries = CachedQueries(embedder)
    queries.begin("abc")
    queries.begin("abc")
    assert (await queries.embed("abc")).tolist() == [3.0, 1.0]
    queries.begin("abc")
    await queries.aclose()
    queries.begin("later")
    await asyncio.sleep(0)
    assert embedder.calls == [["abc"]]
