"""The routes of the knowledge graph and its tool."""

from __future__ import annotations

import httpx
from tests.conftest import ServeRuntime
from tests.graphs import Graph, answer, answers, day, thing
from tests.scripted_model import ScriptedModel
from tests.talks import ADA

from reverie_server.runtime import Runtime

BASE = "/api/v1/agents/wren/graph"
MINE = {"owner_key": ADA}


def codes(responses: list[httpx.Response]) -> list[tuple[int, str]]:
    return [(response.status_code, response.json()["code"]) for response in responses]


async def test_the_graph_over_http(talking: Runtime, scripted: ScriptedModel, serve_runtime: ServeRuntime) -> None:
    graph = Graph(talking)
    answers(
        scripted,
        answer(("Ada", "works_on", "Reverie"), ("Reverie", "depends_on", "PostgreSQL"), ("Ada", "reports_to", "Bo")),
        answer(("Ada", "reports_to", "Cy"), entities=[thing("Ada", aliases=["Countess"])]),
    )
    await graph.hear("Ada works on Reverie.", day(0))
    await graph.hear("Ada reports to Cy.", day(30))
    async with httpx.AsyncClient(base_url=await serve_runtime(talking), timeout=30) as client:
        found = await client.post(f"{BASE}/search", json={"query": "Ada", "as_of": day(5).isoformat(), **MINE})
        assert found.status_code == 200
        body = found.json()
        assert set(body["paths"]) == {
            "Ada -works_on-> Reverie",
            "Ada -reports_to-> Bo",
            "Ada -works_on-> Reverie -depends_on-> PostgreSQL",
        }
        first = body["entities"][0]
        assert (first["name"], first["type"], first["depth"], first["scope"]) == ("Ada", "person", 0, "personal")
        [bo] = [relation for relation in body["relations"] if relation["target"] == "Bo"]
        assert (bo["valid_from"], bo["valid_to"], bo["source_id"]) == (
            "2026-01-01T12:00:00Z",
            "2026-01-31T12:00:00Z",
            first["id"],
        )
        assert (body["truncated"], body["fallback"], body["warnings"]) == (False, None, [])

        listed = (await client.get(f"{BASE}/entities", params={**MINE, "limit": 2})).json()
        rest = (await client.get(f"{BASE}/entities", params={**MINE, "cursor": listed["next_cursor"]})).json()
        names = [entity["name"] for entity in [*listed["entities"], *rest["entities"]]]
        assert (names, rest["next_cursor"]) == (["Ada", "Bo", "Cy", "PostgreSQL", "Reverie"], None)
        people = (await client.get(f"{BASE}/entities", params={**MINE, "entity_type": "person"})).json()["entities"]
        assert [entity["name"] for entity in people] == ["Ada", "Bo", "Cy"]
        detail = (await client.get(f"{BASE}/entities/{first['id']}", params=MINE)).json()
        assert [(r["target"], r["valid_to"] is None) for r in detail["relations"]] == [
            ("Cy", True),
            ("Reverie", True),
            ("Bo", False),
        ]
        assert detail["relations"][0]["sources"][0]["episode_id"] == "ep-2"
        assert (detail["prompt"], detail["prompt_version"], detail["model"]) == ("semantic", "1", "scripted")
        assert [len(source["messages"]) for source in detail["sources"]] == [1, 1]

        keep, absorb = (entity["id"] for entity in people[1:])
        merged = await client.post(f"{BASE}/merge", json={"keep": keep, "absorb": absorb, **MINE})
        assert (merged.status_code, merged.json()["entity"]["aliases"]) == (200, ["Cy"])
        merge_id = merged.json()["merge_id"]
        undone = await client.post(f"{BASE}/merges/{merge_id}/undo", json=MINE)
        assert (undone.json()["kept"]["name"], undone.json()["restored"]["name"]) == ("Bo", "Cy")
        pairs = (await client.get(f"{BASE}/duplicates", params={**MINE, "state": "dismissed"})).json()["duplicates"]
        [pair] = [pair for pair in pairs if {pair["first"]["name"], pair["second"]["name"]} == {"Bo", "Cy"}]
        dismissed = await client.post(f"{BASE}/duplicates/{pair['id']}/dismiss", json=MINE)
        assert (dismissed.status_code, dismissed.json()["state"]) == (200, "dismissed")
        assert (await client.get(f"{BASE}/duplicates", params=MINE)).json() == {"duplicates": [], "next_cursor": None}

        refused = [
            await client.post(f"{BASE}/search", json=MINE),
            await client.post(f"{BASE}/search", json={"query": "Ada", "max_depth": 6}),
            await client.post(f"{BASE}/search", json={"query": "Ada", "entity_type": "city"}),
            await client.post(f"{BASE}/search", json={"query": "Ada", "depth": 2}),
            await client.post(f"{BASE}/search", json={"query": "Ada", "as_of": "yesterday"}),
            await client.post(f"{BASE}/search", json={"entity_id": first["id"]}),
            await client.get(f"{BASE}/entities/{first['id']}"),
            await client.post(f"{BASE}/merge", json={"keep": keep, "absorb": keep, **MINE}),
            await client.post(f"{BASE}/merge", json={"keep": keep, "absorb": "nobody", **MINE}),
            await client.post(f"{BASE}/merges/{merge_id}/undo", json=MINE),
            await client.post(f"{BASE}/duplicates/dup-99/dismiss", json=MINE),
            await client.post("/api/v1/agents/unknown/graph/search", json={"query": "Ada"}),
        ]
        invalid, missing = (422, "validation_error"), (404, "not_found")
        assert codes(refused) == [
            *[invalid] * 5,
            missing,
            missing,
            invalid,
            missing,
            (409, "conflict"),
            missing,
            missing,
        ]


