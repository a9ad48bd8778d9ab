"""Keys, roles and bindings over HTTP; agents, their settings and their teams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from reverie_server.runtime import Runtime

Client = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def with_key(client: httpx.AsyncClient, runtime: Runtime) -> Client:
    """A client with a new key: role, and tenant, owner and agents it is bound to."""

    async def make(role: str, tenant: str = "default", **bound: Any) -> httpx.AsyncClient:
        _, key = await runtime.keys.create(tenant, role, **bound)  # type: ignore[arg-type]
        return httpx.AsyncClient(base_url=client.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

    return make


async def put(client: httpx.AsyncClient, path: str, content: str, agent: str = "wren", **body: Any) -> httpx.Response:
    return await client.put(f"/agents/{agent}/files/{path}", json={"content": content, **body})


async def search(client: httpx.AsyncClient, query: str, agent: str = "wren", **body: Any) -> httpx.Response:
    return await client.post(f"/agents/{agent}/memory/search", json={"query": query, **body})


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


async def test_a_server_is_open_until_its_first_key_and_never_again(
    client: httpx.AsyncClient, runtime: Runtime, with_key: Client
) -> None:
    assert (await put(client, "a.md", "lantern")).status_code == 201
    async with await with_key("member") as member:
        refused = await search(client, "lantern")
        assert code(refused) == (401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert (await search(member, "lantern")).status_code == 200
        [entry] = await runtime.keys.entries()
        await runtime.keys.revoke(entry.key_id)
        assert code(await search(member, "lantern")) == (401, "unauthorized")
        assert code(await search(client, "lantern")) == (401, "unauthorized"), "a revoked key does not open the server"


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer x", "Basic eDp5", "bearer rv_0123456789abcdef_" + "A" * 43, "Bearer rv_zz_" + "A" * 43],
)
async def test_a_wrong_key_is_401_whatever_is_wrong_with_it(
    client: httpx.AsyncClient, with_key: Client, header: str
) -> None:
    async with await with_key("admin"):
        response = await client.get("/agents", headers={"Authorization": header} if header else {})
        assert code(response) == (401, "unauthorized")


async def test_a_secret_of_another_key_does_not_fit(client: httpx.AsyncClient, runtime: Runtime) -> None:
    (one, first), (_, second) = [await runtime.keys.create("default", "admin") for _ in range(2)]
    mixed = f"rv_{one}_{second.split('_', 2)[2]}"
    assert first != mixed
    assert (await client.get("/agents", headers={"Authorization": f"Bearer {mixed}"})).status_code == 401


async def test_what_each_role_may_do(with_key: Client) -> None:
    async with await with_key("viewer") as viewer, await with_key("member") as member, await with_key("admin") as admin:
        assert code(await put(viewer, "a.md", "lantern")) == (403, "forbidden")
        assert (await put(member, "a.md", "lantern")).status_code == 201
        assert (await search(viewer, "lantern")).json()["count"] > 0
        assert code(await viewer.delete("/agents/wren/files/a.md")) == (403, "forbidden")
        assert code(await put(member, "g.md", "lantern", scope="global")) == (403, "forbidden")
        assert (await put(admin, "g.md", "lantern", scope="global")).status_code == 201
        for client in (viewer, member):
            assert code(await client.put("/agents/x", json={})) == (403, "forbidden")
            assert code(await client.delete("/agents/wren")) == (403, "forbidden")
        assert (await admin.put("/agents/x", json={})).status_code == 201


async def test_a_delete_of_everything_takes_no_parameter_that_would_be_ignored(with_key: Client) -> None:
    async with await with_key("admin") as admin:
        assert (await put(admin, "a.md", "lantern")).status_code == 201
        for params in ({"owner_key": "user:ada"}, {"dry_run": "true"}):
            assert code(await admin.delete("/agents/wren", params=params)) == (422, "validation_error")
            assert code(await admin.delete("/keys/0123456789abcdef", params=params)) == (422, "validation_error")
        assert (await search(admin, "lantern")).json()["count"] == 1
        assert (await admin.delete("/agents/wren")).status_code == 204


async def test_a_key_bound_to_an_owner_is_that_owner_whatever_the_request_says(with_key: Client) -> None:
    async with await with_key("member") as app, await with_key("member", owner_key="user:ada") as ada:
        await put(app, "ben.md", "lantern of Ben", owner_key="user:ben")
        assert (await put(ada, "ada.md", "lantern of Ada")).status_code == 201
        assert (await ada.get("/agents/wren/files/ada.md")).json()["owner_key"] == "user:ada"
        assert [r["text"] for r in (await search(ada, "lantern", mode="text")).json()["results"]] == ["lantern of Ada"]
        for refused in (
            await put(ada, "x.md", "x", owner_key="user:ben"),
            await put(ada, "x.md", "x", end_user_id="ben"),
            await search(ada, "lantern", owner_key="user:ben"),
            await ada.get("/agents/wren/files/ben.md", params={"owner_key": "user:ben"}),
            await ada.get("/agents/wren/files", params={"owner_key": "user:ben"}),
            await ada.delete("/agents/wren/files/ben.md", params={"owner_key": "user:ben"}),
        ):
            assert code(refused) == (403, "forbidden")
            assert "ben" not in refused.text.lower()


async def test_a_key_bound_to_agents_sees_no_others(with_key: Client) -> None:
    async with await with_key("admin") as admin, await with_key("admin", agent_ids=["wren"]) as bound:
        await put(admin, "a.md", "lantern", agent="wren")
        await put(admin, "a.md", "lantern", agent="crow")
        assert code(await search(bound, "lantern", agent="crow")) == (403, "forbidden")
        assert code(await put(bound, "a.md", "x", agent="crow")) == (403, "forbidden")
        assert code(await bound.get("/agents/crow")) == (403, "forbidden")
        assert code(await bound.delete("/agents/crow")) == (403, "forbidden")
        assert [a["agent_id"] for a in (await bound.get("/agents")).json()["agents"]] == ["wren"]


async def test_an_admin_who_is_bound_to_an_owner_changes_no_agent(with_key: Client) -> None:
    """Deleting it would delete, and ending its isolation would open, what others have with it."""
    async with await with_key("member") as app, await with_key("admin", owner_key="user:ada") as ada:
        await put(app, "ben.md", "lantern of Ben", owner_key="user:ben")
        assert code(await ada.delete("/agents/wren")) == (403, "forbidden")
        assert code(await ada.put("/agents/wren", json={"settings": {"memory_isolation": False}})) == (403, "forbidden")
        assert code(await ada.put("/agents/new", json={})) == (403, "forbidden")
        assert (await search(app, "lantern", owner_key="user:ben", mode="text")).json()["count"] == 1


async def test_a_key_bound_to_agents_makes_none_a_member_of_another(with_key: Client) -> None:
    """A member reads what its leader's team has."""
    async with await with_key("admin") as admin, await with_key("admin", agent_ids=["wren"]) as bound:
        await put(admin, "a.md", "lantern", agent="crow")
        await put(admin, "a.md", "trumpet", agent="wren")
        for leader in ("crow", "unknown"):
            refused = await bound.put("/agents/wren", json={"leader_agent_id": leader})
            assert code(refused) == (403, "forbidden")
        assert (await search(bound, "lantern", mode="text")).json()["count"] == 0
        assert (await admin.put("/agents/wren", json={"leader_agent_id": "crow"})).status_code == 200
        assert [r["text"] for r in (await search(bound, "lantern", mode="text")).json()["results"]] == ["lantern"]


