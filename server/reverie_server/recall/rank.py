"""From two channels to one list. Pure: no database, no model, no clock.

score = (text_weight × text_score + vector_weight × vector_score) × boost, where text_score is the passage's BM25
over the largest among the candidates and vector_score its cosine similarity, clamped to 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from reverie_indexer.analyse import fold, holds_exactly
from reverie_indexer.model import Scope, Tier

# Where a passage begins to help: see `relevance`.
FOUND_FROM = 0.3
# Fitted by `reverie bench relevance` with all-MiniLM-L6-v2: benchmarks/results/relevance-locomo_dev.json.
SIMILARITY_SLOPE = 3.87
IDF_SHARE_SLOPE = 4.48
OFFSET = -4.45
# The same for a passage without a vector, on searches by words alone.
IDF_SHARE_SLOPE_ALONE = 5.32
OFFSET_ALONE = -3.15
_SPECIFICITY: dict[Scope, int] = {"personal": 0, "team": 1, "global": 2}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a channel proposed, with what both channels say of it.

    `bm25` is 0 where it shares no term with the query. `matched_idf` sums the IDF of the query's terms that it
    holds. `similarity` is the cosine to the query, None where there is no vector to compare.
    """

    chunk_id: int
    tier: Tier
    path: str
    start_line: int
    end_line: int
    text: str
    terms: tuple[str, ...]
    scope: Scope
    owner_key: str | None
    updated_at: datetime
    bm25: float
    matched_idf: float
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Weights:
    """What each channel counts; the two sum to 1. `user_boost` multiplies a passage of the asking owner."""

    text: float = 0.3
    vector: float = 0.7
    user_boost: float = 1.2


