"""The results of a search, looked at again by the reranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reverie_indexer.database.database import Database
from reverie_server.search.request import SearchRequest, SearchResult
from reverie_server.search.rerank.order import Placing, first, reranked
from reverie_server.search.rerank.protocol import RerankFailed
from reverie_server.search.rerank.reranking import Reranking
from reverie_server.search.store import open_scope, passages
from reverie_server.text.spans import span


def widened(request: SearchRequest, reranking: Reranking | None) -> SearchRequest:
    """The request with as many results as the reranker looks at; the request itself where it is not to look."""
    if reranking is None or not request.is_reranked or reranking.unusable() is not None:
        return request
    return replace(request, max_results=max(request.max_results, reranking.candidates))


async def second_look(
    reranking: Reranking, database: Database, request: SearchRequest, results: Sequence[SearchResult], placing: Placing
) -> tuple[list[SearchResult], list[str]]:
    """The `max_results` results of a request, of those of the widened one, and warnings.

    Without a reranker's scores the order stays, and a warning says why. No connection is held while it is asked, and
    what was forgotten in that time is no result.
    """
    warnings = []
    best = results[: reranking.candidates]
    try:
        with span("rerank"):
            scores = await reranking.scores(request.query, [result.text for result in best])
    except RerankFailed as error:
        warnings.append(f"the reranker {error.reason}: in the order without it")
    else:
        results = reranked(results, scores, placing)
    return first(await _present(database, request, results), placing, request.max_results), warnings


async def _present(
    database: Database, request: SearchRequest, results: Sequence[SearchResult]
) -> Sequence[SearchResult]:
    """The results that memory still has, as row-level security lets the request see them."""
    async with database.tenant(request.tenant_id, snapshot=True) as connection:
        await open_scope(connection, request)
        rows, _ = await passages(connection, request, [result.chunk_id for result in results], is_last=True)
    return [
        result for result in results if (row := rows.get(result.chunk_id)) is not None and row["text"] == result.text
    ]
