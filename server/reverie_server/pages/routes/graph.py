"""The knowledge graph: entities, what one has to do with others now and before, and which may be the same."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.http.routes import graph
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.graph import (
    DuplicatesQuery,
    EntitiesQuery,
    GraphMerge,
    GraphOwner,
    GraphSearchRequest,
)
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.graph_drawing import drawing
from reverie_server.pages.time_slider import time_slider
from reverie_server.pages.visit import SENT, PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_ALIKE = 200


@router.get("/graph")
async def list_entities(visit: Visiting) -> Response:
    """Entities by name, and the pairs of them that may be the same."""
    a, system, who = visit.agent_id, visit.system, visit.who
    found = await graph.list_entities(a, system, who, visit.query(EntitiesQuery, "entity_type", "cursor", limit=50))
    pairs = await graph.list_duplicates(a, system, who, visit.query(DuplicatesQuery, limit=10))
    return await visit.show(
        "graph.html", entities=found.entities, next_cursor=found.next_cursor, duplicates=pairs.duplicates
    )


@router.get("/graph/{entity_id}")
async def show_entity(visit: Visiting, entity_id: str) -> Response:
    """An entity with its relations, now or on the day of `as_of`, drawn and listed with their sources."""
    a, system, who = visit.agent_id, visit.system, visit.who
    entity = await graph.get_entity(a, entity_id, system, who, visit.query(Owner))
    begun = min((relation.valid_from.date() for relation in entity.relations), default=None)
    slider = time_slider(visit.request.query_params, datetime.now(UTC).date(), begun)
    fields = {**visit.whose, "entity_id": entity_id, "max_depth": 1, "as_of": slider.until}
    found = await graph.search_graph(a, GraphSearchRequest.model_validate(fields), system, who)
    edges = [(relation.source, relation.name, relation.target) for relation in found.relations]
    alike = visit.query(EntitiesQuery, entity_type=entity.type, limit=_ALIKE)
    others = (await graph.list_entities(a, system, who, alike)).entities if visit.may_write else []
    return await visit.show(
        "entity.html",
        entity=entity,
        slider=slider,
        drawing=drawing(entity.name, edges),
        others=[each for each in others if each.id != entity.id],
    )


@router.post("/graph/merge")
async def merge(visit: Visiting, form: Sent) -> Response:
    """Make one entity of two."""
    body = GraphMerge.model_validate({**visit.whose, "keep": form.text("keep"), "absorb": form.text("absorb")})
    merged = await graph.merge_entities(visit.agent_id, body, visit.system, visit.who)
    return visit.go(f"graph/{merged.entity.id}", done="merged")


@router.post("/graph/duplicates/{duplicate_id}", dependencies=SENT)
async def dismiss(visit: Visiting, duplicate_id: str) -> Response:
    """Say that two entities are not the same."""
    body = GraphOwner.model_validate(visit.whose)
    await graph.dismiss_duplicate(visit.agent_id, duplicate_id, visit.system, visit.who, body)
    return visit.go("graph", done="apart")


@router.post("/graph/merges/{merge_id}", dependencies=SENT)
async def undo(visit: Visiting, merge_id: str) -> Response:
    """Make two entities again of what was merged."""
    body = GraphOwner.model_validate(visit.whose)
    await graph.undo_merge(visit.agent_id, merge_id, visit.system, visit.who, body)
    return visit.go("graph", done="apart")
