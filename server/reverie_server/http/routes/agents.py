"""Routes of agents."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Response

from reverie_server.access.gate import check_agent
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_body, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import AgentBody, AgentList, AgentPut, AgentsQuery, response_from

router = APIRouter(prefix="/agents", tags=["Agents"], responses=may_answer(401, 403, 422, 503))


@router.get("")
async def list_agents(system: System, who: Who, query: Annotated[AgentsQuery, Query()]) -> AgentList:
    """The tenant's agents by id, of all or of those whose id or name has `q`; a bound key sees its own."""
    position = cast("tuple[str] | None", decode_cursor(query.cursor, str))
    bound = None if who.agent_ids is None else sorted(who.agent_ids)
    after = position[0] if position else None
    found = await system.agents.listing(who.tenant_id, bound, after=after, limit=query.limit + 1, part=query.q)
    page = found[: query.limit]
    cursor = encode_cursor(page[-1].agent_id) if len(found) > query.limit else None
    return AgentList(agents=[response_from(AgentBody, agent) for agent in page], next_cursor=cursor)


@router.get("/{a}", responses=may_answer(404))
async def get_agent(a: Agent, system: System, who: Who) -> AgentBody:
    """One agent."""
    check_agent(who, a)
    return response_from(AgentBody, await system.agents.get(who.tenant_id, a))


@router.put(
    "/{a}",
    dependencies=[Depends(no_query)],
    responses={201: {"model": AgentBody, "description": "The agent is new"}, **may_answer(400, 409, 413)},
)
async def put_agent(a: Agent, body: AgentPut, response: Response, system: System, who: Who) -> AgentBody:
    """Create or replace an agent. `leader_agent_id` makes it a team member, whose memory is read-only."""
    system.gate.manage(who, a, body.leader_agent_id)
    settings = body.settings.model_dump(exclude_unset=True)
    agent, is_new = await system.agents.put(who.tenant_id, a, body.name, body.leader_agent_id, settings)
    response.status_code = 201 if is_new else 200
    return response_from(AgentBody, agent)


@router.delete(
    "/{a}", status_code=204, dependencies=[Depends(no_body), Depends(no_query)], responses=may_answer(404, 409)
)
async def delete_agent(a: Agent, system: System, who: Who) -> None:
    """Delete an agent with all its memory, everybody's, history included."""
    system.gate.manage(who, a, action="forget")
    await system.agents.delete(who.tenant_id, a)
