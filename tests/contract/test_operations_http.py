"""Health, metrics and the OpenAPI document, which never disagrees with the routes there are."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from reverie_indexer.database.database import Database

ROUTES = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/api/v1/agents/{a}/files"),
    ("GET", "/api/v1/agents/{a}/files/{path}"),
    ("PUT", "/api/v1/agents/{a}/files/{path}"),
    ("PATCH", "/api/v1/agents/{a}/files/{path}"),
    ("DELETE", "/api/v1/agents/{a}/files/{path}"),
    ("POST", "/api/v1/agents/{a}/files/{path}/writes"),
    ("GET", "/api/v1/agents/{a}/files/{path}/sources"),
    ("GET", "/api/v1/agents/{a}/files/{path}/versions"),
    ("POST", "/api/v1/agents/{a}/files/{path}/versions/{version}/restore"),
    ("POST", "/api/v1/agents/{a}/memory/search"),
}

CONTROL = "/api/v1/memory/"


@pytest.fixture
def root(client: httpx.AsyncClient) -> str:
    return str(client.base_url).split("/api/")[0]


@pytest.fixture
async def document(client: httpx.AsyncClient, root: str) -> dict[str, Any]:
    response = await client.get(f"{root}/openapi.json")
    assert response.status_code == 200
    return response.json()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("anyOf"):
        schema = next(part for part in schema["anyOf"] if part.get("type") != "null")
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


async def test_the_process_is_up_and_ready(client: httpx.AsyncClient, root: str) -> None:
    health = await client.get(f"{root}/healthz")
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    ready = await client.get(f"{root}/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"status": "ready", "database": "ok", "embedder": "ready", "reasons": []}


async def test_metrics_count_by_route_and_never_name_a_file(wren: Any, root: str) -> None:
    await wren.put("secret-name.md", "x")
    await wren.get("files/secret-name.md")
    await wren.http.get("/nowhere/secret-name")
    response = await wren.http.get(f"{root}/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    assert "secret-name" not in response.text
    assert "wren" not in response.text
    counted = re.findall(r"^reverie_http_requests_total\{(.*)\} ([0-9.]+)$", response.text, re.MULTILINE)
    by_labels = {labels: float(value) for labels, value in counted}
    of_put = [value for labels, value in by_labels.items() if 'method="PUT"' in labels and 'status="201"' in labels]
    assert of_put == [1.0]
    assert any('method="GET"' in labels and "{path" in labels and 'status="200"' in labels for labels in by_labels)
    assert any('status="404"' in labels for labels in by_labels)


async def test_metrics_say_who_waits_for_a_connection_and_what_searches_take(
    wren: Any, root: str, database: Database
) -> None:
    async def figures() -> dict[str, float]:
        text = (await wren.http.get(f"{root}/metrics")).text
        return {name: float(value) for name, value in re.findall(r"^([^# ].*) (\S+)$", text, re.MULTILINE)}

    await wren.put("a.md", "Ada prefers tea.")
    before = await figures()
    for _ in range(3):
        await wren.search("tea")
    after = await figures()
    for part in ("embed", "database", "score", "rerank", "all"):
        counted = f'reverie_search_seconds_count{{part="{part}"}}'
        assert after[counted] - before[counted] == 3, part
    took = {
        part: after[f'reverie_search_seconds_sum{{part="{part}"}}'] for part in ("embed", "database", "score", "all")
    }
    assert took["all"] == pytest.approx(took["embed"] + took["database"] + took["score"], abs=0.01)
    assert (after["reverie_database_up"], after["reverie_database_connections_limit"]) == (1, 8)
    assert (after["reverie_database_waiting"], after['reverie_embedder{state="ready"}']) == (0, 1)
    assert [after[f'reverie_database_fault{{fault="{fault}"}}'] for fault in ("storage_full", "data_damaged")] == [0, 0]
    assert after["process_open_fds"] > 3
    # All connections are taken: one more waits.
    async with AsyncExitStack() as held:
        for _ in range(8):
            await held.enter_async_context(database.maintenance())
        waiting = asyncio.create_task(database.ping())
        await asyncio.wait({waiting}, timeout=0.2)
        use = database.pool_use()
        assert (use.most, use.used, use.idle, use.waiting) == (8, 8, 0, 1)
        late = await figures()
        assert late['reverie_database_connections{state="used"}'] == 8
        assert late["reverie_database_up"] == 0, "the metrics themselves got no connection in time"
        assert "reverie_workers" not in late
    await waiting
    assert database.pool_use().waits > use.waits
    assert (await figures())["reverie_database_up"] == 1


async def test_the_documentation_is_there_to_read(client: httpx.AsyncClient, root: str) -> None:
    response = await client.get(f"{root}/docs")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")


async def test_the_document_has_every_route_of_the_contract(document: dict[str, Any]) -> None:
    """Other parts of the contract add theirs; what is listed here stays."""
    there = {(method, path) for method, path, _ in operations(document)}
    assert there >= ROUTES
    of_this_part = {r for r in there if "/files" in r[1] or r[1].count("/") == 1 or r[1].endswith("/memory/search")}
    assert of_this_part == ROUTES


async def test_every_route_of_the_document_exists(
    client: httpx.AsyncClient, root: str, document: dict[str, Any]
) -> None:
    for method, path, operation in operations(document):
        url = path.replace("{path}", "a.md").replace("{version}", "1").replace("{a}", "wren")
        response = await client.request(method, root + re.sub(r"\{\w+\}", "x", url))
        assert response.status_code != 405, (method, path)
        assert str(response.status_code) in operation["responses"], (method, path, response.status_code)
        if response.status_code == 404:
            body = response.json()
            # Control routes answer in an envelope.
            assert (body["msg"] if path.startswith(CONTROL) else body["detail"]) != "Not Found", (method, path)


async def test_every_route_says_what_it_does_with_examples(document: dict[str, Any]) -> None:
    names = set()
    for method, path, operation in operations(document):
        where = (method, path)
        assert operation["summary"], where
        assert operation["description"], where
        assert operation["tags"], where
        names.add(operation["operationId"])
        # A body that is no JSON is an archive, which has no schema to speak of.
        if "application/json" in operation.get("requestBody", {}).get("content", {}):
            schema = resolved(document, operation["requestBody"]["content"]["application/json"]["schema"])
            assert schema.get("example"), where
            assert schema["example"].keys() <= schema["properties"].keys(), where
            # These protocols are the provider's: what it knows, it is given.
            assert schema["additionalProperties"] is (path in ("/v1/chat/completions", "/v1/responses")), where
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                assert parameter["required"], where
                assert (
                    parameter.get("examples") or parameter["schema"].get("examples") or parameter["name"] == "version"
                )
        answers = [(s, r) for s, r in operation["responses"].items() if s.startswith("2") and s != "204"]
        for status, answer in answers:
            for content in answer["content"].values():
                example = content.get("example") or resolved(document, content["schema"]).get("example")
                # An archive is shown by where one is to be had.
                example = example or next(iter(content.get("examples", {}).values()), None)
                assert example is not None, (where, status)
    assert len(names) == len(list(operations(document))), "operation ids are distinct"


async def test_the_examples_of_answers_have_the_fields_of_answers(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        if "example" in schema and name != "Problem":
            assert schema["example"].keys() <= schema["properties"].keys(), name
            assert schema["example"].keys() >= set(schema.get("required", [])), name


async def test_the_examples_of_requests_work(client: httpx.AsyncClient, root: str, document: dict[str, Any]) -> None:
    await client.put("/agents/wren/files/a.md", json={"content": "The review is on Thursday.", "owner_key": "user:42"})
    for method, path, operation in operations(document):
        if "requestBody" not in operation or (method, path) not in ROUTES:
            continue
        example = resolved(document, operation["requestBody"]["content"]["application/json"]["schema"])["example"]
        url = path.replace("{a}", "wren").replace("{path}", "a.md").replace("{version}", "1")
        if method == "PATCH":
            await client.put("/agents/wren/files/a.md", json={"content": example["old_text"], "owner_key": "user:42"})
        response = await client.request(method, root + url, json=example)
        assert response.status_code in (200, 201), (method, path, response.text)


async def test_every_error_is_documented_as_a_problem(document: dict[str, Any]) -> None:
    problem = document["components"]["schemas"]["Problem"]
    assert set(problem["required"]) == {"type", "title", "status", "detail", "code"}
    for method, path, operation in operations(document):
        errors = {s: r for s, r in operation["responses"].items() if s[0] in "45"}
        if path.startswith("/api/"):
            assert "422" in errors, (method, path)
            # A list may be empty, and what a PUT names may be new; what a tool does not find is told to the model.
            never_missing = {
                "/api/v1/agents",
                "/api/v1/keys",
                "/api/v1/audit",
                "/api/v1/tools",
                "/api/v1/agents/{a}/tools/{name}",
            }
            may_be_missing = path not in never_missing and (method, path) != ("PUT", "/api/v1/agents/{a}")
            assert ("404" in errors) == may_be_missing, (method, path)
        for status, answer in errors.items():
            if path == "/readyz":
                continue
            if path.startswith(CONTROL):
                failure = resolved(document, answer["content"]["application/json"]["schema"])
                assert failure == document["components"]["schemas"]["Failure"], (method, path, status)
                assert failure["example"]["code"] == 500
                continue
            assert list(answer["content"]) == ["application/problem+json"], (method, path, status)
            content = answer["content"]["application/problem+json"]
            assert resolved(document, content["schema"]) == problem
            assert content["example"]["status"] == int(status)


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [
        ("PUT", "/api/v1/agents/{a}/files/{path}", {"200", "201", "403", "412", "413", "422"}),
        ("PATCH", "/api/v1/agents/{a}/files/{path}", {"200", "403", "404", "409", "412", "413", "422"}),
        ("POST", "/api/v1/agents/{a}/files/{path}/writes", {"200", "201", "403", "412", "413", "422"}),
        ("DELETE", "/api/v1/agents/{a}/files/{path}", {"204", "403", "404", "412", "422"}),
    ],
)
async def test_the_statuses_of_the_contract_are_documented(
    document: dict[str, Any], method: str, path: str, statuses: set[str]
) -> None:
    assert document["paths"][path][method.lower()]["responses"].keys() >= statuses
