"""Lists, pages and prefixes; and whose file a read finds."""

from __future__ import annotations

from typing import Any

import pytest

SUMMARY_FIELDS = {"path", "scope", "owner_key", "enabled", "sort_order", "size", "version", "updated_at"}


async def listing(wren: Any, **query: Any) -> dict[str, Any]:
    response = await wren.get("files", **query)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_list_is_by_sort_order_then_path(wren: Any) -> None:
    await wren.put("b.md", "text", sort_order=2)
    await wren.put("a.md", "täxt")
    await wren.put("Z.md", "text")
    await wren.put("first.md", "text", sort_order=-1, enabled=True)
    found = await listing(wren)
    assert (found["count"], found["next_cursor"]) == (8, None)
    assert [file["path"] for file in found["files"]] == [
        "first.md", "AGENTS.md", "SOUL.md", "PROFILE.md", "b.md", "MEMORY.md", "Z.md", "a.md",
    ]  # fmt: skip
    assert all(file.keys() == SUMMARY_FIELDS for file in found["files"])
    assert found["files"][-1]["size"] == 5


async def test_a_list_shows_the_owners_files_and_the_shared_ones_and_no_others(wren: Any, agent_of: Any) -> None:
    await wren.put("a.md", "mine", owner_key="user:1")
    await wren.put("a.md", "of all")
    await wren.put("a.md", "of every agent", scope="global")
    await wren.put("b.md", "another's", owner_key="user:2")
    await agent_of("robin").put("c.md", "another agent's")
    of_one = [(f["path"], f["scope"], f["owner_key"]) for f in (await listing(wren, owner_key="user:1"))["files"]]
    assert sorted(of_one[-3:]) == [("a.md", "global", None), ("a.md", "personal", "user:1"), ("a.md", "team", None)]
    assert {path for path, _, _ in of_one}.isdisjoint({"b.md", "c.md"})
    of_all = [(f["path"], f["scope"]) for f in (await listing(wren))["files"]]
    assert sorted(of_all[-2:]) == [("a.md", "global"), ("a.md", "team")]
    assert (await listing(wren, owner_key="user:3"))["count"] == 6
    assert (await listing(agent_of("robin")))["count"] == 6


async def test_pages_hold_every_file_once_and_in_order(wren: Any) -> None:
    names = [f"memory/{n:02}.md" for n in range(9)] + ["memory/a\u200d\u00a0b 😀.md", "memory/ü.md"]
    for name in names:
        await wren.put(name, "x", owner_key="user:1")
    await wren.put("memory/03.md", "shared")
    whole = await listing(wren, owner_key="user:1", limit=500)
    for limit in (1, 2, 5, 16, 17):
        seen: list[tuple[str, str]] = []
        cursor: dict[str, str] = {}
        while True:
            page = await listing(wren, owner_key="user:1", limit=limit, **cursor)
            assert page["count"] == 16
            assert len(page["files"]) <= limit
            seen += [(file["path"], file["scope"]) for file in page["files"]]
            if page["next_cursor"] is None:
                break
            assert len(page["files"]) == limit
            cursor = {"cursor": page["next_cursor"]}
        assert seen == [(file["path"], file["scope"]) for file in whole["files"]]


async def test_a_page_has_fifty_unless_told(wren: Any) -> None:
    for number in range(47):
        await wren.put(f"{number}.txt", "")
    first = await listing(wren)
    assert (first["count"], len(first["files"])) == (51, 50)
    assert len((await listing(wren, cursor=first["next_cursor"]))["files"]) == 1


async def test_a_prefix_is_taken_literally(wren: Any) -> None:
    for path in (
        "memory/a.md",
        "memory/b.md",
        "memory2.md",
        "mem%ry.md".replace("%", "%25"),
        "Memory/a.md",
        "m_mory.md",
    ):
        await wren.put(path, "x")
    for prefix, expected in [
        ("memory/", ["memory/a.md", "memory/b.md"]),
        ("memory", ["memory/a.md", "memory/b.md", "memory2.md"]),
        ("mem%", ["mem%ry.md"]),
        ("m_", ["m_mory.md"]),
        ("nothing", []),
    ]:
        found = await listing(wren, prefix=prefix)
        assert ([file["path"] for file in found["files"]], found["count"]) == (expected, len(expected)), prefix
    assert (await listing(wren, prefix=""))["count"] == 10
    page = await listing(wren, prefix="memory", limit=2)
    assert (page["count"], [f["path"] for f in page["files"]]) == (3, ["memory/a.md", "memory/b.md"])
    rest = await listing(wren, prefix="memory", limit=2, cursor=page["next_cursor"])
    assert [f["path"] for f in rest["files"]] == ["memory2.md"]


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 501}, {"limit": "x"}, {"limit": ""}, {"cursor": "x"}, {"cursor": ""}, {"prefix": "a\x00"},
     {"from_line": 1}, {"owner_key": ""}],
)  # fmt: skip
async def test_a_bad_list_is_refused(wren: Any, problem: Any, query: dict[str, Any]) -> None:
    await wren.put("a.md", "x")
    problem(await wren.get("files", **query), 422, "validation_error")


