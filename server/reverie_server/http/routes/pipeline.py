"""Routes of the background work: its health, and retrying failed jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query

from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.pipeline import PipelineBody, PipelineQuery, PipelineRetry, Retried, pipeline_body

router = APIRouter(prefix="/agents/{a}/pipeline", tags=["Consolidation"], responses=may_answer(401, 403, 404, 422, 503))


@router.get("")
async def get_pipeline(a: Agent, system: System, who: Who, query: Annotated[PipelineQuery, Query()]) -> PipelineBody:
    """How the background work is doing, of the owner and the team.

    Without an owner a key that is bound to none sees all owners' work, and how the models did for the tenant.
    """
    owner = None if query.is_everybody else query.resolved_owner()
    if query.is_everybody:
        grant = await system.gate.every_owner(who, a)
    elif owner is None and who.owner_key is None:
        grant = await system.gate.background_work(who, a)
    else:
        grant = await system.gate.read(who, a, owner)
    health = await system.consolidation.health.of(grant.principal)
    return pipeline_body(health, system.llm.model if system.llm else None, system.models.state)


@router.post("/retry", status_code=202, dependencies=[Depends(no_query)], responses=may_answer(400, 404, 413))
async def retry_pipeline(
    a: Agent,
    system: System,
    who: Who,
    body: Annotated[PipelineRetry | None, Body()] = None,
) -> Retried:
    """Try again what failed for good, of the owner and the team: everything, a stage, or one job."""
    body = body or PipelineRetry.model_validate({})
    if body.is_everybody:
        grant = await system.gate.every_owner(who, a, action="write")
    else:
        await system.gate.write(who, a, body.resolved_owner(), None)
        # An agent that is not there is not made by this.
        grant = await system.gate.read(who, a, body.resolved_owner())
    job_id = None if body.job_id is None else int(body.job_id)
    return Retried(retried=await system.consolidation.health.retry(grant.principal, stage=body.stage, job_id=job_id))
