"""The audit: who did what by which key, and never a text; and the id that each request has."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest
from mcp.client.client import Client
from psycopg import sql
from psycopg.rows import tuple_row
from tests.conftest import PLAIN, ServeRuntime
from tests.rows import written_out

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.audit import Audit, activity, prune
from reverie_server.access.connection import Connection, connect
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.app.wiring import assemble
from reverie_server.mcp.server import build_server
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings
from reverie_server.tools.catalogue import REGISTRY

Check = Callable[[httpx.Response, int, str], dict[str, Any]]
ADA = {"owner_key": "user:ada"}
SECRET = "The safe in the hall opens with 4711."


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
async def admin(client: httpx.AsyncClient, runtime: Runtime) -> httpx.AsyncClient:
    _, key = await runtime.keys.create("default", "admin")
    client.headers.update(bearer(key))
    return client


async def told(admin: httpx.AsyncClient, **query: Any) -> list[tuple[Any, ...]]:
    """Action, outcome, agent, owner and count of the entries, oldest first, but for those of looking at them."""
    entries = (await admin.get("/audit", params=query)).json()["entries"]
    fields = ("action", "outcome", "agent_id", "owner_key", "count")
    return [tuple(entry[name] for name in fields) for entry in reversed(entries) if entry["agent_id"]]


async def test_who_did_what_is_told_and_never_a_text(admin: httpx.AsyncClient, conninfo: str) -> None:
    put = {"content": SECRET, **ADA}
    assert (await admin.put("/agents/wren/files/safe-opens.md", json=put)).status_code == 201
    await admin.post("/agents/wren/memory/search", json={"query": SECRET, "mode": "text", **ADA})
    await admin.post("/agents/wren/memory/forget", json={"text": SECRET, **ADA})
    await admin.post("/agents/wren/memory/forget", json={"text": SECRET, "dry_run": False, **ADA})
    await admin.get("/agents/wren/workspace/memory/export", params=ADA)
    await admin.put("/agents/wren", json={"settings": {"recent_days": 3}})
    found = await told(admin)
    assert ("write", "ok", "wren", "user:ada", 1) in found
    assert ("forget", "ok", "wren", "user:ada", 1) in found
    # A snapshot has the core files and the notes, and Ada has none.
    assert ("export", "ok", "wren", "user:ada", 0) in found
    assert ("settings", "ok", "wren", None, 1) in found
    # A search and a dry run, put together: of reads there is a row a minute.
    assert ("read", "ok", "wren", "user:ada", 2) in found
    with psycopg.connect(conninfo, row_factory=tuple_row) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        whole = written_out(connection, "audit")
        rows = str(connection.execute(sql.SQL("SELECT {} FROM audit t").format(whole)).fetchall())
    assert not re.search("safe|hall|opens", rows)


async def test_an_entry_names_key_and_request(admin: httpx.AsyncClient) -> None:
    made = (await admin.post("/keys", json={"role": "member", "name": "shop"})).json()
    headers = {**bearer(made["key"]), "X-Request-Id": "turn-17"}
    await admin.post("/agents/wren/memory/save", json={"content": "Ada likes tea.", **ADA}, headers=headers)
    [entry] = (await admin.get("/audit", params={**ADA, "action": "write"})).json()["entries"]
    assert (entry["key_id"], entry["key_name"], entry["request_id"]) == (made["id"], "shop", "turn-17")
    keys = (await admin.get("/audit", params={"action": "keys"})).json()["entries"]
    assert [(entry["action"], entry["outcome"]) for entry in keys] == [("keys", "ok")]


async def test_what_is_denied_is_told(admin: httpx.AsyncClient, runtime: Runtime) -> None:
    await admin.put("/agents/wren/files/a.md", json={"content": "x"})
    _, viewer = await runtime.keys.create("default", "viewer")
    _, bound = await runtime.keys.create("default", "member", owner_key="user:ben")
    for answer in (
        await admin.put("/agents/wren/files/a.md", json={"content": "y", **ADA}, headers=bearer(viewer)),
        await admin.get("/agents/wren/files", params=ADA, headers=bearer(bound)),
        await admin.post("/agents/wren/tools/save_memory", json={"arguments": {"content": "x y z"}, **ADA},
                         headers=bearer(bound)),
        await admin.get("/keys", headers=bearer(bound)),
    ):  # fmt: skip
        assert answer.status_code == 403
    tool = await admin.post(
        "/agents/wren/tools/save_memory", json={"arguments": {"content": "x y z"}, **ADA}, headers=bearer(viewer)
    )
    assert tool.json()["error"]["code"] == "forbidden"
    found = (await admin.get("/audit", params={"limit": 500})).json()["entries"]
    denied = {(entry["action"], entry["agent_id"], entry["owner_key"]): entry["requests"] for entry in found
              if entry["outcome"] == "denied"}  # fmt: skip
    assert denied == {
        ("write", "wren", "user:ada"): 2,
        ("read", "wren", "user:ada"): 1,
        ("read", "wren", "user:ben"): 1,
        ("read", None, "user:ben"): 1,
    }


async def test_the_audit_is_an_admins_and_of_one_tenant(
    admin: httpx.AsyncClient, runtime: Runtime, problem: Check
) -> None:
    await admin.put("/agents/wren/files/a.md", json={"content": "x", **ADA})
    _, other = await runtime.keys.create("acme", "admin")
    assert "user:ada" not in (await admin.get("/audit", headers=bearer(other))).text
    for role, bound in (("member", {}), ("admin", {"owner_key": "user:ada"}), ("admin", {"agent_ids": ["wren"]})):
        _, key = await runtime.keys.create("default", role, **bound)  # type: ignore[arg-type]
        problem(await admin.get("/audit", headers=bearer(key)), 403, "forbidden")


async def test_the_audit_comes_in_pages_newest_first(admin: httpx.AsyncClient) -> None:
    for number in range(5):
        await admin.put(f"/agents/wren/files/{number}.md", json={"content": "x", "owner_key": f"user:{number}"})
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await admin.get("/audit", params={"limit": 2, "action": "write", **cursor})).json()
        found += [entry["owner_key"] for entry in page["entries"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == [f"user:{number}" for number in reversed(range(5))]
    since = page["entries"][-1]["at"]
    assert len((await admin.get("/audit", params={"since": since, "action": "write"})).json()["entries"]) == 5
    assert (await admin.get("/audit", params={"since": "2100-01-01T00:00:00Z"})).json()["entries"] == []


async def test_rows_are_added_and_never_changed(admin: httpx.AsyncClient, database: Database) -> None:
    await admin.put("/agents/wren/files/a.md", json={"content": "x"})
    for statement in (b"UPDATE audit SET count = 0", b"DELETE FROM audit", b"TRUNCATE audit"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with database.tenant("default") as connection:
                await connection.execute(statement)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.tenant("default") as connection:
            await connection.execute(
                b"INSERT INTO audit (tenant_id, at, action, outcome, count, requests)"
                b" VALUES ('acme', now(), 'read', 'ok', 1, 1)"
            )
    async with database.tenant("acme") as connection:
        assert await (await connection.execute(b"SELECT * FROM audit")).fetchall() == []


async def test_what_is_kept_no_longer_is_removed(admin: httpx.AsyncClient, database: Database) -> None:
    await admin.put("/agents/wren/files/a.md", json={"content": "x"})
    assert await prune(database, keep_days=1) == 0
    async with database.maintenance() as connection:
        await connection.execute(b"UPDATE audit SET at = now() - interval '2 days'")
    assert await prune(database, keep_days=1) == 1


async def test_much_is_removed_in_parts(
    admin: httpx.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie_server.access import audit as module

    monkeypatch.setattr(module, "PRUNE_BATCH", 2)
    for number in range(6):
        await admin.put(f"/agents/wren/files/{number}.md", json={"content": "x"})
    async with database.maintenance() as connection:
        await connection.execute(b"UPDATE audit SET at = now() - interval '2 days' WHERE audit_id % 6 > 0")
    assert await prune(database, keep_days=1) == 5
    async with database.maintenance() as connection:
        left = await (await connection.execute(b"SELECT audit_id % 6 AS kept FROM audit")).fetchall()
    assert [row["kept"] for row in left] == [0]


@pytest.mark.parametrize(("mode", "rows"), [("on", 3), ("sampled", 1), ("off", 0)])
async def test_reads_are_told_as_it_is_set(
    database: Database, models: ModelSlot, serve_runtime: ServeRuntime, mode: Any, rows: int
) -> None:
    runtime = assemble(Settings(embedder="hashing", audit_reads=mode), database, models)
    async with httpx.AsyncClient(base_url=f"{await serve_runtime(runtime)}/api/v1", verify=PLAIN) as client:
        await client.put("/agents/wren/files/a.md", json={"content": "lantern", **ADA})
        for _ in range(3):
            await client.get("/agents/wren/files/a.md", params=ADA)
        entries = await runtime.audit.page("default", action="read", owner_key="user:ada")
        assert len(entries) == rows
        assert sum(entry.requests for entry in entries) == (3 if rows else 0)
        assert len(await runtime.audit.page("default", action="write")) == 1


async def test_a_write_is_taken_down_before_it_is_answered(admin: httpx.AsyncClient, conninfo: str) -> None:
    await admin.put("/agents/wren/files/a.md", json={"content": "x", **ADA})
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        rows = connection.execute("SELECT owner_key FROM audit WHERE action = 'write'").fetchall()
    assert rows == [("user:ada",)]


async def test_one_transaction_takes_down_what_many_requests_did(database: Database) -> None:
    audit = Audit(database)

    async def write(number: int) -> None:
        with activity() as doing:
            with audit.attempt(OPERATOR, "wren", f"user:{number}", "write"):
                pass
            await audit.finish(doing, 200)

    await asyncio.gather(*(write(number) for number in range(50)))
    assert (audit.written, audit.lost) == (50, 0)
    assert len(await audit.page("default", limit=500)) == 50
    async with database.maintenance() as connection:
        cursor = await connection.execute(b"SELECT count(DISTINCT xmin::text) AS writes FROM audit")
        row = await cursor.fetchone()
    assert row is not None
    assert row["writes"] < 10


async def test_while_the_database_is_away_the_audit_waits_and_is_bounded(conninfo: str) -> None:
    from reverie_server.access import audit as module

    database = Database(conninfo, patience_seconds=0.1)
    audit = Audit(database)
    async with database:
        pass
    for number in range(module.MAX_WAITING + 7):
        with audit.attempt(OPERATOR, "wren", f"user:{number}", "write"):
            pass
    assert audit.lost == 7


async def test_while_the_database_is_away_nobody_waits_for_what_others_did(
    conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A health check above all: each had tried to write what waited, one after the other."""
    database = Database(conninfo)
    audit = Audit(database)
    enter, tries = database.tenant, 0

    @asynccontextmanager
    async def tried(tenant_id: str) -> AsyncIterator[Any]:
        nonlocal tries
        tries += 1
        await asyncio.sleep(0.05)
        async with enter(tenant_id) as connection:
            yield connection

    monkeypatch.setattr(database, "tenant", tried)

    async def request(action: Any = None) -> None:
        with activity() as doing:
            if action is not None:
                with audit.attempt(OPERATOR, "wren", "user:ada", action):
                    pass
            await audit.finish(doing, 200)

    # The database is not open yet: no connection is to be had.
    with audit.attempt(OPERATOR, "wren", "user:ada", "write"):
        pass
    await request()
    await request("read")
    assert tries == 0
    # Of those that wait for one attempt none makes the next.
    await asyncio.gather(*(request("write") for _ in range(20)))
    assert (tries, audit.written, audit.lost) == (1, 0, 0)
    async with database:
        await audit.flush()
    assert audit.written == 22


