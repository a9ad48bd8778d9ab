"""After a person is deleted no row of any table holds what was theirs; nothing of anybody else is gone."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.consistency import assert_index_consistent
from tests.graphs import Graph, answers, day, thing
from tests.locks import waiting_for_locks
from tests.rows import holding, leftovers
from tests.scripted_model import Reply, ScriptedModel

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import Conflict, NotFound
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.pending_jobs import drain
from reverie_server.app.wiring import assemble
from reverie_server.forgetting.owners import Owners
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

ADA, BEN = "user:adalovelace", "user:benfranklin"
# Of Ada alone, and of Ben alone; each in every text that they have.
MARKS = {ADA: "zyxgantry", BEN: "qwvlantern"}
AGENTS = ("wren", "crow")
# What a report says.
SAYING = ("id", "mode", "status", "reason", "seen", "promoted", "rejected", "diff", "path", "version_after", "method")
# What is to be told of her afterwards: that she was, by whom, when.
KEPT = {"audit"}


async def fill(runtime: Runtime, client: httpx.AsyncClient, scripted: ScriptedModel) -> None:
    for owner, mark in MARKS.items():
        for agent in AGENTS:
            said = {
                "messages": [
                    {
                        "role": "user",
                        "content": f"Please remember that the {mark} of {agent} is inspected on Wednesday.",
                    },
                    {"role": "assistant", "content": f"I noted the {mark}."},
                ]
                * 3,
                "owner_key": owner,
            }
            url = f"/api/v1/agents/{agent}"
            for path in ("MEMORY.md", "notes/a.md"):
                body = {"content": f"# Notes\n\nThe {mark} stands here.\n", "owner_key": owner}
                assert (await client.put(f"{url}/files/{path}", json=body)).status_code == 201
            gone = {"content": f"Once the {mark}.\n", "owner_key": owner}
            await client.put(f"{url}/files/gone.md", json=gone)
            await client.delete(f"{url}/files/gone.md", params={"owner_key": owner})
            assert (await client.post(f"{url}/sessions/{mark}:1/messages", json=said)).status_code == 201
            await client.post(f"{url}/sessions/{mark}:1/compact", json={"owner_key": owner, "keep_last": 2})
            assert (
                await client.post(f"{url}/sessions/{mark}:1/complete", json={"owner_key": owner})
            ).status_code == 202
            search = {"query": f"{mark} inspected", "owner_key": owner}
            await client.post(f"{url}/memory/search", json=search)
            await client.post(f"{url}/memory/forget", json={"text": "I noted", "owner_key": owner, "dry_run": False})
        answers(scripted, {"entities": [thing(f"{mark} crane"), thing(f"{mark} dock")], "relations": []})
        await Graph(runtime, owner, "wren").hear(f"The {mark} crane is at the dock.", day(0), f"{mark}:2")
        await client.post("/api/v1/memory/wren/emergence", json={"owner_key": owner})
        await client.post("/api/v1/memory/wren/dream/morning-card/seen", json={"owner_key": owner})
    await runtime.recalls.flush()


async def fill_shared(client: httpx.AsyncClient) -> None:
    """Without isolation what is said is in the memory of the team, and still somebody's."""
    await client.put("/api/v1/agents/open", json={"settings": {"memory_isolation": False}})
    for owner, mark in MARKS.items():
        talk = [{"role": "user", "content": f"My {mark} is blue."}, {"role": "assistant", "content": "I see."}]
        said = {"messages": talk, "owner_key": owner}
        await client.post(f"/api/v1/agents/open/sessions/{mark}:9/messages", json=said)
        await client.post(f"/api/v1/agents/open/sessions/{mark}:9/complete", json={"owner_key": owner})


async def age_reports(runtime: Runtime) -> None:
    """Put each report that there is into the archive, with a diff that has its owner's mark."""
    async with runtime.database.maintenance() as connection:
        for owner, mark in MARKS.items():
            await connection.execute(
                b"UPDATE reports SET night = night - 60, started_at = started_at - interval '60 days',"
                b" ended_at = ended_at - interval '60 days', diff = %s WHERE slice_id IN"
                b" (SELECT slice_id FROM slices WHERE owner_key = %s)",
                [f"+ The {mark}.", owner],
            )


def rows_with(conninfo: str, *words: str) -> dict[str, int]:
    """How many rows of each table hold one of some words, in whatever column; the index has stems."""
    found = holding(conninfo, *(f"%{word[:-1].lower()}%" for word in words))
    return {table: count for table, count in found.items() if count and not table.startswith("vectors_")}


@pytest.fixture
async def client(talking: Runtime, serve_runtime: ServeRuntime) -> Any:
    async with httpx.AsyncClient(base_url=await serve_runtime(talking), timeout=60, verify=PLAIN) as client:
        yield client


