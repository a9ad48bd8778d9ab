"""The tools in the three forms: valid for those who take them, and the same tools in each."""

from __future__ import annotations

from typing import Any

import mcp_types
import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from reverie_server.tools.catalogue import REGISTRY
from reverie_server.tools.forms import FORMS, listed
from reverie_server.tools.registry import Hints

# The names of the contract, whose tiers are there.
NAMES = [
    "memory_search",
    "memory_get",
    "memory_expand",
    "knowledge_graph_search",
    "save_memory",
    "update_memory",
    "forget_memory",
    "list_workspace_memory_files",
    "read_workspace_memory_file",
    "write_workspace_memory_file",
    "edit_workspace_memory_file",
    "search_workspace_memory",
]
ARGUMENTS = {
    "memory_search": ({"query"}, {"max_results", "min_score", "path_prefix"}),
    "memory_get": ({"path"}, {"from_line", "lines"}),
    "memory_expand": ({"id"}, set()),
    "knowledge_graph_search": (set(), {"query", "entity_id", "entity_type", "max_depth", "as_of"}),
    "save_memory": ({"content"}, {"category"}),
    "update_memory": ({"old_text", "new_text"}, set()),
    "forget_memory": (set(), {"query", "items", "id", "text", "confirm"}),
    "list_workspace_memory_files": (set(), {"filename_prefix"}),
    "read_workspace_memory_file": ({"filename"}, set()),
    "write_workspace_memory_file": ({"filename", "content"}, set()),
    "edit_workspace_memory_file": ({"filename", "old_text", "new_text"}, {"replace_all"}),
    "search_workspace_memory": ({"query"}, {"limit"}),
}
READING, ADDING = Hints(read_only=True, idempotent=True), Hints()
EDITING, SETTING = Hints(destructive=True), Hints(destructive=True, idempotent=True)


def schemas() -> list[tuple[str, dict[str, Any]]]:
    return [(tool.name, tool.schema) for tool in REGISTRY]


def test_the_tools_are_those_of_the_contract_in_its_order() -> None:
    assert [tool.name for tool in REGISTRY] == NAMES


@pytest.mark.parametrize(("name", "schema"), schemas())
def test_arguments_are_those_of_the_contract_each_explained(name: str, schema: dict[str, Any]) -> None:
    required, optional = ARGUMENTS[name]
    assert set(schema["required"]) == required
    assert set(schema["properties"]) == required | optional
    assert all(argument["description"] and argument["type"] for argument in schema["properties"].values())
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("draft", [Draft7Validator, Draft202012Validator])
@pytest.mark.parametrize(("name", "schema"), schemas())
def test_schemas_are_valid_json_schema_without_references(draft: Any, name: str, schema: dict[str, Any]) -> None:
    draft.check_schema(schema)
    assert "$ref" not in str(schema)
    defaults = {key: value["default"] for key, value in schema["properties"].items() if "default" in value}
    sample = dict.fromkeys(schema["required"], "x")
    draft(schema).validate({**sample, **defaults})
    assert not draft(schema).is_valid({**sample, "agent_id": "x"})


def test_the_openai_form() -> None:
    for entry, tool in zip(listed(REGISTRY, "openai"), REGISTRY, strict=True):
        assert entry.keys() == {"type", "function"}
        assert entry["type"] == "function"
        assert entry["function"] == {
            "name": tool.name,
            "description": tool.description.text,
            "parameters": tool.schema,
        }


def test_the_anthropic_form() -> None:
    for entry, tool in zip(listed(REGISTRY, "anthropic"), REGISTRY, strict=True):
        assert entry == {"name": tool.name, "description": tool.description.text, "input_schema": tool.schema}


def test_the_mcp_form_is_one_the_protocol_knows() -> None:
    for entry, tool in zip(listed(REGISTRY, "mcp"), REGISTRY, strict=True):
        parsed = mcp_types.Tool.model_validate(entry)
        assert parsed.model_dump(by_alias=True, exclude_unset=True) == entry
        assert (parsed.name, parsed.input_schema) == (tool.name, tool.schema)


def test_every_form_lists_the_same_tools() -> None:
    assert set(FORMS) == {"openai", "anthropic", "mcp"}
    listings = {form: listed(REGISTRY, form) for form in FORMS}
    assert [entry["function"]["name"] for entry in listings["openai"]] == NAMES
    assert [entry["name"] for entry in listings["anthropic"]] == NAMES
    assert [entry["name"] for entry in listings["mcp"]] == NAMES


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("memory_search", READING),
        ("memory_get", READING),
        ("memory_expand", READING),
        ("list_workspace_memory_files", READING),
        ("read_workspace_memory_file", READING),
        ("search_workspace_memory", READING),
        ("save_memory", ADDING),
        ("update_memory", EDITING),
        ("edit_workspace_memory_file", EDITING),
        ("write_workspace_memory_file", SETTING),
        ("forget_memory", SETTING),
    ],
)
def test_hints_say_what_a_tool_does_to_memory(name: str, hints: Hints) -> None:
    [entry] = [entry for entry in listed(REGISTRY, "mcp") if entry["name"] == name]
    assert entry["annotations"]["readOnlyHint"] is hints.read_only
    assert entry["annotations"]["destructiveHint"] is hints.destructive
    assert entry["annotations"]["idempotentHint"] is hints.idempotent
    assert entry["annotations"]["openWorldHint"] is False
