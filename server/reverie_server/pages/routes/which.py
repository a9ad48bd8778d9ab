"""Finding an agent and a person by parts of their names, for the fields at the top of each page."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.file_rules import check_owner_key
from reverie_server.http.routes import agents, listings
from reverie_server.http.schemas.common import AgentsQuery
from reverie_server.http.schemas.owners import ListedOwner, OwnersQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Visit, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_MAX_NAMES = 50


@router.get("/which")
async def which(visit: Visiting) -> Response:
    """Go to the memory that is named; where only a part of a name is, show those that have it."""
    params = visit.request.query_params
    agent, person = params.get("agent", "").strip() or visit.agent_id, params.get("person", "").strip()
    found = (await agents.list_agents(visit.system, visit.who, AgentsQuery(q=agent[:200], limit=_MAX_NAMES))).agents
    if agent not in {each.agent_id for each in found}:
        return await visit.show("which.html", kind="agent", missing=agent, agents=found, people=[], person=person)
    there = visit.elsewhere(agent)
    people = await _people(there, person)
    if not person or person in {each.owner_key for each in people}:
        return there.go("overview", owner=person)
    if people:
        return await there.show("which.html", kind="person", missing=person, agents=[], people=people, person=person)
    return there.go("overview", owner=check_owner_key(person))


async def _people(visit: Visit, part: str) -> list[ListedOwner]:
    """The owners with a part in their key; only an administrator may know them."""
    if not part or not visit.is_admin:
        return []
    query = OwnersQuery(q=part[:200], limit=_MAX_NAMES)
    return (await listings.list_owners(visit.agent_id, visit.system, visit.who, query)).owners
