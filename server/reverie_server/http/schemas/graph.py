"""Models of the knowledge graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie_indexer.model import Scope
from reverie_server.graph.model import Duplicate, DuplicateState, Entity, Merge, Relation, public_id
from reverie_server.graph.search import MAX_DEPTH, GraphFound, GraphRequest
from reverie_server.graph.view import EntityView, Source
from reverie_server.http.schemas.common import Body, Owner, Page, request_config, response_config, response_from
from reverie_server.llm.generation import Generation
from reverie_server.text.fields import Instant, Text
from reverie_server.text.graph_terms import EntityType, RelationName

_GENERATION = {"method": "llm", "prompt": "semantic", "prompt_version": "1", "model": "a-model"}
_ENTITY = {
    "id": "ent-7",
    "external_id": "ada",
    "name": "Ada",
    "type": "person",
    "description": "engineer in the platform team",
    "aliases": ["Ada Lovelace"],
    "properties": {},
    "confidence": 0.95,
    "scope": "personal",
    "owner_key": "user:42",
    **_GENERATION,
    "created_at": "2026-04-03T10:12:00Z",
    "updated_at": "2026-04-03T10:12:00Z",
}
_RELATION = {
    "id": "rel-31",
    "source_id": "ent-7",
    "source": "Ada",
    "name": "works_on",
    "target_id": "ent-9",
    "target": "Reverie",
    "confidence": 0.9,
    "valid_from": "2026-04-03T09:30:00Z",
    "valid_to": None,
    "recorded_at": "2026-04-03T10:12:00Z",
    **_GENERATION,
}
_SOURCE = {
    "kind": "messages",
    "session_id": "telegram:17",
    "messages": [{"seq": 1, "id": "m-1"}],
    "episode_id": "ep-12",
    "said_at": "2026-04-03T09:30:00Z",
    "confidence": 0.9,
    **_GENERATION,
}
_MERGE = {
    "id": "mrg-2",
    "kept_id": "ent-7",
    "absorbed_id": "ent-11",
    "absorbed_name": "Ada Lovelace",
    "cosine": 0.985,
    "jaro_winkler": 0.91,
    "by": "server",
    "at": "2026-04-03T10:12:05Z",
    "undone_by": None,
    "undone_at": None,
}
_PAIR = {
    "id": "dup-5",
    "first": _ENTITY,
    "second": {**_ENTITY, "id": "ent-15", "external_id": "ada-l", "name": "Ada L.", "aliases": []},
    "cosine": 0.94,
    "jaro_winkler": 0.87,
    "state": "open",
    "found_at": "2026-04-03T10:12:05Z",
    "decided_at": None,
    "decided_by": None,
}


class GraphSearchRequest(Owner):
    """What to look for: a question, an entity, or entities of a type; at least one of them."""

    model_config = request_config(query="What does Ada work on?", max_depth=2, owner_key="user:42")

    query: Text | None = None
    entity_id: str | None = None
    entity_type: EntityType | None = Field(
        None, description="Of the entities where the search begins; with entity_id, of those it leads to"
    )
    max_depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    as_of: Instant | None = Field(None, description="Relations that held then; now by default; RFC 3339")

    def graph_request(self) -> GraphRequest:
        """The search without its owner."""
        return GraphRequest(self.query, self.entity_id, self.entity_type, self.max_depth, self.as_of)


class GenerationBody(BaseModel):
    """How something was made, by which prompt and model (null: without one)."""

    method: Literal["llm", "extractive"]
    prompt: str | None
    prompt_version: str | None
    model: str | None


class EntityBody(GenerationBody):
    """An entity: who or what conversations speak of. How it was made is how its name was learned."""

    model_config = response_config(**_ENTITY)

    id: str
    external_id: str
    name: str
    type: EntityType
    description: str
    aliases: list[str]
    properties: dict[str, Any]
    confidence: float
    scope: Scope
    owner_key: str | None
    created_at: datetime
    updated_at: datetime


class FoundEntityBody(EntityBody):
    """An entity after so many hops; `score` is null where it was reached and not looked for."""

    model_config = response_config(**_ENTITY, depth=0, score=0.91)

    depth: int
    score: float | None


class RelationBody(GenerationBody):
    """A fact, and when it holds: from `valid_from` until just before `valid_to`, null: until further notice."""

    model_config = response_config(**_RELATION)

    id: str
    source_id: str
    source: str
    name: RelationName
    target_id: str
    target: str
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime


class GraphSearchResponse(BaseModel):
    """Entities, where the search began first; relations, the newest first; the way to each entity that was reached.

    `truncated`: there is more than a search reads. `fallback` is `leader` where that one's shared memory answered.
    """

    model_config = response_config(
        entities=[{**_ENTITY, "depth": 0, "score": 0.91}],
        relations=[_RELATION],
        paths=["Ada -works_on-> Reverie"],
        truncated=False,
        fallback=None,
        warnings=[],
    )

    entities: list[FoundEntityBody]
    relations: list[RelationBody]
    paths: list[str]
    truncated: bool
    fallback: Literal["leader"] | None
    warnings: list[str]


class EntitiesQuery(Page):
    """Which entities."""

    entity_type: EntityType | None = None


class EntityList(BaseModel):
    """A page of entities by name."""

    model_config = response_config(entities=[_ENTITY], next_cursor=None)

    entities: list[EntityBody]
    next_cursor: str | None


class SourceBody(GenerationBody):
    """Messages of a session that say something, and how that was read; the episode may have expired since."""

    kind: Literal["messages"]
    session_id: str
    messages: list[dict[str, Any]]
    episode_id: str
    said_at: datetime
    confidence: float


class SourcedRelationBody(RelationBody):
    """A fact with what says it, the newest first, ten at most."""

    sources: list[SourceBody]


class MergeBody(BaseModel):
    """That one entity was merged into another, by the stage (`server`) or a person; taken back at `undone_at`."""

    model_config = response_config(**_MERGE)

    id: str
    kept_id: str
    absorbed_id: str
    absorbed_name: str
    cosine: float | None
    jaro_winkler: float | None
    by: str
    at: datetime
    undone_by: str | None
    undone_at: datetime | None


class EntityDetail(EntityBody):
    """An entity with its relations of now and of before, the newest first, what speaks of it, and its merges.

    `more_relations`: there are more than the 200 that are shown. At most 100 sources.
    """

    model_config = response_config(
        **_ENTITY,
        relations=[{**_RELATION, "sources": [_SOURCE]}],
        more_relations=False,
        sources=[_SOURCE],
        merges=[_MERGE],
    )

    relations: list[SourcedRelationBody]
    more_relations: bool
    sources: list[SourceBody]
    merges: list[MergeBody]


class GraphOwner(Owner):
    """Whose graph. Neither field: the team's."""

    model_config = request_config(owner_key="user:42")