async def test_the_tool_tells_names_types_and_times_and_reads_both_spellings(
    runtime: Runtime, client: httpx.AsyncClient
) -> None:
    await Graph(runtime).hear("Ada works on Reverie. Ada works at Acme.", day(0))
    await Graph(runtime).hear("Ada works at Globex.", day(9))

    async def call(**arguments: object) -> dict[str, object]:
        response = await client.post("/agents/wren/tools/knowledge_graph_search", json={"arguments": arguments, **MINE})
        assert response.status_code == 200
        found: dict[str, object] = response.json()
        return found

    for arguments in ({"asOf": "2026-01-05", "maxDepth": 1}, {"as_of": "2026-01-05T00:00:00Z", "max_depth": 1}):
        answered = await call(query="Ada", **arguments)
        assert answered["ok"], answered
        result = answered["result"]
        assert isinstance(result, dict)
        assert result["entities"][0] == {"id": "ent-1", "name": "Ada", "type": "person"}
        assert sorted(result["relations"], key=lambda relation: relation["target"]) == [
            {
                "source": "Ada",
                "name": "based_at",
                "target": "Acme",
                "from": "2026-01-01T12:00:00Z",
                "until": "2026-01-10T12:00:00Z",
            },
            {"source": "Ada", "name": "works_on", "target": "Reverie", "from": "2026-01-01T12:00:00Z"},
        ]
        assert sorted(result["paths"]) == ["Ada -based_at-> Acme", "Ada -works_on-> Reverie"]
        assert set(result) == {"entities", "relations", "paths"}
    assert (await call(entityId="ent-1"))["ok"]
    for wrong, code in (
        ({}, "validation_error"),
        ({"query": "Ada", "as_of": "long ago"}, "validation_error"),
        ({"query": "Ada", "max_depth": 9}, "validation_error"),
        ({"entity_id": "ent-77"}, "not_found"),
    ):
        error = (await call(**wrong))["error"]
        assert isinstance(error, dict)
        assert error["code"] == code
    listed = (await client.get("/tools", params={"format": "anthropic"})).json()
    [tool] = [one for one in listed["tools"] if one["name"] == "knowledge_graph_search"]
    schema = tool["input_schema"]["properties"]
    assert (schema["as_of"]["type"], schema["max_depth"]["default"], len(schema["entity_type"]["enum"])) == (
        "string",
        2,
        10,
    )
