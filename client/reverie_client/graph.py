"""Answers of the routes of the knowledge graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from reverie_client.derived import Made
from reverie_client.model import Scope

EntityType: TypeAlias = Literal[
    "person",
    "organization",
    "project",
    "product",
    "technology",
    "task",
    "event",
    "document",
    "concept",
    "location",
]
DuplicateState: TypeAlias = Literal["open", "dismissed", "merged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Made):
    """Who or what conversations speak of. How it was made is how its name was learned."""

    id: str
    external_id: str
    name: str
    type: EntityType
    description: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    confidence: float
    scope: Scope
    owner_key: str | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPage:
    """A page of entities by name."""

    entities: tuple[Entity, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Entity, ...]:
        """The items of the page."""
        return self.entities


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntity(Entity):
    """An entity `depth` hops from where the search began; `score` is None where it was reached, not looked for."""

    depth: int
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Made):
    """A fact and when it holds: from `valid_from` until just before `valid_to`, None: until further notice."""

    id: str
    source_id: str
    source: str
    name: str
    target_id: str
    target: str
    confidence: float
    valid_from: datetime
    valid_to: datetime | None = None
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphResults:
    """Entities, where the search began first; relations, newest first; the way to each entity that was reached.

    A path reads `Ada -works_on-> Reverie`. `truncated`: there is more than a search reads.
    """

    entities: tuple[FoundEntity, ...]
    relations: tuple[Relation, ...]
    paths: tuple[str, ...]
    truncated: bool = False
    fallback: Literal["leader"] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Made):
    """Messages of a session that say something, and how that was read; the episode may have expired since."""

    kind: Literal["messages"] = "messages"
    session_id: str
    messages: tuple[Mapping[str, Any], ...]
    episode_id: str
    said_at: datetime
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedRelation(Relation):
    """A fact with what says it, newest first, ten at most."""

    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """That one entity became part of another, by the background work (`server`) or a person, until `undone_at`."""

    id: str
    kept_id: str
    absorbed_id: str
    absorbed_name: str
    cosine: float | None = None
    jaro_winkler: float | None = None
    by: str
    at: datetime
    undone_by: str | None = None
    undone_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDetail(Entity):
    """An entity with its relations of now and before, newest first, what speaks of it, and its merges.

    `more_relations`: there are more than the 200 that are shown. `sources` are 100 at most.
    """

    relations: tuple[SourcedRelation, ...] = ()
    more_relations: bool = False
    sources: tuple[Source, ...] = ()
    merges: tuple[Merge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A merge, which can be undone by its id, and the entity as it is now."""

    merge_id: str
    entity: Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmerged:
    """The entities that were one, as they are now."""

    merge_id: str
    kept: Entity
    restored: Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Two entities that may be one; `cosine` is None where they were never compared by meaning."""

    id: str
    first: Entity
    second: Entity
    cosine: float | None = None
    jaro_winkler: float
    state: DuplicateState
    found_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatePage:
    """A page of pairs, newest first."""

    duplicates: tuple[Duplicate, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Duplicate, ...]:
        """The items of the page."""
        return self.duplicates