async def test_what_the_database_refuses_stops_neither_the_audit_nor_an_answer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie_server.access import audit as module

    audit = Audit(database)
    add = module.add

    async def refused(connection: Any, *_: Any) -> None:
        await connection.execute(b"SELECT FROM nowhere")

    monkeypatch.setattr(module, "add", refused)
    running = asyncio.create_task(audit.run())
    with activity() as doing:
        with audit.attempt(OPERATOR, "wren", "user:ada", "write"):
            pass
        await audit.finish(doing, 200)
    await audit.flush()
    monkeypatch.setattr(module, "add", add)
    audit.stop()
    await running
    assert audit.written == 1


async def test_it_says_of_how_many_things(admin: httpx.AsyncClient) -> None:
    agent = "/agents/wren"
    for number in range(3):
        body = {"content": f"Quagga {number} grazes at dawn.", **ADA}
        assert (await admin.put(f"{agent}/files/{number}.md", json=body)).status_code == 201

    async def count(action: str, url: str, body: dict[str, Any] | None = None) -> int:
        headers = bearer((await admin.post("/keys", json={"role": "member"})).json()["key"])
        if body is None:
            answer = await admin.get(url, params=ADA, headers=headers)
        else:
            answer = await admin.post(url, json={**body, **ADA}, headers=headers)
        assert answer.status_code == 200, answer.text
        [entry] = (await admin.get("/audit", params={"action": action, "limit": 1})).json()["entries"]
        assert entry["key_id"] in headers["Authorization"]
        return int(entry["count"])

    listed = (await admin.get(f"{agent}/files", params=ADA)).json()["count"]
    assert await count("read", f"{agent}/files") == listed >= 3
    assert await count("read", f"{agent}/memory/search", {"query": "quagga", "mode": "text"}) == 3
    assert await count("read", f"{agent}/memory/keyword-search", {"query": "quagga"}) == 3
    for tool, arguments in (
        ("memory_search", {"query": "quagga"}),
        ("search_workspace_memory", {"query": "quagga"}),
        ("list_workspace_memory_files", {"filename_prefix": ""}),
    ):
        wanted = listed if "list" in tool else 3
        assert await count("read", f"{agent}/tools/{tool}", {"arguments": arguments}) == wanted, tool
    await admin.put(f"{agent}/files/MEMORY.md", json={"content": "# Long-term Memory\n\nQuaggas.\n", **ADA})
    await admin.put(f"{agent}/files/memory/2026-04-03.md", json={"content": "Quaggas.\n", **ADA})
    # The core files and the notes.
    assert await count("export", f"{agent}/workspace/memory/export") == 2


