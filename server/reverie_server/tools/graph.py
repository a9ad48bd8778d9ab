"""The tool that searches the knowledge graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie_server.access.audit import counted
from reverie_server.access.connection import Connection
from reverie_server.graph.model import Relation, public_id
from reverie_server.graph.search import GraphRequest
from reverie_server.search.request import rules_for
from reverie_server.tools import arguments
from reverie_server.tools.files import seconds

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime

# A model reads all of an answer: more than this helps nobody.
MAX_SHOWN = 50


async def knowledge_graph_search(
    system: Runtime, by: Connection, args: arguments.KnowledgeGraphSearch
) -> dict[str, Any]:
    """Names, types and relations with their times. What is empty is left out: a model pays for every word."""
    grant = await system.gate.read(by.caller, by.agent_id, by.owner_key)
    rules = rules_for(grant, system.search.rules)
    request = GraphRequest(args.query, args.entity_id, args.entity_type, args.max_depth, args.as_of)
    found = await system.consolidation.graph.search.search(
        grant.principal, request, language=rules.language, weights=rules.weights
    )
    entities = [
        {"id": public_id("entity", one.entity.entity_id), "name": one.entity.name, "type": one.entity.type}
        for one in found.entities[:MAX_SHOWN]
    ]
    counted(len(entities))
    answer: dict[str, Any] = {
        "entities": entities,
        "relations": [_relation(relation) for relation in found.relations[:MAX_SHOWN]],
        "paths": list(found.paths[:MAX_SHOWN]),
    }
    if found.truncated or max(len(found.entities), len(found.relations), len(found.paths)) > MAX_SHOWN:
        answer["truncated"] = True
    if found.fallback is not None:
        answer["fallback"] = found.fallback
    if found.warnings:
        answer["warnings"] = list(found.warnings)
    return answer


def _relation(relation: Relation) -> dict[str, Any]:
    fact = {"source": relation.source, "name": relation.name, "target": relation.target}
    until = {} if relation.valid_to is None else {"until": seconds(relation.valid_to)}
    return {**fact, "from": seconds(relation.valid_from), **until}
