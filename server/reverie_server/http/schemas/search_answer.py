"""What search found, as it goes over the wire; without FastAPI, which the command line does not need."""

from __future__ import annotations

import math

from reverie_server.http.schemas import memory
from reverie_server.search.request import SearchOutcome, SearchResult


def search_response(outcome: SearchOutcome, *, explain: bool) -> memory.SearchResponse:
    """An outcome as it goes over the wire."""
    results = [_result(result) for result in outcome.results]
    if explain:
        for body, result in zip(results, outcome.results, strict=True):
            body.explain = _explanation(result, outcome)
    return memory.SearchResponse(
        results=results,
        count=len(results),
        mode=outcome.mode,
        fallback=outcome.fallback,
        warnings=list(outcome.warnings),
        timing_ms=memory.Timing(
            embed=round(outcome.embed_ms, 2),
            database=round(outcome.database_ms, 2),
            total=round(outcome.total_ms, 2),
        ),
    )


def _result(result: SearchResult) -> memory.SearchResult:
    return memory.SearchResult(
        id=str(result.chunk_id),
        tier=result.tier,
        path=result.path,
        start_line=result.start_line,
        end_line=result.end_line,
        text=result.text,
        score=result.score,
        text_score=result.text_score,
        vector_score=result.vector_score,
        boost=result.boost,
        scope=result.scope,
        owner_key=result.owner_key,
        updated_at=result.updated_at,
    )


def _explanation(result: SearchResult, outcome: SearchOutcome) -> memory.Explanation:
    return memory.Explanation(
        matched_terms=list(result.matched),
        exact_match=result.is_exact,
        bm25=result.bm25,
        similarity=result.similarity,
        text_weight=outcome.weights.text,
        vector_weight=outcome.weights.vector,
        text_evidence=result.text_evidence,
        vector_evidence=result.vector_evidence,
        coverage=result.coverage,
        speaker=None if math.isnan(result.speaker_match) else result.speaker_match,
        telling=result.statement_score,
        document_evidence=result.document_evidence,
        context_weight=outcome.weights.context,
        base_score=result.base_score,
        boosts={"owner": result.boost},
        contrast=None if math.isnan(result.contrast) else result.contrast,
        idf_share=result.idf_share,
        named=result.named,
        relevance=result.relevance,
        plan=result.plan,
        slice_chunks=result.slice_chunks,
    )
