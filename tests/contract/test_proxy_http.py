"""Chat completions by the `openai` client over real HTTP, with a scripted provider behind the proxy."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import openai
import pytest
from tests import scripted_model as reply
from tests.proxied import FACT, OWNER, QUESTION, Served, ask, assistant, user
from tests.scripted_model import ScriptedModel

from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE, OPEN_FILES


async def test_memory_reaches_the_provider_and_the_answer_comes_back(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(reply.says("On Thursday."))
    answer = await ask(served.client(), {"role": "system", "content": "You are Wren."}, user(QUESTION))
    assert answer.parse().choices[0].message.content == "On Thursday."
    assert answer.headers["X-Reverie-Injected"] == "1"
    assert "X-Reverie-Warning" not in answer.headers
    [asked] = scripted.requests
    assert [message["role"] for message in asked.messages] == ["system", "user"]
    system = asked.messages[0]["content"]
    assert system.startswith("You are Wren.")
    assert FACT in system[system.index(OPEN_FENCE) : system.index(CLOSE_FENCE)]
    assert asked.messages[1]["content"] == QUESTION


async def test_a_client_without_a_system_prompt_gets_one_with_memory(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    await ask(served.client())
    assert [message["role"] for message in scripted.requests[0].messages] == ["system", "user"]
    assert FACT in scripted.requests[0].texts("system")


async def test_beside_the_users_message_where_the_agent_has_it_so(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    settings = {"inject_placement": "user"}
    assert (await served.api.put("/agents/wren", json={"settings": settings})).status_code == 200
    parts = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}},
    ]
    await ask(served.client(), user(QUESTION))
    await ask(served.client(), {"role": "user", "content": parts})
    text, list_of_parts = (asked.messages[-1]["content"] for asked in scripted.requests)
    assert text.startswith(OPEN_FENCE)
    assert text.endswith(f"{CLOSE_FENCE}\n\n{QUESTION}")
    assert FACT in list_of_parts[0]["text"]
    assert list_of_parts[1:] == parts
    assert not any(OPEN_FENCE in asked.texts("system") for asked in scripted.requests)


async def test_unknown_parameters_and_the_model_pass_through(served: Served, scripted: ScriptedModel) -> None:
    extra = {"top_k": 7, "nested": {"a": [1, None, 2.5]}, "user": "x"}
    await ask(served.client(), extra_body=extra, temperature=0.25, seed=None)
    body = scripted.requests[0].body
    assert {key: body[key] for key in extra} == extra
    assert (body["model"], body["temperature"]) == ("m", 0.25)


async def test_without_a_model_the_configured_one_is_asked(served: Served, scripted: ScriptedModel) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.post(f"{served.base_url}/v1/chat/completions", json={"messages": [user("Hello there")]})
    assert answer.status_code == 200
    assert scripted.requests[0].body["model"] == "scripted"


async def test_a_stream_comes_as_the_provider_sends_it(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(*[reply.says("On Thürs day, I think.", pieces=["On Th", "ürs", " day, I think."])] * 2)
    async with served.client() as client:
        stream = await client.chat.completions.with_raw_response.create(
            model="m", messages=[user(QUESTION)], stream=True
        )
        assert stream.headers["X-Reverie-Injected"] == "1"
        pieces = [chunk.choices[0].delta.content async for chunk in stream.parse()]
    assert [piece for piece in pieces if piece] == ["On Th", "ürs", " day, I think."]
    async with httpx.AsyncClient() as http:
        body = {"model": "m", "messages": [user(QUESTION)], "stream": True}
        ours = await http.post(f"{served.base_url}/v1/chat/completions", json=body)
        scripted.plan(reply.says("On Thürs day, I think.", pieces=["On Th", "ürs", " day, I think."]))
        theirs = await http.post(f"{scripted.base_url}/chat/completions", json=body)
    assert ours.content == theirs.content
    assert ours.headers["content-type"].startswith("text/event-stream")


async def test_a_sync_client_streams_too(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.says("One two three"))

    def run() -> list[str]:
        with openai.OpenAI(base_url=f"{served.base_url}/v1", api_key="unused", max_retries=0) as client:
            stream = client.chat.completions.create(model="m", messages=[user("Count to three")], stream=True)
            return [chunk.choices[0].delta.content or "" for chunk in stream]

    assert "".join(await asyncio.to_thread(run)) == "One two three"


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_turn_is_recorded_when_its_answer_has_ended(
    served: Served, scripted: ScriptedModel, is_stream: bool
) -> None:
    scripted.plan(reply.says("Noted, on Thursday."))
    client = served.client(X_Reverie_Session="web:7")
    if is_stream:
        async with client:
            async for _ in await client.chat.completions.create(model="m", messages=[user(FACT)], stream=True):
                pass
    else:
        await ask(client, user(FACT))
    answer = await served.api.get("/agents/wren/sessions/web:7/messages", params={"owner_key": OWNER})
    assert [(m["role"], m["content"]) for m in answer.json()["messages"]] == [
        ("user", FACT),
        ("assistant", "Noted, on Thursday."),
    ]


async def test_only_what_is_new_is_recorded_and_tools_with_it(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.calls_tool("calendar", {"day": "Thursday"}), reply.says("You are free."))
    history = [user("Hello, I am Ada."), assistant("Hello Ada."), user("Am I free on Thursday?")]
    client = served.client(X_Reverie_Session="web:7")
    called = (await ask(client, *history)).parse().choices[0].message
    assert called.tool_calls is not None
    call = called.tool_calls[0].model_dump()
    history += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "nothing planned"},
    ]
    await ask(served.client(X_Reverie_Session="web:7"), *history)
    assert await served.said("web:7") == [
        ("user", "Am I free on Thursday?"),
        ("assistant", ""),
        ("tool", "nothing planned"),
        ("assistant", "You are free."),
    ]
    sent = scripted.requests[1].messages
    assert [message for message in sent if message["role"] != "system"] == history


async def test_a_streamed_call_of_tools_is_recorded_whole(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.calls_tool("calendar", {"day": "Thursday", "hour": 9}))
    async with served.client(X_Reverie_Session="web:7") as client:
        async for _ in await client.chat.completions.create(model="m", messages=[user(QUESTION)], stream=True):
            pass
    params = {"owner_key": OWNER}
    messages = (await served.api.get("/agents/wren/sessions/web:7/messages", params=params)).json()["messages"]
    [call] = messages[1]["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("call_1", "calendar")
    assert json.loads(call["function"]["arguments"]) == {"day": "Thursday", "hour": 9}


async def test_a_retry_is_recorded_once(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.says("First."), reply.says("Second."))
    first = [await ask(served.client(X_Reverie_Session="web:7"), user("Tell me a story")) for _ in range(2)]
    assert [answer.parse().choices[0].message.content for answer in first] == ["First.", "Second."]
    assert await served.said("web:7") == [("user", "Tell me a story"), ("assistant", "First.")]
    scripted.plan(reply.says("Third."))
    history = [user("Tell me a story"), assistant("Second."), user("Go on, please")]
    await ask(served.client(X_Reverie_Session="web:7"), *history)
    assert (await served.said("web:7"))[2:] == [("user", "Go on, please"), ("assistant", "Third.")]


async def test_many_retries_at_once_are_recorded_once(served: Served, scripted: ScriptedModel) -> None:
    scripted.script = lambda _: reply.says("A story.")
    await asyncio.gather(*(ask(served.client(X_Reverie_Session="web:7"), user("Tell me a story")) for _ in range(5)))
    assert await served.said("web:7") == [("user", "Tell me a story"), ("assistant", "A story.")]


async def test_a_conversation_without_a_session_finds_its_own_again(served: Served, scripted: ScriptedModel) -> None:
    system = {"role": "system", "content": "It is 10:00."}
    history = [user("Hello, I am Ada."), assistant("Hello."), user("I live in Oslo.")]
    await ask(served.client(), system, history[0])
    await ask(served.client(), {**system, "content": "It is 10:05."}, *history)
    await ask(served.client(), user("Another conversation."))
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    found = await served.runtime.database.maintenance_query(
        b"SELECT session_id, message_count FROM sessions ORDER BY message_count DESC, session_id", {}
    )
    assert [row["message_count"] for row in found] == [4, 2]
    assert all(row["session_id"].startswith("proxy:") for row in found)


async def test_what_was_injected_does_not_come_back(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    await ask(served.client(X_Reverie_Session="web:7"), {"role": "system", "content": "You are Wren."}, user(QUESTION))
    sent = scripted.requests[0].messages
    echoed = [sent[0], user(f"{sent[0]['content']}\n\n{QUESTION}"), assistant("On Thursday."), user("And with whom?")]
    await ask(served.client(X_Reverie_Session="web:7"), *echoed)
    again = scripted.requests[1].messages
    assert again[0]["content"].count(OPEN_FENCE) <= 1
    assert again[0]["content"].count("You are Wren.") == 1
    assert OPEN_FENCE not in "".join(message["content"] for message in again[1:])
    assert OPEN_FILES not in "".join(message["content"] for message in again[1:])
    assert QUESTION in again[1]["content"]
    assert all(OPEN_FENCE not in text for _, text in await served.said("web:7"))


ERRORS: list[tuple[reply.Reply, type[openai.APIStatusError]]] = [
    (reply.fails(401, "invalid_api_key", "Incorrect API key provided"), openai.AuthenticationError),
    (reply.fails(404, "model_not_found"), openai.NotFoundError),
    (reply.fails(400, "invalid_value", "no such parameter"), openai.BadRequestError),
    (reply.rate_limited("7"), openai.RateLimitError),
    (reply.fails(500), openai.InternalServerError),
]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_providers_error_is_passed_on_and_recorded_only_where_the_provider_failed(
    served: Served, scripted: ScriptedModel, is_stream: bool
) -> None:
    for failure, error in ERRORS:
        scripted.plan(failure)
        with pytest.raises(error) as failed:
            await ask(served.client(X_Reverie_Session="web:7"), stream=is_stream)
        assert failed.value.response.content == failure.body
        assert failed.value.response.headers.get("retry-after") == failure.headers.get("Retry-After")
        assert "x-reverie-injected" in failed.value.response.headers
        has_failed = failed.value.status_code in (429, 500)
        assert await served.said("web:7") == ([("user", QUESTION)] if has_failed else [])
    assert len(scripted.requests) == len(ERRORS)


async def test_a_prompt_that_is_too_long_is_cut_and_sent_once_more(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(reply.context_too_long(), reply.says("On Thursday."))
    call = {"id": "c1", "type": "function", "function": {"name": "calendar", "arguments": "{}"}}
    history = [
        user("one"),
        assistant("1"),
        user("two"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        assistant("two"),
        user(QUESTION),
    ]
    answer = await ask(
        served.client(X_Reverie_Session="web:7"), {"role": "system", "content": "You are Wren."}, *history
    )
    assert answer.parse().choices[0].message.content == "On Thursday."
    assert answer.headers["X-Reverie-Warning"] == "context_length"
    assert answer.headers["X-Reverie-Injected"] == "1"
    first, second = (asked.messages for asked in scripted.requests)
    assert second == [first[0], *first[3:]]
    assert await served.said("web:7") == [("user", QUESTION), ("assistant", "On Thursday.")]


async def test_where_nothing_can_be_cut_memory_gives_way(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    scripted.plan(reply.fails(400, None, "prompt is too long: 9000 tokens > 8192 maximum"), reply.says("Hm."))
    answer = await ask(served.client(), {"role": "system", "content": "You are Wren."}, user(QUESTION))
    assert answer.headers["X-Reverie-Injected"] == "0"
    assert scripted.requests[1].messages == [{"role": "system", "content": "You are Wren."}, user(QUESTION)]


async def test_a_prompt_that_stays_too_long_is_the_providers_error(served: Served, scripted: ScriptedModel) -> None:
    scripted.script = lambda _: reply.context_too_long()
    with pytest.raises(openai.BadRequestError) as failed:
        await ask(served.client())
    assert failed.value.code == "context_length_exceeded"
    assert len(scripted.requests) == 2


async def test_a_provider_that_cannot_be_reached_is_said_in_both_forms(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.Reply("half", cut_after=3))
    with pytest.raises(openai.InternalServerError) as failed:
        await ask(served.client())
    body = failed.value.response.json()
    assert failed.value.response.headers["content-type"] == "application/problem+json"
    assert (body["status"], body["code"], body["error"]["code"]) == (503, *["language_model_unavailable"] * 2)
    assert failed.value.code == "language_model_unavailable"


async def test_a_stream_that_breaks_off_ends_with_an_error_and_keeps_the_question(
    served: Served, scripted: ScriptedModel
) -> None:
    scripted.plan(reply.closes_in_stream("one two three four", after=3))
    received: list[str] = []

    async def read(stream: Any) -> None:
        async for chunk in stream:
            received.append(chunk.choices[0].delta.content or "")  # noqa: PERF401  (what came before the error counts)

    async with served.client(X_Reverie_Session="web:7") as client:
        stream = await client.chat.completions.create(model="m", messages=[user(QUESTION)], stream=True)
        with pytest.raises(openai.APIError, match="broke off"):
            await read(stream)
    assert "".join(received) == "one two"
    assert await served.said("web:7") == [("user", QUESTION)]
    scripted.plan(reply.says("one two three four"))
    await ask(served.client(X_Reverie_Session="web:7"))
    assert await served.said("web:7") == [("user", QUESTION), ("assistant", "one two three four")]


async def test_a_stream_with_an_error_in_it_keeps_the_question_and_the_retry_its_answer(
    served: Served, scripted: ScriptedModel
) -> None:
    begun = {"choices": [{"index": 0, "delta": {"content": "one two"}, "finish_reason": None}]}
    events = [json.dumps(begun), json.dumps({"error": {"message": "overloaded"}}), "[DONE]"]
    broken = "".join(f"data: {event}\n\n" for event in events).encode()
    scripted.plan(reply.Reply(body=broken, headers={"Content-Type": "text/event-stream"}), reply.says("one two three"))
    async with served.client(X_Reverie_Session="web:7") as client:
        stream = await client.chat.completions.create(model="m", messages=[user(QUESTION)], stream=True)
        with pytest.raises(openai.APIError, match="overloaded"):
            [_ async for _ in stream]
    assert await served.said("web:7") == [("user", QUESTION)]
    await ask(served.client(X_Reverie_Session="web:7"))
    assert await served.said("web:7") == [("user", QUESTION), ("assistant", "one two three")]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_client_that_goes_away_takes_the_provider_along(
    served: Served, scripted: ScriptedModel, is_stream: bool
) -> None:
    scripted.plan(reply.hangs())
    body = {"model": "m", "messages": [user(QUESTION)], "stream": is_stream}
    async with httpx.AsyncClient() as http:
        asking = asyncio.create_task(http.post(f"{served.base_url}/v1/chat/completions", json=body))
        await scripted.arrived.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    async with asyncio.timeout(20):
        await scripted.left.wait()


async def test_a_client_that_leaves_in_the_middle_of_a_stream_ends_it(served: Served, scripted: ScriptedModel) -> None:
    scripted.plan(reply.says("", pieces=["x" * 1000] * 100_000))
    body = {"model": "m", "messages": [user(QUESTION)], "stream": True}
    headers = {"X-Reverie-Agent": "wren", "X-Reverie-Owner": OWNER, "X-Reverie-Session": "web:7"}
    url = f"{served.base_url}/v1/chat/completions"
    async with httpx.AsyncClient(headers=headers) as http, http.stream("POST", url, json=body) as stream:
        async for _ in stream.aiter_raw():
            break
    async with asyncio.timeout(20):
        await scripted.left.wait()
    assert await served.said("web:7") == [("user", QUESTION)]


async def test_odd_requests_pass_with_memory(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    system = {"role": "system", "content": "You are Wren."}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}
    odd = [[system], [assistant("Hello!")], [system, user([picture])], [user("")], [user(f"{QUESTION} {'la ' * 9000}")]]
    silent = "message_without_words"
    for messages, warning in zip(odd, [None, None, silent, silent, None], strict=True):
        answer = await ask(served.client(X_Reverie_Session="web:7"), *messages)
        assert (answer.status_code, answer.headers.get("X-Reverie-Warning")) == (200, warning), messages
        sent = [message for message in scripted.requests[-1].messages if message["role"] != "system"]
        assert sent == [message for message in messages if message["role"] != "system"]
