"""Episodes over HTTP: listing, reading, searching, removing, and the tool that shows one."""

from __future__ import annotations

from typing import Any

import httpx
from tests.contract.test_keeping_http import keyed

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

FIELDS = {
    *("id", "session_id", "summary", "abstract", "key_topics", "owner_key", "created_at", "expires_at"),
    *("promoted_at", "sources", "method", "prompt", "prompt_version", "model", "started_at", "ended_at"),
}
REVIEW = "We decided to move the review with Ada Lovelace to Thursday."


async def converse(client: httpx.AsyncClient, runtime: Runtime, session: str, text: str, owner: str | None) -> None:
    """A conversation that is complete, and its episode."""
    url = f"agents/wren/sessions/{session}"
    said = [{"role": "user", "content": text, "id": "m-1"}, {"role": "assistant", "content": "Noted."}]
    owned = {} if owner is None else {"owner_key": owner}
    assert (await client.post(f"{url}/messages", json={"messages": said, **owned})).status_code == 201
    done = await client.post(f"{url}/complete", json={"trigger_source": "web", **owned})
    assert [job["kind"] for job in done.json()["jobs"]] == ["facts", "episodic", "extraction"]
    await drain(runtime)


async def test_an_episode_is_listed_read_found_and_removed(client: httpx.AsyncClient, runtime: Runtime) -> None:
    for number in range(3):
        await converse(client, runtime, f"web:{number}", f"{REVIEW[:-1]}, part {number}.", "user:1")
    owner = {"owner_key": "user:1"}
    first = (await client.get("agents/wren/episodes", params={**owner, "limit": 2})).json()
    assert [episode["session_id"] for episode in first["episodes"]] == ["web:2", "web:1"]
    rest = (await client.get("agents/wren/episodes", params={**owner, "cursor": first["next_cursor"]})).json()
    assert [episode["session_id"] for episode in rest["episodes"]] == ["web:0"]
    assert rest["next_cursor"] is None
    [episode] = rest["episodes"]
    assert episode.keys() == FIELDS
    assert episode["summary"] == f"- User: {REVIEW[:-1]}, part 0."
    assert (episode["abstract"], episode["key_topics"]) == (f"{REVIEW[:-1]}, part 0.", ["Ada Lovelace"])
    assert (episode["owner_key"], episode["method"], episode["model"]) == ("user:1", "extractive", None)
    assert episode["created_at"].endswith("Z")
    assert episode["sources"][0]["messages"] == [{"seq": 1, "id": "m-1"}, {"seq": 2, "id": None}]
    assert episode["id"].startswith("ep-")
    url = f"agents/wren/episodes/{episode['id']}"
    assert (await client.get(url, params=owner)).json() == episode
    # Sources elsewhere and old clients may have the bare number.
    assert (await client.get(url.replace("ep-", ""), params=owner)).json() == episode

    found = (await client.post("agents/wren/episodes/search", json={"query": "review part 0", **owner})).json()
    assert (found["count"], found["mode"], found["fallback"], found["warnings"]) == (3, "hybrid", None, [])
    assert len({one["id"] for one in found["results"]}) == 3
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert found["results"][0].keys() == FIELDS | {"score"}
    one = (await client.post("agents/wren/episodes/search", json={"query": "Part 0", "max_results": 1, **owner})).json()
    assert [result["session_id"] for result in one["results"]] == ["web:0"]
    past = {"query": "review", "as_of": "2020-01-01T00:00:00Z", **owner}
    assert (await client.post("agents/wren/episodes/search", json=past)).json()["results"] == []

    call = {"arguments": {"id": episode["id"]}, **owner}
    shown = (await client.post("agents/wren/tools/memory_expand", json=call)).json()
    assert shown["ok"]
    assert (shown["result"]["summary"], shown["result"]["tier"]) == (episode["summary"], "episodic")
    assert shown["result"]["sources"] == episode["sources"]

    assert (await client.delete(url, params=owner)).status_code == 204
    assert (await client.delete(url, params=owner)).status_code == 404
    assert (await client.get(url, params=owner)).status_code == 404


async def test_whose_episodes_are_seen_and_removed_is_the_keys_matter(
    client: httpx.AsyncClient, runtime: Runtime, problem: Any
) -> None:
    await converse(client, runtime, "web:1", REVIEW, "user:1")
    await converse(client, runtime, "web:2", "The team decided to sell the boat to Eve.", None)
    everything = (await client.get("agents/wren/episodes", params={"owner_key": "*"})).json()["episodes"]
    assert [episode["owner_key"] for episode in everything] == [None, "user:1"]
    url = f"agents/wren/episodes/{everything[1]['id']}"
    bo, member, viewer, admin = (
        await keyed(client, runtime, "member", "user:2"),
        await keyed(client, runtime, "member"),
        await keyed(client, runtime, "viewer", "user:1"),
        await keyed(client, runtime, "admin"),
    )
    async with bo, member, viewer, admin:
        own = (await bo.get("agents/wren/episodes")).json()["episodes"]
        assert [episode["session_id"] for episode in own] == ["web:2"]
        problem(await bo.get(url), 404, "not_found")
        problem(await bo.delete(url), 404, "not_found")
        problem(await bo.get(url, params={"owner_key": "user:1"}), 403, "forbidden")
        problem(await member.get("agents/wren/episodes", params={"owner_key": "*"}), 403, "forbidden")
        assert (await viewer.get(url)).status_code == 200
        problem(await viewer.delete(url), 403, "forbidden")
        search = {"query": "review with Ada Lovelace"}
        found = (await bo.post("agents/wren/episodes/search", json=search)).json()["results"]
        assert [result["session_id"] for result in found] == ["web:2"]
        assert len((await admin.get("agents/wren/episodes", params={"owner_key": "*"})).json()["episodes"]) == 2
        assert (await admin.delete(url, params={"owner_key": "user:1"})).status_code == 204
    problem(await client.get("agents/wren/episodes"), 401, "unauthorized")


async def test_what_is_no_episode_or_no_search_is_refused(client: httpx.AsyncClient, wren: Any, problem: Any) -> None:
    await wren.put("a.md", "text")
    problem(await client.get("agents/nobody/episodes"), 404, "not_found")
    for name in ("ep-1", "ep-", "x", "0", "search", "9" * 40):
        problem(await client.get(f"agents/wren/episodes/{name}"), 404, "not_found")
    problem(await client.get("agents/wren/episodes", params={"cursor": "x"}), 422, "validation_error")
    problem(await client.get("agents/wren/episodes", params={"lmit": 1}), 422, "validation_error")
    for body in ({"query": " "}, {"query": "x", "max_results": 0}, {"query": "x", "tiers": ["document"]}, {}):
        problem(await client.post("agents/wren/episodes/search", json=body), 422, "validation_error")