async def test_a_call_over_stdio_is_told_by_what_came_of_it(runtime: Runtime) -> None:
    """What was permitted, and then refused, is no write; each call has an id of its own."""

    async def open_connection(_: Any) -> tuple[Runtime, Connection]:
        return runtime, connect(OPERATOR, "wren", "user:ada")

    async with Client(build_server(REGISTRY, open_connection)) as session:
        for _ in range(2):
            await session.call_tool("save_memory", {"content": "Ada likes tea from the far south."})
        await session.call_tool("search_workspace_memory", {"query": "tea"})
    rows = await runtime.audit.page("default", owner_key="user:ada")
    assert sorted((row.action, row.outcome, row.count) for row in rows) == [
        ("read", "ok", 1),
        ("write", "ok", 1),
        ("write", "refused", 1),
    ]
    assert len({row.request_id for row in rows}) == 3
    assert None not in {row.request_id for row in rows}


# The id of a request.


@pytest.fixture
def root(client: httpx.AsyncClient) -> str:
    return str(client.base_url).split("/api/")[0]


@pytest.mark.parametrize("sent", ["turn-17", "A.b_c-9", "x" * 64])
async def test_a_sane_id_of_the_caller_is_taken(client: httpx.AsyncClient, sent: str) -> None:
    answer = await client.get("/agents", headers={"X-Request-Id": sent})
    assert answer.headers.get_list("x-request-id") == [sent]


