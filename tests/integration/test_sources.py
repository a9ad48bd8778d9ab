"""Where a memory comes from, over HTTP: each line, down to the messages it was made of."""

from __future__ import annotations

from typing import Any

import httpx
from tests.scripted_model import ScriptedModel, says_json
from tests.talks import ADA, Talk

from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.forget import Target
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


async def test_every_kind_of_memory_names_what_it_is_made_of(runtime: Runtime, client: httpx.AsyncClient) -> None:
    talk = Talk(runtime)
    await talk.put("MEMORY.md", "# Long-term Memory\n\n## Notes\n\n- Grows heirloom tomatoes.\n")
    await talk.add([NewMessage("user", "Remember that my locker is 4711.", "m-1"), NewMessage("assistant", "Yes.")])
    long = "We decided to name the lighthouse Pharos, after long talks about it with everybody in the village. " * 3
    await talk.add([NewMessage("user", long, "m-3"), NewMessage("assistant", "A good name.", "m-4")])
    await talk.compact(keep_last=0)
    await runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await drain(runtime)

    results = await found(client, "locker 4711 tomatoes lighthouse Pharos")
    # What repeats a message to the letter is not shown beside it.
    results += await found(client, "locker 4711 lighthouse Pharos", tiers=["document"])
    results += await found(client, "locker 4711 lighthouse Pharos", tiers=["episodic"])
    memory = await sources(client, by_path(results, "MEMORY.md", "locker")["id"])
    assert (memory["tier"], memory["path"]) == ("document", "MEMORY.md")
    [line] = [line for line in memory["lines"] if "locker" in line["text"]]
    assert line["text"] == "- My locker is 4711."
    assert line["line"] == 6
    assert (line["written_by"], line["method"], line["prompt"]) == ("extraction", "extractive", None)
    assert line["at"] is not None
    assert line["sources"] == [{"kind": "messages", "session_id": "web:1", "messages": [{"seq": 1, "id": "m-1"}]}]

    by_hand = await sources(client, by_path(results, "MEMORY.md", "tomatoes")["id"])
    [line] = [line for line in by_hand["lines"] if "tomatoes" in line["text"]]
    assert (line["written_by"], line["method"], line["sources"]) == ("person", None, [])

    logged = await sources(client, by_path(results, "memory/", "User: Remember that my locker")["id"])
    [line] = logged["lines"]
    assert (line["written_by"], line["method"]) == ("daily_log", "extractive")
    assert line["sources"][0]["messages"] == [{"seq": 1, "id": "m-1"}, {"seq": 2, "id": None}]

    flushed = await sources(
        client,
        next(r for r in results if r["path"].startswith("memory/") and r["text"].startswith("- We decided"))["id"],
    )
    assert [line["written_by"] for line in flushed["lines"]] == ["flush"]
    assert flushed["lines"][0]["sources"][0]["messages"] == [{"seq": 3, "id": "m-3"}]

    message = await sources(client, by_path(results, "sessions/", "Pharos")["id"])
    assert message["tier"] == "message"
    [line] = message["lines"]
    assert (line["line"], line["written_by"], line["method"]) == (3, "user", None)
    assert line["sources"] == [{"kind": "messages", "session_id": "web:1", "messages": [{"seq": 3, "id": "m-3"}]}]

    episode = await sources(client, by_path(results, "episodes/", "Pharos")["id"])
    assert episode["tier"] == "episodic"
    assert {line["written_by"] for line in episode["lines"]} == {"episodic"}
    assert [m["seq"] for m in episode["lines"][0]["sources"][0]["messages"]] == [1, 2, 3, 4]

    for owner_key in ("user:bo", None):
        params = {"owner_key": owner_key} if owner_key else {}
        for memory_id in (memory["id"], message["id"], episode["id"]):
            answer = await client.get(f"/agents/wren/memory/{memory_id}/sources", params=params)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    for unknown in ("0", "999999999", "99999999999999999999", "ep-77", "x"):
        answer = await client.get(f"/agents/wren/memory/{unknown}/sources", params={"owner_key": ADA})
        assert answer.status_code == 404

    # What is forgotten leaves no trace there, and what is left of a line keeps its origin.
    grant, place = await talk.grant()
    await runtime.forgetting.forget(grant, place, Target(text="4711"), dry_run=False)
    again = await sources(client, by_path(await found(client, "my locker is"), "MEMORY.md", "locker")["id"])
    [line] = [line for line in again["lines"] if "locker" in line["text"]]
    assert (line["text"], line["written_by"]) == ("- My locker is .", "extraction")
    # A line that a person changes is that person's.
    await runtime.long_term.update(place, "- My locker is .", "- My locker is on the second floor.", by="user")
    changed = await sources(client, by_path(await found(client, "locker second floor"), "MEMORY.md", "locker")["id"])
    assert {line["written_by"] for line in changed["lines"] if "locker" in line["text"]} == {"person"}


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