async def test_no_row_of_any_table_holds_what_was_a_persons(
    talking: Runtime, client: httpx.AsyncClient, scripted: ScriptedModel, conninfo: str
) -> None:
    await fill(talking, client, scripted)
    await fill_shared(client)
    _, key = await talking.keys.create("default", "member", owner_key=ADA)
    _, admin = await talking.keys.create("default", "admin")
    client.headers["Authorization"] = f"Bearer {admin}"
    before, of_ben = rows_with(conninfo, MARKS[ADA], ADA), rows_with(conninfo, MARKS[BEN], BEN)
    derived = {"chunks", "postings", "episodes", "entities", "entity_terms", "mentions", "events", "procrastinate_jobs"}
    assert before.keys() >= {"documents", "versions", "messages", "sessions", "slices", "keys", "audit"} | derived

    looked = await client.delete(f"/api/v1/owners/{ADA}")
    assert looked.status_code == 200, looked.text
    assert (looked.json()["dry_run"], looked.json()["receipt_id"]) == (True, None)
    await talking.audit.flush()
    assert {name: rows for name, rows in rows_with(conninfo, MARKS[ADA], ADA).items() if name not in KEPT} == {
        name: rows for name, rows in before.items() if name not in KEPT
    }

    done = await client.delete(f"/api/v1/owners/{ADA}", params={"dry_run": False}, headers={"X-Request-Id": "farewell"})
    assert done.status_code == 200, done.text
    receipt = done.json()
    assert receipt["removed"] == looked.json()["removed"]
    assert receipt["removed"]["messages"] >= 13
    assert (receipt["keys"], receipt["receipt_id"]) == (1, "farewell")
    assert [home["agent_id"] for home in receipt["agents"]] == ["crow", "open", "wren"]

    # The note of a team that has one memory for all is the team's: a file of theirs.
    left = rows_with(conninfo, MARKS[ADA], ADA)
    assert left.keys() <= KEPT | {"versions", "chunks", "postings", "embedding_cache"}
    [note] = (await client.get("/api/v1/agents/open/files", params={"prefix": "memory/"})).json()["files"]
    assert (note["scope"], left["versions"]) == ("team", 1)
    await client.delete("/api/v1/agents/open")
    assert rows_with(conninfo, MARKS[ADA], ADA).keys() <= KEPT
    assert "audit" not in leftovers(conninfo, MARKS[ADA])

    assert (await client.get("/api/v1/agents", headers={"Authorization": f"Bearer {key}"})).status_code == 401
    after = rows_with(conninfo, MARKS[BEN], BEN)
    assert {name for name in of_ben if name not in after} <= {"derivations"}
    found = await client.post(
        "/api/v1/agents/wren/memory/search", json={"query": MARKS[BEN], "owner_key": BEN, "mode": "text"}
    )
    assert found.json()["count"] > 0
    [entry] = (await client.get("/api/v1/audit", params={"action": "forget", "owner_key": ADA, "limit": 1})).json()[
        "entries"
    ]
    assert (entry["request_id"], entry["count"]) == ("farewell", sum(receipt["removed"].values()))
    await drain(talking)
    again = (await client.delete(f"/api/v1/owners/{ADA}", params={"dry_run": False})).json()
    assert (set(again["removed"].values()), again["agents"]) == ({0}, [])


