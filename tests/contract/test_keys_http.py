"""The routes of keys; what a key may not do without an owner; what a server shows without one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.contract.writing import ROWS, status_of
from tests.proxied import Served

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.bootstrap import bootstrap_key
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

Check = Callable[[httpx.Response, int, str], dict[str, Any]]
KEY = "rv_0123456789abcdef_" + "Ab9_-" * 8 + "xyz"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
async def admin(client: httpx.AsyncClient, runtime: Runtime) -> httpx.AsyncClient:
    _, key = await runtime.keys.create("default", "admin")
    client.headers.update(bearer(key))
    return client


async def test_a_key_is_made_shown_once_used_and_revoked(admin: httpx.AsyncClient, problem: Check) -> None:
    ends = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    body = {"role": "member", "name": "shop", "agents": ["wren"], "end_user_id": "7", "expires_at": ends}
    made = await admin.post("/keys", json=body)
    assert made.status_code == 201
    key = made.json()
    secret = key.pop("key")
    assert {"name": "shop", "role": "member", "agents": ["wren"], "owner_key": "api:7"}.items() <= key.items()
    assert key["last_used_at"] is None
    assert (await admin.get("/agents", headers=bearer(secret))).status_code == 200
    listed = (await admin.get("/keys")).json()["keys"]
    used = next(each for each in listed if each["id"] == key["id"])
    assert used.pop("last_used_at") is not None
    assert used == {name: value for name, value in key.items() if name != "last_used_at"}
    assert secret not in (await admin.get("/keys")).text
    assert (await admin.delete(f"/keys/{key['id']}")).status_code == 204
    problem(await admin.get("/agents", headers=bearer(secret)), 401, "unauthorized")
    problem(await admin.delete(f"/keys/{key['id']}"), 404, "not_found")
    assert key["id"] not in (await admin.get("/keys")).text


async def test_keys_are_listed_in_pages(admin: httpx.AsyncClient) -> None:
    made = [(await admin.post("/keys", json={"role": "viewer"})).json()["id"] for _ in range(4)]
    found, cursor = [], None
    while True:
        page = (await admin.get("/keys", params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        found += [key["id"] for key in page["keys"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert found[1:] == made


async def test_an_admin_sees_and_revokes_no_key_of_another_tenant(
    admin: httpx.AsyncClient, runtime: Runtime, problem: Check
) -> None:
    other, secret = await runtime.keys.create("acme", "admin")
    assert other not in (await admin.get("/keys")).text
    problem(await admin.delete(f"/keys/{other}"), 404, "not_found")
    assert (await admin.get("/keys", headers=bearer(secret))).json()["keys"][0]["id"] == other
    # Whose key it makes, no request says.
    problem(await admin.post("/keys", json={"role": "viewer", "tenant_id": "acme"}), 422, "validation_error")


@pytest.mark.parametrize(
    ("role", "bound"),
    [
        ("viewer", {}),
        ("member", {}),
        ("admin", {"owner_key": "user:ada"}),
        ("admin", {"agent_ids": ["wren"]}),
    ],
)
async def test_keys_are_a_matter_of_an_admin_who_is_bound_to_nothing(
    admin: httpx.AsyncClient, runtime: Runtime, problem: Check, role: Any, bound: dict[str, Any]
) -> None:
    key_id, secret = await runtime.keys.create("default", role, **bound)
    for asked in (
        admin.get("/keys", headers=bearer(secret)),
        admin.post("/keys", json={"role": "admin"}, headers=bearer(secret)),
        admin.delete(f"/keys/{key_id}", headers=bearer(secret)),
    ):
        problem(await asked, 403, "forbidden")
    assert len(await runtime.keys.entries()) == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"role": "king"},
        {"role": "admin", "agents": []},
        {"role": "admin", "agents": ["a b"]},
        {"role": "admin", "name": ""},
        {"role": "admin", "name": "a\nb"},
        # Lists of keys are shown in terminals.
        {"role": "admin", "name": "a\x9b31mb"},
        {"role": "admin", "name": "a\u202eb"},
        {"role": "admin", "owner_key": "*"},
        {"role": "admin", "expires_at": "2020-01-01T00:00:00Z"},
        {"role": "admin", "expires_at": "soon"},
        {"role": "admin", "key": KEY},
    ],
)
async def test_what_no_key_may_be_is_refused(admin: httpx.AsyncClient, problem: Check, body: dict[str, Any]) -> None:
    problem(await admin.post("/keys", json=body), 422, "validation_error")


async def test_a_key_ends(admin: httpx.AsyncClient, conninfo: str, problem: Check) -> None:
    made = (await admin.post("/keys", json={"role": "viewer", "expires_at": "2100-01-01T00:00:00Z"})).json()
    assert (await admin.get("/agents", headers=bearer(made["key"]))).status_code == 200
    with psycopg.connect(conninfo) as connection:
        connection.execute("UPDATE keys SET expires_at = now() WHERE key_id = %s", [made["id"]])
    problem(await admin.get("/agents", headers=bearer(made["key"])), 401, "unauthorized")


async def test_the_use_of_a_key_is_noted_once_a_minute(admin: httpx.AsyncClient, conninfo: str) -> None:
    """A write a request would cost as much as the request."""

    def version() -> Any:
        with psycopg.connect(conninfo) as connection:
            return connection.execute("SELECT xmin::text, last_used_at FROM keys").fetchone()

    await admin.get("/agents")
    first = version()
    assert first[1] is not None
    for _ in range(5):
        await admin.get("/agents")
    assert version() == first


async def test_the_first_key_closes_the_server_and_its_end_does_not_open_it(
    client: httpx.AsyncClient, problem: Check
) -> None:
    made = (await client.post("/keys", json={"role": "admin"})).json()
    problem(await client.get("/agents"), 401, "unauthorized")
    assert (await client.delete(f"/keys/{made['id']}", headers=bearer(made["key"]))).status_code == 204
    problem(await client.get("/agents"), 401, "unauthorized")
    problem(await client.get("/agents", headers=bearer(made["key"])), 401, "unauthorized")


@pytest.mark.parametrize("credential", [KEY, "sk-bogus"])
async def test_who_sends_a_key_to_an_open_server_believes_that_there_are_keys(
    client: httpx.AsyncClient, problem: Check, credential: str
) -> None:
    headers = {"Authorization": f"Bearer {credential}"}
    problem(await client.get("/agents", headers=headers), 401, "unauthorized")
    problem(await client.put("/agents/wren/files/a.md", json={"content": "x"}, headers=headers), 401, "unauthorized")
    mcp = str(client.base_url).replace("/api/v1/", "/mcp")
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    problem(await client.post(mcp, json=body, headers={**headers, "X-Reverie-Agent": "wren"}), 401, "unauthorized")
    assert (await client.get("/agents")).json()["agents"] == []


async def test_the_key_of_a_provider_goes_through_an_open_server_and_a_key_of_ours_does_not(served: Served) -> None:
    body = {"model": "scripted", "messages": [{"role": "user", "content": "Hello."}]}
    async with httpx.AsyncClient(base_url=served.base_url, verify=PLAIN, timeout=30) as client:
        sent = {"X-Reverie-Agent": "wren", "X-Reverie-Owner": "user:42"}
        answer = await client.post("/v1/chat/completions", json=body, headers={**sent, **bearer("sk-provider")})
        assert answer.status_code == 200
        refused = await client.post("/v1/chat/completions", json=body, headers={**sent, **bearer(KEY)})
        assert refused.status_code == 401


async def test_the_bootstrap_key_is_the_first_and_only_where_there_is_none(
    client: httpx.AsyncClient, runtime: Runtime, tmp_path: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    await bootstrap_key(Settings(bootstrap_admin_key_file=path), runtime.keys)
    assert (await client.get("/keys", headers=bearer(KEY))).json()["keys"][0]["name"] == "bootstrap"
    other = KEY[:-1] + "0"
    await bootstrap_key(Settings(bootstrap_admin_key=other), runtime.keys)
    assert (await client.get("/keys", headers=bearer(other))).status_code == 401
    assert len(await runtime.keys.entries()) == 1
    # Revoked, it does not come back with the next start.
    await runtime.keys.revoke("0123456789abcdef")
    await bootstrap_key(Settings(bootstrap_admin_key=KEY), runtime.keys)
    assert (await client.get("/keys", headers=bearer(KEY))).status_code == 401
    assert KEY[20:] not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "settings",
    [
        {"bootstrap_admin_key": "secret"},
        {"bootstrap_admin_key": KEY + "x"},
        {"bootstrap_admin_key_file": "/no/such/file"},
        {"bootstrap_admin_key": KEY, "bootstrap_admin_key_file": "/no/such/file"},
    ],
)
async def test_a_bootstrap_key_that_is_none_is_an_error_at_start(runtime: Runtime, settings: dict[str, Any]) -> None:
    with pytest.raises(SetupError) as caught:
        await bootstrap_key(Settings(**settings), runtime.keys)
    assert "secret" not in caught.value.detail
    assert KEY not in caught.value.detail
    assert not await runtime.keys.any()


# Whose memory it is has to be said.


async def test_where_an_owner_is_required_nothing_is_written_without_one(served: Served) -> None:
    put = await served.api.put("/agents/wren", json={"settings": {"require_owner": True}})
    assert put.status_code in (200, 201)
    async with httpx.AsyncClient(base_url=served.base_url, verify=PLAIN, timeout=30) as client:
        for row in ROWS:
            sent = row.send({})
            url = row.url if row.url.startswith(("/v1", "/mcp")) else f"/api/v1{row.url}"
            kwargs: dict[str, Any] = {"params": sent.params, "headers": dict(sent.headers)}
            kwargs |= {"json": sent.json} if sent.content is None else {"content": sent.content}
            answer = await client.request(row.method, url, **kwargs)
            assert "owner_required" in answer.text, (row.name, answer.text)
            assert (answer.status_code if row.path != "/mcp" else 422) == 422, (row.name, answer.text)
            assert status_of(row, answer) != 200


READS: list[tuple[str, str, Any]] = [
    ("GET", "files", None),
    ("GET", "files/MEMORY.md", None),
    ("GET", "files/MEMORY.md/versions", None),
    ("POST", "memory/search", {"query": "lantern"}),
    ("POST", "memory/keyword-search", {"query": "lantern"}),
    ("POST", "memory/inject", {"message": "Where is the lantern?"}),
    ("POST", "context", {"message": "Where is the lantern?"}),
    ("GET", "memory/backups", None),
    ("GET", "memory/1/sources", None),
    ("GET", "sessions/web:1", None),
    ("GET", "sessions/web:1/messages", None),
    ("GET", "episodes", None),
    ("GET", "episodes/ep-1", None),
    ("POST", "episodes/search", {"query": "lantern"}),
    ("POST", "graph/search", {"query": "lantern"}),
    ("GET", "graph/entities", None),
    ("GET", "graph/entities/ent-1", None),
    ("GET", "graph/duplicates", None),
    ("GET", "workspace/memory/export", None),
]


async def test_where_an_owner_is_required_nothing_is_read_without_one(
    admin: httpx.AsyncClient, runtime: Runtime, problem: Check
) -> None:
    await admin.put("/agents/wren", json={"settings": {"require_owner": True}})
    for method, path, body in READS:
        problem(await admin.request(method, f"/agents/wren/{path}", json=body), 422, "owner_required")
    for path in ("dreaming/status", "dreaming/candidates", "dream/reports", "dream/morning-card"):
        answer = await admin.get(f"/memory/wren/{path}")
        assert (answer.status_code, answer.json()["error"]) == (422, "owner_required")
    tool = await admin.post("/agents/wren/tools/memory_search", json={"arguments": {"query": "lantern"}})
    problem(tool, 422, "owner_required")
    named = await admin.get("/agents/wren/files", params={"owner_key": "user:ada"})
    assert named.status_code == 200
    # An admin's look at everybody names everybody, and a key that is bound names its owner.
    assert (await admin.get("/agents/wren/files", params={"owner_key": "*"})).status_code == 200
    _, secret = await runtime.keys.create("default", "member", owner_key="user:ada")
    assert (await admin.get("/agents/wren/files", headers=bearer(secret))).status_code == 200


async def test_the_server_may_require_an_owner_for_all_agents(
    database: Database, models: ModelSlot, serve_runtime: ServeRuntime, problem: Check
) -> None:
    settings = Settings(embedder="hashing", require_owner=True)
    async with shown(assemble(settings, database, models), serve_runtime) as client:
        put = {"content": "lantern"}
        problem(await client.put("/api/v1/agents/wren/files/a.md", json=put), 422, "owner_required")
        owned = await client.put("/api/v1/agents/wren/files/a.md", json={**put, "owner_key": "user:ada"})
        assert owned.status_code == 201


# What is shown without a key.


@asynccontextmanager
async def shown(runtime: Runtime, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    base_url = await serve_runtime(runtime)
    async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=PLAIN) as client:
        yield client


@pytest.mark.parametrize(
    ("settings", "is_public"),
    [
        ({}, True),
        ({"host": "::1"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"public_metrics": False, "public_docs": False}, False),
        ({"host": "0.0.0.0", "public_metrics": True, "public_docs": True}, True),
    ],
)
async def test_metrics_and_reference_want_a_key_where_others_can_reach_them(
    database: Database, models: ModelSlot, serve_runtime: ServeRuntime, settings: dict[str, Any], is_public: bool
) -> None:
    runtime = assemble(Settings(embedder="hashing", **settings), database, models)
    _, key = await runtime.keys.create("default", "viewer")
    async with shown(runtime, serve_runtime) as client:
        for path in ("/metrics", "/docs", "/redoc", "/openapi.json"):
            without = await client.get(path)
            assert without.status_code == (200 if is_public else 401), path
            answer = await client.get(path, headers=bearer(key))
            assert answer.status_code == 200, path
            assert is_public or without.json()["code"] == "unauthorized"
        for path in ("/healthz", "/readyz"):
            assert (await client.get(path)).status_code == 200


async def test_metrics_are_for_no_key_of_an_owner(
    database: Database, models: ModelSlot, serve_runtime: ServeRuntime, problem: Check
) -> None:
    runtime = assemble(Settings(embedder="hashing", public_metrics=False), database, models)
    _, key = await runtime.keys.create("default", "admin", owner_key="user:ada")
    async with shown(runtime, serve_runtime) as client:
        problem(await client.get("/metrics", headers=bearer(key)), 403, "forbidden")
