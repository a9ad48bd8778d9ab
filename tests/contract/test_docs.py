"""The documents say what the code does: generated pages are up to date, roles are true, links and names exist."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from docs import generate
from tests.contract.test_examples_http import Elsewhere, Example, examples

from reverie_server.runtime import Runtime

CHECKOUT = Path(__file__).parents[2]
ROLES = ("viewer", "member", "admin")


def test_the_generated_pages_are_those_of_the_code() -> None:
    """If this fails, run `python docs/generate.py`."""
    for path, text in generate.pages().items():
        assert path.read_text() == text, f"{path.name} is out of date: run `python docs/generate.py`"


@pytest.mark.parametrize("role", ROLES[:2])
async def test_a_key_may_call_the_routes_of_its_role_and_no_others(
    client: httpx.AsyncClient, runtime: Runtime, role: str
) -> None:
    """The column `key` of docs/http.md, tried with every example of a request."""
    root = str(client.base_url).split("/api/")[0]
    await client.put("/agents/wren/files/MEMORY.md", json={"content": "Ada prefers tea.\n"})
    document = (await client.get(f"{root}/openapi.json")).json()
    zips = {"application/zip": (await client.get("/agents/wren/workspace/memory/export")).content}
    _, key = await runtime.keys.create("default", role)  # type: ignore[arg-type]
    client.headers["Authorization"] = f"Bearer {key}"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            needed = generate.role_of(f"{method.upper()} {path}")
            is_allowed = needed is None or ROLES.index(role) >= ROLES.index(needed)
            one = {**document, "paths": {path: {method: operation}}}
            for example in examples(one):
                if example.query.get("owner_key") == "*":
                    continue
                answer = await client.request(
                    method, f"{root}{example.path}", params=example.query, **_sent(example, zips)
                )
                is_refused = answer.status_code == 403 and "key" in answer.text
                assert is_refused is not is_allowed, f"{role}: {example}: {answer.status_code} {answer.text}"


def _sent(example: Example, zips: dict[str, bytes]) -> dict[str, object]:
    if example.media is None:
        return {}
    if isinstance(example.body, Elsewhere):
        return {"content": zips[example.media], "headers": {"Content-Type": example.media}}
    return {"json": example.body}
