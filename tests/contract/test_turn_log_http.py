"""The log of turns over HTTP: what a prompt was made for and of, and what becomes of it when something is forgotten."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from tests.contract.test_access_http import Client, code, with_key
from tests.rows import leftovers

from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Place
from reverie_server.access.keys import OPERATOR
from reverie_server.inject.inject import no_injection
from reverie_server.prompt.turn_log import TurnLog, TurnRecord, prune_turns
from reverie_server.provenance.removed_turns import note_removed_turns
from reverie_server.runtime import Runtime

__all__ = ["with_key"]

ME, URL = "user:1", "/agents/wren/turns"
SECRET = "The heron keeps its lantern in the east boathouse."
ASKED = "Where does the heron keep its lantern?"


async def remember(client: httpx.AsyncClient, content: str = SECRET, owner: str = ME) -> None:
    body = {"content": content, "owner_key": owner}
    assert (await client.put("/agents/wren/files/notes/a.md", json=body)).status_code in (200, 201)


async def ask(client: httpx.AsyncClient, message: str = ASKED, owner: str = ME, **more: Any) -> None:
    answer = await client.post("/agents/wren/context", json={"message": message, "owner_key": owner, **more})
    assert answer.status_code == 200


async def turns(client: httpx.AsyncClient, runtime: Runtime, owner: str | None = ME, **params: Any) -> list[Any]:
    assert await runtime.turn_log.flush()
    whose = {} if owner is None else {"owner_key": owner}
    answer = await client.get(URL, params={**whose, **params})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["turns"])


async def test_a_turn_says_what_was_given_and_what_nearly_was(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await remember(client, f"{SECRET}\n\nThe harbour is closed in winter.\n")
    await ask(client, session_id="web:1")
    [turn] = await turns(client, runtime)
    assert (turn["kind"], turn["asked"], turn["session_id"], turn["outcome"]) == ("context", ASKED, "web:1", "injected")
    [given] = turn["injected"]
    assert (given["text"], given["tier"], given["source"]) == (SECRET, "document", "notes/a.md")
    assert given["relevance"] == pytest.approx(turn["top_score"], abs=0.001)
    assert [(near["why"], near["text"]) for near in turn["near"]] == [("below", "The harbour is closed in winter.")]
    query = {"query": ASKED, "owner_key": ME}
    found = (await client.post("/agents/wren/memory/search", json=query)).json()["results"]
    assert [given["score"], turn["near"][0]["score"]] == pytest.approx([one["score"] for one in found], abs=0.001)
    assert sum(section["tokens"] for section in turn["sections"]) > 0
    one = await client.get(f"{URL}/{turn['id']}", params={"owner_key": ME})
    assert one.json() == turn


async def test_what_is_injected_alone_is_a_turn_and_what_is_looked_at_is_none(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    await client.post("/agents/wren/memory/inject", json={"message": ASKED, "owner_key": ME, "session_id": "web:2"})
    await client.post("/agents/wren/memory/inject", json={"message": "thanks!", "owner_key": ME})
    await ask(client, explain=True)
    found = await turns(client, runtime)
    assert [(turn["kind"], turn["outcome"]) for turn in found] == [("inject", "trivial"), ("inject", "injected")]
    assert [turn["kind"] for turn in await turns(client, runtime, session_id="web:2")] == ["inject"]


async def test_pages_of_turns_newest_first(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await remember(client)
    for number in range(3):
        await ask(client, f"Where is lantern {number}?")
    await runtime.turn_log.flush()
    first = (await client.get(URL, params={"owner_key": ME, "limit": 2})).json()
    rest = (await client.get(URL, params={"owner_key": ME, "limit": 2, "cursor": first["next_cursor"]})).json()
    asked = [turn["asked"] for turn in [*first["turns"], *rest["turns"]]]
    assert asked == [f"Where is lantern {number}?" for number in (2, 1, 0)]
    assert rest["next_cursor"] is None


async def test_nobody_elses_turns(client: httpx.AsyncClient, runtime: Runtime, with_key: Client) -> None:
    await remember(client)
    await ask(client)
    [turn] = await turns(client, runtime)
    assert await turns(client, runtime, "user:2") == []
    assert await turns(client, runtime, None) == []
    assert code(await client.get(f"{URL}/{turn['id']}", params={"owner_key": "user:2"})) == (404, "not_found")
    async with await with_key("member", owner_key="user:2") as bound:
        assert code(await bound.get(URL, params={"owner_key": ME})) == (403, "forbidden")
        assert code(await bound.get(f"{URL}/{turn['id']}")) == (404, "not_found")
    async with await with_key("admin", tenant="other") as stranger:
        assert code(await stranger.get(URL, params={"owner_key": ME})) == (404, "not_found")


async def test_forgetting_reaches_what_was_asked_and_what_was_given(
    client: httpx.AsyncClient, runtime: Runtime, conninfo: str
) -> None:
    await remember(client)
    await ask(client, f"I know: {SECRET} Where is the key?")
    [turn] = await turns(client, runtime)
    assert turn["asked"] == f"I know: {SECRET} Where is the key?"
    # A turn that was asked before, and is still to be written when the text is forgotten.
    await ask(client, f"Again: {SECRET}")
    body = {"owner_key": ME, "text": SECRET, "dry_run": False}
    assert (await client.post("/agents/wren/memory/forget", json=body)).status_code == 200
    newest, oldest = await turns(client, runtime)
    assert oldest["asked"] == "Where is the key?"
    assert "heron" not in newest["asked"]
    assert [memory["text"] for each in (newest, oldest) for memory in each["injected"]] in ([], [None], [None, None])
    assert leftovers(conninfo, "boathouse") == []


async def test_turns_go_with_their_session_and_their_owner(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await remember(client)
    said = {"messages": [{"role": "user", "content": "Hello."}], "owner_key": ME}
    await client.post("/agents/wren/sessions/web:1/messages", json=said)
    await ask(client, session_id="web:1")
    await ask(client, session_id="web:2")
    assert len(await turns(client, runtime)) == 2
    await client.delete("/agents/wren/sessions/web:1", params={"owner_key": ME})
    assert [turn["session_id"] for turn in await turns(client, runtime)] == ["web:2"]
    assert (await client.delete(f"/owners/{ME}", params={"dry_run": False})).status_code == 200
    assert await turns(client, runtime) == []


@pytest.fixture
def other_process(runtime: Runtime) -> TurnLog:
    """The log of another server on the same database: it knows nothing of what is removed here."""
    return TurnLog(runtime.database, runtime.tombstones)


async def note(log: TurnLog, runtime: Runtime, asked: str, session_id: str | None, owner: str = ME) -> None:
    record = TurnRecord(
        kind="chat", message=asked, injection=no_injection("no_match"), session_id=session_id, seconds=0.0
    )
    log.note(await runtime.gate.for_turn(OPERATOR, "wren", owner), record)


@pytest.mark.parametrize(
    ("method", "path", "body", "left"),
    [
        ("DELETE", "/sessions/web:1", None, ["of web:2", "of none"]),
        ("DELETE", "/sessions/web:1/messages", None, ["of web:2", "of none"]),
        ("POST", "/memory/clear", {"tiers": ["message"], "path_prefix": "sessions/web:1"}, ["of web:2", "of none"]),
        ("POST", "/memory/clear", {"tiers": ["message"]}, []),
        ("POST", "/memory/clear", {"tiers": ["document"]}, ["of web:1", "of web:2", "of none"]),
        ("POST", "/memory/clear", {"tiers": ["message"], "older_than_days": 1}, ["of web:1", "of web:2", "of none"]),
        ("POST", "/memory/clear", {"tiers": ["message"], "dry_run": True}, ["of web:1", "of web:2", "of none"]),
    ],
)
async def test_a_turn_that_waits_is_not_written_after_its_conversation_was_removed(
    client: httpx.AsyncClient,
    runtime: Runtime,
    other_process: TurnLog,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    left: list[str],
) -> None:
    await remember(client)
    said = {"messages": [{"role": "user", "content": "Hello."}], "owner_key": ME}
    for session in ("web:1", "web:2"):
        await client.post(f"/agents/wren/sessions/{session}/messages", json=said)
    for session in ("web:1", "web:2", None):
        await note(other_process, runtime, f"of {session or 'none'}", session)
    # Somebody else's conversation may have the same name.
    await remember(client, owner="user:2")
    await note(other_process, runtime, "of somebody else", "web:1", "user:2")
    if body is None:
        answer = await client.request(method, f"/agents/wren{path}", params={"owner_key": ME})
    else:
        answer = await client.request(method, f"/agents/wren{path}", json={"dry_run": False, **body, "owner_key": ME})
    assert answer.is_success, answer.text
    await note(other_process, runtime, "said afterwards", "web:1")
    assert await other_process.flush()
    assert sorted(turn["asked"] for turn in await turns(client, runtime)) == sorted([*left, "said afterwards"])
    assert [turn["asked"] for turn in await turns(client, runtime, "user:2")] == ["of somebody else"]


@pytest.mark.parametrize("isolation", [True, False])
async def test_a_turn_that_waits_is_not_written_after_its_owner_or_agent_was_deleted(
    client: httpx.AsyncClient, runtime: Runtime, other_process: TurnLog, isolation: bool
) -> None:
    settings = {"settings": {"memory_isolation": isolation}}
    for removed in (f"/owners/{ME}", "/agents/wren"):
        assert (await client.put("/agents/wren", json=settings)).is_success
        await remember(client)
        await note(other_process, runtime, "said before", "web:1")
        params = {"dry_run": False} if "owners" in removed else {}
        assert (await client.delete(removed, params=params)).is_success
        assert (await client.put("/agents/wren", json=settings)).is_success
        await remember(client)
        await note(other_process, runtime, f"said after {removed}", "web:1")
        assert await other_process.flush()
        assert [turn["asked"] for turn in await turns(client, runtime)] == [f"said after {removed}"]


async def test_who_writes_turns_waits_for_who_removes_them(
    client: httpx.AsyncClient, runtime: Runtime, other_process: TurnLog
) -> None:
    await remember(client)
    await note(other_process, runtime, "said before", "web:1")
    async with runtime.database.tenant("default") as connection:
        slice_ = await lock_slice(connection, Place("default", "wren", "personal", ME))
        flushing = asyncio.create_task(other_process.flush())
        await asyncio.sleep(0.5)
        assert not flushing.done()
        await note_removed_turns(connection, "default", "clear", slice_.slice_id, "")
    assert await flushing
    assert await turns(client, runtime) == []


async def test_what_keeps_removed_turns_from_being_written_goes_with_the_turns_of_its_time(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    await client.put("/agents/wren/sessions/web:1", json={"owner_key": ME})
    await client.delete("/agents/wren/sessions/web:1", params={"owner_key": ME})
    count = "SELECT count(*)::integer AS count FROM removed_turns"
    for keep_days, left in ((1, 1), (0, 0)):
        await prune_turns(runtime.database, keep_days=keep_days)
        assert await runtime.database.maintenance_query(count.encode(), {}) == [{"count": left}]


async def test_an_export_of_a_person_has_their_turns_and_nobody_elses(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    await remember(client, owner="user:2")
    await ask(client)
    await ask(client, "Where is the other lantern?", owner="user:2")
    assert await runtime.turn_log.flush()
    answer = await client.get(f"/owners/{ME}/export")
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = json.loads(archive.read("wren/turns.json"))
    assert [turn["asked"] for turn in found] == [ASKED]
