"""Routes that search, forget, clear and reindex memory."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends

from reverie_indexer.reindex import reindex
from reverie_server.access.audit import Action, counted
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import ScopedOwner, response_from
from reverie_server.http.schemas.forgetting import Forget, Receipt
from reverie_server.http.schemas.memory import Clear, Cleared, Reindexed, SearchRequest, SearchResponse
from reverie_server.http.schemas.search_answer import search_response
from reverie_server.sessions.reindex import reindex_messages
from reverie_server.text.spans import span

router = APIRouter(prefix="/agents/{a}/memory", tags=["Memory"], responses=may_answer(401, 403, 404, 422, 503))


@router.post(
    "/search", response_model_exclude_unset=True, dependencies=[Depends(no_query)], responses=may_answer(400, 413)
)
async def search(a: Agent, body: SearchRequest, system: System, who: Who) -> SearchResponse:
    """Find passages by words and by meaning."""
    outcome = await system.memory_search.find(
        who,
        a,
        body.resolved_owner(),
        body.query,
        max_results=body.max_results,
        min_score=body.min_score,
        min_relevance=body.min_relevance,
        path_prefix=body.path_prefix or None,
        tags=tuple(body.tags or ()),
        since=body.since,
        until=body.until,
        tiers=tuple(body.tiers),
        mode=body.mode,
        as_of=body.as_of,
    )
    with span("respond"):
        return search_response(outcome, explain=body.explain)


@router.post("/forget", dependencies=[Depends(no_query)], responses=may_answer(400, 403, 409, 413))
async def forget(a: Agent, body: Forget, system: System, who: Who) -> Receipt:
    """Take a text out of files, their history and backups, what was said, index and cache; first, by default, dry."""
    action: Action = "read" if body.dry_run else "forget"
    grant, place = await system.gate.write(who, a, body.resolved_owner(), None, action=action)
    receipt = await system.forgetting.forget(grant, place, body.target(), dry_run=body.dry_run)
    counted(len(receipt.items))
    return response_from(Receipt, receipt)


@router.post("/clear", dependencies=[Depends(no_query)], responses=may_answer(400, 403, 409, 413))
async def clear(a: Agent, body: Clear, system: System, who: Who) -> Cleared:
    """Remove whole files, history included, and what was said, for good, by age, prefix and owner; by default dry."""
    action: Action = "read" if body.dry_run else "forget"
    if body.is_everybody:
        await system.gate.every_owner(who, a, action=action)
        cleared = await system.clearing.clear_everybody(who.tenant_id, a, body.selection(), dry_run=body.dry_run)
    else:
        _, place = await system.gate.write(who, a, body.resolved_owner(), None, action=action)
        cleared = await system.clearing.clear(place, body.selection(), dry_run=body.dry_run)
    counted(sum(cleared.removed.values()))
    return response_from(Cleared, cleared)


@router.post("/reindex", dependencies=[Depends(no_query)], responses=may_answer(400, 403, 409, 413))
async def reindex_place(
    a: Agent, system: System, who: Who, body: Annotated[ScopedOwner | None, Body()] = None
) -> Reindexed:
    """Chunk and embed anew what an owner has with the agent, or what its team has; no text changes."""
    owner, scope = (body.resolved_owner(), body.scope) if body else (None, None)
    grant, place = await system.gate.write(who, a, owner, scope)
    done = await reindex(system.database, system.pipeline, place)
    done += await reindex_messages(system.database, system.pipeline, place, grant.settings)
    done += await system.consolidation.episodes.reindex(place, grant.settings)
    await system.facts.upkeep.rebuild(place)
    return response_from(Reindexed, done)
