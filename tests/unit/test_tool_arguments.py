"""Arguments as models write them: two spellings, nothing unknown, nothing of a wrong type, no agent and no owner."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from reverie_indexer.errors import ValidationFailed
from reverie_server.tools import arguments
from reverie_server.tools.arguments import read_arguments
from reverie_server.tools.catalogue import REGISTRY

TOOLS = pytest.mark.parametrize("tool", list(REGISTRY), ids=lambda tool: tool.name)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def refused(model: type[arguments.Arguments], given: object) -> str:
    with pytest.raises(ValidationFailed) as caught:
        read_arguments(model, given)
    return caught.value.detail


@pytest.mark.parametrize(
    ("model", "snake"),
    [
        (arguments.MemorySearch, {"query": "x", "max_results": 3, "min_score": 1.2, "path_prefix": "m/"}),
        (arguments.MemoryGet, {"path": "a.md", "from_line": 2, "lines": 3}),
        (arguments.UpdateMemory, {"old_text": "a", "new_text": ""}),
        (arguments.ListFiles, {"filename_prefix": "memory/"}),
        (arguments.EditFile, {"filename": "a.md", "old_text": "a", "new_text": "b", "replace_all": True}),
    ],
)
def test_both_spellings_of_a_name_are_the_same_argument(
    model: type[arguments.Arguments], snake: dict[str, Any]
) -> None:
    read = read_arguments(model, snake)
    assert read.model_dump() == snake
    assert read_arguments(model, {to_camel(name): value for name, value in snake.items()}) == read


def test_an_argument_given_in_both_spellings_is_refused_even_if_they_agree() -> None:
    detail = refused(arguments.MemorySearch, {"query": "x", "max_results": 3, "maxResults": 3})
    assert detail == "max_results is given twice, in two spellings"


@TOOLS
@pytest.mark.parametrize(
    "name", ["agent", "agent_id", "agentId", "owner", "owner_key", "ownerKey", "end_user_id", "tenant_id", "scope"]
)
def test_no_tool_takes_an_agent_an_owner_or_a_scope(tool: Any, name: str) -> None:
    assert name not in tool.schema["properties"]
    assert f"{name} is not an argument" in refused(tool.takes, {name: "user:1"})


def test_the_names_that_are_wrong_and_those_there_are_are_named() -> None:
    detail = refused(arguments.MemorySearch, {"max_results": "6", "min_score": True, "max_result": 6})
    assert "query is missing" in detail
    assert "max_results: Input should be a valid integer" in detail
    assert "min_score: Input should be a valid number" in detail
    assert "max_result is not an argument" in detail
    assert "(the arguments are: query, max_results, min_score, path_prefix)" in detail


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (arguments.MemorySearch, {"query": 5}),
        (arguments.MemorySearch, {"query": ["x"]}),
        (arguments.MemorySearch, {"query": None}),
        (arguments.MemorySearch, {"query": "x\0"}),
        (arguments.MemorySearch, {"query": "\ud800"}),
        (arguments.MemorySearch, {"query": "x", "max_results": 0}),
        (arguments.MemorySearch, {"query": "x", "max_results": 101}),
        (arguments.MemorySearch, {"query": "x", "max_results": 5.0}),
        (arguments.MemorySearch, {"query": "x", "min_score": 1.21}),
        (arguments.MemorySearch, {"query": "x", "min_score": float("nan")}),
        (arguments.MemoryGet, {"path": "a.md", "from_line": 0}),
        (arguments.MemoryGet, {"path": "a.md", "lines": 2**31}),
        (arguments.MemoryExpand, {"id": 7}),
        (arguments.SaveMemory, {"content": "x" * 5001}),
        (arguments.EditFile, {"filename": "a.md", "old_text": "a", "new_text": "b", "replace_all": "true"}),
        (arguments.EditFile, {"filename": "a.md", "old_text": "a"}),
        (arguments.SearchFiles, {"query": "x", "limit": 101}),
    ],
)
def test_values_are_of_the_right_type_and_within_their_bounds(
    model: type[arguments.Arguments], given: dict[str, Any]
) -> None:
    refused(model, given)


def test_null_means_that_an_argument_is_not_given() -> None:
    read = read_arguments(arguments.MemorySearch, {"query": "x", "maxResults": None, "path_prefix": None})
    assert read == arguments.MemorySearch(query="x")
    assert read_arguments(arguments.ListFiles, None) == arguments.ListFiles()


@pytest.mark.parametrize("given", ["{}", [], 5, True])
def test_arguments_are_an_object(given: object) -> None:
    assert "JSON object" in refused(arguments.ListFiles, given)


@pytest.mark.parametrize(
    "given", [{}, {"query": "a", "id": "1"}, {"query": "a", "text": "b"}, {"query": "a", "id": "1", "text": "b"}]
)
def test_what_to_forget_is_said_in_exactly_one_way(given: dict[str, Any]) -> None:
    assert "exactly one of query, id and text" in refused(arguments.ForgetMemory, given)


@pytest.mark.parametrize("name", ["query", "id", "text"])
def test_forgetting_is_dry_unless_it_is_confirmed(name: str) -> None:
    assert read_arguments(arguments.ForgetMemory, {name: "a"}).confirm is False
    assert read_arguments(arguments.ForgetMemory, {name: "a", "confirm": True}).confirm is True


@given(st.sampled_from(list(REGISTRY)), st.data())
def test_whatever_a_model_writes_is_read_or_refused_in_words_that_can_be_sent(tool: Any, data: st.DataObject) -> None:
    names = st.sampled_from([*tool.takes.model_fields, *map(to_camel, tool.takes.model_fields)]) | st.text(
        st.characters(), max_size=8
    )
    written = data.draw(JSON | st.dictionaries(names, JSON | st.text(), max_size=4))
    refusal = None
    try:
        assert isinstance(read_arguments(tool.takes, written), tool.takes)
    except ValidationFailed as error:
        refusal = error.detail
    if refusal is not None:
        assert 0 < len(refusal.encode()) < 3000


def test_an_empty_list_of_items_is_none() -> None:
    assert read_arguments(arguments.ForgetMemory, {"query": "tea", "items": []}).items is None
    assert "exactly one of query, id and text" in refused(arguments.ForgetMemory, {"items": []})