class GraphMerge(Owner):
    """Which entity to keep, and which becomes part of it. Whose: without an owner, the team's."""

    model_config = request_config(keep="ent-7", absorb="ent-11", owner_key="user:42")

    keep: str
    absorb: str


class MergeResult(BaseModel):
    """A merge, and the entity as it is now."""

    model_config = response_config(merge_id="mrg-2", entity=_ENTITY)

    merge_id: str
    entity: EntityBody


class UndoResult(BaseModel):
    """The entities that were one, as they are now. They are not merged by themselves again."""

    model_config = response_config(merge_id="mrg-2", kept=_ENTITY, restored={**_ENTITY, "id": "ent-11"})

    merge_id: str
    kept: EntityBody
    restored: EntityBody


class DuplicatesQuery(Page):
    """Which pairs."""

    state: DuplicateState | None = Field("open", description="Pairs that were dismissed or merged are kept, too")


class DuplicateBody(BaseModel):
    """Two entities that may be one; `cosine` is null where they were never compared by meaning."""

    model_config = response_config(**_PAIR)

    id: str
    first: EntityBody
    second: EntityBody
    cosine: float | None
    jaro_winkler: float
    state: DuplicateState
    found_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class DuplicateList(BaseModel):
    """A page of pairs, the newest first."""

    model_config = response_config(duplicates=[_PAIR], next_cursor=None)

    duplicates: list[DuplicateBody]
    next_cursor: str | None


def found_body(found: GraphFound) -> GraphSearchResponse:
    """The answer of a search as a response model."""
    return GraphSearchResponse(
        entities=[_entity(FoundEntityBody, one.entity, depth=one.depth, score=one.score) for one in found.entities],
        relations=[_relation(RelationBody, relation) for relation in found.relations],
        paths=list(found.paths),
        truncated=found.truncated,
        fallback=found.fallback,
        warnings=list(found.warnings),
    )


def entity_body(entity: Entity) -> EntityBody:
    """An entity as a response model."""
    return _entity(EntityBody, entity)


def detail_body(view: EntityView) -> EntityDetail:
    """An entity with its relations, sources and merges as a response model."""
    return _entity(
        EntityDetail,
        view.entity,
        relations=[
            _relation(SourcedRelationBody, relation, sources=_sources(sources)) for relation, sources in view.relations
        ],
        more_relations=view.more_relations,
        sources=_sources(view.sources),
        merges=[_merge(merge) for merge in view.merges],
    )


def duplicate_body(pair: Duplicate) -> DuplicateBody:
    """A pair as a response model."""
    first, second = entity_body(pair.first), entity_body(pair.second)
    return response_from(DuplicateBody, pair, id=public_id("duplicate", pair.duplicate_id), first=first, second=second)


def _entity(kind: type[Body], entity: Entity, **others: Any) -> Body:
    return response_from(
        kind, entity, id=public_id("entity", entity.entity_id), **_generation(entity.generation), **others
    )


def _relation(kind: type[Body], relation: Relation, **others: Any) -> Body:
    ids = {
        "id": public_id("relation", relation.relation_id),
        "source_id": public_id("entity", relation.source_id),
        "target_id": public_id("entity", relation.target_id),
    }
    return response_from(kind, relation, **ids, **_generation(relation.generation), **others)


def _sources(sources: Sequence[Source]) -> list[SourceBody]:
    return [response_from(SourceBody, source, **source.source, **_generation(source.generation)) for source in sources]


def _generation(generation: Generation) -> dict[str, Any]:
    return {name: getattr(generation, name) for name in GenerationBody.model_fields}


def _merge(merge: Merge) -> MergeBody:
    ids = {
        "id": public_id("merge", merge.merge_id),
        "kept_id": public_id("entity", merge.kept_id),
        "absorbed_id": public_id("entity", merge.absorbed_id),
    }
    return response_from(MergeBody, merge, **ids)
