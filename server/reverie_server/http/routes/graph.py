"""Routes of the knowledge graph."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.access.gate import Grant
from reverie_server.graph.model import parse_id, public_id
from reverie_server.graph.search import GraphFound, GraphRequest
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.graph import (
    DuplicateBody,
    DuplicateList,
    DuplicatesQuery,
    EntitiesQuery,
    EntityDetail,
    EntityList,
    GraphMerge,
    GraphOwner,
    GraphSearchRequest,
    GraphSearchResponse,
    MergeResult,
    UndoResult,
    detail_body,
    duplicate_body,
    entity_body,
    found_body,
)
from reverie_server.runtime import Runtime
from reverie_server.search.request import rules_for

router = APIRouter(prefix="/agents/{a}/graph", tags=["Consolidation"], responses=may_answer(401, 403, 404, 422, 503))
BODY_ONLY = [Depends(no_query)]
EntityId = Annotated[str, PathParameter(description="An entity's id", examples=["ent-7"])]
MergeId = Annotated[str, PathParameter(description="A merge's id", examples=["mrg-2"])]
DuplicateId = Annotated[str, PathParameter(description="A pair's id", examples=["dup-5"])]


@router.post("/search", dependencies=BODY_ONLY, responses=may_answer(400, 413))
async def search_graph(a: Agent, body: GraphSearchRequest, system: System, who: Who) -> GraphSearchResponse:
    """Find entities, by words and by meaning or by id, and what hangs together with them, now or at an instant."""
    grant = await system.gate.read(who, a, body.resolved_owner())
    found = await search(system, grant, body.graph_request())
    counted(len(found.entities))
    return found_body(found)


@router.get("/entities")
async def list_entities(a: Agent, system: System, who: Who, query: Annotated[EntitiesQuery, Query()]) -> EntityList:
    """Entities by name: an owner's and what is shared."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, str, int)
    after = (str(position[0]), int(position[1])) if position else None
    page = await system.consolidation.graph.view.entities(
        grant.principal, entity_type=query.entity_type, after=after, limit=query.limit + 1
    )
    entities = page[: query.limit]
    counted(len(entities))
    cursor = encode_cursor(entities[-1][0], entities[-1][1].entity_id) if len(page) > query.limit else None
    return EntityList(entities=[entity_body(one) for _, one in entities], next_cursor=cursor)


@router.get("/entities/{entity_id}")
async def get_entity(
    a: Agent, entity_id: EntityId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> EntityDetail:
    """An entity with its relations of now and before, its sources and merges; what was merged, as what it is now."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    return detail_body(await system.consolidation.graph.view.entity(grant.principal, entity_id))


@router.post("/merge", dependencies=BODY_ONLY, responses=may_answer(400, 409, 413))
async def merge_entities(a: Agent, body: GraphMerge, system: System, who: Who) -> MergeResult:
    """Make two entities one: what is known of both is known of the kept one, and its history tells."""
    grant, place = await system.gate.write(who, a, body.resolved_owner(), None)
    keep, absorb = parse_id("entity", body.keep), parse_id("entity", body.absorb)
    merge_id = await system.consolidation.graph.upkeep.merge(place, keep, absorb, by=grant.author)
    view = await system.consolidation.graph.view.entity(grant.principal, public_id("entity", keep))
    return MergeResult(merge_id=public_id("merge", merge_id), entity=entity_body(view.entity))


@router.post("/merges/{merge_id}/undo", dependencies=BODY_ONLY, responses=may_answer(400, 409, 413))
async def undo_merge(
    a: Agent,
    merge_id: MergeId,
    system: System,
    who: Who,
    body: Annotated[GraphOwner | None, Body()] = None,
) -> UndoResult:
    """Take a merge back: each of the two is what is said of it, and they are not merged by themselves again."""
    grant, place = await system.gate.write(who, a, body.resolved_owner() if body else None, None)
    number = parse_id("merge", merge_id)
    kept, restored = await system.consolidation.graph.upkeep.undo(place, number, by=grant.author)
    view = system.consolidation.graph.view
    entities = [(await view.entity(grant.principal, public_id("entity", one))).entity for one in (kept, restored)]
    kept_body, restored_body = map(entity_body, entities)
    return UndoResult(merge_id=public_id("merge", number), kept=kept_body, restored=restored_body)


@router.get("/duplicates")
async def list_duplicates(
    a: Agent, system: System, who: Who, query: Annotated[DuplicatesQuery, Query()]
) -> DuplicateList:
    """Pairs of entities that may be one: merge them, or dismiss the pair."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, int)
    before = int(position[0]) if position else None
    page = await system.consolidation.graph.view.duplicates(
        grant.principal, state=query.state, before=before, limit=query.limit + 1
    )
    pairs = page[: query.limit]
    counted(len(pairs))
    cursor = encode_cursor(pairs[-1].duplicate_id) if len(page) > query.limit else None
    return DuplicateList(duplicates=[duplicate_body(pair) for pair in pairs], next_cursor=cursor)


@router.post("/duplicates/{duplicate_id}/dismiss", dependencies=BODY_ONLY, responses=may_answer(400, 409, 413))
async def dismiss_duplicate(
    a: Agent,
    duplicate_id: DuplicateId,
    system: System,
    who: Who,
    body: Annotated[GraphOwner | None, Body()] = None,
) -> DuplicateBody:
    """Decide that a pair is two; they are never merged by themselves."""
    grant, place = await system.gate.write(who, a, body.resolved_owner() if body else None, None)
    number = parse_id("duplicate", duplicate_id)
    await system.consolidation.graph.upkeep.dismiss(place, number, by=grant.author)
    return duplicate_body(await system.consolidation.graph.view.duplicate(grant.principal, number))


async def search(system: Runtime, grant: Grant, request: GraphRequest) -> GraphFound:
    """Search the graph by the agent's language and weights."""
    rules = rules_for(grant, system.search.rules)
    return await system.consolidation.graph.search.search(
        grant.principal, request, language=rules.language, weights=rules.weights
    )
