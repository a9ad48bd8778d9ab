"""The question of a turn is recorded, streamed or not, where the provider fails or the client leaves; once."""

from __future__ import annotations

import asyncio

import httpx
import openai
import pytest
from tests import scripted_model as reply
from tests.proxied import OWNER, QUESTION, Served, ask, user
from tests.scripted_model import ScriptedModel

from reverie_server.access.connection import Connection
from reverie_server.access.keys import OPERATOR
from reverie_server.proxy.chat import conversation_of
from reverie_server.proxy.proxy import ChatRequest

HEADERS = {"X-Reverie-Agent": "wren", "X-Reverie-Owner": OWNER, "X-Reverie-Session": "web:7"}
ASKED, ANSWERED = ("user", QUESTION), ("assistant", "On Thursday.")


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    "failure",
    [reply.fails(500), reply.fails(408), reply.rate_limited("7"), reply.Reply(status=502, body=b"half", cut_after=1)],
)
async def test_a_provider_that_fails_leaves_the_question(
    served: Served, scripted: ScriptedModel, failure: reply.Reply, is_stream: bool
) -> None:
    scripted.plan(failure, failure, reply.says("On Thursday."))
    for _ in range(2):
        with pytest.raises((openai.APIError, httpx.HTTPError)):
            await ask(served.client(X_Reverie_Session="web:7"), stream=is_stream)
        assert await served.said("web:7") == [ASKED]
    await ask(served.client(X_Reverie_Session="web:7"))
    assert await served.said("web:7") == [ASKED, ANSWERED]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_body_that_breaks_off_leaves_the_question(
    served: Served, scripted: ScriptedModel, is_stream: bool
) -> None:
    scripted.plan(reply.Reply("half", cut_after=3 if not is_stream else 1), reply.says("On Thursday."))
    with pytest.raises(openai.APIError):
        async for _ in (await ask(served.client(X_Reverie_Session="web:7"), stream=is_stream)).parse():
            pass
    assert await served.said("web:7") == [ASKED]
    await ask(served.client(X_Reverie_Session="web:7"))
    assert await served.said("web:7") == [ASKED, ANSWERED]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_client_that_does_not_wait_leaves_its_question(
    served: Served, scripted: ScriptedModel, is_stream: bool
) -> None:
    scripted.plan(reply.hangs(), reply.says("On Thursday."))
    body = {"model": "m", "messages": [user(QUESTION)], "stream": is_stream}
    async with httpx.AsyncClient(headers=HEADERS) as http:
        asking = asyncio.create_task(http.post(f"{served.base_url}/v1/chat/completions", json=body))
        await scripted.arrived.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    async with asyncio.timeout(20):
        await scripted.left.wait()
        while True:
            if found := await served.said("web:7"):
                break
            await asyncio.sleep(0.01)
    assert found == [ASKED]
    await ask(served.client(X_Reverie_Session="web:7"))
    assert await served.said("web:7") == [ASKED, ANSWERED]


async def test_so_does_one_that_leaves_before_memory_was_looked_up(served: Served) -> None:
    proxy = served.runtime.proxy
    assert proxy is not None
    body = {"messages": [user(QUESTION)]}
    request = ChatRequest(Connection(OPERATOR, "wren", OWNER), "web:7", body, conversation_of(body))
    asking = asyncio.create_task(proxy.answer(request))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert await served.said("web:7") == [ASKED]


async def test_what_is_not_to_be_recorded_is_not(served: Served, scripted: ScriptedModel) -> None:
    put = await served.api.put("/agents/wren", json={"settings": {"memory_enabled": False}})
    assert put.status_code in (200, 201)
    scripted.plan(reply.fails(500))
    with pytest.raises(openai.APIStatusError):
        await ask(served.client(X_Reverie_Session="web:7"))
    await served.api.put("/agents/wren", json={"settings": {"memory_enabled": True}})
    assert await served.said("web:7") == []
