"""The JSON schema of an answer, in the few keywords that every endpoint which takes schemas understands. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

# Local servers compile the schema to a grammar in which a bound is that many repetitions, and some refuse 2,000 of
# them. A longer text had better end at the limit of tokens, which the endpoint reports.
MAX_BOUND_CHARS = 1000
# No `pattern`: some grammars take only anchored ones. No `description`: words for models are in `prompts/`.
_KEPT = frozenset({"type", "enum", "const", "maxItems"})


@cache
def response_format(answer: type[BaseModel]) -> Mapping[str, Any]:
    """The `response_format` of a chat completion; the same object each time, not to be changed.

    It is not `strict`, which with some providers allows no maps and no bounds of length. Answers are validated against
    `answer` in any case. `answer` must not contain itself.
    """
    source = answer.model_json_schema()
    schema = _plain(source, source.get("$defs", {}))
    return {"type": "json_schema", "json_schema": {"name": answer.__name__, "strict": False, "schema": schema}}


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its references resolved, and only the keywords in _KEPT."""
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    plain = {key: value for key, value in schema.items() if key in _KEPT}
    if schema.get("maxLength", MAX_BOUND_CHARS + 1) <= MAX_BOUND_CHARS:
        plain["maxLength"] = schema["maxLength"]
    if "anyOf" in schema:
        plain["anyOf"] = [_plain(one, definitions) for one in schema["anyOf"]]
    if "items" in schema:
        plain["items"] = _plain(schema["items"], definitions)
    if "properties" in schema:
        plain["properties"] = {name: _plain(one, definitions) for name, one in schema["properties"].items()}
        plain["required"] = list(schema.get("required", ()))
        plain["additionalProperties"] = False
    elif isinstance(schema.get("additionalProperties"), dict):
        plain["additionalProperties"] = _plain(schema["additionalProperties"], definitions)
    return plain
