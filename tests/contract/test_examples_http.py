"""Every example of a request in the OpenAPI document is one that the server takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.proxied import Served

METHODS = ("get", "put", "post", "patch", "delete")
# What has an id that only the server can know, or a body that is no JSON.
IDS = {
    "id": "1",
    "memory_id": "1",
    "episode_id": "ep-1",
    "entity_id": "ent-1",
    "merge_id": "mrg-1",
    "duplicate_id": "dup-1",
    "name": "MEMORY_backup_2026-04-03_02-00-00.md",
    "version": "1",
    "report_id": "1",
}


@dataclass(frozen=True)
class Example:
    """A request of the document. `body` None: it has none."""

    method: str
    path: str
    query: dict[str, Any]
    media: str | None
    body: Any

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path} {self.query} {self.body}"


@dataclass(frozen=True)
class Elsewhere:
    """An example that is at an address of the server."""

    path: str


def examples(document: dict[str, Any]) -> Iterator[Example]:
    """The examples of all operations: each body that is shown, with the parameters that are shown or required."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert method in METHODS
            parameters = operation.get("parameters", [])
            filled = path
            query = {}
            for parameter in parameters:
                shown = [parameter.get("example"), *parameter.get("schema", {}).get("examples", [])]
                shown += [each["value"] for each in parameter.get("examples", {}).values() if "value" in each]
                found = next((value for value in shown if value is not None), None)
                if parameter["in"] == "path":
                    value = found if found is not None else IDS[parameter["name"]]
                    filled = filled.replace(f"{{{parameter['name']}}}", quote(str(value), safe="/:"))
                elif parameter["in"] == "query" and (found is not None or parameter.get("required")):
                    query[parameter["name"]] = found
            assert "{" not in filled, filled
            bodies = [*_bodies(document, operation)] or [(None, None)]
            for media, body in bodies:
                yield Example(method, filled, query, media, body)


def _bodies(document: dict[str, Any], operation: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        shown = [content["example"]] if "example" in content else []
        shown += [each["value"] for each in content.get("examples", {}).values() if "value" in each]
        # Where to fetch it stands for an example that no JSON can hold.
        shown += [
            Elsewhere(each["externalValue"]) for each in content.get("examples", {}).values() if "value" not in each
        ]
        for schema in _schemas(document, content.get("schema", {})):
            shown += [schema["example"]] if "example" in schema else []
            shown += schema.get("examples", [])
        assert shown, f"{operation.get('operationId')} shows no example of its body"
        for body in shown:
            yield media, body


def _schemas(document: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in schema:
        yield document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        return
    yield schema
    for each in [*schema.get("anyOf", ()), *schema.get("allOf", ()), *schema.get("oneOf", ())]:
        yield from _schemas(document, each)


def is_refused_for_its_form(answer: httpx.Response) -> bool:
    """Whether the example itself was wrong: also in the envelope of the control routes."""
    if answer.status_code in (400, 422):
        return True
    if answer.status_code == 204 or "json" not in answer.headers.get("content-type", ""):
        return False
    body = answer.json()
    return isinstance(body, dict) and "validation_error" in (body.get("code"), body.get("error"))


@pytest.fixture
async def prepared(served: Served) -> Served:
    """A server with a language model and an agent that has what examples speak of."""
    wren = "/agents/wren"
    owned = {"owner_key": "user:42"}
    text = "# 2026-04-03\n\nAda moved the review with Ada Lovelace to the day on Thursday.\n\n- Ada prefers tea.\n"
    for path in ("memory/2026-04-03.md", "MEMORY.md", "projects/kite.md"):
        for who in (owned, {}):
            answer = await served.api.put(f"{wren}/files/{path}", json={"content": text, **who})
            assert answer.status_code in (200, 201), answer.text
    said = {"messages": [{"role": "user", "content": "When is the review?"}], **owned}
    for session in ("web:7", "web:42"):
        answer = await served.api.post(f"{wren}/sessions/{session}/messages", json=said)
        assert answer.status_code in (200, 201), answer.text
    return served


async def test_the_server_takes_every_example_of_its_document(prepared: Served) -> None:
    document = (await prepared.api.get(f"{prepared.base_url}/openapi.json")).json()
    found = list(examples(document))
    assert len(found) > 60
    refused = []
    # What deletes comes last.
    for example in sorted(found, key=lambda each: (each.method == "delete", each.path)):
        url = f"{prepared.base_url}{example.path}"
        sent: dict[str, Any] = {} if example.media is None else {"json": example.body}
        if isinstance(example.body, Elsewhere):
            there = await prepared.api.get(f"{prepared.base_url}{example.body.path}")
            assert there.headers["content-type"] == example.media
            sent = {"content": there.content, "headers": {"Content-Type": example.media}}
        answer = await prepared.api.request(example.method, url, params=example.query, **sent)
        assert answer.status_code < 500 or answer.status_code == 503, f"{example}: {answer.text}"
        if is_refused_for_its_form(answer):
            refused.append(f"{example}\n  {answer.status_code} {answer.text[:500]}")
    assert "\n".join(refused) == ""
