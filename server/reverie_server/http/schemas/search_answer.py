"""The response of a search, made without FastAPI so that the command line can use it."""

from __future__ import annotations

import math

from reverie_server.http.schemas import memory
from reverie_server.http.schemas.common import response_from
from reverie_server.search.request import SearchOutcome, SearchResult


def search_response(outcome: SearchOutcome, *, explain: bool) -> memory.SearchResponse:
    """An outcome as a response model."""
    results = [response_from(memory.SearchResult, result, id=str(result.chunk_id)) for result in outcome.results]
    if explain:
        for body, result in zip(results, outcome.results, strict=True):
            body.explain = _explanation(result, outcome)
    return memory.SearchResponse(
        results=results,
        count=len(results),
        mode=outcome.mode,
        fallback=outcome.fallback,
        warnings=list(outcome.warnings),
        timing_ms=timing(outcome),
    )


def timing(outcome: SearchOutcome) -> memory.Timing:
    """The times of a search, to hundredths of a millisecond."""
    return memory.Timing(
        embed=round(outcome.embed_ms, 2),
        database=round(outcome.database_ms, 2),
        total=round(outcome.total_ms, 2),
    )


def _explanation(result: SearchResult, outcome: SearchOutcome) -> memory.Explanation:
    return response_from(
        memory.Explanation,
        result,
        matched_terms=result.matched,
        exact_match=result.is_exact,
        text_weight=outcome.weights.text,
        vector_weight=outcome.weights.vector,
        context_weight=outcome.weights.context,
        speaker=None if math.isnan(result.speaker_match) else result.speaker_match,
        telling=result.statement_score,
        boosts={"owner": result.boost},
        copies=[
            memory.CopyBody(id=str(copy.chunk_id), path=copy.path, start_line=copy.start_line) for copy in result.copies
        ],
        contrast=None if math.isnan(result.contrast) else result.contrast,
    )
