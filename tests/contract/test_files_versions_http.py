"""History, restore, `If-Match` and writers at the same time."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest


async def versions(wren: Any, path: str, **query: Any) -> dict[str, Any]:
    response = await wren.get(f"files/{path}/versions", **query)
    assert response.status_code == 200, response.text
    return response.json()


async def restore(wren: Any, path: str, version: int, headers: dict[str, str] | None = None, **body: Any) -> Any:
    return await wren.http.post(
        wren.url(f"files/{path}/versions/{version}/restore"), json=body or None, headers=headers
    )


async def test_every_write_keeps_the_version_before_it(wren: Any) -> None:
    await wren.put("a.md", "one\n")
    await wren.write("a.md", "append", "zwö")
    await wren.patch("a.md", "one", "1")
    await wren.delete("a.md")
    found = await versions(wren, "a.md")
    assert (found["path"], found["diff"], found["next_cursor"]) == ("a.md", None, None)
    entries = found["versions"]
    assert all(entry.keys() >= {"version", "at", "by", "reason", "size"} for entry in entries)
    assert [(e["version"], e["size"], e["deleted"]) for e in entries] == [
        (4, 0, True), (3, 8, False), (2, 10, False), (1, 4, False),
    ]  # fmt: skip
    assert {e["by"] for e in entries} == {"user"}
    assert [e["reason"] for e in entries] == ["delete", "patch", "append", "put"]
    times = [datetime.fromisoformat(e["at"]) for e in entries]
    assert times == sorted(times, reverse=True)
    assert all(e["at"].endswith("Z") for e in entries)


async def test_a_diff_shows_what_a_restore_would_do(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "one\ntwo\u2028still two\n")
    await wren.put("a.md", "one\n2")
    diff = (await versions(wren, "a.md", diff_to=1))["diff"]
    assert diff.splitlines(keepends=False)[:3] == ["--- a.md (version 2)", "+++ a.md (version 1)", "@@ -1,2 +1,2 @@"]
    assert diff.endswith(" one\n-2\n\\ No newline at end of file\n+two\u2028still two\n")
    assert (await versions(wren, "a.md", diff_to=2))["diff"] == ""
    problem(await wren.get("files/a.md/versions", diff_to=3), 404, "not_found")
    problem(await wren.get("files/a.md/versions", diff_to=0), 422, "validation_error")


async def test_a_restore_is_a_new_version(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes.")
    await wren.put("a.md", "The okapi grazes.", enabled=True)
    response = await restore(wren, "a.md", 1)
    assert (response.status_code, response.headers["etag"]) == (200, '"3"')
    assert response.json()["version"] == 3
    file = await wren.read("a.md")
    assert (file["content"], file["version"], file["enabled"]) == ("The quagga grazes.", 3, True)
    assert (await versions(wren, "a.md"))["versions"][0]["reason"] == "restore of version 1"
    assert "quagga" in (await wren.search("quagga"))["results"][0]["text"]
    assert all("okapi" not in result["text"] for result in (await wren.search("okapi", max_results=100))["results"])


async def test_a_deleted_file_comes_back_with_its_flags(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "The quagga grazes.", enabled=True, sort_order=9)
    await wren.delete("a.md")
    problem(await restore(wren, "a.md", 2), 422, "validation_error")
    assert (await restore(wren, "a.md", 1)).json()["created"] is True
    file = await wren.read("a.md")
    assert (file["content"], file["version"], file["enabled"], file["sort_order"]) == ("The quagga grazes.", 3, True, 9)
    assert (await wren.found_paths("quagga"))[0] == "a.md"


async def test_a_restore_of_what_is_not_there_is_not_found(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "one")
    problem(await restore(wren, "a.md", 2), 404, "not_found")
    problem(await restore(wren, "b.md", 1), 404, "not_found")
    problem(await restore(wren, "a.md", 0), 422, "validation_error")
    problem(await restore(wren, "a.md", 2**31), 422, "validation_error")
    problem(await wren.get("files/b.md/versions"), 404, "not_found")


async def test_an_owners_restore_never_touches_what_is_shared(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "of all, 1")
    await wren.put("a.md", "of all, 2")
    problem(await restore(wren, "a.md", 1, owner_key="user:1"), 404, "not_found")
    await wren.put("a.md", "mine", owner_key="user:1")
    await wren.delete("a.md", owner_key="user:1")
    assert (await restore(wren, "a.md", 1, owner_key="user:1")).status_code == 200
    assert (await wren.read("a.md", owner_key="user:1"))["content"] == "mine"
    assert (await wren.read("a.md"))["content"] == "of all, 2"
    assert (await restore(wren, "a.md", 1, owner_key="user:1", scope="team")).status_code == 200
    assert (await wren.read("a.md"))["content"] == "of all, 1"


async def test_a_restore_of_memory_never_takes_the_stand_in(wren: Any, problem: Any) -> None:
    await wren.put("memory.md", "stand-in", owner_key="user:1")
    problem(await restore(wren, "MEMORY.md", 1, owner_key="user:1"), 404, "not_found")


async def test_another_owner_sees_no_history(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "secret of one", owner_key="user:1")
    for query in ({}, {"owner_key": "user:2"}, {"owner_key": "user:2", "scope": "personal"}, {"scope": "personal"}):
        problem(await wren.get("files/a.md/versions", **query), 404, "not_found")
        problem(await wren.get("files/a.md/versions", diff_to=1, **query), 404, "not_found")
    problem(await restore(wren, "a.md", 1, owner_key="user:2"), 404, "not_found")


async def test_history_is_paged_to_its_end(wren: Any, problem: Any) -> None:
    for number in range(1, 8):
        await wren.put("a.md", f"text {number}")
    seen, cursor = [], None
    for _ in range(4):
        page = await versions(wren, "a.md", limit=3, **({"cursor": cursor} if cursor else {}))
        seen.append([entry["version"] for entry in page["versions"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [[7, 6, 5], [4, 3, 2], [1]]
    problem(await wren.get("files/a.md/versions", cursor="nonsense"), 422, "validation_error")
    problem(await wren.get("files/a.md/versions", limit=501), 422, "validation_error")


@pytest.mark.parametrize("tag", ['"2"', "2", 'W/"2"', "*"])
async def test_the_present_version_may_be_written(wren: Any, tag: str) -> None:
    await wren.put("a.md", "one")
    await wren.put("a.md", "two")
    response = await wren.http.put(wren.url("files/a.md"), json={"content": "three"}, headers={"If-Match": tag})
    assert (response.status_code, response.json()["version"]) == (200, 3)


async def test_a_stale_version_stops_every_kind_of_write(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "one")
    await wren.put("a.md", "two")
    writes: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", "files/a.md", {"json": {"content": "three"}}),
        ("PATCH", "files/a.md", {"json": {"old_text": "two", "new_text": "three"}}),
        ("POST", "files/a.md/writes", {"json": {"strategy": "append", "content": "three"}}),
        ("POST", "files/a.md/writes", {"json": {"strategy": "overwrite", "content": "three"}}),
        ("POST", "files/a.md/versions/1/restore", {"json": {}}),
        ("DELETE", "files/a.md", {}),
    ]
    for method, path, sent in writes:
        for tag in ('"1"', '"3"', 'W/"1"', "1", '"abc"', '"0"'):
            response = await wren.http.request(method, wren.url(path), headers={"If-Match": tag}, **sent)
            problem(response, 412, "stale_version")
        for tag in ("", "abc", '"1", "2"', "two words"):
            response = await wren.http.request(method, wren.url(path), headers={"If-Match": tag}, **sent)
            problem(response, 422, "validation_error")
    file = await wren.read("a.md")
    assert (file["content"], file["version"]) == ("two", 2)
    response = await wren.http.delete(wren.url("files/a.md"), headers={"If-Match": '"2"'})
    assert response.status_code == 204


async def test_a_demand_for_a_version_makes_no_file_and_no_agent(wren: Any, problem: Any) -> None:
    for tag in ("*", '"1"'):
        response = await wren.http.put(wren.url("files/a.md"), json={"content": "x"}, headers={"If-Match": tag})
        problem(response, 412, "stale_version")
    problem(await wren.get("files"), 404, "not_found")
    await wren.put("b.md", "x")
    for tag in ("*", '"1"'):
        response = await wren.http.put(wren.url("files/a.md"), json={"content": "x"}, headers={"If-Match": tag})
        problem(response, 412, "stale_version")


@pytest.mark.parametrize("route", ["PUT", "append"])
async def test_of_two_writers_with_the_same_version_exactly_one_is_stale(wren: Any, route: str) -> None:
    await wren.put("a.md", "zero")
    for version in range(1, 6):
        tag = {"If-Match": f'"{version}"'}
        texts = [f"round {version} writer {name}" for name in "ab"]
        if route == "PUT":
            calls = [wren.http.put(wren.url("files/a.md"), json={"content": t}, headers=tag) for t in texts]
        else:
            bodies = [{"strategy": "append", "content": t} for t in texts]
            calls = [wren.http.post(wren.url("files/a.md/writes"), json=body, headers=tag) for body in bodies]
        answers = await asyncio.gather(*calls)
        assert sorted(answer.status_code for answer in answers) == [200, 412]
        winner = texts[[answer.status_code for answer in answers].index(200)]
        file = await wren.read("a.md")
        assert file["version"] == version + 1
        assert file["content"].rstrip("\n").endswith(winner)


async def test_eight_clients_append_at_once_and_no_line_is_lost(wren: Any) -> None:
    async def client(name: int) -> None:
        for number in range(5):
            response = await wren.write("memory/2026-04-03.md", "append", f"- client {name} line {number}")
            assert response.status_code in (200, 201), response.text

    await asyncio.gather(*(client(name) for name in range(8)))
    file = await wren.read("memory/2026-04-03.md")
    lines = [line for line in file["content"].splitlines() if line]
    assert lines[0] == "# 2026-04-03"
    assert sorted(lines[1:]) == sorted(f"- client {name} line {number}" for name in range(8) for number in range(5))
    for name in range(8):
        mine = [line for line in lines if line.startswith(f"- client {name} ")]
        assert mine == sorted(mine), "one client's lines keep their order"
    assert file["version"] == 40
    assert (await wren.search("client 7 line 4", max_results=1))["count"] == 1


async def test_writers_of_all_kinds_at_once_leave_one_consistent_file(wren: Any) -> None:
    await wren.put("a.md", "start")
    await asyncio.gather(
        *(wren.put("a.md", f"put {n}\n") for n in range(4)),
        *(wren.write("a.md", "append", f"append {n}") for n in range(4)),
        *(wren.write("a.md", "upsert_kv", f"key{n}: v") for n in range(4)),
    )
    file = await wren.read("a.md")
    found = await versions(wren, "a.md")
    assert file["version"] == 13 == found["versions"][0]["version"]
    indexed = {r["text"] for r in (await wren.search("put append key", max_results=100, path_prefix="a.md"))["results"]}
    assert indexed
    assert all(text in file["content"] for text in indexed), "the index holds the version that won"
