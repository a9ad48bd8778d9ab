"""From two channels to one list. Pure: no database, no model, no clock.

sum = text_weight × text + vector_weight × vector; base = (sum + context × best sum of its document) / (1 + context);
score = base × boost. Without context (0) text is text_score, the passage's BM25 over the largest among the candidates,
and vector is vector_score, its cosine similarity, clamped to 0..1. With it, text is the mean of text_score and of the
share of the query that the passage and its neighbours hold; vector is 0.8 × vector_score + 0.2 × the higher of its
neighbours'; and where the query names a speaker, sum becomes (sum + 0.05 × agreement) / 1.05 (benchmarks/README.md has
the ablation).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from reverie_indexer.analyse import fold, holds_exactly
from reverie_indexer.model import Scope, Tier
from reverie_server.recall.evidence import Evidence, agreement, named_speakers, speaker_of

# Where a passage begins to help: see `relevance`.
FOUND_FROM = 0.3
# Fitted by `reverie bench relevance` with all-MiniLM-L6-v2: benchmarks/results/relevance-locomo_dev.json.
SIMILARITY_SLOPE = 3.87
IDF_SHARE_SLOPE = 4.48
OFFSET = -4.45
# The same for a passage without a vector, on searches by words alone.
IDF_SHARE_SLOPE_ALONE = 5.32
OFFSET_ALONE = -3.15
# What a passage of somebody the query names gains on one of somebody else.
SPEAKER_WEIGHT = 0.05
_SPECIFICITY: dict[Scope, int] = {"personal": 0, "team": 1, "global": 2}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that a channel proposed, with what both channels say of it.

    `bm25` is 0 where it shares no term with the query, `matched` the terms that it shares, `matched_idf` the sum of
    their IDF. `similarity` is the cosine to the query, None where there is no vector to compare. `evidence` is what
    it and its neighbours hold together.
    """

    chunk_id: int
    tier: Tier
    path: str
    start_line: int
    end_line: int
    text: str
    document_id: int | None
    scope: Scope
    owner_key: str | None
    updated_at: datetime
    bm25: float
    matched: frozenset[str]
    matched_idf: float
    similarity: float | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Weights:
    """What each channel counts; the two sum to 1. `user_boost` multiplies a passage of the asking owner.

    `context` is what the best passage of a document adds to each other of it; 0 also leaves out the neighbours.
    """

    text: float = 0.3
    vector: float = 0.7
    user_boost: float = 1.2
    context: float = 0.3


@dataclass(frozen=True, slots=True)
class Query:
    """What scoring knows of a query: its IDF sum over all terms, who asks, and its words."""

    query_idf: float
    owner_key: str | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its scores: `score` is in 0..1.2, `relevance` in 0..1 and absolute.

    `idf_share` is the IDF-weighted share of the query's terms that it holds, 0..1; 0 for a query without terms.
    `text_evidence` and `vector_evidence` are what the two weights multiply, `document_evidence` the largest sum of
    its document.
    """

    candidate: Candidate
    text_score: float
    vector_score: float
    text_evidence: float
    vector_evidence: float
    document_evidence: float
    base_score: float
    boost: float
    score: float
    idf_share: float
    relevance: float


def effective_weights(weights: Weights, *, has_text: bool, has_vector: bool) -> Weights:
    """A channel that cannot say anything leaves all the weight to the other; neither: both weigh nothing."""
    if has_text and has_vector:
        return weights
    return replace(weights, text=1.0 if has_text else 0.0, vector=1.0 if has_vector else 0.0)


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
    speakers = [speaker_of(c.text) for c in candidates] if weights.context > 0 else [None] * len(candidates)
    named = named_speakers(query.text, speakers)
    known = [c.similarity for c in candidates if c.similarity is not None]
    # A passage that still waits for its vector must neither win nor lose by that: it counts as an average one.
    typical = median(known) if known else 0.0
    scored = []
    best_of_document: dict[int | None, float] = {}
    for candidate, speaker in zip(candidates, speakers, strict=True):
        text_score = candidate.bm25 / top_bm25 if top_bm25 > 0 else 0.0
        vector_score = _clamped(typical if candidate.similarity is None else candidate.similarity)
        text, vector = text_score, vector_score
        if weights.context > 0:
            text = (text_score + candidate.evidence.coverage) / 2
            beside = candidate.evidence.beside_similarity
            vector = vector_score if beside is None else 0.8 * vector_score + 0.2 * _clamped(beside)
        total = weights.text * text + weights.vector * vector
        if named:
            total = (total + SPEAKER_WEIGHT * agreement(speaker, named)) / (1 + SPEAKER_WEIGHT)
        best_of_document[candidate.document_id] = max(total, best_of_document.get(candidate.document_id, 0.0))
        scored.append((candidate, text_score, vector_score, text, vector, total))
    ranked = []
    for candidate, text_score, vector_score, text, vector, total in scored:
        best = total if candidate.document_id is None else best_of_document[candidate.document_id]
        base = (total + weights.context * best) / (1 + weights.context)
        is_own = query.owner_key is not None and candidate.owner_key == query.owner_key
        boost = weights.user_boost if is_own else 1.0
        idf_share = candidate.matched_idf / query.query_idf if query.query_idf > 0 else 0.0
        ranked.append(
            Ranked(
                candidate=candidate,
                text_score=text_score,
                vector_score=vector_score,
                text_evidence=text,
                vector_evidence=vector,
                document_evidence=best,
                base_score=base,
                boost=boost,
                score=base * boost,
                idf_share=idf_share,
                relevance=relevance(candidate.similarity, idf_share),
            )
        )
    return ranked


def _clamped(similarity: float) -> float:
    return max(0.0, min(1.0, similarity))


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