async def test_tenants_share_nothing(with_key: Client) -> None:
    async with await with_key("admin", tenant="acme") as acme, await with_key("admin", tenant="zeta") as zeta:
        await put(acme, "a.md", "lantern of acme")
        await put(acme, "g.md", "lantern of all at acme", scope="global")
        assert code(await search(zeta, "lantern")) == (404, "not_found")
        await put(zeta, "z.md", "lantern of zeta")
        found = (await search(zeta, "lantern", mode="text")).json()["results"]
        assert [r["text"] for r in found] == ["lantern of zeta"]
        assert code(await zeta.get("/agents/wren/files/a.md")) == (404, "not_found")
        assert code(await zeta.get("/agents/wren/files/g.md")) == (404, "not_found")


async def test_an_agent_is_made_with_its_seeds_changed_and_deleted_with_all_its_memory(
    client: httpx.AsyncClient, conninfo: str
) -> None:
    import psycopg

    made = await client.put("/agents/wren", json={"name": "Wren", "settings": {"language": "de"}})
    assert (made.status_code, made.json()["settings"]) == (201, {"language": "german"})
    assert (await client.get("/agents/wren/files")).json()["count"] == 4
    changed = await client.put("/agents/wren", json={"settings": {"chunk_max_chars": 200}})
    assert (changed.status_code, changed.json()["settings"]) == (200, {"chunk_max_chars": 200})
    await put(client, "a.md", "lantern", owner_key="user:ada")
    await put(client, "a.md", "lantern", agent="crow")
    assert (await client.delete("/agents/wren")).status_code == 204
    assert code(await client.get("/agents/wren")) == (404, "not_found")
    assert code(await client.delete("/agents/wren")) == (404, "not_found")
    assert (await search(client, "lantern", agent="crow")).json()["results"][0]["text"] == "lantern"
    with psycopg.connect(conninfo) as connection:
        for table in ("documents", "versions", "chunks", "postings", "vectors", "slices"):
            others = "SELECT slice_id FROM slices WHERE agent_id = 'crow'"
            rows = connection.execute(f"SELECT count(*) FROM {table} WHERE slice_id NOT IN ({others})").fetchone()
            assert rows == (0,), table


