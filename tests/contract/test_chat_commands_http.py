"""Commands in a chat, by the `openai` client over real HTTP: the server answers them, and the provider is not asked."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest
from tests.proxied import FACT, OWNER, QUESTION, Served, ask, assistant, user
from tests.scripted_model import ScriptedModel

SESSION = "web:7"


async def told(served: Served, *messages: dict[str, Any], session: str = SESSION, **headers: str) -> str:
    """What the server answers in a chat."""
    answer = await ask(served.client(X_Reverie_Session=session, **headers), *messages)
    assert "X-Reverie-Warning" not in answer.headers
    assert answer.headers["X-Reverie-Injected"] == "0"
    completion = answer.parse()
    [choice] = completion.choices
    assert (completion.object, completion.model, choice.finish_reason) == ("chat.completion", "m", "stop")
    assert completion.id.startswith("chatcmpl-")
    return str(choice.message.content)


async def talk(served: Served, *texts: str, session: str = SESSION) -> None:
    for text in texts:
        await ask(served.client(X_Reverie_Session=session), user(text))


async def test_new_removes_what_was_said_and_is_not_recorded_itself(served: Served, scripted: ScriptedModel) -> None:
    await talk(served, "I live in Oslo.", "I like tea.")
    await talk(served, "Elsewhere.", session="web:8")
    assert len(await served.said(SESSION)) == 4
    asked = len(scripted.requests)
    assert "new conversation" in await told(served, user("I live in Oslo."), assistant("Noted."), user(" /new\n"))
    assert await served.said(SESSION) == []
    assert len(await served.said("web:8")) == 2
    assert len(scripted.requests) == asked
    # The conversation goes on, and what the client still has of it does not come back.
    history = [user("I like tea."), assistant("Noted."), user("/new"), assistant("Done."), user("And now?")]
    await ask(served.client(X_Reverie_Session=SESSION), *history)
    assert await served.said(SESSION) == [("user", "And now?"), ("assistant", "Noted.")]


async def test_compact_keeps_so_many_messages(served: Served, scripted: ScriptedModel) -> None:
    await talk(served, *(f"Number {number} of my lanterns is green." for number in range(4)))
    assert "0 to 1000" in await told(served, user("/compact 1001"))
    assert await told(served, user("/compact")) == "There is nothing to compact: 8 messages stay as they are."
    asked = [request for request in scripted.requests if request.body.get("model") == "m"]
    assert "A summary stands for 6 messages now, 2 stay as they are." in await told(served, user("/compact 2"))
    assert [request for request in scripted.requests if request.body.get("model") == "m"] == asked
    session = await served.api.get(f"/agents/wren/sessions/{SESSION}", params={"owner_key": OWNER})
    assert (session.json()["compactions"], session.json()["message_count"]) == (1, 8)
    assert len(await served.said(SESSION)) == 8


async def test_status_says_what_there_is_and_what_was_injected(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    await talk(served, QUESTION)
    await served.said(SESSION)
    assert await served.runtime.turn_log.flush()
    asked = len(scripted.requests)
    lines = (await told(served, user("/STATUS"))).splitlines()
    session = (await served.api.get(f"/agents/wren/sessions/{SESSION}", params={"owner_key": OWNER})).json()
    assert lines == [
        f"Session: {SESSION}",
        "Messages: 2",
        f"Tokens: {session['tokens']}",
        "Compactions: 0",
        "Injected lately:",
        f"- memory/2026-04-03.md: {FACT}",
    ]
    assert len(scripted.requests) == asked
    assert len(await served.said(SESSION)) == 2


async def test_a_conversation_that_names_no_session_has_its_own(served: Served, scripted: ScriptedModel) -> None:
    said = [user("I live in Oslo."), assistant("Noted.")]
    await ask(served.client(), said[0])
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    assert "Messages: 2" in await told(served, *said, user("/status"), session="")
    for command in ("/status", "/new", "/compact"):
        assert "Nothing of this conversation is stored" in await told(served, user(command), session="")
        assert "in the session web:9" in await told(served, user(command), session="web:9")
        assert "stored" in await told(served, user(command), session="", X_Reverie_Agent="nobody")
    assert len(scripted.requests) == 1


async def test_a_stream_is_answered_as_a_stream(served: Served, scripted: ScriptedModel) -> None:
    await talk(served, "I live in Oslo.")
    await served.said(SESSION)
    options: Any = {"stream": True, "stream_options": {"include_usage": True}}
    async with served.client(X_Reverie_Session=SESSION) as client:
        stream = await client.chat.completions.create(model="m", messages=[user("/status")], **options)
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]).startswith("Session: web:7\n")
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    headers = {"X-Reverie-Agent": "wren", "X-Reverie-Owner": OWNER, "X-Reverie-Session": SESSION}
    async with httpx.AsyncClient(base_url=served.base_url, headers=headers) as http:
        raw = await http.post("/v1/chat/completions", json={"messages": [user("/status")], "stream": True})
    assert raw.headers["content-type"].startswith("text/event-stream")
    assert raw.text.endswith("data: [DONE]\n\n")
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    "text", ["/news", "/new please", "What does /new do?", "/compact all", "/compact -1", "new", "/"]
)
async def test_what_is_no_command_goes_to_the_model(served: Served, scripted: ScriptedModel, text: str) -> None:
    await talk(served, text)
    assert scripted.requests[-1].messages[-1] == user(text)
    assert await served.said(SESSION) == [("user", text), ("assistant", "Noted.")]


async def test_only_the_last_message_is_a_command(served: Served, scripted: ScriptedModel) -> None:
    await ask(served.client(X_Reverie_Session=SESSION), user("/new"), assistant("I begin:"))
    parts = {"role": "user", "content": [{"type": "text", "text": "/new"}, {"type": "image_url", "image_url": {}}]}
    await ask(served.client(X_Reverie_Session=SESSION), parts)
    assert len(scripted.requests) == 2


async def test_an_agent_may_leave_commands_to_its_model(served: Served, scripted: ScriptedModel) -> None:
    for settings in ({"chat_commands": False}, {"memory_enabled": False}):
        assert (await served.api.put("/agents/wren", json={"settings": settings})).status_code in (200, 201)
        await ask(served.client(X_Reverie_Session=SESSION), user("/new"))
        assert scripted.requests[-1].messages[-1] == user("/new")


async def test_who_may_not_do_it_is_told_so_and_nothing_is_done(served: Served, scripted: ScriptedModel) -> None:
    await talk(served, "I live in Oslo.")
    assert len(await served.said(SESSION)) == 2
    _, viewer = await served.runtime.keys.create("default", "viewer")
    for command in ("/new", "/compact 0"):
        answer = await ask(served.client(key=viewer, X_Reverie_Session=SESSION), user(command))
        assert "a viewer's key reads" in answer.parse().choices[0].message.content
    served.api.headers["Authorization"] = f"Bearer {viewer}"
    assert len(await served.said(SESSION)) == 2
    answer = await ask(served.client(key=viewer, X_Reverie_Session=SESSION), user("/status"))
    assert "Messages: 2" in answer.parse().choices[0].message.content
    # Another owner has no such session.
    answer = await ask(served.client(key=viewer, X_Reverie_Session=SESSION, X_Reverie_Owner="user:7"), user("/status"))
    assert "Nothing of this conversation is stored" in answer.parse().choices[0].message.content
    assert len(scripted.requests) == 1


async def test_where_an_owner_is_required_a_command_names_one(served: Served) -> None:
    await served.api.put("/agents/wren", json={"settings": {"require_owner": True}})
    with pytest.raises(openai.UnprocessableEntityError) as failed:
        await ask(served.client(X_Reverie_Owner=""), user("/new"))
    assert failed.value.code == "owner_required"