async def test_an_export_has_all_of_a_person_and_of_nobody_else(
    talking: Runtime, client: httpx.AsyncClient, scripted: ScriptedModel
) -> None:
    await fill(talking, client, scripted)
    await fill_shared(client)
    await age_reports(talking)
    await client.post("/api/v1/memory/wren/emergence", json={"owner_key": ADA})
    answer = await client.get(f"/api/v1/owners/{ADA}/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        entries = {name: archive.read(name).decode() for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    assert [agent["agent_id"] for agent in manifest["agents"]] == ["crow", "open", "wren"]
    for agent in AGENTS:
        assert MARKS[ADA] in entries[f"{agent}/files/MEMORY.md"]
        sessions = json.loads(entries[f"{agent}/sessions.json"])
        talk = next(session for session in sessions if session["session_id"] == f"{MARKS[ADA]}:1")
        assert MARKS[ADA] in talk["messages"][0]["content"]
    assert len(json.loads(entries["wren/graph.json"])["entities"]) == 2
    assert json.loads(entries["wren/episodes.json"])
    assert "blue" in entries["open/sessions.json"]
    reports = {agent: json.loads(entries[f"{agent}/reports.json"]) for agent in ("crow", "open", "wren")}
    assert [len(of_agent) for of_agent in reports.values()] == [agent["reports"] for agent in manifest["agents"]]
    shown = await client.get("/api/v1/memory/wren/dream/reports", params={"owner_key": ADA})
    for report, as_shown in zip(reports["wren"], reversed(shown.json()["data"]["reports"]), strict=True):
        assert [report[name] for name in SAYING] == [as_shown[name] for name in SAYING]
    archived, newest = reports["wren"]
    assert (archived["diff"], newest["diff"]) == (f"+ The {MARKS[ADA]}.", "")
    assert MARKS[BEN] not in str(entries)
    assert (await client.get("/api/v1/owners/user:nobody/export")).status_code == 404


async def test_an_export_goes_by_pieces(runtime: Runtime, serve_runtime: ServeRuntime) -> None:
    """Made at once, that of a person who has said much stopped the server for everybody: 10 s at 150,000 messages."""
    in_pieces = replace(runtime, owners=Owners(runtime.database, runtime.sessions, export_rows=2))
    said = {f"web:{number}": [f"message {number}/{place}" for place in range(number)] for number in range(6)}
    async with httpx.AsyncClient(base_url=f"{await serve_runtime(in_pieces)}/api/v1", verify=PLAIN) as client:
        for session_id, texts in said.items():
            url = f"/agents/wren/sessions/{session_id}"
            assert (await client.put(url, json={"owner_key": ADA, "metadata": {"a": "}"}})).status_code == 201
            messages = [{"role": "user", "content": text} for text in texts]
            if messages:
                await client.post(f"{url}/messages", json={"messages": messages, "owner_key": ADA})
        answer = await client.get(f"/owners/{ADA}/export")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        exported = json.loads(archive.read("wren/sessions.json"))
        empty = [json.loads(archive.read(f"wren/{name}.json")) for name in ("episodes", "graph", "reports")]
    assert {one["session_id"]: [each["content"] for each in one["messages"]] for one in exported} == said
    assert {one["metadata"]["a"] for one in exported} == {"}"}
    assert empty == [[], {"entities": [], "relations": []}, []]


async def test_who_may(talking: Runtime, client: httpx.AsyncClient) -> None:
    async def asked(role: Any, method: str, **bound: Any) -> int:
        _, key = await talking.keys.create("default", role, **bound)
        headers = {"Authorization": f"Bearer {key}"}
        if method == "GET":
            return (await client.get(f"/api/v1/owners/{ADA}/export", headers=headers)).status_code
        return (await client.delete(f"/api/v1/owners/{ADA}?dry_run=false", headers=headers)).status_code

    put = {"content": "x", "owner_key": ADA}
    for method in ("GET", "DELETE"):
        await talking.pipeline.write(Place("default", "wren", "personal", ADA),
                                     overwrite("a.md", str(put), by="test", reason="test"))  # fmt: skip
        assert await asked("member", method) == 403
        assert await asked("admin", method, owner_key=BEN) == 403
        assert await asked("admin", method, agent_ids=["wren"]) == 403
        assert await asked("member", method, owner_key=ADA, agent_ids=["wren"]) == 403
        assert await asked("viewer", method, owner_key=ADA) == (200 if method == "GET" else 403)
        assert await asked("member", method, owner_key=ADA) == 200
    assert (await client.delete("/api/v1/owners/nobody", headers={})).status_code == 401


async def test_another_tenants_person_of_that_name_stays(talking: Runtime, client: httpx.AsyncClient) -> None:
    _, ours = await talking.keys.create("default", "admin")
    _, theirs = await talking.keys.create("acme", "admin")
    for key in (ours, theirs):
        headers = {"Authorization": f"Bearer {key}"}
        body = {"content": "x", "owner_key": ADA}
        assert (await client.put("/api/v1/agents/wren/files/a.md", json=body, headers=headers)).status_code == 201
    await client.delete(f"/api/v1/owners/{ADA}?dry_run=false", headers={"Authorization": f"Bearer {ours}"})
    for key, status in ((ours, 404), (theirs, 200)):
        headers = {"Authorization": f"Bearer {key}"}
        read = await client.get("/api/v1/agents/wren/files/a.md", params={"owner_key": ADA}, headers=headers)
        assert read.status_code == status


async def test_a_write_that_deletion_waited_for_leaves_nothing(talking: Runtime, conninfo: str) -> None:
    """A writer makes the past twin of a slice while the deletion waits for the slice: the twin goes as well."""
    place = Place("default", "wren", "personal", ADA)
    await talking.pipeline.write(place, overwrite("a.md", "lantern one", by="test", reason="test"))
    async with (
        await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as watcher,
        await psycopg.AsyncConnection.connect(conninfo) as holder,
    ):
        await holder.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        await holder.execute("SELECT FROM slices WHERE tenant_id = 'default' AND owner_key = %s FOR UPDATE", [ADA])
        write = asyncio.create_task(
            talking.pipeline.write(place, overwrite("a.md", "lantern two", by="test", reason="test"))
        )
        await waiting_for_locks(watcher, 1)
        delete = asyncio.create_task(talking.owners.delete("default", ADA, dry_run=False))
        await waiting_for_locks(watcher, 2)
        await holder.rollback()
    await asyncio.gather(write, delete)
    assert_index_consistent(conninfo)
    assert rows_with(conninfo, ADA) == {}


@pytest.mark.parametrize("before", [0, 3])
async def test_a_job_that_is_at_work_brings_nothing_of_a_deleted_person_back(
    talking: Runtime, client: httpx.AsyncClient, scripted: ScriptedModel, conninfo: str, before: int
) -> None:
    """Its model, asked for the first time or later, thinks of what they said, and answers when they are gone."""
    url = "/api/v1/agents/wren"
    talk = [
        {"role": "user", "content": "Please remember that my zyxgantry is inspected on Wednesday."},
        {"role": "assistant", "content": "I noted the zyxgantry."},
    ] * 3
    for number in range(2):
        said = {"messages": talk, "owner_key": ADA}
        assert (await client.post(f"{url}/sessions/web:{number}/messages", json=said)).status_code == 201
        await client.post(f"{url}/sessions/web:{number}/complete", json={"owner_key": ADA})
    asked = asyncio.Event()
    answered = {
        "should_update": True,
        "reason": "",
        "daily_entry": "- The zyxgantry is inspected on Wednesday.",
        "memory_update": "# Long-term Memory\n\n## Notes\n\n- The zyxgantry is inspected on Wednesday.\n",
        "profile_update": "",
    }

    def thinks(_: Any) -> Reply:
        if len(scripted.requests) <= before:
            return Reply(json.dumps(answered))
        asked.set()
        return Reply(json.dumps(answered), delay_seconds=1.5)

    scripted.script = thinks
    working = asyncio.create_task(drain(talking))
    await asyncio.wait_for(asked.wait(), 20)
    await client.delete(f"/api/v1/owners/{ADA}", params={"dry_run": False})
    await working
    await drain(talking)
    assert {name: rows for name, rows in rows_with(conninfo, "zyxgantry", ADA).items() if name not in KEPT} == {}


async def test_a_job_that_a_process_died_of_goes_too(
    runtime: Runtime, serve_runtime: ServeRuntime, conninfo: str
) -> None:
    """It waits in a queue of its own."""
    talk = [{"role": "user", "content": "My zyxgantry is blue."}, {"role": "assistant", "content": "I see."}]
    async with httpx.AsyncClient(base_url=f"{await serve_runtime(runtime)}/api/v1", verify=PLAIN) as client:
        await client.post("/agents/wren/sessions/web:1/messages", json={"messages": talk, "owner_key": ADA})
        await client.post("/agents/wren/sessions/web:1/complete", json={"owner_key": ADA})
        async with runtime.database.maintenance() as connection:
            moved = await connection.execute(b"UPDATE procrastinate_jobs SET queue_name = 'reverie-quarantine'")
        assert moved.rowcount > 0
        await client.delete(f"/owners/{ADA}", params={"dry_run": False})
    assert rows_with(conninfo, "zyxgantry", ADA).keys() <= KEPT


async def test_a_person_is_deleted_however_long_it_takes(conninfo: str, models: ModelSlot) -> None:
    """Of whom there is more than a statement has time to remove could not be deleted at all."""
    async with Database(conninfo, statement_timeout_seconds=1) as database:
        runtime = assemble(Settings(embedder="hashing"), database, models)
        place = Place("default", "wren", "personal", ADA)
        await runtime.pipeline.write(place, overwrite("a.md", "zyxgantry", by="test", reason="test"))
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN PERFORM pg_sleep(1.5); RETURN OLD; END $$"
            )
            # Citus takes none on a table that is distributed otherwise.
            connection.execute("SET citus.enable_unsafe_triggers = 'on'")
            connection.execute("CREATE TRIGGER slowly BEFORE DELETE ON slices FOR EACH ROW EXECUTE FUNCTION slowly()")
        await runtime.owners.delete("default", ADA, dry_run=False)
        await runtime.compactions.aclose()
    assert rows_with(conninfo, "zyxgantry", ADA) == {}


async def test_a_person_writes_while_they_are_deleted(talking: Runtime, conninfo: str) -> None:
    async def write(number: int) -> None:
        place = Place("default", f"agent-{number % 3}", "personal", ADA)
        for _ in range(5):
            try:
                await talking.pipeline.write(place, overwrite("a.md", f"lantern {number}", by="test", reason="test"))
            except (Conflict, NotFound):
                continue
            return

    for round_number in range(3):
        await asyncio.gather(
            talking.owners.delete("default", ADA, dry_run=False), *(write(10 * round_number + n) for n in range(6))
        )
        assert_index_consistent(conninfo)
    await talking.owners.delete("default", ADA, dry_run=False)
    assert rows_with(conninfo, ADA) == {}