@pytest.mark.parametrize(
    "settings",
    [
        {"text_weight": 0.5},
        {"user_boost": 3},
        {"chunk_max_chars": 0},
        {"language": "klingon"},
        {"time_zone": "Mars/Olympus"},
        {"no_such_setting": True},
        {"auto_inject_threshold": -0.1},
        {"inject_placement": "middle"},
    ],
)
async def test_a_setting_out_of_range_is_refused_and_changes_nothing(
    client: httpx.AsyncClient, settings: dict[str, Any]
) -> None:
    await client.put("/agents/wren", json={"settings": {"language": "german"}})
    assert code(await client.put("/agents/wren", json={"settings": settings})) == (422, "validation_error")
    assert (await client.get("/agents/wren")).json()["settings"] == {"language": "german"}


async def test_an_agents_own_settings_are_honoured(client: httpx.AsyncClient) -> None:
    own = {"language": "german", "text_weight": 1.0, "vector_weight": 0.0, "chunk_max_chars": 100}
    await client.put("/agents/wren", json={"settings": own})
    written = (await put(client, "a.md", "Die Rechnungen der Kinder liegen im Schrank. " * 5)).json()
    assert written["chunk_count"] > 2, "cut at 100 characters"
    answer = (await search(client, "Rechnung", explain=True, max_results=1)).json()
    explained = answer["results"][0]["explain"]
    assert explained["matched_terms"] == ["rechnung"], "stemmed in German on both sides"
    assert (explained["text_weight"], explained["vector_weight"]) == (1.0, 0.0)


async def test_memory_that_is_switched_off_is_neither_read_nor_written(client: httpx.AsyncClient) -> None:
    await put(client, "a.md", "lantern")
    await client.put("/agents/wren", json={"settings": {"memory_enabled": False}})
    for refused in (
        await put(client, "a.md", "x"),
        await search(client, "lantern"),
        await client.get("/agents/wren/files/a.md"),
        await client.get("/agents/wren/files"),
        await client.get("/agents/wren/files/a.md/versions"),
        await client.delete("/agents/wren/files/a.md"),
    ):
        assert code(refused) == (403, "memory_disabled")


