"""Routes of recall."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from reverie_server.http import wire
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.recall.rank import Ranked, is_exact
from reverie_server.recall.search import Outcome, Request, check_query

router = APIRouter(prefix="/agents/{a}/memory", tags=["Memory"], responses=may_answer(401, 403, 404, 422, 503))


@router.post(
    "/search", response_model_exclude_unset=True, dependencies=[Depends(no_query)], responses=may_answer(400, 413)
)
async def search(a: Agent, body: wire.SearchRequest, system: System, who: Who) -> wire.SearchResponse:
    """Find passages by words and by meaning."""
    query = check_query(body.query)
    grant = await system.gate.read(who, a, body.resolved_owner())
    request = Request(
        tenant_id=who.tenant_id,
        agent_id=a,
        query=query,
        owner_key=grant.reader.owner_key,
        leader_agent_id=grant.reader.leader_agent_id,
        max_results=body.max_results,
        min_score=body.min_score,
        path_prefix=body.path_prefix or None,
        tiers=tuple(body.tiers),
        mode=body.mode,
        as_of=body.as_of,
    )
    outcome = await system.search.search(request, grant.search_rules(system.search.rules))
    return search_response(outcome, explain=body.explain)


def search_response(outcome: Outcome, *, explain: bool) -> wire.SearchResponse:
    """An outcome as it goes over the wire."""
    results = [_result(ranked) for ranked in outcome.results]
    if explain:
        for result, ranked in zip(results, outcome.results, strict=True):
            result.explain = _explanation(ranked, outcome)
    return wire.SearchResponse(
        results=results,
        count=len(results),
        mode=outcome.mode,
        fallback=outcome.fallback,
        warnings=list(outcome.warnings),
        timing_ms=wire.Timing(
            embed=round(outcome.embed_ms, 2),
            database=round(outcome.database_ms, 2),
            total=round(outcome.total_ms, 2),
        ),
    )


def _result(ranked: Ranked) -> wire.SearchResult:
    candidate = ranked.candidate
    return wire.SearchResult(
        id=str(candidate.chunk_id),
        tier=candidate.tier,
        path=candidate.path,
        start_line=candidate.start_line,
        end_line=candidate.end_line,
        text=candidate.text,
        score=ranked.score,
        text_score=ranked.text_score,
        vector_score=ranked.vector_score,
        boost=ranked.boost,
        scope=candidate.scope,
        owner_key=candidate.owner_key,
        updated_at=candidate.updated_at,
    )


def _explanation(ranked: Ranked, outcome: Outcome) -> wire.Explanation:
    return wire.Explanation(
        matched_terms=[term for term in outcome.terms.terms if term in ranked.candidate.terms],
        exact_match=is_exact(ranked.candidate, outcome.terms.exact),
        bm25=ranked.candidate.bm25,
        similarity=ranked.candidate.similarity,
        text_weight=outcome.weights.text,
        vector_weight=outcome.weights.vector,
        base_score=ranked.base_score,
        boosts={"owner": ranked.boost},
        relevance=ranked.relevance,
    )
