"""The tools over HTTP: what they do, for whom, and what a model reads when a call is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest

from reverie_indexer.change import overwrite
from reverie_indexer.model import Place
from reverie_server.runtime import Runtime
from reverie_server.tools.catalogue import REGISTRY

NOTE = "# Trip\n\nThe quagga grazes at dawn.\n\nThe okapi hides at noon.\n"
OWNER = "user:42"


class Tools:
    """Calls tools of one agent as one owner; what the model reads."""

    def __init__(self, http: httpx.AsyncClient, agent_id: str = "wren", **whose: str) -> None:
        self.http, self.agent_id, self.whose = http, agent_id, whose

    async def post(self, tool: str, arguments: Any = None) -> httpx.Response:
        body = {"arguments": arguments or {}, **self.whose}
        return await self.http.post(f"/agents/{self.agent_id}/tools/{tool}", json=body)

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        response = await self.post(tool, arguments)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert answer.keys() == {"ok", "result"}, answer
        assert answer["ok"] is True
        return answer["result"]

    async def refused(self, tool: str, **arguments: Any) -> tuple[str, str]:
        response = await self.post(tool, arguments)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert answer.keys() == {"ok", "error"}, answer
        assert answer["ok"] is False
        assert answer["error"].keys() == {"code", "message"}
        return answer["error"]["code"], answer["error"]["message"]


@pytest.fixture
def ada(client: httpx.AsyncClient) -> Tools:
    return Tools(client, owner_key=OWNER)


@pytest.fixture
def team(client: httpx.AsyncClient) -> Tools:
    return Tools(client)


async def test_the_tools_are_listed_in_the_form_that_is_asked_for(client: httpx.AsyncClient) -> None:
    default = (await client.get("/tools")).json()
    assert default.keys() == {"tools"}
    assert default == (await client.get("/tools", params={"format": "openai"})).json()
    names = [entry["function"]["name"] for entry in default["tools"]]
    assert {"memory_search", "save_memory", "forget_memory"} <= set(names)
    for form, schema in (("anthropic", "input_schema"), ("mcp", "inputSchema")):
        tools = (await client.get("/tools", params={"format": form})).json()["tools"]
        assert [tool["name"] for tool in tools] == names
        assert [tool[schema] for tool in tools] == [entry["function"]["parameters"] for entry in default["tools"]]
    for wrong in ({"format": "other"}, {"form": "mcp"}):
        assert (await client.get("/tools", params=wrong)).json()["code"] == "validation_error"


async def test_a_file_is_written_listed_read_edited_and_found(ada: Tools) -> None:
    written = await ada("write_workspace_memory_file", filename="notes/trip.md", content=NOTE)
    assert written == {
        "created": True,
        "overwritten": False,
        "enabled": False,
        "bytes_written": len(NOTE),
        "chunk_count": 2,
        "embedded": True,
        "path": "notes/trip.md",
        "scope": "personal",
        "size_after": len(NOTE),
        "version": 1,
    }
    listed = await ada("list_workspace_memory_files", filenamePrefix="notes/")
    assert listed.keys() == {"count", "files", "has_more"}
    [entry] = listed["files"]
    assert (listed["count"], entry["enabled"], entry["version"]) == (1, False, 1)
    assert (entry["path"], entry["scope"], entry["size"], listed["has_more"]) == (
        "notes/trip.md",
        "personal",
        len(NOTE),
        False,
    )
    read = await ada("read_workspace_memory_file", filename="notes/trip.md")
    assert (read["content"], read["total_lines"], read["resolved_from"]) == (NOTE, 5, "personal")
    assert (read["enabled"], read["size"]) == (False, len(NOTE))
    lines = await ada("memory_get", path="notes/trip.md", fromLine=3, lines=1)
    assert (lines["content"], lines["from_line"], lines["lines"]) == ("The quagga grazes at dawn.\n", 3, 1)
    edited = await ada("edit_workspace_memory_file", filename="notes/trip.md", old_text="at dawn", new_text="at dusk")
    assert (edited["replacements"], edited["version"], edited["scope"]) == (1, 2, "personal")
    assert (edited["enabled"], edited["bytes_written"]) == (False, len(NOTE))
    again = await ada("write_workspace_memory_file", filename="notes/trip.md", content=NOTE.replace("dawn", "dusk"))
    assert (again["created"], again["overwritten"]) == (False, True)
    hits = await ada("search_workspace_memory", query="quagga", limit=5)
    assert hits["total_hits"] == 1
    assert hits["hits"][0]["path"] == "notes/trip.md"
    assert hits["hits"][0]["line"] == 3
    assert "[[quagga]]" in hits["hits"][0]["snippet"]


async def test_a_passage_is_found_and_expanded(ada: Tools) -> None:
    await ada("write_workspace_memory_file", filename="notes/trip.md", content=NOTE)
    found = await ada("memory_search", query="Where is the quagga?", max_results=2)
    best = found["results"][0]
    assert best["text"].endswith("The quagga grazes at dawn.")
    assert (best["path"], best["start_line"], best["end_line"], best["scope"]) == ("notes/trip.md", 1, 3, "personal")
    assert best.keys() == {
        "id", "tier", "path", "start_line", "end_line", "text", "score", "scope", "updated_at",
    }  # fmt: skip
    expanded = await ada("memory_expand", id=best["id"])
    assert expanded["text"] == best["text"]
    assert [passage["text"] for passage in expanded["after"]] == ["The okapi hides at noon."]
    assert (expanded["path"], expanded["heading_path"], expanded["more_before"]) == ("notes/trip.md", ["Trip"], False)


async def test_a_fact_is_saved_corrected_and_forgotten(ada: Tools) -> None:
    saved = await ada("save_memory", content="Prefers tea to coffee in the morning.", category="preferences")
    assert (saved["saved"], saved["section"], saved["scope"]) == (True, "Preferences", "personal")
    assert "Prefers tea" in saved["preview"]
    code, message = await ada.refused("save_memory", content="prefers tea to coffee in the morning.")
    assert code == "duplicate_detected"
    assert "update_memory" in message
    updated = await ada("update_memory", oldText="tea to coffee", newText="coffee to tea")
    assert (updated["replacements"], updated["deleted"]) == (1, False)
    assert "Prefers coffee to tea" in (await ada("memory_get", path="MEMORY.md"))["content"]

    text = "Prefers coffee to tea in the morning."
    would = await ada("forget_memory", text=text)
    assert would["dry_run"] is True
    assert [item["path"] for item in would["items"]] == ["MEMORY.md"]
    assert text in (await ada("memory_get", path="MEMORY.md"))["content"]
    done = await ada("forget_memory", text=text, confirm=True)
    assert done["dry_run"] is False
    assert done["removed"]["document"]["files"] == 1
    assert text not in (await ada("memory_get", path="MEMORY.md"))["content"]


async def test_a_passage_is_forgotten_by_its_id(ada: Tools) -> None:
    await ada("write_workspace_memory_file", filename="notes/trip.md", content=NOTE)
    passage = (await ada("memory_search", query="okapi", max_results=1))["results"][0]
    done = await ada("forget_memory", id=passage["id"], confirm=True)
    assert "okapi" in done["items"][0]["text"]
    assert "okapi" not in (await ada("memory_get", path="notes/trip.md"))["content"]
    code, message = await ada.refused("memory_expand", id=passage["id"])
    assert code == "not_found"
    assert "memory_search" in message


async def test_writes_go_to_the_owner_if_there_is_one_and_else_to_the_team(ada: Tools, team: Tools) -> None:
    for tools, scope in ((ada, "personal"), (team, "team")):
        args = {"filename": "a.md", "content": f"quagga of the {scope}"}
        assert (await tools("write_workspace_memory_file", **args))["scope"] == scope
        assert (await tools("save_memory", content=f"Lives in the {scope} house."))["scope"] == scope
        assert (await tools("read_workspace_memory_file", filename="a.md"))["resolved_from"] == scope
    bo = Tools(ada.http, owner_key="user:bo")
    assert (await bo("read_workspace_memory_file", filename="a.md"))["content"] == "quagga of the team"
    assert "personal" not in str(await bo("memory_search", query="quagga house"))
    as_end_user = Tools(ada.http, end_user_id="zoe")
    assert (await as_end_user("write_workspace_memory_file", filename="z.md", content="z"))["scope"] == "personal"
    assert (await Tools(ada.http, owner_key="api:zoe")("memory_get", path="z.md"))["content"] == "z"


async def test_a_shared_file_is_not_edited_as_if_it_were_ones_own(ada: Tools, team: Tools) -> None:
    await team("write_workspace_memory_file", filename="a.md", content="quagga")
    code, message = await ada.refused(
        "edit_workspace_memory_file", filename="a.md", old_text="quagga", new_text="okapi"
    )
    assert code == "not_found"
    assert "is a team file" in message
    assert "write_workspace_memory_file" in message
    assert (await team("memory_get", path="a.md"))["content"] == "quagga"


async def test_the_tools_touch_markdown_only(ada: Tools) -> None:
    for path, text in (("a.json", "{}"), ("b.txt", "b"), ("c.md", "c")):
        await ada.http.put(f"/agents/wren/files/{path}", json={"content": text, "owner_key": OWNER})
    for tool, arguments in (
        ("memory_get", {"path": "a.json"}),
        ("read_workspace_memory_file", {"filename": "b.txt"}),
        ("write_workspace_memory_file", {"filename": "d.yaml", "content": "d"}),
        ("edit_workspace_memory_file", {"filename": "a.json", "old_text": "{}", "new_text": "[]"}),
    ):
        code, message = await ada.refused(tool, **arguments)
        assert (code, ".md" in message) == ("validation_error", True), tool
    listed = await ada("list_workspace_memory_files")
    assert {entry["path"] for entry in listed["files"]} == {"AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md", "c.md"}


async def test_the_systems_own_files_are_read_and_not_written(ada: Tools, runtime: Runtime) -> None:
    place = Place("default", "wren", "personal", OWNER)
    change = overwrite("_system/dreaming/a.md", "quagga", by="server", reason="dreaming")
    await runtime.pipeline.write(place, replace(change, reserved=True))
    assert (await ada("read_workspace_memory_file", filename="_system/dreaming/a.md"))["content"] == "quagga"
    for tool, more in (
        ("write_workspace_memory_file", {"content": "x"}),
        ("edit_workspace_memory_file", {"old_text": "quagga", "new_text": "x"}),
    ):
        code, message = await ada.refused(tool, filename="_system/dreaming/a.md", **more)
        assert code == "forbidden"
        assert "_system/" in message


async def test_a_long_list_is_cut_and_says_so(ada: Tools, runtime: Runtime) -> None:
    place = Place("default", "wren", "personal", OWNER)
    names = [f"n/{number:03}.{'txt' if number % 2 else 'md'}" for number in range(1060)]
    await runtime.pipeline.write_many(place, [overwrite(name, "x", by="test", reason="test") for name in names])
    listed = await ada("list_workspace_memory_files", filename_prefix="n/")
    assert [entry["path"] for entry in listed["files"]] == [n for n in sorted(names) if n.endswith(".md")][:200]
    assert listed["has_more"] is True
    few = await ada("list_workspace_memory_files", filename_prefix="n/1")
    assert (len(few["files"]), few["has_more"]) == (80, False)


async def test_what_is_wrong_with_a_call_is_told_to_the_model_with_what_to_do_next(ada: Tools) -> None:
    await ada("write_workspace_memory_file", filename="a.md", content="okapi okapi")
    await ada("save_memory", content="Likes the okapi. Really likes the okapi.")
    for tool, arguments, code, said in (
        ("memory_searching", {}, "not_found", "the tools are: memory_search, memory_get"),
        ("memory_search", {"query": " "}, "validation_error", "1 to 8000 characters"),
        ("memory_search", {"query": "x", "agent_id": "finch"}, "validation_error", "agent_id is not an argument"),
        ("memory_get", {"path": "b.md"}, "not_found", "list_workspace_memory_files"),
        ("memory_get", {"path": "../b.md"}, "validation_error", "segments"),
        ("memory_expand", {"id": "999999"}, "not_found", "memory_search"),
        ("save_memory", {"content": "  "}, "validation_error", "one short fact"),
        ("update_memory", {"old_text": "quagga", "new_text": ""}, "not_found", "memory_get"),
        (
            "update_memory",
            {"old_text": "likes the okapi", "new_text": "likes the okapi"},
            "validation_error",
            "differs",
        ),
        ("update_memory", {"old_text": "ikes the okapi", "new_text": "x"}, "ambiguous_match", "occurs once"),
        (
            "edit_workspace_memory_file",
            {"filename": "a.md", "old_text": "okapi", "new_text": "x"},
            "ambiguous_match",
            "replace_all",
        ),
        (
            "edit_workspace_memory_file",
            {"filename": "a.md", "old_text": "quagga", "new_text": "x"},
            "not_found",
            "read_workspace_memory_file",
        ),
        (
            "write_workspace_memory_file",
            {"filename": "a.md", "content": "x" * (1024 * 1024 + 1)},
            "payload_too_large",
            "several smaller files",
        ),
        ("forget_memory", {}, "validation_error", "exactly one of query, id and text"),
        ("forget_memory", {"id": "999999"}, "not_found", "memory_search"),
        ("search_workspace_memory", {"query": ""}, "validation_error", "1 to 8000 characters"),
    ):
        found, message = await ada.refused(tool, **arguments)
        assert (found, said in message) == (code, True), (tool, arguments, message)
    done = await ada("edit_workspace_memory_file", filename="a.md", oldText="okapi", newText="x", replaceAll=True)
    assert done["replacements"] == 2


async def test_an_unknown_agent_has_no_memory_yet_and_its_first_write_makes_it(ada: Tools) -> None:
    for tool, arguments in (("memory_search", {"query": "x"}), ("list_workspace_memory_files", {})):
        code, message = await ada.refused(tool, **arguments)
        assert (code, "Nothing has been stored" in message) == ("not_found", True)
    await ada("save_memory", content="Lives by the harbour in Thalvik.")
    assert (await ada("memory_search", query="harbour"))["results"]


async def test_memory_that_is_off_or_read_only_is_told_to_the_model(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren/files/a.md", json={"content": "quagga"})
    await client.put("/agents/member", json={"leader_agent_id": "wren"})
    member = Tools(client, "member", owner_key=OWNER)
    assert (await member("memory_get", path="a.md"))["resolved_from"] == "leader"
    for tool, arguments in (
        ("save_memory", {"content": "x"}),
        ("update_memory", {"old_text": "a", "new_text": "b"}),
        ("forget_memory", {"text": "quagga"}),
        ("write_workspace_memory_file", {"filename": "a.md", "content": "b"}),
        ("edit_workspace_memory_file", {"filename": "a.md", "old_text": "a", "new_text": "b"}),
    ):
        code, message = await member.refused(tool, **arguments)
        assert (code, "do not try again" in message) == ("read_only_member", True), tool
    await client.put("/agents/off", json={"settings": {"memory_enabled": False}})
    assert (await Tools(client, "off").refused("memory_search", query="x"))[0] == "memory_disabled"
    assert (await Tools(client, "off").refused("save_memory", content="x"))[0] == "memory_disabled"


async def test_a_member_expands_what_it_found_with_its_leader(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren/files/a.md", json={"content": NOTE})
    await client.put("/agents/member", json={"leader_agent_id": "wren"})
    member = Tools(client, "member", owner_key=OWNER)
    found = await member("memory_search", query="quagga")
    assert found["fallback"] == "leader"
    expanded = await member("memory_expand", id=found["results"][0]["id"])
    assert (expanded["resolved_from"], expanded["scope"]) == ("leader", "team")


async def test_what_is_wrong_with_the_request_itself_is_a_problem(
    client: httpx.AsyncClient, problem: Callable[..., Any]
) -> None:
    url = "/agents/wren/tools/memory_search"
    for body in (
        {"arguments": {"query": "x"}, "owner": "user:42"},
        {"arguments": {"query": "x"}, "owner_key": "nobody"},
        {"arguments": {"query": "x"}, "owner_key": "user:1", "end_user_id": "1"},
        [],
    ):
        problem(await client.post(url, json=body), 422, "validation_error")
    problem(
        await client.post(url, json={"arguments": {"query": "x"}}, params={"owner_key": OWNER}), 422, "validation_error"
    )
    problem(await client.post("/agents/a b/tools/memory_search", json={"arguments": {}}), 422, "validation_error")
    headers = {"Content-Type": "application/json"}
    malformed = await client.post(url, content=b"{", headers=headers)
    assert malformed.status_code in (400, 422)
    assert malformed.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("body", [{}, *({"arguments": wrong} for wrong in (5, "{}", [], True, None))])
async def test_arguments_that_are_no_object_or_not_there_are_told_to_the_model(
    ada: Tools, body: dict[str, Any]
) -> None:
    response = await ada.http.post("/agents/wren/tools/memory_search", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (200, "validation_error")


async def test_a_tool_without_arguments_needs_none(ada: Tools) -> None:
    await ada("save_memory", content="Keeps a quagga.")
    response = await ada.http.post("/agents/wren/tools/list_workspace_memory_files", json={"owner_key": OWNER})
    assert (response.status_code, response.json()["ok"]) == (200, True)


async def test_a_database_that_takes_no_writes_is_told_to_the_model_as_over_mcp(ada: Tools, conninfo: str) -> None:
    await ada("save_memory", content="Keeps a quagga.")
    with psycopg.connect(conninfo, autocommit=True) as operator:
        name = psycopg.sql.Identifier(operator.info.dbname)
        operator.execute(psycopg.sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        operator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    arguments = {"content": "Keeps an okapi."}
    code, message = await ada.refused("save_memory", **arguments)
    assert (code, "try again later" in message) == ("database_unavailable", True)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    answer = await ada.http.post(
        f"{str(ada.http.base_url).split('/api/')[0]}/mcp/wren",
        json={**call, "params": {"name": "save_memory", "arguments": arguments}},
        headers={"X-Reverie-Owner": OWNER, "Accept": "application/json"},
    )
    told = answer.json()["result"]["structuredContent"]
    assert told == {"ok": False, "error": {"code": code, "message": message}}
    assert "quagga" in (await ada("memory_get", path="MEMORY.md"))["content"]


async def test_keys_and_their_bounds(client: httpx.AsyncClient, runtime: Runtime, problem: Callable[..., Any]) -> None:
    call = {"arguments": {"query": "quagga"}}

    async def keyed(role: Any, tenant: str = "default", **bound: Any) -> httpx.AsyncClient:
        _, key = await runtime.keys.create(tenant, role, **bound)
        return httpx.AsyncClient(base_url=client.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    async with (
        await keyed("member") as member,
        await keyed("viewer") as viewer,
        await keyed("member", owner_key="user:ada") as ada,
        await keyed("member", agent_ids=["finch"]) as finch,
        await keyed("admin", tenant="umbra") as umbra,
    ):
        for path in ("/tools", "/agents/wren/tools/memory_search"):
            method = "GET" if path == "/tools" else "POST"
            refused = await client.request(method, path, json=None if method == "GET" else call)
            problem(refused, 401, "unauthorized")
            assert refused.headers["www-authenticate"] == "Bearer"
        write = {"filename": "a.md", "content": "The quagga of Ada."}
        await Tools(ada)("write_workspace_memory_file", **write)
        assert (await Tools(ada)("memory_get", path="a.md"))["resolved_from"] == "personal"
        problem(
            await ada.post("/agents/wren/tools/memory_search", json={**call, "owner_key": "user:bo"}), 403, "forbidden"
        )
        problem(await finch.post("/agents/wren/tools/memory_search", json=call), 403, "forbidden")
        code, message = await Tools(viewer).refused("write_workspace_memory_file", **write)
        assert (code, "do not try again" in message) == ("forbidden", True)
        assert await Tools(viewer)("memory_search", query="quagga")
        found = (await Tools(ada)("memory_search", query="quagga"))["results"][0]
        assert "Ada" in found["text"]
        assert (await Tools(member).refused("memory_expand", id=found["id"]))[0] == "not_found"
        assert (await Tools(umbra).refused("memory_search", query="quagga"))[0] == "not_found"
        await Tools(umbra)("write_workspace_memory_file", filename="b.md", content="okapi")
        assert (await Tools(umbra, owner_key="user:ada").refused("memory_expand", id=found["id"]))[0] == "not_found"
        assert "Ada" not in str(await Tools(umbra, owner_key="user:ada")("memory_search", query="quagga"))
        versions = (await ada.get("/agents/wren/files/a.md/versions")).json()["versions"]
        assert versions[0]["by"].startswith("key:")
        assert versions[0]["reason"] == "tool write_workspace_memory_file"


NASTY = [
    "", " ", "\0", "\ud800", "..", "/etc/passwd", "a.md\0", "a\n.md", "%2e%2e/a.md", "a" * 600 + ".md",
    "é" * 300 + ".md", "C:\\a.md", "_system/a.md", "' OR 1=1 --", "%s{0}$1", "[[x]]", "\u2028.md", "🦓", "x" * 9000,
    0, -1, 2**63, 1e308, None, True, [], {}, [[]], {"a": 1},
]  # fmt: skip


@pytest.mark.parametrize("tool", [tool.name for tool in REGISTRY])
async def test_whatever_a_model_writes_is_answered_and_never_fails(ada: Tools, tool: str) -> None:
    await ada("write_workspace_memory_file", filename="a.md", content=NOTE)
    entry = REGISTRY.get(tool)
    assert entry is not None
    names = list(entry.takes.model_fields)
    for name in names:
        for value in NASTY:
            others = {other: "a.md" for other in entry.schema["required"] if other != name}
            # By hand: a client library refuses to send a lone surrogate, which JSON can write.
            body = json.dumps({"arguments": {**others, name: value}, "owner_key": OWNER})
            response = await ada.http.post(
                f"/agents/wren/tools/{tool}", content=body, headers={"Content-Type": "application/json"}
            )
            assert response.status_code == 200, (name, value, response.text)
            assert response.json().keys() in ({"ok", "result"}, {"ok", "error"})
            assert "/work/" not in response.text
