"""What an agent has, in lists over HTTP: an owner's conversations, and the owners."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.contract.test_access_http import Client, code, with_key

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

__all__ = ["with_key"]

SESSIONS, OWNERS = "/agents/wren/sessions", "/agents/wren/owners"


async def say(client: httpx.AsyncClient, session: str, *texts: str, **owner: str) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    answer = await client.post(f"{SESSIONS}/{session}/messages", json={"messages": messages, **owner})
    assert answer.status_code in (200, 201)


async def pages(client: httpx.AsyncClient, url: str, name: str, **params: Any) -> list[dict[str, Any]]:
    """All items of a list, asked for two at a time."""
    found, cursor = [], None
    while True:
        answer = await client.get(url, params={"limit": 2, **params, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        found += answer.json()[name]
        if (cursor := answer.json()["next_cursor"]) is None:
            return found


async def ids(client: httpx.AsyncClient, **params: Any) -> list[str]:
    return [session["session_id"] for session in await pages(client, SESSIONS, "sessions", **params)]


async def test_an_owner_sees_their_conversations_the_one_changed_last_first(client: httpx.AsyncClient) -> None:
    for number in range(5):
        await say(client, f"web:{number}", "Hello.", owner_key="user:1")
    await say(client, "web:1", "And again.", owner_key="user:1")
    await say(client, "web:9", "Somebody else's.", owner_key="user:2")
    await say(client, "web:8", "The team's.")
    assert await ids(client, owner_key="user:1") == ["web:1", "web:4", "web:3", "web:2", "web:0"]
    assert await ids(client, owner_key="user:2") == ["web:9"]
    assert await ids(client) == ["web:8"]
    [one] = await pages(client, SESSIONS, "sessions", owner_key="user:2")
    assert one == (await client.get(f"{SESSIONS}/web:9", params={"owner_key": "user:2"})).json()


async def test_a_list_of_conversations_by_state_and_time(client: httpx.AsyncClient) -> None:
    for number in range(3):
        await say(client, f"web:{number}", "Hello.", owner_key="user:1")
    await client.put(f"{SESSIONS}/web:0", json={"state": "terminated", "owner_key": "user:1"})
    assert await ids(client, owner_key="user:1", state="terminated") == ["web:0"]
    assert await ids(client, owner_key="user:1", state="active") == ["web:2", "web:1"]
    [ended] = await pages(client, SESSIONS, "sessions", owner_key="user:1", state="terminated")
    assert await ids(client, owner_key="user:1", since=ended["updated_at"]) == ["web:0"]
    assert await ids(client, owner_key="user:1", since="2099-01-01T00:00:00Z") == []


@pytest.mark.parametrize(
    "params",
    [{"state": "gone"}, {"since": "yesterday"}, {"since": "2026-04-03T09:30:00"}, {"cursor": "x"}, {"q": "x"}],
)
async def test_a_list_of_conversations_refuses_what_it_does_not_know(
    client: httpx.AsyncClient, params: dict[str, str]
) -> None:
    await say(client, "web:1", "Hello.")
    assert code(await client.get(SESSIONS, params=params)) == (422, "validation_error")
    assert code(await client.get("/agents/nobody/sessions")) == (404, "not_found")


async def test_owners_with_what_there_is_of_them(client: httpx.AsyncClient) -> None:
    for number in range(3):
        await say(client, "web:1", "Hello.", "And?", owner_key=f"user:{number}")
    await say(client, "web:1", "The team's.")
    await client.put("/agents/wren/files/a.md", json={"content": "A note.\n", "owner_key": "telegram:7"})
    await say(client, "web:2", "Again.", owner_key="user:0")
    owners = await pages(client, OWNERS, "owners")
    assert [owner["owner_key"] for owner in owners] == ["user:0", "telegram:7", "user:2", "user:1"]
    first, second = owners[:2]
    assert (first["sessions"], first["counts"]["message"], second["sessions"]) == (2, 3, 0)
    assert (first["counts"]["document"], second["counts"]["document"]) == (0, 1)
    assert [owner["owner_key"] for owner in await pages(client, OWNERS, "owners", q="GRAM")] == ["telegram:7"]
    assert await pages(client, OWNERS, "owners", q="%") == []


async def test_owners_of_an_agent_without_isolation(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren", json={"settings": {"memory_isolation": False}})
    await say(client, "web:1", "Hello.", owner_key="user:1")
    [owner] = await pages(client, OWNERS, "owners")
    assert (owner["owner_key"], owner["sessions"], owner["counts"]["message"]) == ("user:1", 1, 1)
    assert await ids(client, owner_key="user:1") == ["web:1"]
    assert await ids(client, owner_key="user:2") == []


async def test_who_may_list(client: httpx.AsyncClient, with_key: Client) -> None:
    await say(client, "web:1", "Hello.", owner_key="user:1")
    async with await with_key("member", owner_key="user:2") as bound:
        assert code(await bound.get(SESSIONS, params={"owner_key": "user:1"})) == (403, "forbidden")
        assert (await bound.get(SESSIONS)).json()["sessions"] == []
        assert code(await bound.get(OWNERS)) == (403, "forbidden")
    async with await with_key("viewer") as viewer:
        assert await ids(viewer, owner_key="user:1") == ["web:1"]
        assert code(await viewer.get(OWNERS)) == (403, "forbidden")
    async with await with_key("admin", tenant="other") as stranger:
        assert code(await stranger.get(OWNERS)) == (404, "not_found")
        assert code(await stranger.get(SESSIONS, params={"owner_key": "user:1"})) == (404, "not_found")
    async with await with_key("admin") as admin:
        assert len(await pages(admin, OWNERS, "owners")) == 1


async def test_a_summary_counts_what_the_owner_sees_and_nobody_elses(client: httpx.AsyncClient) -> None:
    await say(client, "web:1", "Hello.", "And?", owner_key="user:1")
    await say(client, "web:2", "Hello.", owner_key="user:2")
    for owner in ("user:1", "user:2"):
        await client.put("/agents/wren/files/a.md", json={"content": "A note.\n", "owner_key": owner})
    mine = (await client.get("/agents/wren/summary", params={"owner_key": "user:1"})).json()
    # Beside the note, the four files that every agent begins with.
    assert (mine["files"], mine["sessions"], mine["messages"]) == (5, 1, 2)
    assert (mine["facts"], mine["contradictions"], mine["card"], mine["failed_jobs"]) == (0, 0, 0, 0)
    assert (mine["language_model"], mine["embedder"], mine["database"]) == (None, "ready", "ok")
    shared = (await client.get("/agents/wren/summary")).json()
    assert (shared["files"], shared["sessions"]) == (4, 0)
    assert code(await client.get("/agents/nobody/summary")) == (404, "not_found")


async def test_a_summary_tells_facts_by_trust(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await say(client, "web:1", "I live in Bergen.", "My boss is Petra Lind.", owner_key="user:1")
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    facts = (await client.get("/agents/wren/facts", params={"owner_key": "user:1"})).json()["facts"]
    assert len(facts) == 2
    url = "/agents/wren/facts/{}/feedback"
    for turn in ("1", "2"):
        vote = {"kind": "unhelpful", "owner_key": "user:1", "turn_id": turn}
        assert (await client.post(url.format(facts[0]["id"]), json=vote)).status_code == 200
    vote = {"kind": "helpful", "owner_key": "user:1"}
    assert (await client.post(url.format(facts[1]["id"]), json=vote)).status_code == 200
    summary = (await client.get("/agents/wren/summary", params={"owner_key": "user:1"})).json()
    assert (summary["facts"], summary["trusted"], summary["doubted"], summary["old"]) == (2, 1, 1, 0)
