"""The answers that prompts ask for, by the names that their front matter uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

from reverie_server.text.graph_terms import ENTITY_TYPES, RELATION_NAMES

# What a model writes beyond it is cut off by nobody: it is asked to write shorter.
MAX_LINE_CHARS = 500
MAX_LINES = 50

# A line of dots is the prompt's own example given back.
NoteLine = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\w", max_length=MAX_LINE_CHARS)]
# Names and lists that nobody bounds are bounded for those endpoints alone that write after a schema: in a text without
# a bound a weak model never closes its quotes.
_Name = Annotated[str, Field(json_schema_extra={"maxLength": 200})]
_FEW = Field(json_schema_extra={"maxItems": 20})
_EntityType = Annotated[str, Field(json_schema_extra={"enum": list(ENTITY_TYPES)})]
_RelationName = Annotated[str, Field(json_schema_extra={"enum": list(RELATION_NAMES)})]


class Flush(BaseModel):
    """What of a conversation is worth a line in the daily note; empty: nothing is."""

    model_config = ConfigDict(extra="forbid")

    lines: Annotated[list[NoteLine], Field(max_length=MAX_LINES)]


class SemanticEntity(BaseModel):
    """An entity that a conversation speaks of. Its type is checked against the vocabulary by whoever asked."""

    model_config = ConfigDict(extra="ignore")

    external_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    type: _EntityType
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = ""
    confidence: float
    aliases: Annotated[list[_Name], _FEW] = []
    # Taken where a model gives them, but no prompt asks for them; and in a map nothing ends a weak model.
    properties: SkipJsonSchema[dict[str, str | int | float | bool | None]] = {}


class SemanticRelation(BaseModel):
    """A relation between two entities, by external id; `messages` are the numbers of those that say so."""

    model_config = ConfigDict(extra="ignore")

    source: _Name
    target: _Name
    name: _RelationName
    confidence: float
    messages: Annotated[list[int], _FEW] = []
    valid_from: _Name | None = None
    valid_to: _Name | None = None


class Semantic(BaseModel):
    """Who and what a conversation speaks of, and how it hangs together."""

    model_config = ConfigDict(extra="ignore")

    entities: Annotated[list[SemanticEntity], Field(max_length=200)]
    relations: Annotated[list[SemanticRelation], Field(max_length=400)]


class Episodic(BaseModel):
    """What a conversation came to, and what it is about. What a model adds to that is no mistake."""

    model_config = ConfigDict(extra="ignore")

    summary: Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\w", max_length=8000)]
    key_topics: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=50)] = []


class DreamLine(BaseModel):
    """What several conversations come to, in one line, and the numbers of those it follows from."""

    model_config = ConfigDict(extra="ignore")

    kind: Literal["preference", "fact", "pattern", "decision"]
    text: NoteLine
    episodes: Annotated[list[int], Field(max_length=MAX_LINES)]


class Dreaming(BaseModel):
    """What is worth keeping of some conversations; empty: nothing is."""

    model_config = ConfigDict(extra="ignore")

    lines: Annotated[list[DreamLine], Field(max_length=MAX_LINES)]


class Emergence(BaseModel):
    """Whether the long-term memory is to change, why, and what it then is as a whole."""

    model_config = ConfigDict(extra="ignore")

    should_update: bool
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = ""
    memory_content: Annotated[str, Field(max_length=20_000)] = ""


def _as_text(value: object) -> object:
    """None is nothing said, and a list of lines is a text: models write both."""
    if value is None:
        return ""
    is_lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
    return "\n".join(value) if is_lines and isinstance(value, list) else value


MaybeText = Annotated[str, BeforeValidator(_as_text), Field(max_length=20_000)]
# Endpoints that hold a model to the schema end it there; an answer of another one may be longer.
ShortText = Annotated[MaybeText, Field(json_schema_extra={"maxLength": 300})]
EntryText = Annotated[MaybeText, Field(json_schema_extra={"maxLength": 1000})]


class Extraction(BaseModel):
    """What of a conversation goes into which file; an empty text leaves its file as it is."""

    model_config = ConfigDict(extra="ignore")

    should_update: bool
    reason: ShortText = ""
    daily_entry: EntryText = ""
    memory_update: MaybeText = ""
    profile_update: MaybeText = ""


class Replaced(BaseModel):
    """An entry that another one contradicts, and that one, both as they stand in the file."""

    model_config = ConfigDict(extra="ignore")

    old: Annotated[str, Field(json_schema_extra={"maxLength": 500})]
    new: Annotated[str, Field(json_schema_extra={"maxLength": 500})]


class Compaction(BaseModel):
    """A long-term memory, or a part of it, written anew, and which entries contradictions explain the loss of."""

    model_config = ConfigDict(extra="ignore")

    memory: Annotated[str, Field(max_length=40_000)]
    replaced: Annotated[list[Replaced], Field(max_length=MAX_LINES)] = []


ANSWERS: Mapping[str, type[BaseModel]] = {
    "Compaction": Compaction,
    "Dreaming": Dreaming,
    "Emergence": Emergence,
    "Extraction": Extraction,
    "Flush": Flush,
    "Episodic": Episodic,
    "Semantic": Semantic,
}
