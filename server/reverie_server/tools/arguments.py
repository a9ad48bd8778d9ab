"""The arguments of each tool. They never name an agent or an owner: the connection alone does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

from reverie_indexer.errors import ValidationFailed
from reverie_server.graph.answers import parse_instant
from reverie_server.graph.search import MAX_DEPTH
from reverie_server.text.fields import LineNumber, MinScore, Text
from reverie_server.text.graph_terms import EntityType

Model = TypeVar("Model", bound=BaseModel)


def _moment(value: object) -> object:
    """A date or time as models write it."""
    found = parse_instant(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a date (2026-04-03) or a time of RFC 3339")
    return found


Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]


class Arguments(BaseModel):
    """The base of all arguments: unknown names and other JSON types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MemorySearch(Arguments):
    """The arguments of `memory_search`."""

    query: Text
    max_results: Annotated[int, Field(ge=1, le=100)] = 6
    min_score: MinScore = 0.0
    path_prefix: Text | None = None


class MemoryGet(Arguments):
    """The arguments of `memory_get`."""

    path: str
    from_line: LineNumber | None = None
    lines: LineNumber | None = None


class MemoryExpand(Arguments):
    """The arguments of `memory_expand`."""

    id: str


class KnowledgeGraphSearch(Arguments):
    """The arguments of `knowledge_graph_search`."""

    query: Text | None = None
    entity_id: str | None = None
    entity_type: EntityType | None = None
    max_depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    as_of: Moment | None = None


class SaveMemory(Arguments):
    """The arguments of `save_memory`."""

    content: Annotated[Text, Field(max_length=5000)]
    category: Text = "notes"


class UpdateMemory(Arguments):
    """The arguments of `update_memory`."""

    old_text: Text
    new_text: Text


class ForgetMemory(Arguments):
    """The arguments of `forget_memory`: exactly one of `query`, `id` and `text`, or `items` of what a query listed."""

    query: Text | None = None
    id: Text | None = None
    text: Text | None = None
    items: Annotated[list[str], Field(max_length=200)] | None = None
    confirm: bool = False

    @field_validator("items")
    @classmethod
    def _none_named(cls, items: list[str] | None) -> list[str] | None:
        # A model sends an empty list for what it does not give.
        return items or None

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        named = sum(target is not None for target in (self.query, self.id, self.text))
        if named > 1 or not (named or self.items):
            raise ValueError("exactly one of query, id and text says what to forget, or items of what was listed")
        return self


class ListFiles(Arguments):
    """The arguments of `list_workspace_memory_files`."""

    filename_prefix: Text | None = None


class ReadFile(Arguments):
    """The arguments of `read_workspace_memory_file`."""

    filename: str


class WriteFile(Arguments):
    """The arguments of `write_workspace_memory_file`."""

    filename: str
    content: Text


class EditFile(Arguments):
    """The arguments of `edit_workspace_memory_file`."""

    filename: str
    old_text: Text
    new_text: Text
    replace_all: bool = False


class SearchFiles(Arguments):
    """The arguments of `search_workspace_memory`."""

    query: Text
    limit: Annotated[int, Field(ge=1, le=100)] = 10


def read_arguments(model: type[Model], raw: object) -> Model:
    """The arguments that a model wrote, checked; a name may be spelled in snake case or in camel case.

    A null counts as left out, since models write it for an optional argument. ValidationFailed names every argument
    that is unknown, missing, given twice or of the wrong type.
    """
    if raw is not None and not isinstance(raw, Mapping):
        raise ValidationFailed("arguments is a JSON object of the tool's arguments by name")
    named: dict[str, Any] = {}
    spellings: dict[object, str] = {
        spelling: name for name in model.model_fields for spelling in (name, to_camel(name))
    }
    for key, value in (raw or {}).items():
        name = spellings.get(key, str(key))
        if value is None and name in spellings:
            continue
        if name in named:
            raise ValidationFailed(f"{name} is given twice, in two spellings")
        named[name] = value
    try:
        return model.model_validate(named)
    except ValidationError as error:
        wrong = "; ".join(_described(item["loc"], item["type"], item["msg"]) for item in error.errors()[:10])
        takes = ", ".join(model.model_fields)
        raise ValidationFailed(f"{wrong} (the arguments are: {takes})") from None


def _described(location: tuple[int | str, ...], kind: str, message: str) -> str:
    # The name of an unknown argument is the model's own and may be anything.
    name = str(location[0]).encode("utf-8", "backslashreplace").decode()[:100] if location else ""
    if kind == "extra_forbidden":
        return f"{name} is not an argument"
    if kind == "missing":
        return f"{name} is missing"
    message = message.removeprefix("Value error, ")
    return f"{name}: {message}" if name else message


def schema_of(model: type[BaseModel], descriptions: Mapping[str, str]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, without titles and nulls, each argument with its description."""
    found = model.model_json_schema()
    properties = {}
    for name, schema in found["properties"].items():
        # What may be null may as well be left out, and that is all a model needs to know.
        kept = next((part for part in schema.get("anyOf", ()) if part.get("type") != "null"), schema)
        kept = {key: value for key, value in kept.items() if key not in ("title", "default", "anyOf")}
        default = {} if schema.get("default") is None else {"default": schema["default"]}
        properties[name] = {**kept, **default, "description": descriptions[name]}
    return {
        "type": "object",
        "properties": properties,
        "required": found.get("required", []),
        "additionalProperties": False,
    }
