"""The routes of the knowledge graph and its tool."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from tests.conftest import ServeRuntime
from tests.graphs import Graph, answer, answers, day, thing
from tests.scripted_model import ScriptedModel
from tests.talks import ADA

from reverie_server.runtime import Runtime

BASE = "/api/v1/agents/wren/graph"
MINE = {"owner_key": ADA}


def codes(responses: list[httpx.Response]) -> list[tuple[int, str]]:
    return [(response.status_code, response.json()["code"]) for response in responses]


@pytest.fixture
async def ada(
    talking: Runtime, scripted: ScriptedModel, serve_runtime: ServeRuntime
) -> AsyncIterator[httpx.AsyncClient]:
    """A client over Ada's graph in which Ada has reported to Bo, and since day 30 reports to Cy."""
    graph = Graph(talking)
    answers(
        scripted,
        answer(("Ada", "works_on", "Reverie"), ("Reverie", "depends_on", "PostgreSQL"), ("Ada", "reports_to", "Bo")),
        answer(("Ada", "reports_to", "Cy"), entities=[thing("Ada", aliases=["Countess"])]),
    )
    await graph.hear("Ada works on Reverie. She told Bo of PostgreSQL.", day(0))
    await graph.hear("Ada reports to Cy.", day(30))
    async with httpx.AsyncClient(base_url=await serve_runtime(talking), timeout=30) as client:
        yield client


async def ids_by_name(ada: httpx.AsyncClient) -> dict[str, str]:
    listed = (await ada.get(f"{BASE}/entities", params=MINE)).json()["entities"]
    return {entity["name"]: entity["id"] for entity in listed}


async def test_a_search_shows_the_paths_and_periods_of_a_day(ada: httpx.AsyncClient) -> None:
    response = await ada.post(f"{BASE}/search", json={"query": "Ada", "as_of": day(5).isoformat(), **MINE})
    assert response.status_code == 200
    body = response.json()
    assert set(body["paths"]) == {
        "Ada -works_on-> Reverie",
        "Ada -reports_to-> Bo",
        "Ada -works_on-> Reverie -depends_on-> PostgreSQL",
    }
    first = body["entities"][0]
    assert (first["name"], first["type"], first["depth"], first["scope"]) == ("Ada", "person", 0, "personal")
    [bo] = [relation for relation in body["relations"] if relation["target"] == "Bo"]
    assert (bo["valid_from"], bo["valid_to"]) == ("2026-01-01T12:00:00Z", "2026-01-31T12:00:00Z")
    assert bo["source_id"] == first["id"]
    assert (body["truncated"], body["fallback"], body["warnings"]) == (False, None, [])


async def test_entities_are_listed_by_pages_and_by_type(ada: httpx.AsyncClient) -> None:
    first = (await ada.get(f"{BASE}/entities", params={**MINE, "limit": 2})).json()
    rest = (await ada.get(f"{BASE}/entities", params={**MINE, "cursor": first["next_cursor"]})).json()
    names = [entity["name"] for entity in [*first["entities"], *rest["entities"]]]
    assert (names, rest["next_cursor"]) == (["Ada", "Bo", "Cy", "PostgreSQL", "Reverie"], None)
    people = (await ada.get(f"{BASE}/entities", params={**MINE, "entity_type": "person"})).json()["entities"]
    assert [entity["name"] for entity in people] == ["Ada", "Bo", "Cy"]


async def test_an_entity_has_its_relations_the_current_first_and_their_sources(ada: httpx.AsyncClient) -> None:
    entity_id = (await ids_by_name(ada))["Ada"]
    detail = (await ada.get(f"{BASE}/entities/{entity_id}", params=MINE)).json()
    assert [(relation["target"], relation["valid_to"] is None) for relation in detail["relations"]] == [
        ("Cy", True),
        ("Reverie", True),
        ("Bo", False),
    ]
    assert detail["relations"][0]["sources"][0]["episode_id"] == "ep-2"
    assert (detail["prompt"], detail["prompt_version"], detail["model"]) == ("semantic", "2", "scripted")
    assert [len(source["messages"]) for source in detail["sources"]] == [1, 1]


async def test_a_merge_is_undone_and_its_pair_dismissed(ada: httpx.AsyncClient) -> None:
    ids = await ids_by_name(ada)
    merged = await ada.post(f"{BASE}/merge", json={"keep": ids["Bo"], "absorb": ids["Cy"], **MINE})
    assert (merged.status_code, merged.json()["entity"]["aliases"]) == (200, ["Cy"])
    undo = f"{BASE}/merges/{merged.json()['merge_id']}/undo"
    undone = (await ada.post(undo, json=MINE)).json()
    assert (undone["kept"]["name"], undone["restored"]["name"]) == ("Bo", "Cy")
    assert codes([await ada.post(undo, json=MINE)]) == [(409, "conflict")]
    pairs = (await ada.get(f"{BASE}/duplicates", params={**MINE, "state": "dismissed"})).json()["duplicates"]
    [pair] = [pair for pair in pairs if {pair["first"]["name"], pair["second"]["name"]} == {"Bo", "Cy"}]
    dismissed = await ada.post(f"{BASE}/duplicates/{pair['id']}/dismiss", json=MINE)
    assert (dismissed.status_code, dismissed.json()["state"]) == (200, "dismissed")
    assert (await ada.get(f"{BASE}/duplicates", params=MINE)).json() == {"duplicates": [], "next_cursor": None}


async def test_what_is_invalid_missing_or_of_somebody_else_is_refused(ada: httpx.AsyncClient) -> None:
    ids = await ids_by_name(ada)
    invalid = [
        await ada.post(f"{BASE}/search", json=MINE),
        await ada.post(f"{BASE}/search", json={"query": "Ada", "max_depth": 6}),
        await ada.post(f"{BASE}/search", json={"query": "Ada", "entity_type": "city"}),
        await ada.post(f"{BASE}/search", json={"query": "Ada", "depth": 2}),
        await ada.post(f"{BASE}/search", json={"query": "Ada", "as_of": "yesterday"}),
        await ada.post(f"{BASE}/merge", json={"keep": ids["Bo"], "absorb": ids["Bo"], **MINE}),
    ]
    assert codes(invalid) == [(422, "validation_error")] * len(invalid)
    missing = [
        # Without the owner's key the entity is nobody's.
        await ada.post(f"{BASE}/search", json={"entity_id": ids["Ada"]}),
        await ada.get(f"{BASE}/entities/{ids['Ada']}"),
        await ada.post(f"{BASE}/merge", json={"keep": ids["Bo"], "absorb": "nobody", **MINE}),
        await ada.post(f"{BASE}/duplicates/dup-99/dismiss", json=MINE),
        await ada.post("/api/v1/agents/unknown/graph/search", json={"query": "Ada"}),
    ]
    assert codes(missing) == [(404, "not_found")] * len(missing)


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
