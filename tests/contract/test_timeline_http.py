"""The days of a memory over HTTP: what happened on each, for whom, page by page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.contract.test_access_http import Client, code, with_key
from tests.contract.test_listings_http import pages

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

__all__ = ["with_key"]

TIMELINE = "/agents/wren/timeline"


async def say(client: httpx.AsyncClient, session: str, at: str, *texts: str, **owner: str) -> None:
    messages = [{"role": "user", "content": text, "at": at} for text in texts]
    answer = await client.post(f"/agents/wren/sessions/{session}/messages", json={"messages": messages, **owner})
    assert answer.status_code in (200, 201)


async def days(client: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    return await pages(client, TIMELINE, "days", **params)


async def test_days_have_what_happened_the_newest_first(client: httpx.AsyncClient, runtime: Runtime) -> None:
    mine = {"owner_key": "user:1"}
    await say(client, "web:1", "2026-03-01T09:00:00Z", "I work at Aldi.", "The weather is fine.", **mine)
    await say(client, "web:1", "2026-03-03T09:00:00Z", "I work at Lidl now.", **mine)
    await say(client, "web:2", "2026-03-03T08:00:00Z", "Hello again.", **mine)
    await client.post("/agents/wren/sessions/web:1/complete", json=mine)
    await drain(runtime)
    found = await days(client, **mine)
    march = [day for day in found if day["day"].startswith("2026-03")]
    assert [day["day"] for day in march] == ["2026-03-03", "2026-03-01"]
    last, first = march
    assert (first["counts"]["conversation"], first["counts"]["messages"]) == (1, 2)
    assert (last["counts"]["conversation"], last["counts"]["messages"]) == (2, 2)
    kinds = {(entry["kind"], entry["text"]) for day in march for entry in day["entries"]}
    assert {("conversation", "I work at Aldi."), ("conversation", "Hello again.")} <= kinds
    assert any(kind == "learned" and "Lidl" in text for kind, text in kinds)
    assert any(kind == "ended" and "Aldi" in text for kind, text in kinds)
    [episode] = [entry for day in march for entry in day["entries"] if entry["kind"] == "episode"]
    assert (episode["session_id"], episode["amount"]) == ("web:1", 3)
    times = [entry["at"] for entry in last["entries"]]
    assert times == sorted(times)


async def test_what_was_forgotten_is_a_count_and_no_text(client: httpx.AsyncClient) -> None:
    mine = {"owner_key": "user:1"}
    await client.put("/agents/wren/files/memory/a.md", json={"content": "The code is Zebra-81.\n", **mine})
    seen = await client.post("/agents/wren/memory/forget", json={"text": "Zebra-81", "dry_run": False, **mine})
    assert seen.status_code == 200
    receipt = (await client.get(f"/agents/wren/receipts/{seen.json()['receipt_id']}", params=mine)).json()
    [entry] = [each for day in await days(client, kind="forgotten", **mine) for each in day["entries"]]
    assert (entry["id"], entry["text"], entry["amount"]) == (receipt["id"], "", receipt["statements"])
    assert "Zebra" not in (await client.get(TIMELINE, params=mine)).text


async def test_days_of_one_kind_since_a_time_and_without_entries(client: httpx.AsyncClient) -> None:
    for day in range(1, 6):
        await say(client, "web:1", f"2026-03-0{day}T09:00:00Z", "Hello.", owner_key="user:1")
    found = await days(client, owner_key="user:1", kind="conversation", since="2026-03-03T00:00:00Z", entries="false")
    assert [day["day"] for day in found] == ["2026-03-05", "2026-03-04", "2026-03-03"]
    assert all(day["counts"] == {"conversation": 1, "messages": 1} and not day["entries"] for day in found)
    assert await days(client, owner_key="user:1", kind="night") == []


async def test_days_up_to_one_are_those_of_the_agents_time_zone(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren", json={"settings": {"time_zone": "Asia/Tokyo"}})
    for day in range(1, 6):
        # Half past eight in the morning of the same day in Tokyo, and of the day after it.
        for hour in ("00", "23"):
            await say(client, "web:1", f"2026-03-0{day}T{hour}:30:00Z", "Hello.", owner_key="user:1")
    found = await days(client, owner_key="user:1", kind="conversation", until="2026-03-03", limit=2)
    assert [day["day"] for day in found] == ["2026-03-03", "2026-03-02", "2026-03-01"]
    assert [day["counts"]["messages"] for day in found] == [2, 2, 1]
    assert await days(client, owner_key="user:1", kind="conversation", until="0001-01-01") == []
    last = await days(client, owner_key="user:1", kind="conversation", until="9999-12-31", limit=1)
    assert last[0]["day"] == "2026-03-06"
    assert code(await client.get(TIMELINE, params={"until": "soon"})) == (422, "validation_error")


async def test_days_are_those_of_the_agents_time_zone(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren", json={"settings": {"time_zone": "Asia/Tokyo"}})
    await say(client, "web:1", "2026-03-01T14:59:00Z", "Late.", owner_key="user:1")
    await say(client, "web:1", "2026-03-01T15:01:00Z", "Early.", owner_key="user:1")
    found = await days(client, owner_key="user:1", kind="conversation")
    assert [day["day"] for day in found] == ["2026-03-02", "2026-03-01"]


@pytest.mark.parametrize("is_isolated", [True, False])
async def test_nobody_elses_days(client: httpx.AsyncClient, is_isolated: bool) -> None:
    await client.put("/agents/wren", json={"settings": {"memory_isolation": is_isolated}})
    await say(client, "web:1", "2026-03-01T09:00:00Z", "Mine.", owner_key="user:1")
    await say(client, "web:2", "2026-03-02T09:00:00Z", "Theirs.", owner_key="user:2")
    await say(client, "web:3", "2026-03-03T09:00:00Z", "Everybody's.")
    for owner, expected in (("user:1", "2026-03-01"), ("user:2", "2026-03-02"), (None, "2026-03-03")):
        whose = {"owner_key": owner} if owner else {}
        assert [day["day"] for day in await days(client, kind="conversation", **whose)] == [expected]


async def test_a_day_says_of_a_kind_at_most_twelve_and_counts_all(client: httpx.AsyncClient) -> None:
    for number in range(15):
        await say(client, f"web:{number}", "2026-03-01T09:00:00Z", "Hello.", owner_key="user:1")
    [day] = await days(client, owner_key="user:1", kind="conversation")
    assert (day["counts"], len(day["entries"])) == ({"conversation": 15, "messages": 15}, 12)


async def test_who_may_see_days_and_which(client: httpx.AsyncClient, with_key: Client) -> None:
    await say(client, "web:1", "2026-03-01T09:00:00Z", "Hello.", owner_key="user:1")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert await days(client, owner_key="user:1", since=tomorrow) == []
    for wrong in ({"kind": "dream"}, {"limit": "101"}, {"cursor": "x"}, {"since": "yesterday"}, {"q": "x"}):
        assert code(await client.get(TIMELINE, params=wrong)) == (422, "validation_error")
    assert code(await client.get("/agents/nobody/timeline")) == (404, "not_found")
    async with await with_key("viewer", owner_key="user:2") as bound:
        assert code(await bound.get(TIMELINE, params={"owner_key": "user:1"})) == (403, "forbidden")
        assert await days(bound) == []
