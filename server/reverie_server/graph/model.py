"""The values of the knowledge graph. Frozen, without I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from reverie_indexer.errors import NotFound
from reverie_indexer.model import Scope
from reverie_server.llm.generation import Generation
from reverie_server.text.graph_terms import EntityType, RelationName

DuplicateState = Literal["open", "dismissed", "merged"]
Kind = Literal["entity", "relation", "merge", "duplicate"]
SPEAKER = "user"
"""The external id of whoever writes to the assistant."""
# Ids of passages are digits alone; with a prefix no id of an entity can name a passage to forget.
_PREFIXES: Mapping[Kind, str] = {"entity": "ent", "relation": "rel", "merge": "mrg", "duplicate": "dup"}


def public_id(kind: Kind, number: int) -> str:
    """The id of a thing of the graph as everybody outside sees it, such as `ent-12`."""
    return f"{_PREFIXES[kind]}-{number}"


def parse_id(kind: Kind, text: str) -> int:
    """The number in such an id, or the bare number; NotFound for anything else."""
    match = re.fullmatch(rf"(?:{_PREFIXES[kind]}-)?([1-9][0-9]{{0,17}})", text)
    if match is None:
        raise NotFound(f"there is no {kind} {text[:100]!r}")
    return int(match[1])


@dataclass(frozen=True, slots=True)
class StatedEntity:
    """An entity as a conversation speaks of it, checked. `seqs` are the numbers of the messages, ascending.

    `known_id` is the entity in the graph that is meant, where that is certain. `is_distinct`: it is none of those that
    the graph has by that name.
    """

    external_id: str
    name: str
    type: EntityType
    confidence: float
    seqs: tuple[int, ...]
    description: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    known_id: int | None = None
    is_distinct: bool = False


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation as a conversation speaks of it, checked. The ends are external ids of the reading's entities.

    It holds from `since` (None: it is said only to have ended at `until`).
    """

    source: str
    name: RelationName
    target: str
    confidence: float
    seqs: tuple[int, ...]
    said_at: datetime
    since: datetime | None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The entities and relations that a part of a conversation states, and how they were generated."""

    entities: Sequence[StatedEntity]
    relations: Sequence[StatedRelation]
    generation: Generation


@dataclass(frozen=True, slots=True)
class Origin:
    """The episode that a reading comes from, and the time of recording."""

    episode_id: int
    session_key: int
    session_id: str
    said_at: Mapping[int, datetime]
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity as others see it. `scope` and `owner_key` say whose memory it is in."""

    entity_id: int
    external_id: str
    type: EntityType
    name: str
    description: str
    aliases: Sequence[str]
    properties: Mapping[str, Any]
    confidence: float
    since: datetime
    generation: Generation
    created_at: datetime
    updated_at: datetime
    scope: Scope
    owner_key: str | None


@dataclass(frozen=True, slots=True)
class Relation:
    """A fact in a period of time; `valid_to` None: until further notice."""

    relation_id: int
    source_id: int
    source: str
    name: RelationName
    target_id: int
    target: str
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    generation: Generation


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two entities that may be one; `cosine` is None where they were never compared by meaning."""

    duplicate_id: int
    first: Entity
    second: Entity
    cosine: float | None
    jaro_winkler: float
    state: DuplicateState
    found_at: datetime
    decided_at: datetime | None
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge of one entity into another; `by` is `server` for the stage, and `undone_at` the time of an undo."""

    merge_id: int
    kept_id: int
    absorbed_id: int
    absorbed_name: str
    cosine: float | None
    jaro_winkler: float | None
    by: str
    at: datetime
    undone_by: str | None
    undone_at: datetime | None
