"""The stream of events: what happens as it happens, to whose memory it happens, and how it is gone on with."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from tests.contract.test_access_http import Client, code, with_key

from reverie_client import AsyncReverie
from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

__all__ = ["with_key"]

ME, URL = "user:1", "/agents/wren/events"
SECRET = "The heron keeps its lantern in the east boathouse."


async def events(client: httpx.AsyncClient, owner: str | None = ME, after: str | None = None) -> list[dict[str, Any]]:
    """The events of one stream, each with the position after it."""
    headers = {} if after is None else {"Last-Event-ID": after}
    answer = await client.get(URL, params={} if owner is None else {"owner_key": owner}, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in answer.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            found.append({**json.loads(fields["data"]), "position": fields["id"], "event": fields["event"]})
    return found


async def remember(client: httpx.AsyncClient, owner: str = ME) -> None:
    body = {"content": SECRET, "owner_key": owner}
    assert (await client.put("/agents/wren/files/notes/a.md", json=body)).status_code in (200, 201)


async def ask(client: httpx.AsyncClient, runtime: Runtime, owner: str = ME) -> None:
    body = {"message": "Where does the heron keep its lantern?", "owner_key": owner, "session_id": "web:1"}
    assert (await client.post("/agents/wren/context", json=body)).status_code == 200
    assert await runtime.turn_log.flush()


async def test_a_stream_begins_with_the_jobs_and_goes_on_from_a_position(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    [jobs] = await events(client)
    assert (jobs["event"], jobs["kind"], jobs["id"]) == ("jobs", "jobs", None)
    assert jobs["data"]["waiting"] + jobs["data"]["running"] >= 1
    await ask(client, runtime)
    await client.post("/memory/wren/dreaming/focused", json={"owner_key": ME, "topic": "the heron"})
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    happened = await events(client, after=jobs["position"])
    assert [each["kind"] for each in happened] == ["turn", "report", "jobs"]
    turn, report, _ = happened
    stored = (await client.get("/agents/wren/turns", params={"owner_key": ME})).json()["turns"]
    assert turn["id"] == stored[0]["id"]
    assert turn["data"]["session_id"] == "web:1"
    assert report["data"]["mode"] == "focused"
    assert (await client.get(f"/memory/wren/dream/reports/{report['id']}", params={"owner_key": ME})).status_code == 200
    assert "heron" not in json.dumps(happened)
    # From its last position on there is nothing new: at most the last half minute comes once more, under the same ids.
    again = await events(client, after=happened[-1]["position"])
    assert {each["id"] for each in again} <= {each["id"] for each in happened}


async def test_what_happens_while_a_stream_is_open_comes_once(client: httpx.AsyncClient, runtime: Runtime) -> None:
    object.__setattr__(runtime.settings, "events_stream_seconds", 3.0)
    await remember(client)
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    seen = []
    async with AsyncReverie(str(client.base_url).removesuffix("/api/v1/")) as reverie:
        async for event in reverie.agent("wren", owner_key=ME).follow():
            seen.append(event)
            if len(seen) == 1:
                await ask(client, runtime)
    assert [event.kind for event in seen if event.kind != "jobs"] == ["turn"]
    assert all(event.position for event in seen)


async def test_nobody_hears_of_another_persons_memory(
    client: httpx.AsyncClient, runtime: Runtime, with_key: Client
) -> None:
    await remember(client)
    await remember(client, "user:2")
    begun = {owner: (await events(client, owner))[-1]["position"] for owner in (ME, "user:2", None)}
    await ask(client, runtime)
    for owner in ("user:2", None):
        assert [each for each in await events(client, owner, begun[owner]) if each["kind"] != "jobs"] == []
    async with await with_key("viewer", owner_key="user:2") as hers:
        assert code(await hers.get(URL, params={"owner_key": ME})) == (403, "forbidden")
        assert [each for each in await events(hers, None, begun[ME]) if each["kind"] != "jobs"] == []


async def test_what_is_wrong_is_refused_before_a_stream_begins(client: httpx.AsyncClient, runtime: Runtime) -> None:
    assert code(await client.get("/agents/nobody/events")) == (404, "not_found")
    await remember(client)
    for wrong in ("x", "WzFd", "a" * 300):
        refused = await client.get(URL, params={"owner_key": ME}, headers={"Last-Event-ID": wrong})
        assert code(refused) == (422, "validation_error"), wrong
    assert code(await client.get(URL, params={"owner": ME})) == (422, "validation_error")


async def test_a_key_follows_a_limited_number_of_streams(
    client: httpx.AsyncClient, runtime: Runtime, with_key: Client
) -> None:
    await remember(client)
    object.__setattr__(runtime.settings, "events_stream_seconds", 30.0)
    object.__setattr__(runtime.events, "_streams_per_key", 2)
    whose = {"owner_key": ME}
    async with await with_key("member") as mine, await with_key("member") as theirs:
        async with AsyncExitStack() as streams:
            for _ in range(2):
                answer = await streams.enter_async_context(mine.stream("GET", URL, params=whose))
                assert answer.status_code == 200
            refused = await mine.get(URL, params=whose)
            assert code(refused) == (429, "too_many_requests")
            assert int(refused.headers["Retry-After"]) >= 1
            assert "streams of events" in refused.json()["detail"]
            # Another key has its own, and this one's other requests go on.
            answer = await streams.enter_async_context(theirs.stream("GET", URL, params=whose))
            assert answer.status_code == 200
            assert (await mine.get("/agents/wren/summary")).status_code == 200
        # Whoever has gone away counts no more.
        for _ in range(600):
            if not runtime.events.open_streams:
                break
            await asyncio.sleep(0.05)
        async with mine.stream("GET", URL, params=whose) as answer:
            assert answer.status_code == 200


async def test_who_goes_away_breaks_no_connection_to_the_database(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await remember(client)
    object.__setattr__(runtime.settings, "events_stream_seconds", 30.0)
    for number in range(60):
        async with client.stream("GET", URL, params={"owner_key": ME}) as answer:
            assert answer.status_code == 200
            # Before, while and after the stream asks for the first time.
            await asyncio.sleep(number % 12 / 1000)
    assert (await client.get("/agents/wren/summary", params={"owner_key": ME})).status_code == 200
    assert runtime.database._primary._pool.get_stats().get("returns_bad", 0) == 0
