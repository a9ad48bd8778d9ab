"""The schema that an endpoint is given for an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, StringConstraints

from reverie_server.llm.answers import ANSWERS
from reverie_server.llm.schema import MAX_BOUND_CHARS, response_format

KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "maxItems", "maxLength", "enum", "const"),
    "anyOf",
}


class Part(BaseModel):
    """Words that are for readers of the code."""

    kind: Literal["fact", "decision"]
    name: Annotated[str, Field(json_schema_extra={"maxLength": 200})]
    since: str | None = None


class Whole(BaseModel):
    """A whole."""

    short: Annotated[str, StringConstraints(pattern=r"\w", max_length=500)]
    long: Annotated[str, Field(max_length=20_000)] = ""
    parts: Annotated[list[Part], Field(max_length=5)]
    properties: dict[str, int] = {}


def test_a_schema_says_the_form_and_what_bounds_a_grammar_can_hold() -> None:
    part = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["fact", "decision"]},
            "name": {"type": "string", "maxLength": 200},
            "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["kind", "name"],
        "additionalProperties": False,
    }
    whole = {
        "type": "object",
        "properties": {
            "short": {"type": "string", "maxLength": 500},
            "long": {"type": "string"},
            "parts": {"type": "array", "items": part, "maxItems": 5},
            "properties": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["short", "parts"],
        "additionalProperties": False,
    }
    asked = {"type": "json_schema", "json_schema": {"name": "Whole", "strict": False, "schema": whole}}
    assert response_format(Whole) == asked


@pytest.mark.parametrize("name", ANSWERS)
def test_the_schema_of_each_answer_has_nothing_that_a_local_server_refuses(name: str) -> None:
    schemas = list(_schemas(response_format(ANSWERS[name])["json_schema"]["schema"]))
    assert {keyword for schema in schemas for keyword in schema} <= KEYWORDS
    assert max(schema.get("maxLength", 0) for schema in schemas) <= MAX_BOUND_CHARS
    assert all(schema.get("type") or schema.get("anyOf") or "const" in schema for schema in schemas)


def _schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    for one in inner:
        yield from _schemas(one)
