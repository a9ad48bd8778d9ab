"""Long-term memory over HTTP: saving, correcting, keyword search, compaction and backups, and every refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from reverie_indexer.change import Change
from reverie_indexer.model import Place
from reverie_server.runtime import Runtime

ADA = {"owner_key": "user:ada"}
TEA = "Prefers tea to coffee in the morning."
BLANK_BACKUP = "MEMORY_backup_2026-01-01_00-00-00.md"
ROUTES = [
    ("POST", "memory/save", {"content": TEA}),
    ("POST", "memory/update", {"old_text": "a", "new_text": "b"}),
    ("POST", "memory/keyword-search", {"query": "tea"}),
    ("POST", "memory/compact", {}),
    ("GET", "memory/backups", None),
    ("POST", f"memory/backups/{BLANK_BACKUP}/restore", {}),
]
WRITES = [route for route in ROUTES if route[0] == "POST" and "keyword" not in route[1]]


async def post(wren: Any, path: str, **body: Any) -> httpx.Response:
    return await wren.http.post(wren.url(f"memory/{path}"), json=body)


async def done(wren: Any, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    response = await post(wren, path, **body)
    assert response.status_code == status, response.text
    return response.json()


async def call(client: httpx.AsyncClient, agent: str, method: str, path: str, body: Any) -> httpx.Response:
    return await client.request(method, f"/agents/{agent}/{path}", json=body)


class TestSave:
    async def test_it_answers_201_with_section_and_preview(self, wren: Any) -> None:
        saved = await done(wren, "save", 201, content=f" - {TEA}\n", category="preferences", **ADA)
        file = await wren.read("MEMORY.md", **ADA)
        assert saved == {"saved": True, "section": "Preferences", "preview": file["content"]}
        assert (file["scope"], file["enabled"], file["version"]) == ("personal", True, 1)
        assert f"## Preferences\n\n- {TEA}\n\n## Interests" in file["content"]
        assert (await wren.found_paths("tea coffee", **ADA))[0] == "MEMORY.md"
        [version] = (await wren.get("files/MEMORY.md/versions", **ADA)).json()["versions"]
        assert (version["by"], version["reason"]) == ("user", "save_memory")

    async def test_without_a_category_it_is_a_note_and_without_an_owner_the_teams(self, wren: Any) -> None:
        assert (await done(wren, "save", 201, content=TEA))["section"] == "Notes"
        assert (await done(wren, "save", 201, content="Another thing.", category="unheard of"))["section"] == "Notes"
        file = await wren.read("MEMORY.md", **ADA)
        assert (file["scope"], file["resolved_from"]) == ("team", "team")
        assert file["content"].endswith(f"## Notes\n\n- {TEA}\n- Another thing.\n")

    async def test_what_is_there_already_is_409(self, wren: Any, problem: Any) -> None:
        await done(wren, "save", 201, content=TEA)
        before = await wren.read("MEMORY.md")
        for content in (TEA, TEA.upper(), "prefers  tea\nto coffee in the morning."):
            problem(await post(wren, "save", content=content, category="projects"), 409, "duplicate_detected")
        assert await wren.read("MEMORY.md") == before
        await done(wren, "save", 201, content=TEA, **ADA)

    async def test_a_long_preview_is_cut(self, wren: Any) -> None:
        saved = await done(wren, "save", 201, content="x" * 5000)
        held = (await wren.read("MEMORY.md"))["content"]
        assert saved["preview"] == f"{held[:500]}… (truncated, {len(held)} chars total)"

    @pytest.mark.parametrize(
        "body",
        [{}, {"content": ""}, {"content": " \n"}, {"content": "x" * 5001}, {"content": "a\x00b"}, {"content": 1},
         {"content": TEA, "scope": "team"}, {"content": TEA, "owner_key": "ada"}, {"content": TEA, "category": 3}],
    )  # fmt: skip
    async def test_what_cannot_be_saved_is_422(self, wren: Any, problem: Any, body: dict[str, Any]) -> None:
        problem(await post(wren, "save", **body), 422, "validation_error")
        assert (await wren.get("files")).status_code == 404, "no agent was made"

    async def test_a_memory_that_is_full_is_413(self, wren: Any, problem: Any) -> None:
        await wren.put("MEMORY.md", "x" * (1_048_576 - 20))
        problem(await post(wren, "save", content=TEA), 413, "payload_too_large")

    async def test_eight_at_once_all_arrive(self, wren: Any) -> None:
        contents = [f"Saved at the same time as others, number {n}." for n in range(8)]
        await asyncio.gather(*(done(wren, "save", 201, content=content, **ADA) for content in contents))
        file = await wren.read("MEMORY.md", **ADA)
        assert sorted(line for line in file["content"].splitlines() if line.startswith("- ")) == [
            f"- {content}" for content in contents
        ]


class TestUpdate:
    async def test_it_replaces_the_one_occurrence(self, wren: Any) -> None:
        await done(wren, "save", 201, content=TEA, **ADA)
        updated = await done(wren, "update", old_text=" tea to coffee ", new_text="coffee to tea", **ADA)
        file = await wren.read("MEMORY.md", **ADA)
        assert updated == {"replacements": 1, "size_after": file["size"], "version": 2, "deleted": False}
        assert "- Prefers coffee to tea in the morning." in file["content"]
        assert await wren.found_paths("tea", mode="text", **ADA) == ["MEMORY.md"]

    async def test_an_empty_new_text_deletes(self, wren: Any) -> None:
        await done(wren, "save", 201, content=TEA, **ADA)
        await done(wren, "save", 201, content="Lives in Oslo.", **ADA)
        updated = await done(wren, "update", old_text=TEA, new_text="", **ADA)
        assert (updated["deleted"], updated["version"]) == (True, 3)
        assert (await wren.read("MEMORY.md", **ADA))["content"].endswith("## Notes\n\n- Lives in Oslo.\n")
        assert await wren.found_paths("coffee", mode="text", **ADA) == []

    @pytest.mark.parametrize(
        "body",
        [{"old_text": "", "new_text": "x"}, {"old_text": " ", "new_text": "x"}, {"old_text": "a", "new_text": " a "},
         {"old_text": "a"}, {"new_text": "a"}, {"old_text": "a", "new_text": "b", "replace_all": True}],
    )  # fmt: skip
    async def test_what_makes_no_sense_is_422(self, wren: Any, problem: Any, body: dict[str, Any]) -> None:
        await done(wren, "save", 201, content=TEA)
        problem(await post(wren, "update", **body), 422, "validation_error")

    async def test_what_is_not_there_is_404(self, wren: Any, problem: Any) -> None:
        problem(await post(wren, "update", old_text="a", new_text="b"), 404, "not_found")
        await done(wren, "save", 201, content=TEA)
        problem(await post(wren, "update", old_text="cocoa", new_text="b"), 404, "not_found")
        problem(await post(wren, "update", old_text=TEA, new_text="b", **ADA), 404, "not_found")

    async def test_what_is_there_twice_is_409(self, wren: Any, problem: Any) -> None:
        await wren.put("MEMORY.md", "- tea\n- tea\n")
        body = problem(await post(wren, "update", old_text="tea", new_text="b"), 409, "ambiguous_match")
        assert body["count"] == 2


class TestKeywordSearch:
    async def test_lines_come_by_score_then_path_and_line(self, wren: Any) -> None:
        await wren.put("MEMORY.md", "# Long-term Memory\n\n- Likes tea.\n- Tea, not coffee.\n")
        await wren.put("notes/b.md", "tea and coffee\n")
        await wren.put("notes/a.md", "coffee\n\ntea and coffee and tea\n")
        await wren.put("data.txt", "tea and coffee\n")
        found = await done(wren, "keyword-search", query="Coffee TEA")
        assert found == {
            "total_hits": 5,
            "hits": [
                {"path": "MEMORY.md", "line": 4, "snippet": "- [[Tea]], not [[coffee]].", "score": 2.0},
                {"path": "MEMORY.md", "line": 3, "snippet": "- Likes [[tea]].", "score": 1.0},
                {"path": "notes/a.md", "line": 3, "snippet": "[[tea]] and [[coffee]] and [[tea]]", "score": 1.0},
                {"path": "notes/b.md", "line": 1, "snippet": "[[tea]] and [[coffee]]", "score": 1.0},
                {"path": "notes/a.md", "line": 1, "snippet": "[[coffee]]", "score": 0.5},
            ],
        }
        assert (await done(wren, "keyword-search", query="Coffee TEA", limit=2))["hits"] == found["hits"][:2]
        assert (await done(wren, "keyword-search", query="Coffee TEA", limit=2))["total_hits"] == 5

    async def test_chinese_goes_by_windows_of_two(self, wren: Any) -> None:
        await wren.put("a.md", "这是项目管理的笔记\n喝茶\n")
        [hit] = (await done(wren, "keyword-search", query="项目管理"))["hits"]
        assert (hit["line"], hit["snippet"], hit["score"]) == (1, "这是[[项目管理]]的笔记", 1.5)

    async def test_nothing_found_is_an_empty_list(self, wren: Any) -> None:
        await wren.put("a.md", "tea\n")
        for query in ("cocoa", "?!", "te"):
            assert await done(wren, "keyword-search", query=query) == {"total_hits": 0, "hits": []}

    @pytest.mark.parametrize(
        "body",
        [{}, {"query": ""}, {"query": " "}, {"query": "x" * 8001}, {"query": "tea", "limit": 0},
         {"query": "tea", "limit": 501}, {"query": "tea", "scope": "all"}, {"query": "tea", "scope": "personal"},
         {"query": "tea", "max_results": 3}],
    )  # fmt: skip
    async def test_what_cannot_be_asked_is_422(self, wren: Any, problem: Any, body: dict[str, Any]) -> None:
        await wren.put("a.md", "tea\n")
        problem(await post(wren, "keyword-search", **body), 422, "validation_error")


class TestCompaction:
    TWICE = f"# Long-term Memory\n\n## Notes\n\n- {TEA}\n\n## Preferences\n\n- {TEA.upper()}\n- Likes chess.\n"
    ONCE = f"# Long-term Memory\n\n## Preferences\n\n- {TEA.upper()}\n- Likes chess.\n"

    async def test_it_keeps_a_backup_that_can_be_restored(self, wren: Any) -> None:
        before = await wren.put("MEMORY.md", self.TWICE, **ADA)
        compacted = await done(wren, "compact", **ADA)
        file = await wren.read("MEMORY.md", **ADA)
        assert file["content"] == self.ONCE
        name = compacted.pop("backup")
        assert compacted == {
            "compacted": True,
            "reason": None,
            "method": "extractive",
            "fallback": None,
            "size_before": before["bytes_written"],
            "size_after": file["size"],
            "version": 2,
        }
        listed = (await wren.get("memory/backups", **ADA)).json()
        [entry] = listed["backups"]
        assert (listed["count"], entry["name"], entry["size"]) == (1, name, before["bytes_written"])
        assert (await wren.get("memory/backups")).json() == {"count": 0, "backups": []}
        restored = await done(wren, f"backups/{name}/restore", **ADA)
        assert restored == {"restored": True, "name": name, "size_after": before["bytes_written"], "version": 3}
        assert (await wren.read("MEMORY.md", **ADA))["content"] == self.TWICE

    async def test_a_second_time_there_is_nothing_to_do(self, wren: Any) -> None:
        await wren.put("MEMORY.md", self.TWICE)
        version = (await done(wren, "compact"))["version"]
        again = await done(wren, "compact")
        assert (again["compacted"], again["backup"], again["version"]) == (False, None, version)
        assert again["reason"] == "there is nothing to compact"
        assert (await wren.get("memory/backups")).json()["count"] == 1

    async def test_a_memory_without_entries_is_left_alone(self, wren: Any) -> None:
        await wren.put("a.md", "makes the agent with its seeds")
        before = await wren.read("MEMORY.md")
        compacted = await done(wren, "compact")
        assert (compacted["compacted"], compacted["backup"]) == (False, None)
        assert compacted["reason"] == "the result has under 50 characters"
        assert await wren.read("MEMORY.md") == before

    async def test_it_works_without_a_body_and_where_it_is_switched_off_for_the_night(self, wren: Any) -> None:
        await wren.http.put("/agents/wren", json={"settings": {"compaction_enabled": False}})
        await wren.put("MEMORY.md", self.TWICE)
        response = await wren.http.post(wren.url("memory/compact"))
        assert (response.status_code, response.json()["compacted"]) == (200, True)
        name = response.json()["backup"]
        assert (await wren.http.post(wren.url(f"memory/backups/{name}/restore"))).status_code == 200

    async def test_where_there_is_no_memory_it_is_404(self, wren: Any, problem: Any) -> None:
        problem(await post(wren, "compact"), 404, "not_found")
        await done(wren, "save", 201, content=TEA)
        problem(await post(wren, "compact", **ADA), 404, "not_found")

    async def test_backups_are_read_but_neither_searched_nor_written_by_clients(self, wren: Any, problem: Any) -> None:
        await wren.put("MEMORY.md", self.TWICE)
        name = (await done(wren, "compact"))["backup"]
        file = await wren.read(name)
        assert (file["content"], file["enabled"]) == (self.TWICE, False)
        assert await wren.found_paths("chess", mode="text") == ["MEMORY.md"]
        assert {hit["path"] for hit in (await done(wren, "keyword-search", query="tea chess"))["hits"]} == {"MEMORY.md"}
        url = wren.url(f"files/{name}")
        for refused in (
            await wren.http.put(url, json={"content": "x"}),
            await wren.http.put(wren.url(f"files/{BLANK_BACKUP}"), json={"content": "x"}),
            await wren.patch(name, "tea", "x"),
            await wren.write(name, "append", "x"),
            await wren.delete(name),
            await wren.http.post(f"{url}/versions/1/restore", json={}),
        ):
            problem(refused, 403, "forbidden")
        assert (await wren.read(name))["version"] == 1

    @pytest.mark.parametrize(
        "name",
        [BLANK_BACKUP, "MEMORY.md", "MEMORY_backup_2026-13-01_00-00-00.md", "x", "a%00b", "..%2fMEMORY.md", "%0a"],
    )
    async def test_a_backup_that_is_not_there_is_404(self, wren: Any, problem: Any, name: str) -> None:
        await done(wren, "save", 201, content=TEA)
        response = await wren.http.post(wren.url(f"memory/backups/{name}/restore"), json={})
        problem(response, 404, "not_found")

    async def test_a_blank_backup_is_422(self, wren: Any, problem: Any, runtime: Runtime) -> None:
        await done(wren, "save", 201, content=TEA)
        blank = Change(BLANK_BACKUP, lambda _: " \n", "test", "test", overwrites=True, reserved=True)
        await runtime.pipeline.write(Place("default", "wren", "team"), blank)
        problem(await post(wren, f"backups/{BLANK_BACKUP}/restore"), 422, "validation_error")
        assert TEA in (await wren.read("MEMORY.md"))["content"]


@pytest.fixture
async def with_key(client: httpx.AsyncClient, runtime: Runtime) -> Callable[..., Awaitable[httpx.AsyncClient]]:
    async def make(role: str, **bound: Any) -> httpx.AsyncClient:
        _, key = await runtime.keys.create("default", role, **bound)  # type: ignore[arg-type]
        return httpx.AsyncClient(base_url=client.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    return make


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
class TestAccess:
    async def test_without_a_key_it_is_401_and_with_one_for_others_403(
        self, wren: Any, with_key: Any, problem: Any, method: str, path: str, body: Any
    ) -> None:
        async with (
            await with_key("member", agent_ids=["crow"]) as of_crow,
            await with_key("member", owner_key="user:ben") as ben,
        ):
            problem(await call(wren.http, "wren", method, path, body), 401, "unauthorized")
            problem(await call(of_crow, "wren", method, path, body), 403, "forbidden")
            if method == "GET":
                problem(await ben.get("/agents/wren/memory/backups", params=ADA), 403, "forbidden")
            else:
                problem(await call(ben, "wren", method, path, {**body, **ADA}), 403, "forbidden")

    async def test_where_memory_is_switched_off_it_is_403(
        self, wren: Any, problem: Any, method: str, path: str, body: Any
    ) -> None:
        await wren.http.put("/agents/wren", json={"settings": {"memory_enabled": False}})
        problem(await call(wren.http, "wren", method, path, body), 403, "memory_disabled")

    async def test_a_query_parameter_of_the_body_is_422(
        self, wren: Any, problem: Any, method: str, path: str, body: Any
    ) -> None:
        await done(wren, "save", 201, content="There is an agent.")
        name = "owner" if method == "GET" else "owner_key"
        problem(await call(wren.http, "wren", method, f"{path}?{name}=user:ada", body), 422, "validation_error")


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
class TestWriting:
    async def test_a_viewer_reads_only(
        self, wren: Any, with_key: Any, problem: Any, method: str, path: str, body: Any
    ) -> None:
        await done(wren, "save", 201, content="There is an agent.")
        async with await with_key("viewer") as viewer:
            problem(await call(viewer, "wren", method, path, body), 403, "forbidden")
            assert (await call(viewer, "wren", "GET", "memory/backups", None)).status_code == 200
            found = await call(viewer, "wren", "POST", "memory/keyword-search", {"query": "agent"})
            assert found.json()["total_hits"] == 1

    async def test_a_team_member_writes_nothing(
        self, wren: Any, problem: Any, method: str, path: str, body: Any
    ) -> None:
        await done(wren, "save", 201, content="There is an agent.")
        await wren.http.put("/agents/member", json={"leader_agent_id": "wren"})
        refused = problem(await call(wren.http, "member", method, path, body), 403, "read_only_member")
        assert refused["detail"] == "memory is read-only for team members"


async def test_without_isolation_everything_is_the_teams(wren: Any) -> None:
    await wren.http.put("/agents/wren", json={"settings": {"memory_isolation": False}})
    await done(wren, "save", 201, content="Likes chess very much.", **ADA)
    await done(wren, "update", old_text="very much", new_text="a lot", **ADA)
    assert (await wren.read("MEMORY.md"))["scope"] == "team"
    await wren.put("MEMORY.md", TestCompaction.TWICE)
    name = (await done(wren, "compact", **ADA))["backup"]
    for query in ({}, ADA):
        assert [b["name"] for b in (await wren.get("memory/backups", **query)).json()["backups"]] == [name]
    await done(wren, f"backups/{name}/restore", **ADA)


async def test_who_wrote_is_the_key(wren: Any, with_key: Any, runtime: Runtime) -> None:
    async with await with_key("member") as member:
        response = await call(member, "wren", "POST", "memory/save", {"content": TEA})
        assert response.status_code == 201
        [version] = (await member.get("/agents/wren/files/MEMORY.md/versions")).json()["versions"]
        [key] = await runtime.keys.entries()
        assert version["by"] == f"key:{key.key_id}"
