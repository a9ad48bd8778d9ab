"""The answers that prompts ask for, by the names that their front matter uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

from reverie_server.text.graph_terms import ENTITY_TYPES, RELATION_NAMES

# A longer line is not cut: it does not validate, and the model is asked again.
MAX_LINE_CHARS = 500
MAX_LINES = 50

# A line must have a word: a line of dots is a copy of the prompt's example.
NoteLine = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\w", max_length=MAX_LINE_CHARS)]
# These names and lists are bounded in the schema alone, for endpoints that follow it: in a text without a bound a weak
# model never closes its quotes.
_Name = Annotated[str, Field(json_schema_extra={"maxLength": 200})]
_FEW = Field(json_schema_extra={"maxItems": 20})
_EntityType = Annotated[str, Field(json_schema_extra={"enum": list(ENTITY_TYPES)})]
_RelationName = Annotated[str, Field(json_schema_extra={"enum": list(RELATION_NAMES)})]


class Flush(BaseModel):
    """The lines of a conversation for the daily note; empty: nothing is worth a line."""

    model_config = ConfigDict(extra="forbid")

    lines: Annotated[list[NoteLine], Field(max_length=MAX_LINES)]


class SemanticEntity(BaseModel):
    """An entity of a conversation. The caller checks its type against the vocabulary."""

    model_config = ConfigDict(extra="ignore")

    external_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    type: _EntityType
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = ""
    confidence: float
    aliases: Annotated[list[_Name], _FEW] = []
    # Accepted, but no prompt asks for them, and the schema leaves them out: a weak model never ends a map.
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
    """The entities of a conversation, and the relations between them."""

    model_config = ConfigDict(extra="ignore")

    entities: Annotated[list[SemanticEntity], Field(max_length=200)]
    relations: Annotated[list[SemanticRelation], Field(max_length=400)]


class Episodic(BaseModel):
    """The summary of a conversation, and its topics. Further fields of an answer are ignored."""

    model_config = ConfigDict(extra="ignore")

    summary: Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\w", max_length=8000)]
    key_topics: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=50)] = []


class DreamLine(BaseModel):
    """A line that follows from several conversations, and their numbers."""

    model_config = ConfigDict(extra="ignore")

    kind: Literal["preference", "fact", "pattern", "decision"]
    text: NoteLine
    episodes: Annotated[list[int], Field(max_length=MAX_LINES)]


class Dreaming(BaseModel):
    """The lines of some conversations that are worth keeping; empty: none is."""

    model_config = ConfigDict(extra="ignore")

    lines: Annotated[list[DreamLine], Field(max_length=MAX_LINES)]


class SoulLine(BaseModel):
    """A sentence of the agent about itself, and the numbers of the facts that it follows from."""

    model_config = ConfigDict(extra="ignore")

    text: NoteLine
    facts: Annotated[list[int], Field(max_length=MAX_LINES)] = []


class Soul(BaseModel):
    """Who the agent is, in its own words."""

    model_config = ConfigDict(extra="ignore")

    lines: Annotated[list[SoulLine], Field(max_length=MAX_LINES)]


class Emergence(BaseModel):
    """Whether the long-term memory should change, why, and its whole new text."""

    model_config = ConfigDict(extra="ignore")

    should_update: bool
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = ""
    memory_content: Annotated[str, Field(max_length=20_000)] = ""


def _as_text(value: object) -> object:
    """The value as a text: None is "", a list of lines is joined. Models write both."""
    if value is None:
        return ""
    is_lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
    return "\n".join(value) if is_lines and isinstance(value, list) else value


MaybeText = Annotated[str, BeforeValidator(_as_text), Field(max_length=20_000)]
# Endpoints that enforce the schema end a text at `maxLength`; the answer of another endpoint may be longer.
ShortText = Annotated[MaybeText, Field(json_schema_extra={"maxLength": 300})]
EntryText = Annotated[MaybeText, Field(json_schema_extra={"maxLength": 1000})]


class Extraction(BaseModel):
    """The texts of a conversation for each file; an empty text leaves its file as it is."""

    model_config = ConfigDict(extra="ignore")

    should_update: bool
    reason: ShortText = ""
    daily_entry: EntryText = ""
    memory_update: MaybeText = ""
    profile_update: MaybeText = ""


class Replaced(BaseModel):
    """An old entry and the new entry that contradicts it, both as the file has them."""

    model_config = ConfigDict(extra="ignore")

    old: Annotated[str, Field(json_schema_extra={"maxLength": 500})]
    new: Annotated[str, Field(json_schema_extra={"maxLength": 500})]


class Compaction(BaseModel):
    """A long-term memory, or a part of it, rewritten; and the entries that it loses to contradictions."""

    model_config = ConfigDict(extra="ignore")

    memory: Annotated[str, Field(max_length=40_000)]
    replaced: Annotated[list[Replaced], Field(max_length=MAX_LINES)] = []


class FactStatement(BaseModel):
    """A statement of a conversation, and what it says of a stored fact, by number. The caller checks each field."""

    model_config = ConfigDict(extra="ignore")

    text: Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\w", max_length=MAX_LINE_CHARS)]
    subject: _Name
    predicate: _Name
    object: _Name
    category: _Name = "general"
    operation: Literal["add", "same", "replaces", "ends"]
    fact: int | None = None
    messages: Annotated[list[int], _FEW] = []


class Facts(BaseModel):
    """The statements of a conversation; empty: it states nothing."""

    model_config = ConfigDict(extra="ignore")

    statements: Annotated[list[FactStatement], Field(max_length=MAX_LINES)]


class Forgetting(BaseModel):
    """Whether a message asks to forget something, and the numbers of the sentences that it means."""

    model_config = ConfigDict(extra="ignore")

    asks: bool
    forget: Annotated[list[int], Field(max_length=MAX_LINES)] = []


ANSWERS: Mapping[str, type[BaseModel]] = {
    "Compaction": Compaction,
    "Dreaming": Dreaming,
    "Emergence": Emergence,
    "Soul": Soul,
    "Extraction": Extraction,
    "Facts": Facts,
    "Flush": Flush,
    "Forgetting": Forgetting,
    "Episodic": Episodic,
    "Semantic": Semantic,
}