async def test_without_isolation_every_write_is_the_teams(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren", json={"settings": {"memory_isolation": False}})
    await put(client, "a.md", "lantern", owner_key="user:ada")
    assert (await client.get("/agents/wren/files/a.md")).json()["scope"] == "team"
    response = await client.post("/agents/wren/files/a.md/writes", json={
        "strategy": "append", "content": "more", "owner_key": "user:ben", "scope": "personal"})  # fmt: skip
    assert response.status_code == 200
    assert (await client.get("/agents/wren/files/a.md")).json()["content"] == "lantern\n\nmore\n"


async def test_a_team_member_reads_what_its_leader_shares_and_writes_nothing(client: httpx.AsyncClient) -> None:
    await put(client, "plan.md", "the lantern plan", agent="lead")
    await put(client, "own.md", "the lantern of the boss", agent="lead", owner_key="user:boss")
    await put(client, "all.md", "the lantern of all", agent="lead", scope="global")
    made = await client.put("/agents/member", json={"leader_agent_id": "lead"})
    assert (made.status_code, made.json()["leader_agent_id"]) == (201, "lead")

    assert code(await put(client, "a.md", "x", agent="member")) == (403, "read_only_member")
    refused = await client.patch("/agents/member/files/plan.md", json={"old_text": "a", "new_text": "b"})
    assert refused.json()["detail"] == "memory is read-only for team members"

    file = (await client.get("/agents/member/files/plan.md")).json()
    assert (file["content"], file["resolved_from"]) == ("the lantern plan", "leader")
    assert (await client.get("/agents/member/files/all.md")).json()["resolved_from"] == "global"
    for owner in ({}, {"owner_key": "user:boss"}):
        assert (await client.get("/agents/member/files/own.md", params=owner)).status_code == 404

    answer = (await search(client, "plan", agent="member", owner_key="user:boss", mode="text")).json()
    assert (answer["fallback"], [r["text"] for r in answer["results"]]) == ("leader", ["the lantern plan"])
    found = (await search(client, "boss", agent="member", owner_key="user:boss", mode="text")).json()["results"]
    assert not any("boss" in result["text"] for result in found)


async def test_who_may_lead(client: httpx.AsyncClient) -> None:
    await client.put("/agents/lead", json={})
    await client.put("/agents/member", json={"leader_agent_id": "lead"})
    assert code(await client.put("/agents/x", json={"leader_agent_id": "nobody"})) == (422, "validation_error")
    assert code(await client.put("/agents/x", json={"leader_agent_id": "x"})) == (422, "validation_error")
    assert code(await client.put("/agents/x", json={"leader_agent_id": "member"})) == (422, "validation_error")
    assert code(await client.put("/agents/lead", json={"leader_agent_id": "x"})) == (422, "validation_error")
    await client.put("/agents/boss", json={})
    assert code(await client.put("/agents/lead", json={"leader_agent_id": "boss"})) == (409, "conflict")
    assert code(await client.delete("/agents/lead")) == (409, "conflict")
    assert (await client.delete("/agents/member")).status_code == 204
    assert (await client.delete("/agents/lead")).status_code == 204


async def test_agents_are_listed_in_pages(client: httpx.AsyncClient) -> None:
    for name in ("c", "a", "b"):
        await client.put(f"/agents/{name}", json={"leader_agent_id": None})
    first = (await client.get("/agents", params={"limit": 2})).json()
    second = (await client.get("/agents", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [a["agent_id"] for a in first["agents"] + second["agents"]] == ["a", "b", "c"]
    assert second["next_cursor"] is None


async def test_a_path_that_is_not_utf_8_is_refused_and_not_read_as_another(client: httpx.AsyncClient) -> None:
    response = await client.put("/agents/wren/files/%ff%fe.md", json={"content": "x"})
    assert code(response) == (422, "validation_error")


@pytest.mark.parametrize("wrong", [{"enabled": "yes"}, {"enabled": 1}, {"sort_order": "1"}, {"sort_order": 1.5}])
async def test_json_of_another_type_is_refused(client: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    assert code(await put(client, "a.md", "x", **wrong)) == (422, "validation_error")


async def test_head_is_answered_like_get_without_its_body(client: httpx.AsyncClient) -> None:
    await put(client, "a.md", "lantern")
    head = await client.head("/agents/wren/files/a.md")
    get = await client.get("/agents/wren/files/a.md")
    assert (head.status_code, head.headers["etag"], head.content) == (200, get.headers["etag"], b"")
    assert (await client.head("/agents/wren/files/none.md")).status_code == 404


async def test_a_query_of_a_thousand_identifiers_is_answered(client: httpx.AsyncClient) -> None:
    """Each was a pattern compiled anew for each passage, in the event loop."""
    await put(client, "a.md", "\n\n".join(f"see w{n} there" for n in range(100)))
    answer = (await search(client, " ".join(f"w{n}" for n in range(1300)), min_score=0.9, max_results=100)).json()
    assert answer["count"] == 100, "every passage holds an identifier of the query to the letter"


@pytest.mark.parametrize(
    ("headers", "status", "code_word"),
    [
        ({"Host": "evil.example:8077"}, 421, "misdirected_request"),
        ({"Origin": "https://evil.example"}, 403, "forbidden"),
        ({"Origin": "null"}, 403, "forbidden"),
        ({"Host": "localhost:1", "Origin": "http://localhost:3000"}, 200, None),
    ],
)
async def test_an_open_server_answers_no_web_page_of_another_site(
    client: httpx.AsyncClient, with_key: Client, headers: dict[str, str], status: int, code_word: str | None
) -> None:
    """A page may let a name of its own point to loopback (DNS rebinding); it has no key."""
    response = await client.get("/agents", headers=headers)
    assert (response.status_code, response.json().get("code")) == (status, code_word)
    async with await with_key("viewer") as keyed:
        assert (await keyed.get("/agents", headers=headers)).status_code == 200


async def test_a_member_sees_its_leaders_files_until_the_leaders_memory_is_switched_off(with_key: Client) -> None:
    async with await with_key("admin") as admin:
        await put(admin, "shared.md", "lantern of the team", agent="crow")
        await put(admin, "own.md", "lantern of Ada", agent="crow", owner_key="user:ada")
        await admin.put("/agents/wren", json={"leader_agent_id": "crow"})

        async def listed(**query: Any) -> list[str]:
            return [f["path"] for f in (await admin.get("/agents/wren/files", params=query)).json()["files"]]

        everything = await listed()
        assert "shared.md" in everything
        assert "own.md" not in everything
        pages, cursor = [], {}
        while True:
            page = (await admin.get("/agents/wren/files", params={"limit": 2, **cursor})).json()
            assert page["count"] == len(everything)
            pages += [f["path"] for f in page["files"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert pages == everything
        await admin.put("/agents/crow", json={"settings": {"memory_enabled": False}})
        assert await listed() == []
        assert await listed(owner_key="*") == []
        assert code(await admin.get("/agents/wren/files/shared.md")) == (404, "not_found")
        assert (await search(admin, "lantern", mode="text")).json()["count"] == 0


async def test_agents_are_found_by_a_part_of_their_id_or_name(client: httpx.AsyncClient) -> None:
    for agent, name in (("wren", "Kitchen"), ("finch", "Garden")):
        await client.put(f"/agents/{agent}", json={"name": name})
    for part, expected in (("WR", ["wren"]), ("garden", ["finch"]), ("n", ["finch", "wren"]), ("%", []), ("_", [])):
        found = (await client.get("/agents", params={"q": part})).json()["agents"]
        assert [agent["agent_id"] for agent in found] == expected, part
    assert code(await client.get("/agents", params={"q": ""})) == (422, "validation_error")