async def test_a_cursor_of_another_list_is_refused(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "x")
    await wren.put("a.md", "y")
    of_versions = (await wren.get("files/a.md/versions", limit=1)).json()["next_cursor"]
    problem(await wren.get("files", cursor=of_versions), 422, "validation_error")
    of_files = (await wren.get("files", limit=1)).json()["next_cursor"]
    problem(await wren.get("files/a.md/versions", cursor=of_files), 422, "validation_error")


@pytest.mark.parametrize("query", [{"from_line": 0}, {"lines": 0}, {"from_line": -1}, {"lines": 2**31}, {"lines": "x"}])
async def test_bad_lines_are_refused(wren: Any, problem: Any, query: dict[str, Any]) -> None:
    await wren.put("a.md", "x")
    problem(await wren.get("files/a.md", **query), 422, "validation_error")


async def test_a_read_finds_the_personal_file_then_the_teams_then_the_tenants(
    wren: Any, agent_of: Any, problem: Any
) -> None:
    await wren.put("a.md", "personal", owner_key="user:1")
    await wren.put("a.md", "team", owner_key="user:1", scope="team")
    await wren.put("a.md", "global", owner_key="user:1", scope="global")
    for expected in ("personal", "team", "global"):
        file = await wren.read("a.md", owner_key="user:1")
        assert (file["content"], file["resolved_from"], file["scope"]) == (expected, expected, expected)
        assert file["owner_key"] == ("user:1" if expected == "personal" else None)
        assert (await wren.delete("a.md", owner_key="user:1", scope=expected)).status_code == 204
    problem(await wren.get("files/a.md", owner_key="user:1"), 404, "not_found")


async def test_nobody_elses_personal_file_is_found(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "secret of one", owner_key="user:1")
    for query in ({}, {"owner_key": "user:2"}, {"owner_key": "api:1"}, {"end_user_id": "1"}, {"owner_key": "user:11"}):
        problem(await wren.get("files/a.md", **query), 404, "not_found")
        problem(await wren.delete("a.md", **query), 404, "not_found")
    problem(await wren.patch("a.md", "secret", "x", owner_key="user:2"), 404, "not_found")
    assert (await wren.read("a.md", owner_key="user:1"))["version"] == 1


async def test_global_files_are_there_for_every_agent(wren: Any, agent_of: Any, problem: Any) -> None:
    robin = agent_of("robin")
    await wren.put("house.md", "The zanzibar rule.", scope="global")
    problem(await robin.get("files/house.md"), 404, "not_found")
    await robin.put("own.md", "x")
    assert (await robin.read("house.md"))["resolved_from"] == "global"
    assert (await robin.found_paths("zanzibar"))[0] == "house.md"
    await robin.put("house.md", "The zanzibar rule, revised.", scope="global")
    assert (await wren.read("house.md"))["content"] == "The zanzibar rule, revised."


async def test_a_write_changes_the_scope_it_names_and_no_other(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "team")
    problem(await wren.patch("a.md", "team", "x", owner_key="user:1"), 404, "not_found")
    problem(await wren.delete("a.md", owner_key="user:1"), 404, "not_found")
    assert (await wren.write("a.md", "append", "mine", owner_key="user:1")).status_code == 201
    assert (await wren.read("a.md"))["content"] == "team"
    assert (await wren.read("a.md", owner_key="user:1"))["content"] == "mine\n"
    assert (await wren.patch("a.md", "team", "all", owner_key="user:1", scope="team")).status_code == 200
    assert (await wren.read("a.md"))["content"] == "all"


async def test_memory_md_stands_in_where_a_scope_has_no_memory(wren: Any, problem: Any) -> None:
    await wren.put("memory.md", "small letters", owner_key="user:1")
    file = await wren.read("MEMORY.md", owner_key="user:1")
    assert (file["content"], file["path"], file["resolved_from"]) == ("small letters", "memory.md", "personal")
    assert (await wren.read("MEMORY.md"))["path"] == "MEMORY.md"
    await wren.put("MEMORY.md", "large letters", owner_key="user:1")
    assert (await wren.read("MEMORY.md", owner_key="user:1"))["content"] == "large letters"
    assert (await wren.read("memory.md", owner_key="user:1"))["content"] == "small letters"
    problem(await wren.get("files/Memory.md", owner_key="user:1"), 404, "not_found")
    problem(await wren.get("files/memory.md"), 404, "not_found")
