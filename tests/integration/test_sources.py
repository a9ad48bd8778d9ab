"""Where a memory comes from, over HTTP: each line, down to the messages it was made of."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.scripted_model import ScriptedModel, says_json
from tests.talks import ADA, Talk

from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.selection import Target
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage


async def found(client: httpx.AsyncClient, query: str, **more: Any) -> list[dict[str, Any]]:
    body = {"query": query, "owner_key": ADA, "max_results": 20, **more}
    results: list[dict[str, Any]] = (await client.post("/agents/wren/memory/search", json=body)).json()["results"]
    return results


async def sources(client: httpx.AsyncClient, memory_id: str, owner_key: str | None = ADA) -> dict[str, Any]:
    params = {} if owner_key is None else {"owner_key": owner_key}
    answer = await client.get(f"/agents/wren/memory/{memory_id}/sources", params=params)
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def by_path(results: list[dict[str, Any]], prefix: str, text: str) -> dict[str, Any]:
    return next(r for r in results if r["path"].startswith(prefix) and text in r["text"])


@pytest.fixture
async def talk(runtime: Runtime) -> Talk:
    """A conversation in memory in every way there is, and one line of a person."""
    talk = Talk(runtime)
    await talk.put("MEMORY.md", "# Long-term Memory\n\n## Notes\n\n- Grows heirloom tomatoes.\n")
    await talk.add([NewMessage("user", "Remember that my locker is 4711.", "m-1"), NewMessage("assistant", "Yes.")])
    long = "We decided to name the lighthouse Pharos, after long talks about it with everybody in the village. " * 3
    await talk.add([NewMessage("user", long, "m-3"), NewMessage("assistant", "A good name.", "m-4")])
    await talk.compact(keep_last=0)
    await runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await drain(runtime)
    return talk


async def ids_of(client: httpx.AsyncClient) -> dict[str, str]:
    """One memory of each kind. Tiers are searched apart, since a copy of a message is not shown beside it."""
    files = await found(client, "locker 4711 tomatoes lighthouse Pharos", tiers=["document"])
    messages = await found(client, "locker 4711 lighthouse Pharos", tiers=["message"])
    episodes = await found(client, "locker 4711 lighthouse Pharos", tiers=["episodic"])
    return {
        "extracted": by_path(files, "MEMORY.md", "locker")["id"],
        "by hand": by_path(files, "MEMORY.md", "tomatoes")["id"],
        "logged": by_path(files, "memory/", "User: Remember that my locker")["id"],
        "flushed": next(
            r["id"] for r in files if r["path"].startswith("memory/") and r["text"].startswith("- We decided")
        ),
        "message": by_path(messages, "sessions/", "Pharos")["id"],
        "episode": by_path(episodes, "episodes/", "Pharos")["id"],
    }


@pytest.mark.parametrize(
    ("kind", "tier", "text", "written_by", "method", "messages"),
    [
        ("extracted", "document", "- My locker is 4711.", "extraction", "extractive", [{"seq": 1, "id": "m-1"}]),
        ("by hand", "document", "- Grows heirloom tomatoes.", "person", None, None),
        ("logged", "document", "User: Remember that my locker", "daily_log", "extractive", [
            {"seq": 1, "id": "m-1"}, {"seq": 2, "id": None},
        ]),
        ("flushed", "document", "- We decided", "flush", "extractive", [{"seq": 3, "id": "m-3"}]),
        ("message", "message", "We decided", "user", None, [{"seq": 3, "id": "m-3"}]),
    ],
)  # fmt: skip
async def test_a_line_names_who_wrote_it_and_the_messages_it_is_made_of(
    talk: Talk,
    client: httpx.AsyncClient,
    kind: str,
    tier: str,
    text: str,
    written_by: str,
    method: str | None,
    messages: list[dict[str, Any]] | None,
) -> None:
    answer = await sources(client, (await ids_of(client))[kind])
    assert answer["tier"] == tier
    [line] = [line for line in answer["lines"] if text in line["text"]]
    assert (line["written_by"], line["prompt"]) == (written_by, None)
    assert line["method"] == method
    expected = [] if messages is None else [{"kind": "messages", "session_id": "web:1", "messages": messages}]
    assert line["sources"] == expected


async def test_a_line_is_numbered_and_dated_in_its_file(talk: Talk, client: httpx.AsyncClient) -> None:
    memory = await sources(client, (await ids_of(client))["extracted"])
    [line] = [line for line in memory["lines"] if "locker" in line["text"]]
    assert (memory["path"], line["line"], line["text"]) == ("MEMORY.md", 6, "- My locker is 4711.")
    assert line["at"] is not None


async def test_each_line_of_an_episode_names_all_messages_of_its_stretch(talk: Talk, client: httpx.AsyncClient) -> None:
    episode = await sources(client, (await ids_of(client))["episode"])
    assert episode["tier"] == "episodic"
    assert {line["written_by"] for line in episode["lines"]} == {"episodic"}
    assert [message["seq"] for message in episode["lines"][0]["sources"][0]["messages"]] == [1, 2, 3, 4]


async def test_the_sources_of_anothers_memory_and_of_none_are_not_found(talk: Talk, client: httpx.AsyncClient) -> None:
    ids = await ids_of(client)
    hidden = [(ids[kind], owner) for kind in ("extracted", "message", "episode") for owner in ("user:bo", None)]
    unknown = [(memory_id, ADA) for memory_id in ("0", "999999999", "99999999999999999999", "ep-77", "x")]
    for memory_id, owner_key in [*hidden, *unknown]:
        params = {"owner_key": owner_key} if owner_key else {}
        answer = await client.get(f"/agents/wren/memory/{memory_id}/sources", params=params)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_what_is_forgotten_goes_with_its_line_and_leaves_the_origin_of_the_rest(
    runtime: Runtime, talk: Talk, client: httpx.AsyncClient
) -> None:
    grant, place = await talk.grant()
    await runtime.forgetting.forget(grant, place, Target(text="4711"), dry_run=False)
    rest = await sources(client, by_path(await found(client, "tomatoes"), "MEMORY.md", "tomatoes")["id"])
    assert {line["text"]: line["written_by"] for line in rest["lines"] if line["text"].startswith("- ")} == {
        "- Grows heirloom tomatoes.": "person"
    }


async def test_an_edited_line_is_a_persons(runtime: Runtime, talk: Talk, client: httpx.AsyncClient) -> None:
    _, place = await talk.grant()
    await runtime.long_term.update(place, "- My locker is 4711.", "- My locker is 4712.", by="user")
    edited = await sources(client, by_path(await found(client, "locker 4712"), "MEMORY.md", "locker")["id"])
    assert {line["written_by"] for line in edited["lines"] if "locker" in line["text"]} == {"person"}


async def test_a_line_that_a_model_noted_before_a_compaction_names_prompt_model_and_messages(
    talking: Runtime, scripted: ScriptedModel
) -> None:
    talk = Talk(talking)
    await talk.say("We decided to name the boat Argo.", "Noted.")
    scripted.plan(says_json({"lines": ["The boat is called Argo."]}))
    await talk.compact(keep_last=0)
    async with talking.database.maintenance() as connection:
        query = "SELECT stage, method, prompt, prompt_version, model, sources FROM derivations WHERE line_sha256 = %s"
        [row] = await (await connection.execute(query, (line_sha256("The boat is called Argo."),))).fetchall()
    assert (row["stage"], row["method"], row["prompt"], row["model"]) == ("flush", "llm", "flush", "scripted")
    assert [message["seq"] for message in row["sources"][0]["messages"]] == [1, 2]