@dataclass(frozen=True, slots=True)
class Query:
    """What scoring knows of a query: its IDF sum over all terms, and who asks."""

    query_idf: float
    owner_key: str | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its scores: `score` is in 0..1.2, `relevance` in 0..1 and absolute.

    `idf_share` is the IDF-weighted share of the query's terms that it holds, 0..1; 0 for a query without terms.
    """

    candidate: Candidate
    text_score: float
    vector_score: float
    base_score: float
    boost: float
    score: float
    idf_share: float
    relevance: float


def effective_weights(weights: Weights, *, has_text: bool, has_vector: bool) -> Weights:
    """A channel that cannot say anything leaves all the weight to the other; neither: both weigh nothing."""
    if has_text and has_vector:
        return weights
    return Weights(1.0 if has_text else 0.0, 1.0 if has_vector else 0.0, weights.user_boost)


def idf(document_frequency: int, count: int) -> float:
    """Inverse document frequency of a term that `document_frequency` of `count` passages hold.

    ln(1 + (N − df + ½) / (df + ½)), from Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond" (2009), with 1 added inside the logarithm so that it is never negative.
    """
    return math.log(1 + (count - document_frequency + 0.5) / (document_frequency + 0.5))


def producing_terms(frequencies: Mapping[str, int], *, frequent_from: int) -> list[str]:
    """The terms that yield candidates: those in fewer than `frequent_from` passages, or else the rarest one.

    The others only add to the scores of what these bring, which bounds the cost of a query.
    """
    known = [term for term, df in frequencies.items() if df > 0]
    rare = [term for term in known if frequencies[term] < frequent_from]
    return rare or sorted(known, key=lambda term: (frequencies[term], term))[:1]


def relevance(similarity: float | None, idf_share: float) -> float:
    """How far a passage helps with a query, between 0 and 1, the same scale for every query.

    σ(SIMILARITY_SLOPE · similarity + IDF_SHARE_SLOPE · idf_share + OFFSET), or, where `similarity` is None,
    σ(IDF_SHARE_SLOPE_ALONE · idf_share + OFFSET_ALONE), with σ(z) = 1 / (1 + e^−z). `similarity` is the cosine,
    clamped to 0..1, `idf_share` the IDF-weighted share of the query's terms that the passage holds, 0..1. It is no
    probability: FOUND_FROM (0.3) is set where a passage is as likely evidence as the average one in a mix of
    memories that know the answer and memories that cannot.
    """
    if similarity is None:
        log_odds = IDF_SHARE_SLOPE_ALONE * idf_share + OFFSET_ALONE
    else:
        log_odds = SIMILARITY_SLOPE * max(0.0, min(1.0, similarity)) + IDF_SHARE_SLOPE * idf_share + OFFSET
    return 1 / (1 + math.exp(-log_odds))


def score(candidates: Sequence[Candidate], query: Query, weights: Weights) -> list[Ranked]:
    """Score every candidate; in the order given. `weights` are the effective ones."""
    top_bm25 = max((c.bm25 for c in candidates), default=0.0)
    known = [c.similarity for c in candidates if c.similarity is not None]
    # A passage that still waits for its vector must neither win nor lose by that: it counts as an average one.
    typical = median(known) if known else 0.0
    ranked = []
    for candidate in candidates:
        text_score = candidate.bm25 / top_bm25 if top_bm25 > 0 else 0.0
        similarity = typical if candidate.similarity is None else candidate.similarity
        vector_score = max(0.0, min(1.0, similarity))
        base = weights.text * text_score + weights.vector * vector_score
        is_own = query.owner_key is not None and candidate.owner_key == query.owner_key
        boost = weights.user_boost if is_own else 1.0
        idf_share = candidate.matched_idf / query.query_idf if query.query_idf > 0 else 0.0
        ranked.append(
            Ranked(
                candidate=candidate,
                text_score=text_score,
                vector_score=vector_score,
                base_score=base,
                boost=boost,
                score=base * boost,
                idf_share=idf_share,
                relevance=relevance(candidate.similarity, idf_share),
            )
        )
    return ranked


def select(ranked: Iterable[Ranked], exact: tuple[str, ...], *, min_score: float, limit: int) -> list[Ranked]:
    """The best `limit`: over the threshold or an exact find, one of equal passages, files before the rest.

    Order is total: score, then newer, then id. `min_score` is compared with the score before the boost. Of
    passages with the same text, or the same path and lines, in several scopes the most personal stays. Other
    tiers than documents take at most half of the places, rounded up, while documents are left.
    """
    kept = [r for r in _without_shadowed(ranked) if r.base_score >= min_score or is_exact(r.candidate, exact)]
    kept.sort(key=lambda r: (-r.score, -r.candidate.updated_at.timestamp(), r.candidate.chunk_id))
    return _with_quota(kept, limit)


def is_exact(candidate: Candidate, exact: tuple[str, ...]) -> bool:
    """Whether a passage, or its path, holds a quoted phrase, identifier or path of the query to the letter."""
    return holds_exactly(f"{candidate.path}\n{candidate.text}", exact)


def _without_shadowed(ranked: Iterable[Ranked]) -> list[Ranked]:
    most_personal_first = sorted(ranked, key=lambda r: _SPECIFICITY[r.candidate.scope])
    seen: dict[tuple[object, ...], Scope] = {}
    kept = []
    for item in most_personal_first:
        c = item.candidate
        keys: list[tuple[object, ...]] = [
            (c.path, c.start_line, c.end_line, c.tier),
            (" ".join(fold(c.text).split()),),
        ]
        if any(seen.get(key, c.scope) != c.scope for key in keys):
            continue
        for key in keys:
            seen[key] = c.scope
        kept.append(item)
    return kept


def _with_quota(ordered: Sequence[Ranked], limit: int) -> list[Ranked]:
    allowed = (limit + 1) // 2
    documents = sum(r.candidate.tier == "document" for r in ordered)
    allowed = max(allowed, limit - documents)
    chosen: list[Ranked] = []
    others = 0
    for item in ordered:
        if len(chosen) == limit:
            break
        if item.candidate.tier != "document":
            if others == allowed:
                continue
            others += 1
        chosen.append(item)
    return chosen
