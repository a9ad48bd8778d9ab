"""Forget, clear, reindex, `as_of` and everybody's files over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from reverie_server.runtime import Runtime


async def keyed(client: httpx.AsyncClient, runtime: Runtime, role: Any, owner: str | None = None) -> httpx.AsyncClient:
    _, key = await runtime.keys.create("default", role, owner_key=owner)
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(base_url=client.base_url, headers=headers, timeout=30)


async def test_a_forgotten_text_is_gone_and_the_receipt_says_from_where(wren: Any, client: httpx.AsyncClient) -> None:
    await wren.put("notes.md", "# Notes\n\n- The code is quince.\n- Ada likes tea.\n", owner_key="user:1")
    url = wren.url("memory/forget")
    dry = await client.post(url, json={"text": "the code is quince", "owner_key": "user:1"})
    assert dry.status_code == 200
    assert dry.json()["dry_run"] is True
    assert (await wren.read("notes.md", owner_key="user:1"))["version"] == 1
    done = await client.post(url, json={"text": "the code is quince", "owner_key": "user:1", "dry_run": False})
    body = done.json()
    assert body["removed"]["document"] == {"files": 1, "passages": 1, "versions": 1, "backups": 0}
    assert [item["path"] for item in body["items"]] == ["notes.md"]
    assert "quince" not in (await wren.read("notes.md", owner_key="user:1"))["content"]
    history = await wren.get("files/notes.md/versions", owner_key="user:1", diff_to=1)
    assert "quince" not in history.text


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "validation_error"),
        ({"text": "a", "id": "1"}, 422, "validation_error"),
        ({"id": "77"}, 404, "not_found"),
        ({"text": "abc", "dry_run": "no"}, 422, "validation_error"),
        ({"text": "abc", "confirm": True}, 422, "validation_error"),
    ],
)
async def test_what_cannot_be_forgotten_is_refused(
    wren: Any, client: httpx.AsyncClient, problem: Any, body: dict[str, Any], status: int, code: str
) -> None:
    await wren.put("notes.md", "text")
    problem(await client.post(wren.url("memory/forget"), json=body), status, code)


async def test_clearing_counts_by_tier_and_is_dry_unless_told(wren: Any, client: httpx.AsyncClient) -> None:
    await wren.put("a.md", "text", owner_key="user:1")
    url = wren.url("memory/clear")
    dry = await client.post(url, json={"owner_key": "user:1"})
    assert dry.json() == {"dry_run": True, "removed": {"document": 1, "episodic": 0, "message": 0}}
    done = await client.post(url, json={"owner_key": "user:1", "tiers": ["document"], "dry_run": False})
    assert done.json() == {"dry_run": False, "removed": {"document": 1}}
    assert (await wren.get("files", owner_key="user:1")).json()["files"][0]["scope"] == "team"


async def test_only_an_unbound_admin_lists_and_clears_everybody(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, problem: Any
) -> None:
    for owner in ("user:1", "user:2"):
        await wren.put("a.md", "text", owner_key=owner)
    for role, bound in (("viewer", None), ("member", None), ("admin", "user:1")):
        async with await keyed(client, runtime, role, bound) as http:
            problem(await http.get(wren.url("files"), params={"owner_key": "*"}), 403, "forbidden")
            problem(await http.post(wren.url("memory/clear"), json={"owner_key": "*"}), 403, "forbidden")
    async with await keyed(client, runtime, "admin") as admin:
        listed = (await admin.get(wren.url("files"), params={"owner_key": "*"})).json()
        assert [f["owner_key"] for f in listed["files"] if f["path"] == "a.md"] == ["user:1", "user:2"]
        done = await admin.post(wren.url("memory/clear"), json={"owner_key": "*", "dry_run": False})
        assert done.json()["removed"]["document"] == 4
        # No other route takes everybody for an owner.
        for response in (
            await admin.get(wren.url("files/a.md"), params={"owner_key": "*"}),
            await admin.post(wren.url("memory/search"), json={"query": "text", "owner_key": "*"}),
            await admin.put(wren.url("files/a.md"), json={"content": "x", "owner_key": "*"}),
            await admin.post(wren.url("memory/forget"), json={"text": "text", "owner_key": "*"}),
            await admin.post(wren.url("memory/reindex"), json={"owner_key": "*"}),
        ):
            problem(response, 422, "validation_error")


async def test_a_viewer_neither_forgets_nor_clears_nor_indexes(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, problem: Any
) -> None:
    await wren.put("a.md", "text")
    async with await keyed(client, runtime, "viewer") as http:
        problem(await http.post(wren.url("memory/forget"), json={"text": "text"}), 403, "forbidden")
        problem(await http.post(wren.url("memory/clear"), json={}), 403, "forbidden")
        problem(await http.post(wren.url("memory/reindex")), 403, "forbidden")


async def test_indexing_anew_counts(wren: Any, client: httpx.AsyncClient) -> None:
    await wren.put("a.md", "one\n\ntwo", owner_key="user:1")
    done = await client.post(wren.url("memory/reindex"), json={"owner_key": "user:1"})
    assert done.json() == {"documents": 1, "chunks": 2, "embedded": 0, "reused": 2}


async def test_as_of_is_a_moment_with_an_offset(wren: Any, client: httpx.AsyncClient, problem: Any) -> None:
    await wren.put("a.md", "Ada lives in Leeds.", owner_key="user:1")
    first = (await wren.read("a.md", owner_key="user:1"))["updated_at"]
    await wren.put("a.md", "Ada lives in Porto.", owner_key="user:1")
    found = await wren.search("Ada lives", owner_key="user:1", as_of=first, path_prefix="a.md")
    assert [result["text"] for result in found["results"]] == ["Ada lives in Leeds."]
    for wrong in ("2026-04-03T09:30:00", "2026-04-03", "yesterday", 1, "1"):
        response = await client.post(wren.url("memory/search"), json={"query": "Ada", "as_of": wrong})
        problem(response, 422, "validation_error")
    for edge in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"):
        response = await client.post(wren.url("memory/search"), json={"query": "Ada", "as_of": edge})
        assert response.status_code in (200, 422), response.text
