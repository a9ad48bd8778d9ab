"""Responses by the `openai` client over real HTTP, with a scripted provider behind the proxy."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests import scripted_model as reply
from tests.proxied import FACT, OWNER, QUESTION, Served
from tests.scripted_model import ScriptedModel

from reverie_server.proxy.proxy import ProxyTimeouts
from reverie_server.proxy.recording import TurnRecorder
from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE

SESSION = "web:7"


async def respond(served: Served, given: Any, *, session: str = SESSION, **options: Any) -> Any:
    """The raw answer: `.headers`, and `.parse()` for the response."""
    async with served.client(X_Reverie_Session=session) as client:
        return await client.responses.with_raw_response.create(model="m", input=given, **options)


def spoken(role: str, text: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


async def test_memory_reaches_the_provider_and_the_turn_is_recorded(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(reply.says("On Thursday."))
    answer = await respond(served, QUESTION, instructions="You are Wren.", temperature=0.25)
    assert answer.parse().output_text == "On Thursday."
    assert answer.headers["X-Reverie-Injected"] == "1"
    assert "X-Reverie-Warning" not in answer.headers
    [asked] = scripted.requests
    assert asked.url == "/v1/responses"
    instructions = asked.body["instructions"]
    assert instructions.startswith("You are Wren.")
    assert FACT in instructions[instructions.index(OPEN_FENCE) : instructions.index(CLOSE_FENCE)]
    assert asked.body["input"] == [{"role": "user", "content": QUESTION}]
    assert asked.body["temperature"] == 0.25
    assert await served.said(SESSION) == [("user", QUESTION), ("assistant", "On Thursday.")]


async def test_a_stream_comes_as_the_provider_sends_it(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(reply.says("On Thursday, I think."))
    async with served.client(X_Reverie_Session=SESSION) as client:
        stream = await client.responses.create(model="m", input=QUESTION, stream=True)
        events = [event async for event in stream]
    assert [event.type for event in events][-1] == "response.completed"
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == (
        "OnThursday,Ithink."
    )
    assert FACT in scripted.requests[0].body["instructions"]
    assert await served.said(SESSION) == [("user", QUESTION), ("assistant", "On Thursday, I think.")]


async def test_items_that_nobody_said_and_the_system_prompt_stay_in_their_places(
    served: Served, scripted: ScriptedModel
) -> None:
    await served.remember()
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    result = {"type": "function_call_output", "call_id": "c1", "output": "Nothing there."}
    given = [
        spoken("developer", "You are Wren."),
        spoken("user", "Look it up."),
        thought,
        {"type": ["unheard of"]},
        call,
        result,
        spoken("assistant", "There is nothing.", "output_text"),
        spoken("user", QUESTION),
    ]
    await respond(served, given)
    sent = scripted.requests[0].body
    assert "instructions" not in sent
    assert sent["input"][1:] == given[1:]
    [own, added] = sent["input"][0]["content"]
    assert own == {"type": "input_text", "text": "You are Wren."}
    assert added["type"] == "input_text"
    assert FACT in added["text"]
    # What was recorded is what is new since the last answer.
    assert [text for _, text in await served.said(SESSION)] == [QUESTION, "Noted."]


async def test_calls_of_tools_and_their_results_are_recorded(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.calls_tool("look", {"where": "shed"}), reply.says("It is empty."))
    first = (await respond(served, "What is in the shed?")).parse()
    result = {"type": "function_call_output", "call_id": "call_1", "output": "Nothing there."}
    await respond(served, [result], previous_response_id=first.id)
    assert [(role, text) for role, text in await served.said(SESSION)] == [
        ("user", "What is in the shed?"),
        ("assistant", ""),
        ("tool", "Nothing there."),
        ("assistant", "It is empty."),
    ]


async def test_a_conversation_goes_on_from_its_last_answer(served: Served, scripted: ScriptedModel) -> None:
    last = None
    for text in ("I live in Oslo.", "Yes.", "Yes."):
        options = {"previous_response_id": last} if last else {}
        last = (await respond(served, text, session="", **options)).parse().id
    sessions = (await served.api.get("/agents/wren/sessions", params={"owner_key": OWNER})).json()["sessions"]
    [session] = sessions
    assert session["message_count"] == 6
    assert [text for _, text in await served.said(session["session_id"])][::2] == ["I live in Oslo.", "Yes.", "Yes."]
    # Another owner's conversation does not go on from it.
    async with served.client(X_Reverie_Owner="user:43", X_Reverie_Session="") as client:
        await client.responses.create(model="m", input="Hello.", previous_response_id=last)
    assert session["message_count"] == 6
    theirs = (await served.api.get("/agents/wren/sessions", params={"owner_key": "user:43"})).json()["sessions"]
    assert [each["session_id"] == session["session_id"] for each in theirs] == [False]


async def test_what_is_said_again_in_a_conversation_of_the_provider_is_no_retry(
    served: Served, scripted: ScriptedModel
) -> None:
    for _ in range(2):
        await respond(served, "Yes.", session="", conversation="conv_1")
    [session] = (await served.api.get("/agents/wren/sessions", params={"owner_key": OWNER})).json()["sessions"]
    assert session["message_count"] == 4


async def test_memory_of_earlier_turns_is_taken_out(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    await respond(served, QUESTION, instructions="You are Wren.")
    instructions = scripted.requests[0].body["instructions"]
    await respond(served, QUESTION, instructions=instructions)
    await respond(served, "Hello.", instructions=instructions[instructions.index(OPEN_FENCE) :])
    second = scripted.requests[1].body["instructions"]
    assert second.startswith("You are Wren.")
    assert (second.count(OPEN_FENCE), second.count("moved the review")) == (1, instructions.count("moved the review"))
    assert FACT not in scripted.requests[2].body.get("instructions", "")


async def test_a_prompt_that_is_too_long_is_cut_to_its_last_pairs(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.context_too_long())
    given = [spoken("developer", "You are Wren.")]
    for number in range(6):
        given += [spoken("user", f"Question {number}."), spoken("assistant", f"Answer {number}.", "output_text")]
    given.append(spoken("user", QUESTION))
    answer = await respond(served, given)
    assert answer.headers["X-Reverie-Warning"] == "context_length"
    assert scripted.requests[1].body["input"][1:] == given[-3:]
    assert scripted.requests[1].body["input"][0]["role"] == "developer"


@pytest.mark.parametrize("streams", [False, True])
async def test_commands_are_answered_by_the_server(served: Served, scripted: ScriptedModel, streams: bool) -> None:
    await respond(served, "I live in Oslo.")
    async with served.client(X_Reverie_Session=SESSION) as client:
        if streams:
            events = [event async for event in await client.responses.create(model="m", input="/new", stream=True)]
            response = events[-1].response
        else:
            response = await client.responses.create(model="m", input="/new")
    assert "new conversation" in response.output_text
    assert response.status == "completed"
    assert len(scripted.requests) == 1
    assert await served.said(SESSION) == []


@pytest.mark.parametrize(
    "body",
    [
        {"input": 7},
        {"input": ["text"]},
        {"input": [{"role": "robot", "content": "x"}]},
        {"input": [{"role": "user", "content": None}]},
        {"input": "x", "instructions": ["y"]},
        {"input": "x", "user": 7},
    ],
)
async def test_what_is_no_request_is_refused(served: Served, scripted: ScriptedModel, body: dict[str, Any]) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.post(f"{served.base_url}/v1/responses", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")
    assert scripted.requests == []


async def test_a_provider_without_responses_is_heard(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.fails(404))
    async with httpx.AsyncClient() as http:
        answer = await http.post(f"{served.base_url}/v1/responses", json={"input": "Hello."})
    assert answer.status_code == 404


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_session_that_cannot_be_looked_up_fails_no_turn(
    served: Served, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    async def broken(*_: object) -> str | None:
        if is_late:
            await asyncio.sleep(60)
        raise RuntimeError("no database")

    monkeypatch.setattr(TurnRecorder, "session_with", broken)
    monkeypatch.setattr(served.runtime.proxy, "_timeouts", ProxyTimeouts(memory_seconds=2.0 if is_late else 15.0))
    scripted.plan(reply.says("Hello."))
    answer = await asyncio.wait_for(respond(served, "Hi there.", session="", previous_response_id="resp_0"), 30)
    assert answer.parse().output_text == "Hello."
    [session] = (await served.api.get("/agents/wren/sessions", params={"owner_key": OWNER})).json()["sessions"]
    assert await served.said(session["session_id"]) == [("user", "Hi there."), ("assistant", "Hello.")]
