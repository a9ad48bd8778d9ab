"""The order that a reranker's scores make of results. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reverie_server.search.rank import with_quota
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import SearchResult
from reverie_server.search.succession import put_in_order


@dataclass(frozen=True, slots=True)
class Placing:
    """What decides over the places of results besides their scores, by chunk id.

    `replaced` are pairs: a passage that does not hold any more, and the one that comes before it. `files` are the
    passages that are not written from what was said.
    """

    replaced: Sequence[tuple[int, int]] = ()
    files: Collection[int] = frozenset()


def reranked(results: Sequence[SearchResult], scores: Sequence[float], placing: Placing) -> list[SearchResult]:
    """The results by the scores of the first ones, best first, each of these with its score; the others follow.

    Of equal scores the order stays. What no longer holds comes just behind what replaced it, which takes its place
    where that is better.
    """
    scored = [replace(result, rerank_score=score) for result, score in zip(results, scores, strict=False)]
    order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
    values = np.empty(len(scored))
    values[order] = np.arange(len(scored), 0, -1)
    row_of = {result.chunk_id: row for row, result in enumerate(scored)}
    put_in_order(values, [(row_of[old], row_of[new]) for old, new in placing.replaced if {old, new} <= row_of.keys()])
    best = np.argsort(-values, kind="stable").tolist()
    return [scored[row] for row in best] + list(results[len(scored) :])


def first(results: Sequence[SearchResult], placing: Placing, limit: int) -> list[SearchResult]:
    """The first `limit` results by the quota of `rank.select`."""
    is_file = np.array([result.chunk_id in placing.files for result in results], np.bool_)
    matches = np.array([bool(r.matched) or r.relevance >= MIN_RELEVANCE for r in results], np.bool_)
    return [results[row] for row in with_quota(is_file, int((is_file & matches).sum()), range(len(results)), limit)]
