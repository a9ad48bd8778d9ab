"""The routes of conversations, as a client sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

OWNER = {"owner_key": "user:42"}
Check = Callable[[httpx.Response, int, str], dict[str, Any]]
SESSION = "/agents/wren/sessions/telegram:17"


def message(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


async def post(client: httpx.AsyncClient, *messages: dict[str, Any], url: str = SESSION, **body: Any) -> httpx.Response:
    return await client.post(f"{url}/messages", json={"messages": list(messages), **OWNER, **body})


async def test_the_life_of_a_session(client: httpx.AsyncClient, problem: Check) -> None:
    made = await client.put(SESSION, json={**OWNER, "metadata": {"title": "The review"}})
    assert made.status_code == 201
    body = made.json()
    assert body.keys() == {
        *("session_id", "owner_key", "channel", "chat_id", "state", "metadata", "message_count", "tokens"),
        *("compactions", "created_at", "updated_at"),
    }
    expected = {"session_id": "telegram:17", "owner_key": "user:42", "channel": "telegram", "chat_id": "17"}
    assert expected.items() <= body.items()
    assert (body["state"], body["message_count"], body["metadata"]) == ("active", 0, {"title": "The review"})

    at = "2026-04-03T11:30:00+02:00"
    appended = await post(client, message("When?", id="m1", at=at), {"role": "assistant", "content": "On Thursday."})
    assert appended.status_code == 200
    assert (appended.json()["stored"], appended.json()["session"]["message_count"]) == (2, 2)
    assert (await post(client, message("When?", id="m1"))).json()["stored"] == 0

    listed = (await client.get(f"{SESSION}/messages", params={**OWNER, "limit": 1})).json()
    [first] = listed["messages"]
    assert first == {
        **{"seq": 1, "id": "m1", "role": "user", "content": "When?", "at": "2026-04-03T09:30:00Z", "compacted": False},
        **{"tokens": first["tokens"], "tool_calls": None, "tool_call_id": None, "name": None},
    }
    second = (await client.get(f"{SESSION}/messages", params={**OWNER, "cursor": listed["next_cursor"]})).json()
    assert [m["content"] for m in second["messages"]] == ["On Thursday."]
    assert second["next_cursor"] is None

    done = await client.post(f"{SESSION}/complete", json={**OWNER, "trigger_source": "web"})
    assert done.status_code == 202
    jobs = done.json()["jobs"]
    assert all(job.keys() == {"id", "kind"} for job in jobs)
    assert [job["kind"] for job in jobs] == ["facts", "episodic", "extraction"]
    assert (await client.post(f"{SESSION}/complete", json=OWNER)).json() == {"jobs": []}

    ended = await client.put(SESSION, json={**OWNER, "state": "terminated"})
    assert (ended.status_code, ended.json()["state"], ended.json()["metadata"]) == (
        200,
        "terminated",
        {"title": "The review"},
    )
    problem(await post(client, message("Still there?")), 409, "conflict")

    assert (await client.delete(f"{SESSION}/messages", params=OWNER)).status_code == 204
    assert (await client.get(f"{SESSION}/messages", params=OWNER)).json() == {"messages": [], "next_cursor": None}
    assert (await client.delete(SESSION, params=OWNER)).status_code == 204
    problem(await client.get(SESSION, params=OWNER), 404, "not_found")
    problem(await client.delete(SESSION, params=OWNER), 404, "not_found")


async def test_the_first_message_makes_session_and_agent(client: httpx.AsyncClient) -> None:
    assert (await post(client, message("Hello."))).status_code == 201
    assert (await client.get(SESSION, params=OWNER)).json()["message_count"] == 1
    assert (await client.get("/agents/wren")).status_code == 200


async def test_what_a_protocol_needs_comes_back(client: httpx.AsyncClient, problem: Check) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    await post(
        client,
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "42", "tool_call_id": "c1", "name": "f"},
    )
    found = (await client.get(f"{SESSION}/messages", params=OWNER)).json()["messages"]
    assert (found[0]["content"], found[0]["tool_calls"]) == ("", calls)
    assert (found[1]["content"], found[1]["tool_call_id"], found[1]["name"]) == ("42", "c1", "f")


async def test_what_was_said_is_found_and_belongs_to_its_owner(client: httpx.AsyncClient) -> None:
    await post(client, message("The gantry crane is inspected on Wednesday.", at="2026-04-03T09:30:00Z"))
    for owner, count in (({"owner_key": "user:42"}, 1), ({"owner_key": "user:43"}, 0), ({}, 0)):
        body = {"query": "gantry crane inspected", "tiers": ["message"], **owner}
        found = (await client.post("/agents/wren/memory/search", json=body)).json()
        assert [(r["path"], r["tier"], r["start_line"], r["updated_at"]) for r in found["results"]] == [
            ("sessions/telegram:17", "message", 1, "2026-04-03T09:30:00Z")
        ] * count
    tool = {"arguments": {"id": "0"}, **OWNER}
    body = {"query": "gantry crane", **OWNER}
    results = (await client.post("/agents/wren/memory/search", json=body)).json()["results"]
    tool["arguments"] = {"id": next(r["id"] for r in results if r["tier"] == "message")}
    shown = (await client.post("/agents/wren/tools/memory_expand", json=tool)).json()
    assert shown["ok"]
    assert "gantry crane" in str(shown["result"])


ON_SESSION: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "", None),
    ("DELETE", "", None),
    ("GET", "/messages", None),
    ("DELETE", "/messages", None),
    ("POST", "/compact", {"keep_last": 0}),
    ("POST", "/complete", {"trigger_source": "web"}),
]


async def asked(client: httpx.AsyncClient, method: str, url: str, body: Any, owner: dict[str, str]) -> httpx.Response:
    """A request that names an owner where the conventions say: GET and DELETE in the query, others in the body."""
    if body is None:
        return await client.request(method, url, params=owner)
    return await client.request(method, url, json={**body, **owner})


@pytest.mark.parametrize(("method", "name", "body"), ON_SESSION)
async def test_a_persons_session_is_reached_by_naming_them_and_by_nothing_else(
    client: httpx.AsyncClient, problem: Check, method: str, name: str, body: Any
) -> None:
    await post(client, message("of 42"), owner_key="api:42")
    before = (await client.get(SESSION, params={"owner_key": "api:42"})).json()
    for owner in ({}, {"owner_key": "user:43"}, {"end_user_id": "43"}):
        problem(await asked(client, method, SESSION + name, body, owner), 404, "not_found")
        assert (await client.get(SESSION, params={"owner_key": "api:42"})).json() == before
    assert (await asked(client, method, SESSION + name, body, {"end_user_id": "42"})).status_code in (200, 202, 204)


async def test_a_request_without_an_owner_never_goes_on_with_a_persons_session(client: httpx.AsyncClient) -> None:
    await client.put(SESSION, json={**OWNER, "metadata": {"title": "Mine"}})
    await post(client, message("of 42"), owner_key="user:42")
    await post(client, message("of 43"), owner_key="user:43")
    appended = await client.post(f"{SESSION}/messages", json={"messages": [message("of the team")]})
    assert (appended.status_code, appended.json()["session"]["owner_key"]) == (201, None)
    put = await client.put(SESSION, json={"metadata": {"title": "Ours"}})
    assert (put.status_code, put.json()["owner_key"], put.json()["message_count"]) == (200, None, 1)
    mine = (await client.get(SESSION, params=OWNER)).json()
    assert (mine["metadata"], mine["message_count"]) == ({"title": "Mine"}, 1)


async def test_a_prompt_without_an_owner_has_nothing_of_a_persons_session(client: httpx.AsyncClient) -> None:
    await post(client, message("The safe opens with 4711."))
    body = {"session_id": "telegram:17", "message": "What opens the safe?"}
    told = await client.post("/agents/wren/context", json={**body, **OWNER})
    assert "4711" in told.text
    other = await client.post("/agents/wren/context", json=body)
    assert (other.status_code, "4711" in other.text) == (200, False)
    run = await client.post("/memory/wren/summarize/telegram:17", json={})
    assert (run.status_code, run.json()["error"]) == (404, "not_found")


INVALID: list[dict[str, Any]] = [
    {"messages": []},
    {"messages": [message("a")] * 501},
    {"messages": [message("a", tokens=3)]},
    {"messages": [message("a")], "agent": "wren"},
    {"messages": [{"role": "user"}]},
    {"messages": [{"role": "user", "content": None}]},
    {"messages": [{"role": "assistant", "content": None, "tool_calls": []}]},
    {"messages": [{"role": "developer", "content": "a"}]},
    {"messages": [message("a", id="")]},
    {"messages": [message("a", id=7)]},
    {"messages": [message("a", at="yesterday")]},
    {"messages": [message("a", at=1_700_000_000)]},
    {"messages": [message("a", at="2026-04-03T09:30:00")]},
    {"messages": [message("a", at="1066-10-14T09:00:00Z")]},
    {"messages": [message("a", at="2999-01-01T09:00:00Z")]},
    {"messages": [message("a", name="NUL \x00")]},
    {"messages": [message("a", tool_calls=[{"a": "\ud800"}])]},
    {"messages": [message("a\x00")]},
    {"messages": [message("a")], "owner_key": "*"},
]


async def test_a_body_that_may_not_be_is_refused(
    client: httpx.AsyncClient, problem: Check, subtests: pytest.Subtests
) -> None:
    headers = {"Content-Type": "application/json"}
    for body in INVALID:
        with subtests.test(str(body)[:80]):
            # As text: no client library sends half a character.
            response = await client.post(f"{SESSION}/messages", content=json.dumps(body), headers=headers)
            problem(response, 422, "validation_error")
    assert (await client.get(SESSION)).status_code == 404


async def test_what_is_too_large_is_told_so(client: httpx.AsyncClient, problem: Check) -> None:
    problem(await post(client, message("x" * 1_048_577)), 413, "payload_too_large")
    problem(await client.put(SESSION, json={"metadata": {"a": "x" * 20_000}}), 413, "payload_too_large")
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    problem(await client.put(SESSION, json={"metadata": {"a": deep}}), 422, "validation_error")


async def test_an_id_that_no_session_may_have(client: httpx.AsyncClient, subtests: pytest.Subtests) -> None:
    await post(client, message("Hello."))
    for session_id in ("a%20b", "a%2Fb", "%0A", "telegram:17%0A", "x" * 201, "a%00", "%E2%80%A8"):
        url = f"/agents/wren/sessions/{session_id}"
        for response in (
            await client.get(url),
            await client.put(url, json={}),
            await client.post(f"{url}/messages", json={"messages": [message("a")]}),
        ):
            with subtests.test(session_id):
                assert response.status_code in (404, 422)
                assert response.headers["content-type"] == "application/problem+json"


async def test_a_member_of_a_team_has_sessions_of_its_own_and_writes_no_memory_files(
    client: httpx.AsyncClient, problem: Check
) -> None:
    await client.put("/agents/lead", json={})
    await client.put("/agents/wren", json={"leader_agent_id": "lead"})
    answer = {"role": "assistant", "content": "Noted."}
    assert (await post(client, message("The gantry crane is rented until May."), answer)).status_code == 201
    assert (await client.put(SESSION, json={**OWNER, "metadata": {"title": "Cranes"}})).status_code == 200
    said = (await client.get(f"{SESSION}/messages", params=OWNER)).json()["messages"]
    assert [one["content"] for one in said] == ["The gantry crane is rented until May.", "Noted."]
    found = (await client.post("/agents/wren/memory/search", json={"query": "gantry crane", **OWNER})).json()["results"]
    assert found[0]["tier"] == "message"
    compacted = (await client.post(f"{SESSION}/compact", json={**OWNER, "keep_last": 0})).json()
    assert (compacted["removed"], compacted["flushed"]) == (2, 0)
    assert (await client.post(f"{SESSION}/complete", json=OWNER)).status_code == 202
    # No file of its own, and none of its leader's, came of it.
    for agent in ("wren", "lead"):
        listed = (await client.get(f"/agents/{agent}/files", params={**OWNER, "prefix": "memory/"})).json()
        assert listed["files"] == [], agent
    refused = await client.put("/agents/wren/files/memory/2026-05-04.md", json={"content": "x", **OWNER})
    problem(refused, 403, "read_only_member")
    assert (await client.delete(f"{SESSION}/messages", params=OWNER)).status_code == 204
    assert (await client.delete(SESSION, params=OWNER)).status_code == 204


async def test_an_unknown_agent_or_session_is_not_made_by_reading(client: httpx.AsyncClient, problem: Check) -> None:
    for method, url in (
        ("GET", SESSION),
        ("GET", f"{SESSION}/messages"),
        ("DELETE", SESSION),
        ("DELETE", f"{SESSION}/messages"),
        ("POST", f"{SESSION}/complete"),
    ):
        problem(await client.request(method, url), 404, "not_found")
    problem(await client.get("/agents/wren"), 404, "not_found")


async def test_unknown_parameters_are_refused(client: httpx.AsyncClient, problem: Check) -> None:
    await post(client, message("Hello."))
    problem(await client.get(SESSION, params={"owner": "user:42"}), 422, "validation_error")
    problem(await client.post(f"{SESSION}/messages?owner_key=user:42", json={"messages": []}), 422, "validation_error")
    problem(await client.request("DELETE", SESSION, json=OWNER), 422, "validation_error")
    problem(await client.get(f"{SESSION}/messages", params={**OWNER, "cursor": "x"}), 422, "validation_error")
    problem(await client.post(f"{SESSION}/complete", json={"trigger_source": "me"}), 422, "validation_error")


async def test_indexing_anew_and_clearing_reach_what_was_said(client: httpx.AsyncClient) -> None:
    await post(client, message("The gantry crane."), message("The harbour."))
    done = (await client.post("/agents/wren/memory/reindex", json=OWNER)).json()
    assert (done["documents"], done["chunks"], done["reused"]) == (1, 2, 2)
    body = {**OWNER, "tiers": ["message"], "dry_run": False}
    assert (await client.post("/agents/wren/memory/clear", json=body)).json()["removed"] == {"message": 2}
    assert (await client.get(SESSION, params=OWNER)).status_code == 404
