"""What a session keeps of messages that cannot be stored as they are, over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from tests import scripted_model as reply
from tests.proxied import OWNER, QUESTION, Served, ask, user
from tests.scripted_model import ScriptedModel

from reverie_server.access.keys import OPERATOR
from reverie_server.sessions.model import NewMessage

ODD = [{"name": {"x": 1}}, {"name": ["a"]}, {"tool_call_id": 5}, {"tool_calls": "a"}, {"name": "a\x00b"}]


@pytest.mark.parametrize("fields", ODD)
async def test_odd_fields_cost_neither_the_turn_nor_its_session(served: Served, fields: dict[str, Any]) -> None:
    answer = await ask(served.client(X_Reverie_Session="web:7"), {**user(QUESTION), **fields})
    assert "X-Reverie-Warning" not in answer.headers
    assert await served.said("web:7") == [("user", QUESTION), ("assistant", "Noted.")]


@pytest.mark.parametrize("fields", [*ODD[:4], {"name": 7, "tool_calls": [1, {"id": "c"}], "tool_call_id": {"a": []}}])
async def test_a_session_in_which_odd_fields_were_stored_is_read(served: Served, fields: dict[str, Any]) -> None:
    runtime = served.runtime
    grant, place = await runtime.gate.write(OPERATOR, "wren", OWNER, None)
    stored = [NewMessage("user", QUESTION, extra=fields), NewMessage("tool", "Thursday", extra=fields)]
    await runtime.sessions.append(grant, place, "web:7", stored)
    assert await served.said("web:7") == [("user", QUESTION), ("tool", "Thursday")]
    body = {"session_id": "web:7", "owner_key": OWNER, "message": "And then?"}
    context = await served.api.post("/agents/wren/context", json=body)
    assert (context.status_code, context.json()["messages"][0]["content"]) == (200, QUESTION)
    for end, more in (("complete", {}), ("compact", {"keep_last": 0})):
        answer = await served.api.post(f"/agents/wren/sessions/web:7/{end}", json={"owner_key": OWNER, **more})
        assert answer.status_code in (200, 202), answer.text


async def test_a_picture_alone_is_recorded_in_words_with_its_answer(served: Served) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}
    answer = await ask(served.client(X_Reverie_Session="web:7"), user([picture]))
    assert answer.headers["X-Reverie-Warning"] == "message_without_words"
    assert await served.said("web:7") == [("user", "(Without words: a picture.)"), ("assistant", "Noted.")]


async def test_the_beginning_of_a_text_that_is_too_long_is_recorded(served: Served, scripted: ScriptedModel) -> None:
    long = "word " * 250_000
    answer = await ask(served.client(X_Reverie_Session="web:7"), user(long))
    assert answer.headers["X-Reverie-Warning"] == "message_cut"
    assert scripted.requests[0].messages[-1] == user(long)
    [(_, asked), said] = await served.said("web:7")
    assert (asked[:20], asked[-10:], said) == (long[:20], "e stored.)", ("assistant", "Noted."))


async def test_an_answer_that_is_too_long_is_cut(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.says("word " * 250_000))
    await ask(served.client(X_Reverie_Session="web:7"))
    [asked, (_, said)] = await served.said("web:7")
    assert (asked, said[:10], said[-10:]) == (("user", QUESTION), "word word ", "e stored.)")


async def test_very_many_new_messages_are_recorded(served: Served) -> None:
    lines = [user(f"My number is {number}.") for number in range(1_100)]
    answer = await ask(served.client(X_Reverie_Session="web:7"), *lines)
    assert "X-Reverie-Warning" not in answer.headers
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    session = (await served.api.get("/agents/wren/sessions/web:7", params={"owner_key": OWNER})).json()
    assert session["message_count"] == 1_101


async def test_what_is_not_recorded_at_all_has_its_own_warning_alone(served: Served) -> None:
    put = await served.api.put("/agents/wren", json={"settings": {"memory_enabled": False}})
    assert put.status_code in (200, 201)
    answer = await ask(served.client(X_Reverie_Session="web:7"), user(""))
    assert answer.headers["X-Reverie-Warning"] == "memory_disabled"