@pytest.mark.parametrize("sent", [None, "", "x" * 65, "a b", "ö", "a\tb", "<script>"])
async def test_else_a_request_gets_a_new_one(client: httpx.AsyncClient, sent: str | None) -> None:
    headers = {} if sent is None else {"X-Request-Id": sent.encode()}
    ids = [(await client.get("/agents", headers=headers)).headers["x-request-id"] for _ in range(2)]  # type: ignore[arg-type]
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)
    assert ids[0] != ids[1]


async def test_every_answer_has_its_id_errors_too(client: httpx.AsyncClient, root: str) -> None:
    sent = {"X-Request-Id": "turn-17"}
    for answer in (
        await client.get(f"{root}/healthz", headers=sent),
        await client.get(f"{root}/nowhere", headers=sent),
        await client.get("/agents/wren/files", headers=sent),
        await client.post("/agents/wren/memory/search", content=b"{", headers=sent),
        await client.put("/agents/wren/files/a.md", content=b"x" * 9_000_000, headers=sent),
        await client.get("/memory/wren/dreaming/status", headers=sent),
        await client.post(f"{root}/mcp", json={}, headers=sent),
        await client.get("/agents", headers={**sent, "Host": "example.com"}),
    ):
        assert answer.headers["x-request-id"] == "turn-17", answer.text
        if answer.headers["content-type"] == "application/problem+json":
            assert answer.json()["request_id"] == "turn-17"


async def test_what_fails_inside_has_its_id_in_answer_and_log(
    client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a fault")

    monkeypatch.setattr(type(runtime.agents), "listing", broken)
    answer = await client.get("/agents", headers={"X-Request-Id": "turn-17"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "turn-17")
    assert answer.json()["request_id"] == "turn-17"
    assert "turn-17" in capsys.readouterr().out


async def test_a_job_has_the_id_of_the_request_that_it_follows_from(
    client: httpx.AsyncClient, runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"messages": [{"role": "user", "content": "Hello there."}, {"role": "assistant", "content": "Hello."}]}
    await client.post("/agents/wren/sessions/web:1/messages", json={**said, **ADA})
    await client.post("/agents/wren/sessions/web:1/complete", json=ADA, headers={"X-Request-Id": "turn-17"})
    capsys.readouterr()
    await drain(runtime)
    lines = [line for line in capsys.readouterr().out.splitlines() if "] job " in line]
    assert lines
    assert all("turn-17" in line for line in lines if "episodic" in line)
    written = await runtime.audit.page("default", action="write", owner_key="user:ada")
    assert [(row.key_id, row.key_name, row.request_id) for row in written if row.key_name == "system"][:1] == [
        (None, "system", "turn-17")
    ], json.dumps([str(row) for row in written])
