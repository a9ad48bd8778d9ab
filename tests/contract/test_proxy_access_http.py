"""Who may use the proxy for what, and what is said to whom who may not."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest
from pydantic import SecretStr
from tests.conftest import ServeRuntime
from tests.contract.conftest import check_problem
from tests.proxied import FACT, OWNER, QUESTION, Served, ask, user
from tests.scripted_model import ScriptedModel

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

CHAT = {"messages": [user(QUESTION)]}


async def key_of(served: Served, role: str = "member", **bound: Any) -> str:
    _, key = await served.runtime.keys.create("default", role, **bound)  # type: ignore[arg-type]
    return key


async def test_without_a_provider_it_says_so_in_both_forms(client: httpx.AsyncClient) -> None:
    url = str(client.base_url).replace("/api/v1", "/v1/chat/completions").rstrip("/")
    body = check_problem(await client.post(url, json=CHAT), 503, "llm_not_configured")
    assert body["error"] == {
        "message": body["detail"],
        "type": "server_error",
        "param": None,
        "code": "llm_not_configured",
    }


async def test_a_wrong_key_is_refused_as_clients_expect(served: Served, scripted: ScriptedModel) -> None:
    await key_of(served)
    with pytest.raises(openai.AuthenticationError) as failed:
        await ask(served.client(key="rv_wrong"))
    assert failed.value.code == "unauthorized"
    check_problem(
        httpx.Response(401, headers=dict(failed.value.response.headers), content=failed.value.response.content),
        401,
        "unauthorized",
    )
    assert scripted.requests == []


async def test_a_bound_key_names_no_other_owner_or_agent(served: Served, scripted: ScriptedModel) -> None:
    key = await key_of(served, owner_key=OWNER, agent_ids=["wren"])
    for headers in ({"X_Reverie_Owner": "user:7"}, {"X_Reverie_Agent": "lark"}, {"X_Reverie_End_User": "42"}):
        with pytest.raises((openai.PermissionDeniedError, openai.UnprocessableEntityError)):
            await ask(served.client(key=key, **headers))
    with pytest.raises(openai.PermissionDeniedError) as failed:
        await ask(served.client(key=key, X_Reverie_Owner="user:7"))
    assert failed.value.code == "forbidden"
    assert scripted.requests == []


async def test_a_bound_key_needs_no_headers(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    key = await key_of(served, owner_key=OWNER, agent_ids=["wren"])
    served.api.headers["Authorization"] = f"Bearer {key}"
    nobody = {"X_Reverie_Agent": "", "X_Reverie_Owner": "", "X_Reverie_Session": "web:7"}
    answer = await ask(served.client(key=key, **nobody))
    assert answer.headers["X-Reverie-Injected"] == "1"
    assert FACT in scripted.requests[0].texts("system")
    assert await served.said("web:7") == [("user", QUESTION), ("assistant", "Noted.")]


async def test_a_key_of_several_agents_names_one(served: Served) -> None:
    key = await key_of(served, agent_ids=["wren", "lark"])
    with pytest.raises(openai.UnprocessableEntityError, match="X-Reverie-Agent"):
        await ask(served.client(key=key, X_Reverie_Agent=""))


async def test_nobody_sees_what_belongs_to_another(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    for headers in ({"X_Reverie_Owner": "user:7"}, {"X_Reverie_Owner": ""}, {"X_Reverie_Agent": "lark"}):
        await ask(served.client(**headers))
    assert not any(FACT in asked.texts() for asked in scripted.requests)
    await ask(served.client(X_Reverie_Owner="", X_Reverie_End_User="7"), user("I live in Oslo."))
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    rows = await served.runtime.database.maintenance_query(
        b"SELECT agent_id, owner_key FROM sessions ORDER BY agent_id, owner_key NULLS FIRST", {}
    )
    assert [(row["agent_id"], row["owner_key"]) for row in rows] == [
        ("lark", OWNER),
        ("wren", None),
        ("wren", "api:7"),
        ("wren", "user:7"),
    ]


async def owners(served: Served) -> list[str | None]:
    """Whose sessions there are."""
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    rows = await served.runtime.database.maintenance_query(
        b"SELECT owner_key FROM sessions ORDER BY owner_key NULLS FIRST", {}
    )
    return [row["owner_key"] for row in rows]


async def test_the_body_names_the_owner_where_no_header_does(served: Served, scripted: ScriptedModel) -> None:
    nobody = {"X_Reverie_Owner": ""}
    put = {"content": f"{FACT}\n", "owner_key": "api:ada"}
    assert (await served.api.put("/agents/wren/files/memory/2026-04-03.md", json=put)).status_code == 201
    await ask(served.client(**nobody), user="ada")
    await ask(served.client(**nobody), extra_body={"endUserId": "ada", "user": "hash-of-somebody"})
    await ask(served.client(**nobody), user="ben")
    assert [FACT in asked.texts() for asked in scripted.requests] == [True, True, False]
    # `user` is the provider's own field, `endUserId` is not.
    assert [asked.body.get("user") for asked in scripted.requests] == ["ada", "hash-of-somebody", "ben"]
    assert not any("endUserId" in asked.body for asked in scripted.requests)
    await ask(served.client(), user="cleo", extra_body={"endUserId": "dora"})
    await ask(served.client(X_Reverie_Owner="", X_Reverie_End_User="42"), user="cleo")
    assert await owners(served) == ["api:42", "api:ada", "api:ben", OWNER]


async def test_a_required_owner_may_be_the_bodys(served: Served) -> None:
    await served.api.put("/agents/wren", json={"settings": {"require_owner": True}})
    with pytest.raises(openai.UnprocessableEntityError) as failed:
        await ask(served.client(X_Reverie_Owner=""))
    assert failed.value.code == "owner_required"
    await ask(served.client(X_Reverie_Owner=""), user="ada")
    assert await owners(served) == ["api:ada"]


@pytest.mark.parametrize("named", [{"user": ""}, {"user": 42}, {"endUserId": ["ada"]}, {"user": "a\nb"}])
async def test_an_end_user_who_can_be_none_is_refused_and_not_the_team(
    served: Served, scripted: ScriptedModel, named: dict[str, Any]
) -> None:
    with pytest.raises(openai.UnprocessableEntityError):
        await ask(served.client(X_Reverie_Owner=""), extra_body=named)
    assert scripted.requests == []
    # Where a header says it, the body is the provider's matter.
    await ask(served.client(), extra_body=named)
    assert await owners(served) == [OWNER]


async def test_a_bound_key_is_no_other_end_user(served: Served, scripted: ScriptedModel) -> None:
    key = await key_of(served, owner_key="api:ada")
    for named in ({"user": "ben"}, {"endUserId": "ben"}):
        with pytest.raises(openai.PermissionDeniedError):
            await ask(served.client(key=key, X_Reverie_Owner=""), extra_body=named)
    assert scripted.requests == []
    await ask(served.client(key=key, X_Reverie_Owner=""), user="ada")
    assert await owners(served) == ["api:ada"]


async def test_without_headers_it_is_the_default_agents_shared_memory(served: Served) -> None:
    await ask(served.client(X_Reverie_Agent="", X_Reverie_Owner="", X_Reverie_Session="web:7"))
    assert served.runtime.proxy is not None
    await served.runtime.proxy.idle()
    answer = await served.api.get("/agents/default/sessions/web:7")
    assert answer.json()["owner_key"] is None


async def test_an_open_server_hands_the_callers_key_on(served: Served, scripted: ScriptedModel) -> None:
    await ask(served.client(key="sk-of-the-provider"))
    assert scripted.requests[0].headers["authorization"] == "Bearer sk-of-the-provider"
    assert not any(name.startswith("x-reverie") for name in scripted.requests[0].headers)


async def test_a_key_of_this_server_stays_here(served: Served, scripted: ScriptedModel) -> None:
    key = await key_of(served)
    await ask(served.client(key=key))
    assert key not in str(scripted.requests[0].headers)


async def test_the_servers_own_key_comes_first(
    database: Database, models: ModelSlot, scripted: ScriptedModel, serve_runtime: ServeRuntime
) -> None:
    settings = Settings(
        embedder="hashing", llm_base_url=scripted.base_url, llm_model="m", llm_api_key=SecretStr("sk-own")
    )
    runtime: Runtime = assemble(settings, database, models)
    async with httpx.AsyncClient(base_url=await serve_runtime(runtime)) as http:
        answer = await http.post("/v1/chat/completions", json=CHAT, headers={"Authorization": "Bearer sk-callers"})
    assert answer.status_code == 200
    assert scripted.requests[0].headers["authorization"] == "Bearer sk-own"
    assert runtime.proxy is not None
    assert runtime.llm is not None
    await runtime.proxy.aclose()
    await runtime.llm.aclose()


REFUSED = [
    (b"", 400, "bad_request"),
    (b'{"messages": [', 400, "bad_request"),
    (b"[" * 100_000, 422, "validation_error"),
    (b"[" * 101, 422, "validation_error"),
    (b"[" * 100, 400, "bad_request"),
    (b'{"messages": [{"role": "user", "content": "Hi"}], "top_p": NaN}', 400, "bad_request"),
    (b'{"messages": [{"role": "user", "content": "Hi"}], "top_p": 1e999}', 400, "bad_request"),
    (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', 422, "validation_error"),
    (b"[]", 422, "validation_error"),
    (b"{}", 422, "validation_error"),
    (b'{"messages": [{"role": "king", "content": "Hi"}]}', 422, "validation_error"),
]
MISNAMED = [
    {"X-Reverie-Agent": "a/b"},
    {"X-Reverie-Owner": "nobody"},
    {"X-Reverie-Owner": "user:1", "X-Reverie-End-User": "2"},
    {"X-Reverie-Session": "a b"},
    {"X-Reverie-Session": ""},
]


async def test_what_is_no_request_is_a_problem_that_clients_show(served: Served, scripted: ScriptedModel) -> None:
    for content, status, code in REFUSED:
        answer = await served.api.post(f"{served.base_url}/v1/chat/completions", content=content)
        body = check_problem(answer, status, code)
        assert body["error"]["code"] == code
        assert body["error"]["type"] == "invalid_request_error"
    for headers in MISNAMED:
        answer = await served.api.post(f"{served.base_url}/v1/chat/completions", json=CHAT, headers=headers)
        check_problem(answer, 422, "validation_error")
    assert scripted.requests == []


async def test_a_web_page_of_another_site_is_refused(served: Served, scripted: ScriptedModel) -> None:
    url = f"{served.base_url}/v1/chat/completions"
    check_problem(await served.api.post(url, json=CHAT, headers={"Origin": "https://evil.example"}), 403, "forbidden")
    assert scripted.requests == []


async def test_a_picture_larger_than_other_bodies_passes_and_a_body_without_end_does_not(
    served: Served, scripted: ScriptedModel
) -> None:
    url = f"{served.base_url}/v1/chat/completions"
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "a" * 9_000_000}}
    answer = await served.api.post(url, json={"messages": [user([picture])]})
    assert answer.status_code == 200
    assert scripted.requests[0].messages[-1] == user([picture])
    too_large = await served.api.post(url, content=b" " * (32 * 1024 * 1024 + 1))
    check_problem(too_large, 413, "payload_too_large")
