"""The arguments of the tools: strict, and never an agent or an owner, which the connection alone says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from reverie_indexer.errors import ValidationFailed
from reverie_server.graph.answers import parse_instant
from reverie_server.graph.search import MAX_DEPTH
from reverie_server.text.fields import LineNumber, Text
from reverie_server.text.graph_terms import EntityType

Model = TypeVar("Model", bound=BaseModel)


def _moment(given: object) -> object:
    """A date or time as models write it."""
    found = parse_instant(given) if isinstance(given, str) else None
    if found is None:
        raise ValueError("a date (2026-04-03) or a time of RFC 3339")
    return found


Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]


class Arguments(BaseModel):
    """Base of all: no other names, no other types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MemorySearch(Arguments):
    """Of `memory_search`."""

    query: Text
    max_results: Annotated[int, Field(ge=1, le=100)] = 6
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.0
    path_prefix: Text | None = None


class MemoryGet(Arguments):
    """Of `memory_get`."""

    path: str
    from_line: LineNumber | None = None
    lines: LineNumber | None = None


class MemoryExpand(Arguments):
    """Of `memory_expand`."""

    id: str


class KnowledgeGraphSearch(Arguments):
    """Of `knowledge_graph_search`."""

    query: Text | None = None
    entity_id: str | None = None
    entity_type: EntityType | None = None
    max_depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    as_of: Moment | None = None


class SaveMemory(Arguments):
    """Of `save_memory`."""

    content: Annotated[Text, Field(max_length=5000)]
    category: Text = "notes"


class UpdateMemory(Arguments):
    """Of `update_memory`."""

    old_text: Text
    new_text: Text


class ForgetMemory(Arguments):
    """Of `forget_memory`: exactly one of the first three."""

    query: Text | None = None
    id: Text | None = None
    text: Text | None = None
    confirm: bool = False

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if sum(target is not None for target in (self.query, self.id, self.text)) != 1:
            raise ValueError("exactly one of query, id and text says what to forget")
        return self


class ListFiles(Arguments):
    """Of `list_workspace_memory_files`."""

    filename_prefix: Text | None = None


class ReadFile(Arguments):
    """Of `read_workspace_memory_file`."""

    filename: str


class WriteFile(Arguments):
    """Of `write_workspace_memory_file`."""

    filename: str
    content: Text


class EditFile(Arguments):
    """Of `edit_workspace_memory_file`."""

    filename: str
    old_text: Text
    new_text: Text
    replace_all: bool = False


class SearchFiles(Arguments):
    """Of `search_workspace_memory`."""

    query: Text
    limit: Annotated[int, Field(ge=1, le=100)] = 10


def read_arguments(model: type[Model], given: object) -> Model:
    """What a model wrote, as the tool's arguments; snake-case and camel-case spellings are the same name.

    A null is an argument that is not given, since models write it for one that may be left out. ValidationFailed
    names every argument that is unknown, missing, given twice or of the wrong type.
    """
    if given is not None and not isinstance(given, Mapping):
        raise ValidationFailed("arguments is a JSON object of the tool's arguments by name")
    named: dict[str, Any] = {}
    spellings: dict[object, str] = {
        spelling: name for name in model.model_fields for spelling in (name, to_camel(name))
    }
    for key, value in (given or {}).items():
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
    """The JSON schema of a tool's arguments, as plain as models need it, each argument with its description."""
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
