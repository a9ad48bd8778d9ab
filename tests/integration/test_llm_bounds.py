"""What an endpoint may do to the server: answer with so much, fail so often; then it is left alone for a while."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests import scripted_model as reply
from tests.scripted_model import Reply, ScriptedModel

from reverie_indexer.database.database import Database
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig, Failed
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel

LIMIT = 100_000
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
Connect = Callable[..., LanguageModel]


@pytest.fixture
async def connect(database: Database, scripted: ScriptedModel) -> AsyncIterator[Connect]:
    made: list[LanguageModel] = []

    def connect(**config: Any) -> LanguageModel:
        config = {"base_url": scripted.base_url, "model": "m", "max_retries": 0, "max_response_bytes": LIMIT, **config}
        made.append(LanguageModel(Endpoint(EndpointConfig(**config)), CallBudget(database, 1000)))
        return made[-1]

    yield connect
    for model in made:
        await model.aclose()


async def ask(model: LanguageModel, **options: Any) -> str:
    inputs = {"previous": "", "transcript": "The lantern.", "max_words": "200"}
    answer = await model.complete("t", load_prompt("summary"), inputs, **{"max_tokens": 500, **options})
    return answer.text


async def reason(model: LanguageModel, **options: Any) -> str:
    with pytest.raises(LanguageModelUnavailable) as error:
        await ask(model, **options)
    return error.value.reason


async def forwarded(model: LanguageModel, *, stream: bool) -> bytes:
    async with model.forward("chat/completions", {**CHAT, "stream": stream}) as answer:
        if isinstance(answer, Failed):
            raise answer.error()
        return await answer.body()


LARGE = "x" * (2 * LIMIT)
ENCODED = gzip.compress(json.dumps({"choices": [{"message": {"content": LARGE}}]}).encode())


@pytest.mark.parametrize(
    "large",
    [
        Reply(LARGE),
        Reply(status=500, body=LARGE.encode()),
        Reply(status=400, body=LARGE.encode()),
        Reply(body=ENCODED, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}),
    ],
    ids=["answer", "server error", "refusal", "compressed"],
)
async def test_an_answer_over_the_limit_is_read_no_further(
    connect: Connect, scripted: ScriptedModel, large: Reply
) -> None:
    model = connect()
    scripted.plan(large, large, large)
    assert await reason(model) == "unusable"
    for stream in (False, True):
        with pytest.raises(LanguageModelUnavailable):
            assert len(await forwarded(model, stream=stream)) <= LIMIT
    assert await ask(model) == "Noted."
    assert model.breaker.state == "closed", "it has answered"


async def test_an_answer_below_the_limit_passes(connect: Connect, scripted: ScriptedModel) -> None:
    scripted.plan(Reply("y" * (LIMIT // 2)))
    assert len(await ask(connect())) == LIMIT // 2


async def test_a_model_that_hangs_is_waited_for_once(connect: Connect, scripted: ScriptedModel) -> None:
    model = connect(breaker_pause_seconds=0.5)
    await ask(model)
    scripted.plan(reply.hangs(), reply.hangs())
    assert await reason(model, timeout_seconds=1.5) == "timeout"
    began = time.monotonic()
    assert await reason(model, timeout_seconds=20) == "paused"
    with pytest.raises(LanguageModelUnavailable) as error:
        await forwarded(model, stream=True)
    assert error.value.reason == "paused"
    assert 0 < error.value.extra["retry_after_seconds"] <= 0.5
    assert time.monotonic() - began < 5
    assert len(scripted.requests) == 2, "nothing is asked meanwhile"
    await asyncio.sleep(0.6)
    assert await reason(model, timeout_seconds=1.5) == "timeout"
    assert await reason(model) == "paused"
    scripted.release()
    await asyncio.sleep(1.1)
    assert await ask(model) == "Noted."
    assert model.breaker.state == "closed"


async def test_failures_in_a_row_open_it_and_what_is_the_requests_fault_does_not(
    connect: Connect, scripted: ScriptedModel
) -> None:
    model = connect()
    for refusal in (reply.context_too_long(), reply.fails(401), reply.fails(404), reply.rate_limited()):
        scripted.plan(refusal, refusal)
        await reason(model)
        await forwarded(model, stream=False)
        assert model.breaker.state == "closed"
    scripted.plan(*[reply.fails(500, message="no schema") for _ in range(5)])
    for _ in range(5):
        await forwarded(model, stream=False)
    assert model.breaker.state == "closed", "somebody's request may have broken it"
    scripted.plan(*[reply.fails(503) for _ in range(3)])
    assert [await reason(model) for _ in range(4)] == ["failed", "failed", "failed", "paused"]


async def test_a_call_that_asks_for_much_does_not_stop_the_others_that_are_answered(
    connect: Connect, scripted: ScriptedModel
) -> None:
    model = connect()
    await ask(model)
    scripted.plan(reply.hangs())
    costly = asyncio.create_task(reason(model, timeout_seconds=1.5))
    await asyncio.sleep(0.5)
    assert len(scripted.requests) == 2
    assert await ask(model) == "Noted."
    assert await costly == "timeout"
    assert await ask(model) == "Noted."
    scripted.release()


async def test_of_many_that_wait_for_its_recovery_one_asks(connect: Connect, scripted: ScriptedModel) -> None:
    model = connect(breaker_pause_seconds=0.2)
    await ask(model)  # on a busy machine the first call alone may take the deadline of the next
    scripted.plan(reply.hangs())
    assert await reason(model, timeout_seconds=1.5) == "timeout"
    await asyncio.sleep(0.3)
    asked = len(scripted.requests)
    scripted.plan(reply.slow(0.5))
    results = await asyncio.gather(*(ask(model) for _ in range(5)), return_exceptions=True)
    assert results.count("Noted.") == 1
    assert len(scripted.requests) == asked + 1
    scripted.release()
    assert await ask(model) == "Noted."
