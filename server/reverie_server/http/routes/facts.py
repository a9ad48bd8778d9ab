"""Routes of facts and of the inbox of contradictions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi import Path as PathParameter

from reverie_indexer.errors import ValidationFailed
from reverie_server.access.audit import counted
from reverie_server.facts.changes import place_of
from reverie_server.facts.model import public_id
from reverie_server.forgetting.selection import Target
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner, response_from
from reverie_server.http.schemas.facts import (
    ContradictionBody,
    ContradictionList,
    ContradictionResolve,
    ContradictionsQuery,
    FactBody,
    FactChain,
    FactEdit,
    FactFeedback,
    FactList,
    FactOwner,
    FactsQuery,
    contradiction_body,
    fact_body,
)
from reverie_server.http.schemas.forgetting import Receipt

router = APIRouter(prefix="/agents/{a}", tags=["Consolidation"], responses=may_answer(401, 403, 404, 422, 503))
BODY_ONLY = [Depends(no_query)]
FactId = Annotated[str, PathParameter(description="A fact's id", examples=["fact-7"])]
ContradictionId = Annotated[str, PathParameter(description="A contradiction's id", examples=["con-3"])]


@router.get("/facts")
async def list_facts(a: Agent, system: System, who: Who, query: Annotated[FactsQuery, Query()]) -> FactList:
    """Facts by trust: an owner's and what is shared."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, str, int)
    after = (as_number(str(position[0])), int(position[1])) if position else None
    page = await system.facts.view.facts(grant.principal, query.filter(), after=after, limit=query.limit + 1)
    facts = page[: query.limit]
    counted(len(facts))
    cursor = encode_cursor(repr(facts[-1].order_key), facts[-1].fact_id) if len(page) > query.limit else None
    return FactList(facts=[fact_body(fact) for fact in facts], next_cursor=cursor)


@router.get("/facts/{fact_id}")
async def get_fact(a: Agent, fact_id: FactId, system: System, who: Who, query: Annotated[Owner, Query()]) -> FactChain:
    """A fact, with those that it replaced and what replaced it."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    fact, chain = await system.facts.view.chain(grant.principal, fact_id)
    counted(len(chain))
    return FactChain(fact=fact_body(fact), chain=[fact_body(each) for each in chain])


@router.post("/facts/{fact_id}/feedback", dependencies=BODY_ONLY, responses=may_answer(400, 413))
async def rate_fact(a: Agent, fact_id: FactId, body: FactFeedback, system: System, who: Who) -> FactBody:
    """Say whether a fact was of use: one vote for each owner, fact and turn, which moves its trust."""
    grant, _ = await system.gate.write(who, a, body.resolved_owner(), None)
    fact = await system.facts.view.fact(grant.principal, fact_id)
    place, voter = place_of(grant, fact), grant.principal.owner_key or ""
    await system.facts.votes.vote(place, fact.fact_id, body.kind, voter=voter, turn_id=body.turn_id or "")
    return fact_body(await system.facts.view.fact(grant.principal, fact_id))


@router.post("/facts/{fact_id}/confirm", dependencies=BODY_ONLY, responses=may_answer(400, 413))
async def confirm_fact(
    a: Agent, fact_id: FactId, system: System, who: Who, body: Annotated[FactOwner | None, Body()] = None
) -> FactBody:
    """Say that a fact is so: its trust is what it was before it faded with time."""
    grant, _ = await system.gate.write(who, a, body.resolved_owner() if body else None, None)
    fact = await system.facts.view.fact(grant.principal, fact_id)
    await system.facts.votes.confirm(place_of(grant, fact), fact.fact_id, by=grant.author)
    return fact_body(await system.facts.view.fact(grant.principal, fact_id))


@router.post("/facts/{fact_id}/edit", dependencies=BODY_ONLY, responses=may_answer(400, 409, 413))
async def edit_fact(a: Agent, fact_id: FactId, body: FactEdit, system: System, who: Who) -> FactBody:
    """Write other words into exactly the line of a fact, which is then a person's; answers with what it now states."""
    grant, _ = await system.gate.write(who, a, body.resolved_owner(), None)
    fact = await system.facts.view.fact(grant.principal, fact_id)
    new_id = await system.facts.changes.edit(grant, place_of(grant, fact), fact, body.text)
    return fact_body(await system.facts.view.fact(grant.principal, public_id("fact", new_id)))


@router.post("/facts/{fact_id}/forget", dependencies=BODY_ONLY, responses=may_answer(400, 409, 413))
async def forget_fact(
    a: Agent, fact_id: FactId, system: System, who: Who, body: Annotated[FactOwner | None, Body()] = None
) -> Receipt:
    """Take the statement of a fact out of everything, as `forget` does."""
    grant, _ = await system.gate.write(who, a, body.resolved_owner() if body else None, None, action="forget")
    fact = await system.facts.view.fact(grant.principal, fact_id)
    place = place_of(grant, fact)
    said = await system.facts.changes.wordings(place, fact)
    target = Target(statements=said.sentences, clauses=said.clauses, spared=said.spared)
    receipt = await system.forgetting.forget(grant, place, target, dry_run=False)
    return response_from(Receipt, receipt)


@router.get("/contradictions")
async def list_contradictions(
    a: Agent, system: System, who: Who, query: Annotated[ContradictionsQuery, Query()]
) -> ContradictionList:
    """Pairs of facts that cannot both hold, the newest first; only open ones by default."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, int)
    before = int(position[0]) if position else None
    state = None if query.state == "all" else query.state
    page = await system.facts.view.contradictions(grant.principal, state=state, before=before, limit=query.limit + 1)
    pairs = page[: query.limit]
    counted(len(pairs))
    cursor = encode_cursor(pairs[-1].contradiction_id) if len(page) > query.limit else None
    return ContradictionList(contradictions=[contradiction_body(pair) for pair in pairs], next_cursor=cursor)


@router.post("/contradictions/{contradiction_id}/resolve", dependencies=BODY_ONLY, responses=may_answer(400, 409, 413))
async def resolve_contradiction(
    a: Agent, contradiction_id: ContradictionId, body: ContradictionResolve, system: System, who: Who
) -> ContradictionBody:
    """Decide which of two facts holds, once: facts and files then say so, and what lost is in the archive."""
    grant, _ = await system.gate.write(who, a, body.resolved_owner(), None)
    pair = await system.facts.view.contradiction(grant.principal, contradiction_id)
    await system.facts.changes.resolve(grant, place_of(grant, pair.fact_a), pair, body.keep, body.text)
    return contradiction_body(await system.facts.view.contradiction(grant.principal, contradiction_id))


def as_number(text: str) -> float:
    """The number in a cursor; ValidationFailed for one that this list did not give."""
    try:
        return float(text)
    except ValueError:
        raise ValidationFailed("cursor is not one that this list gave") from None
