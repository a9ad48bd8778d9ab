"""Snapshots over HTTP: who may, what is refused with which status, and whose memory is touched."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from tests.archives import LINK, Raw, deflated, manifest, snapshot, zipped

from reverie_server.runtime import Runtime

Client = Callable[..., Awaitable[httpx.AsyncClient]]
Problem = Callable[[httpx.Response, int, str], dict[str, Any]]
EXPORT = "/agents/wren/workspace/memory/export"
PREVIEW = "/agents/wren/workspace/memory/import/preview"
IMPORT = "/agents/wren/workspace/memory/import"
ADA = {"owner_key": "user:ada"}
BEN = {"owner_key": "user:ben"}
TINY = snapshot({"memory/a.md": "lantern"})


@pytest.fixture
async def with_key(client: httpx.AsyncClient, runtime: Runtime) -> Client:
    """A client with a new key: role, and tenant, owner and agents it is bound to."""

    async def make(role: str, tenant: str = "default", **bound: Any) -> httpx.AsyncClient:
        _, key = await runtime.keys.create(tenant, role, **bound)  # type: ignore[arg-type]
        return httpx.AsyncClient(base_url=client.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    return make


async def post(
    client: httpx.AsyncClient, url: str, archive: bytes, content_type: str | None = "application/zip", **query: str
) -> httpx.Response:
    headers = {} if content_type is None else {"Content-Type": content_type}
    return await client.post(url, content=archive, params=query, headers=headers)


async def contents(client: httpx.AsyncClient, url: str = EXPORT, **query: str) -> dict[str, str]:
    response = await client.get(url, params=query)
    assert response.status_code == 200, response.text
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()[1:]}


async def put(client: httpx.AsyncClient, path: str, text: str, agent: str = "wren", **body: Any) -> None:
    response = await client.put(f"/agents/{agent}/files/{path}", json={"content": text, **body})
    assert response.status_code in (200, 201), response.text


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


async def test_an_export_is_a_zip_with_its_manifest_first(client: httpx.AsyncClient) -> None:
    await put(client, "memory/2026-04-03.md", "# 2026-04-03\r\n\r\nDas Käuzchen.\r\n")
    await put(client, "notes/a.md", "elsewhere")
    response = await client.get(EXPORT)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/zip"
    assert int(response.headers["content-length"]) == len(response.content)
    disposition = response.headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="reverie-wren-team-\d{4}-\d\d-\d\d\.zip"', disposition)
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        names = archive.namelist()
        said = json.loads(archive.read("manifest.json"))
        held = {name: archive.read(name) for name in names[1:]}
    order = ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md", "memory/2026-04-03.md"]
    assert names == ["manifest.json", *order]
    assert said.keys() == {"version", "exported_at", "agent_id", "agent_name", "files"}
    assert (said["version"], said["agent_id"], said["agent_name"]) == (1, "wren", "wren")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", said["exported_at"])
    assert said["files"] == [
        {"path": path, "sha256": hashlib.sha256(held[path]).hexdigest(), "size": len(held[path])} for path in order
    ]
    assert held["memory/2026-04-03.md"] == "# 2026-04-03\r\n\r\nDas Käuzchen.\r\n".encode()
    head = await client.head(EXPORT)
    assert (head.status_code, head.content) == (200, b"")


async def test_what_is_exported_can_be_previewed_and_imported_into_another_agent(client: httpx.AsyncClient) -> None:
    await put(client, "MEMORY.md", "# Long-term Memory\r\n")
    await put(client, "memory/a.md", "lantern")
    archive = (await client.get(EXPORT)).content
    crow = "/agents/crow/workspace/memory"
    preview = await post(client, f"{crow}/import/preview", archive)
    assert preview.status_code == 200, preview.text
    planned = preview.json()
    assert (planned["applied"], planned["scope"], planned["owner_key"], planned["embedded"]) == (
        False,
        "team",
        None,
        None,
    )
    assert len(planned["create"]) == 5
    assert {"path": "memory/a.md", "size": 7, "sha256": hashlib.sha256(b"lantern").hexdigest()} in planned["create"]
    assert (planned["update"], planned["unchanged"], planned["skip"]) == ([], [], [])
    assert (await client.get("/agents/crow")).status_code == 404, "a preview writes nothing"

    done = (await post(client, f"{crow}/import", archive)).json()
    assert done == {**planned, "applied": True, "embedded": True}
    assert await contents(client, f"{crow}/export") == await contents(client)
    found = await client.post("/agents/crow/memory/search", json={"query": "lantern"})
    assert found.json()["results"][0]["path"] == "memory/a.md"
    again = (await post(client, f"{crow}/import", archive)).json()
    assert (again["create"], again["update"], len(again["unchanged"])) == ([], [], 5)
    versions = (await client.get("/agents/crow/files/memory/a.md/versions")).json()["versions"]
    assert [(v["version"], v["by"], v["reason"]) for v in versions] == [(1, "user", "import")]


async def test_a_preview_says_what_changes_and_what_is_skipped_and_why(client: httpx.AsyncClient) -> None:
    await put(client, "MEMORY.md", "old")
    archive = snapshot({"MEMORY.md": "newer", "notes.txt": "x"}, Raw("memory/", method=0), Raw("memory/x.md", b"x"))
    preview = (await post(client, PREVIEW, archive)).json()
    assert preview["update"] == [
        {
            "path": "MEMORY.md",
            "size": 5,
            "sha256": hashlib.sha256(b"newer").hexdigest(),
            "size_before": 3,
            "sha256_before": hashlib.sha256(b"old").hexdigest(),
        }
    ]
    assert preview["skip"] == [
        {"path": "memory/", "reason": "a directory"},
        {"path": "memory/x.md", "reason": "the manifest does not name it"},
        {"path": "notes.txt", "reason": "not a file that a snapshot holds"},
    ]
    assert (await contents(client))["MEMORY.md"] == "old"


BAD = "bad_request"
WRONG = "validation_error"
LARGE = "payload_too_large"
REFUSED = {
    "nothing": (b"", 400, BAD),
    "no zip": (b"hello" * 30, 400, BAD),
    "cut off": (TINY[:-30], 400, BAD),
    "garbage behind": (TINY + b"x", 422, WRONG),
    "no manifest": (zipped([Raw("MEMORY.md", b"x")]), 422, WRONG),
    "nested manifest": (zipped([Raw("manifest.json", b"[" * 200_000)]), 422, WRONG),
    "a file is missing": (snapshot({}, named={"MEMORY.md": b"x"}), 422, WRONG),
    "another text": (snapshot({"MEMORY.md": "x"}, named={"MEMORY.md": b"y"}), 422, WRONG),
    "up": (snapshot({"MEMORY.md": "x"}, Raw("../x.md", b"x")), 422, WRONG),
    "absolute": (snapshot({"MEMORY.md": "x"}, Raw("/x.md", b"x")), 422, WRONG),
    "a link": (snapshot({"MEMORY.md": "x"}, Raw("memory/l.md", b"/etc/passwd", attributes=LINK)), 422, WRONG),
    "encrypted": (snapshot({"MEMORY.md": "x"}, Raw("memory/l.md", b"x", flags=0x801)), 422, WRONG),
    "twice": (snapshot({"MEMORY.md": "x"}, Raw("MEMORY.md", b"y")), 422, WRONG),
    "no text": (snapshot({"MEMORY.md": "x", "memory/l.md": b"\xff"}), 422, WRONG),
    "one bomb": (
        snapshot({"MEMORY.md": "x"}, Raw("memory/l.md", b"tiny", packed=deflated(b"\x00" * 30_000_000))),
        413,
        LARGE,
    ),
    "many entries": (snapshot({f"memory/{n}.md": "x" for n in range(500)}), 413, LARGE),
    "many small bombs": (snapshot({f"memory/{n}.md": "x" * 1_000_000 for n in range(17)}), 413, LARGE),
    "large": (b"\x00" * (17 * 1024 * 1024 + 1), 413, LARGE),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_not_to_be_trusted_is_refused_whole(
    client: httpx.AsyncClient, problem: Problem, name: str
) -> None:
    archive, status, word = REFUSED[name]
    await put(client, "MEMORY.md", "old")
    for url in (PREVIEW, IMPORT):
        problem(await post(client, url, archive), status, word)
    found = await contents(client)
    assert found["MEMORY.md"] == "old"
    assert len(found) == 4


@pytest.mark.parametrize("content_type", [None, "application/json", "application/zipper", "multipart/form-data", ""])
async def test_another_content_type_is_refused(
    client: httpx.AsyncClient, problem: Problem, content_type: str | None
) -> None:
    for url in (PREVIEW, IMPORT):
        problem(await post(client, url, TINY, content_type), 422, WRONG)


@pytest.mark.parametrize("content_type", ["application/zip", "Application/ZIP", "application/zip; x=y"])
async def test_the_content_type_may_be_written_as_http_allows(client: httpx.AsyncClient, content_type: str) -> None:
    assert (await post(client, IMPORT, TINY, content_type)).status_code == 200


async def test_an_archive_may_be_larger_than_other_bodies(client: httpx.AsyncClient) -> None:
    """What does not deflate: over 8 MiB as it is sent."""
    texts = {f"memory/{n}.md": hashlib.shake_256(bytes([n])).hexdigest(500_000) for n in range(15)}
    archive = zipped(
        [Raw("manifest.json", manifest({p: t.encode() for p, t in texts.items()}), method=0)]
        + [Raw(path, text.encode(), method=0) for path, text in texts.items()]
    )
    assert len(archive) > 14_000_000
    response = await post(client, PREVIEW, archive)
    assert (response.status_code, len(response.json()["create"])) == (200, 15)
    assert code(await post(client, "/agents/wren/memory/search", archive, "application/json")) == (413, LARGE)


async def test_a_body_that_never_ends_is_cut_off(client: httpx.AsyncClient, problem: Problem) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        for _ in range(10_000):
            sent += 1
            yield b"\x00" * 1_000_000

    try:
        headers = {"Content-Type": "application/zip"}
        response = await client.post(PREVIEW, content=endless(), headers=headers)
        problem(response, 413, LARGE)
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        pass  # the server has hung up on a client that would not stop
    assert sent < 1000
    assert (await client.get("/agents")).status_code == 200


async def test_a_client_that_goes_away_in_the_middle_leaves_nothing(client: httpx.AsyncClient) -> None:
    host, port = client.base_url.host, client.base_url.port
    for url in (PREVIEW, IMPORT):
        reader, writer = await asyncio.open_connection(host, port)
        head = f"POST /api/v1{url} HTTP/1.1\r\nHost: x\r\nContent-Type: application/zip\r\nContent-Length: 9999\r\n\r\n"
        writer.write(head.encode() + TINY)
        await writer.drain()
        writer.write_eof()
        answer = await reader.read()
        assert b" 200 " not in answer[:20]
        writer.close()
        await writer.wait_closed()
    assert (await client.get("/agents/wren")).status_code == 404


async def test_who_may_export_preview_and_import(with_key: Client) -> None:
    async with await with_key("viewer") as viewer, await with_key("member") as member, await with_key("admin") as admin:
        await put(member, "memory/a.md", "older")
        await put(member, "memory/a.md", "Ada's", **ADA)
        await put(admin, "memory/all.md", "everybody's", scope="global")
        assert (await contents(viewer))["memory/a.md"] == "older"
        assert await contents(viewer, **ADA) == {"memory/a.md": "Ada's"}
        assert await contents(viewer, scope="global") == {"memory/all.md": "everybody's"}
        for url in (PREVIEW, IMPORT):
            assert code(await post(viewer, url, TINY)) == (403, "forbidden")
            assert (await post(member, url, TINY)).status_code == 200
            assert code(await post(member, url, TINY, scope="global")) == (403, "forbidden")
            assert (await post(admin, url, TINY, scope="global")).status_code == 200
            assert code(await post(member, url, TINY, scope="personal")) == (422, WRONG)
        versions = (await member.get("/agents/wren/files/memory/a.md/versions")).json()["versions"]
        assert versions[0]["reason"] == "import"
        assert versions[0]["by"].startswith("key:")


async def test_without_a_key_nobody_may(client: httpx.AsyncClient, with_key: Client) -> None:
    async with await with_key("admin") as admin:
        await put(admin, "memory/a.md", "lantern")
    assert code(await client.get(EXPORT)) == (401, "unauthorized")
    for url in (PREVIEW, IMPORT):
        assert code(await post(client, url, TINY)) == (401, "unauthorized")
        assert code(await post(client, url, b"\x00" * 20_000_000)) == (401, "unauthorized")


async def test_a_key_bound_to_an_owner_exports_and_imports_that_owners_alone(with_key: Client) -> None:
    async with await with_key("member") as app, await with_key("member", owner_key="user:ada") as ada:
        await put(app, "memory/ada.md", "Ada's", **ADA)
        await put(app, "memory/ben.md", "Ben's", **BEN)
        await put(app, "memory/team.md", "the team's")
        assert await contents(ada) == await contents(ada, **ADA) == {"memory/ada.md": "Ada's"}
        for query in (BEN, {"end_user_id": "ben"}):
            assert code(await ada.get(EXPORT, params=query)) == (403, "forbidden")
            for url in (PREVIEW, IMPORT):
                assert code(await post(ada, url, TINY, **query)) == (403, "forbidden")
        done = (await post(ada, IMPORT, TINY)).json()
        assert (done["scope"], done["owner_key"]) == ("personal", "user:ada")
        assert await contents(app, **BEN) == {"memory/ben.md": "Ben's"}
        assert "memory/a.md" not in await contents(app)


async def test_an_import_is_written_where_the_request_says_whatever_the_archive_says(
    client: httpx.AsyncClient,
) -> None:
    await put(client, "memory/a.md", "the team's")
    archive = zipped(
        [
            Raw("manifest.json", manifest({"memory/a.md": b"x"}, scope="team", owner_key="user:ben", agent_id="crow")),
            Raw("memory/a.md", b"x"),
        ]
    )
    assert (await post(client, IMPORT, archive, **ADA)).json()["owner_key"] == "user:ada"
    assert (await contents(client))["memory/a.md"] == "the team's"
    assert await contents(client, **ADA) == {"memory/a.md": "x"}
    assert await contents(client, **BEN) == {}
    assert (await client.get("/agents/crow")).status_code == 404


async def test_a_key_bound_to_agents_touches_no_others(with_key: Client) -> None:
    async with await with_key("admin") as admin, await with_key("admin", agent_ids=["crow"]) as bound:
        await put(admin, "memory/a.md", "lantern")
        assert code(await bound.get(EXPORT)) == (403, "forbidden")
        for url in (PREVIEW, IMPORT):
            assert code(await post(bound, url, TINY)) == (403, "forbidden")


async def test_tenants_share_nothing(with_key: Client) -> None:
    async with await with_key("admin", tenant="acme") as acme, await with_key("admin", tenant="zeta") as zeta:
        await put(acme, "memory/a.md", "of acme")
        await put(acme, "memory/g.md", "of all at acme", scope="global")
        assert code(await zeta.get(EXPORT)) == (404, "not_found")
        assert (await post(zeta, IMPORT, TINY)).json()["create"][0]["path"] == "memory/a.md"
        assert (await contents(zeta))["memory/a.md"] == "lantern"
        assert await contents(zeta, scope="global") == {}
        assert (await contents(acme))["memory/a.md"] == "of acme"


async def test_a_team_member_exports_its_own_and_imports_nothing(client: httpx.AsyncClient) -> None:
    await put(client, "memory/plan.md", "the plan", agent="lead")
    await client.put("/agents/wren", json={"leader_agent_id": "lead"})
    assert await contents(client) == {}
    for url in (PREVIEW, IMPORT):
        refused = await post(client, url, TINY)
        assert code(refused) == (403, "read_only_member")
        assert refused.json()["detail"] == "memory is read-only for team members"


async def test_memory_that_is_switched_off_is_neither_exported_nor_imported(client: httpx.AsyncClient) -> None:
    await put(client, "memory/a.md", "lantern")
    await client.put("/agents/wren", json={"settings": {"memory_enabled": False}})
    assert code(await client.get(EXPORT)) == (403, "memory_disabled")
    for url in (PREVIEW, IMPORT):
        assert code(await post(client, url, TINY)) == (403, "memory_disabled")


async def test_without_isolation_an_owner_exports_and_imports_the_teams(client: httpx.AsyncClient) -> None:
    await put(client, "memory/before.md", "Ada's from before", **ADA)
    await client.put("/agents/wren", json={"settings": {"memory_isolation": False}})
    done = (await post(client, IMPORT, TINY, **ADA)).json()
    assert (done["scope"], done["owner_key"]) == ("team", None)
    assert (await contents(client, **ADA)).keys() == (await contents(client)).keys()
    assert await contents(client, scope="personal", **ADA) == {"memory/before.md": "Ada's from before"}


@pytest.mark.parametrize(
    "query",
    [{"owner": "user:ada"}, {"owner_key": "nonsense"}, {"scope": "all"}, {"owner_key": "user:a", "end_user_id": "b"}],
)
async def test_a_query_that_means_nothing_is_refused(
    client: httpx.AsyncClient, problem: Problem, query: dict[str, str]
) -> None:
    await put(client, "memory/a.md", "lantern")
    problem(await client.get(EXPORT, params=query), 422, WRONG)
    for url in (PREVIEW, IMPORT):
        problem(await post(client, url, TINY, **query), 422, WRONG)
    problem(await client.request("GET", EXPORT, json=ADA), 422, WRONG)


async def test_what_is_not_there_is_404_or_405(client: httpx.AsyncClient, problem: Problem) -> None:
    problem(await client.get(EXPORT), 404, "not_found")
    await put(client, "memory/a.md", "lantern")
    problem(await client.get(EXPORT, params={"prefix": "a\x00"}), 422, WRONG)
    assert await contents(client, prefix="memory/b") == {}
    problem(await client.post(EXPORT), 405, "method_not_allowed")
    problem(await client.put(IMPORT, content=TINY), 405, "method_not_allowed")
    problem(await client.get("/agents/a b/workspace/memory/export"), 422, WRONG)


async def test_imports_and_writes_at_once_all_arrive(client: httpx.AsyncClient) -> None:
    archives = [snapshot({f"memory/{n}.md": f"{n}", "memory/same.md": f"{n}"}) for n in range(6)]
    appends = [
        client.post("/agents/wren/files/memory/log.md/writes", json={"strategy": "append", "content": f"- {n}"})
        for n in range(6)
    ]
    answers = await asyncio.gather(*(post(client, IMPORT, archive) for archive in archives), *appends)
    assert {answer.status_code for answer in answers} <= {200, 201}
    found = await contents(client, prefix="memory/")
    assert {f"memory/{n}.md" for n in range(6)} <= found.keys()
    assert sorted(found["memory/log.md"].split()) == sorted(["-"] * 6 + list("012345"))
    versions = (await client.get("/agents/wren/files/memory/same.md/versions")).json()["versions"]
    assert len(versions) == 6
