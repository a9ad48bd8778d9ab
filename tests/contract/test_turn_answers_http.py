"""What became of the answers of chat completions, in the log of turns."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import httpx
import openai
import pytest
from tests import scripted_model as reply
from tests.proxied import OWNER, QUESTION, Served, ask, user
from tests.scripted_model import ScriptedModel

HEADERS = {"X-Reverie-Agent": "wren", "X-Reverie-Owner": OWNER}


async def answers(served: Served, count: int = 1) -> list[str | None]:
    """What became of the turns, oldest first, once there are so many and each has ended."""
    assert served.runtime.proxy is not None
    async with asyncio.timeout(20):
        while True:
            await served.runtime.proxy.idle()
            assert await served.runtime.turn_log.flush()
            found = await served.api.get("/agents/wren/turns", params={"owner_key": OWNER})
            turns = found.json().get("turns", [])
            if len(turns) == count and None not in (ended := [turn["answer"] for turn in reversed(turns)]):
                assert {turn["outcome"] for turn in turns} == {"injected"}
                return ended
            await asyncio.sleep(0.05)


async def abandoned(sending: Coroutine[Any, Any, Any], scripted: ScriptedModel) -> None:
    """Send a request, and go away once the provider has it."""
    asking = asyncio.create_task(sending)
    await scripted.arrived.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_a_turn_has_its_row_when_it_begins_and_its_answer_in_the_end(
    served: Served, scripted: ScriptedModel
) -> None:
    await served.remember()
    scripted.plan(reply.hangs())
    asking = asyncio.create_task(ask(served.client()))
    await scripted.arrived.wait()
    assert await served.runtime.turn_log.flush()
    [begun] = (await served.api.get("/agents/wren/turns", params={"owner_key": OWNER})).json()["turns"]
    assert (begun["outcome"], begun["answer"]) == ("injected", None)
    scripted.release()
    turn_id = (await asking).headers["X-Reverie-Turn"]
    assert await answers(served) == ["answered"]
    one = await served.api.get(f"/agents/wren/turns/{turn_id}", params={"owner_key": OWNER})
    assert one.json() == {**begun, "answer": "answered"}


async def test_a_stream_that_ends_is_answered_and_one_that_breaks_off_is_not(
    served: Served, scripted: ScriptedModel
) -> None:
    await served.remember()
    scripted.plan(reply.says("On Thursday."), reply.closes_in_stream("one two three", after=2))
    async with served.client() as client:
        async for _ in await client.chat.completions.create(model="m", messages=[user(QUESTION)], stream=True):
            pass
        broken = await client.chat.completions.create(model="m", messages=[user(QUESTION)], stream=True)
        with pytest.raises(openai.APIError):
            [_ async for _ in broken]
    assert await answers(served, 2) == ["answered", "broke_off"]


@pytest.mark.parametrize("failure", [reply.fails(500), reply.rate_limited("7"), reply.Reply("half", cut_after=3)])
async def test_a_provider_that_fails_is_told_of(served: Served, scripted: ScriptedModel, failure: reply.Reply) -> None:
    await served.remember()
    scripted.plan(failure)
    with pytest.raises(openai.APIStatusError):
        await ask(served.client())
    assert await answers(served) == ["failed"]


async def test_a_client_that_does_not_wait_is_told_of(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(reply.hangs(), reply.says("", pieces=["x" * 1000] * 100_000))
    body = {"model": "m", "messages": [user(QUESTION)]}
    async with httpx.AsyncClient(base_url=f"{served.base_url}/v1", headers=HEADERS) as http:
        await abandoned(http.post("/chat/completions", json=body), scripted)
        assert await answers(served) == ["left"]
        async with http.stream("POST", "/chat/completions", json={**body, "stream": True}) as stream:
            async for _ in stream.aiter_raw():
                break
    assert await answers(served, 2) == ["left", "left"]


async def test_the_first_turn_of_a_memory_has_its_row(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.hangs())
    asking = asyncio.create_task(ask(served.client(), user("I live in Oslo, by the harbour.")))
    await scripted.arrived.wait()
    assert await served.runtime.turn_log.flush()
    assert (await served.api.get("/agents/wren")).status_code == 404
    scripted.release()
    turn_id = (await asking).headers["X-Reverie-Turn"]
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    assert await served.runtime.turn_log.flush()
    turn = (await served.api.get(f"/agents/wren/turns/{turn_id}", params={"owner_key": OWNER})).json()
    assert (turn["asked"], turn["answer"]) == ("I live in Oslo, by the harbour.", "answered")
    # And one of a person who is new to the agent.
    scripted.plan(reply.hangs())
    scripted.arrived.clear()
    asking = asyncio.create_task(ask(served.client(X_Reverie_Owner="user:7"), user("I live in Bergen.")))
    await scripted.arrived.wait()
    assert await served.runtime.turn_log.flush()
    scripted.release()
    turn_id = (await asking).headers["X-Reverie-Turn"]
    await served.runtime.proxy.idle()
    assert await served.runtime.turn_log.flush()
    turn = (await served.api.get(f"/agents/wren/turns/{turn_id}", params={"owner_key": "user:7"})).json()
    assert (turn["asked"], turn["answer"]) == ("I live in Bergen.", "answered")
