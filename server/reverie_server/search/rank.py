"""From two channels to one list. Pure: no database, no model, no clock.

sum = text_weight × text + vector_weight × vector; base = (sum + context × best sum of its document) / (1 + context);
score = base × boost. Without context (0) text is text_score, the passage's BM25 over the largest among the candidates,
and vector is vector_score, its cosine similarity, clamped to 0..1. With it, of what benchmarks/README.md has the
ablation: text is the mean of text_score and of the coverage, the share of the query that the passage and its neighbours
hold; vector is 0.7 × vector_score + 0.3 × the highest of its neighbours'; and to the sum are added, each with its
weight w as sum := (sum + w × x) / (1 + w), the coverage once more (0.2), where the query names a speaker whether that
one says it (0.05), and that it tells something and does not only ask (0.05).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reverie_indexer.analyse import holds_exactly
from reverie_indexer.model import Tier
from reverie_server.search.candidates import NO_DOCUMENT, Booleans, Floats, Integers, Pool
from reverie_server.search.evidence import agreement, gather, named_speakers, speakers_of

# Where a passage begins to help: see `relevance`.
FOUND_FROM = 0.3
# Fitted by `reverie bench relevance` with all-MiniLM-L6-v2: benchmarks/results/relevance.json.
CONTRAST_SLOPE = 4.4
IDF_SHARE_SLOPE = 4.34
NAMED_SLOPE = 1.32
OFFSET = -3.64
# The same for a passage without a vector, on searches by words alone.
IDF_SHARE_SLOPE_ALONE = 5.69
NAMED_SLOPE_ALONE = 1.81
OFFSET_ALONE = -3.65
# A memory of few passages says little of what similarity is usual in it: as much as it has counts beside so many of so
# much.
USUAL_SIMILARITY = 0.1
USUAL_COUNT = 10
# The IDF of the names that a passage holds, in nats, at which they count 1 - 1/e.
NAMED_IDF = 3.0
# Covering the query matters more than repeating its words, which is what BM25 adds.
COVERAGE_WEIGHT = 0.2
# What a passage of somebody the query names gains on one of somebody else.
SPEAKER_WEIGHT = 0.05
# What a passage gains on one that ends in a question: a question has the words of its answer, and not the answer.
TELLING_WEIGHT = 0.05


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
    """What scoring knows of a query: its words, the IDF of each known term, and the sum of those of all its terms.

    `meant` and `naming` are the same IDFs, 0 for terms that carry no meaning or name nothing (see `meaning`);
    `meant_idf` is the sum of those of all its terms that carry one, known or not.
    """

    text: str
    idfs: Floats
    query_idf: float
    meant: Floats
    naming: Floats
    meant_idf: float


@dataclass(frozen=True, slots=True)
class Scores:
    """The proposed passages of a pool, scored, in their order: `score` is in 0..1.2, `relevance` in 0..1 and absolute.

    `contrast` is how much nearer to the query a passage is than is usual for this memory, NaN without a vector;
    `idf_share` the IDF-weighted share of the query's terms with a meaning that it holds, 0..1, 0 for a query without
    one; `named` how much the names among them tell, 0..1: the three that relevance is made of.
    `text_evidence` and `vector_evidence` are what the two weights multiply, `coverage` the share of the query that a
    passage holds with its neighbours; `agreement` is whether somebody whom the query names says it, NaN where it names
    nobody; `telling` is 0 for what only asks; `document_evidence` is the largest sum of its document. Without context
    the first two are 0 and NaN, and `telling` is 1.
    """

    text_score: Floats
    vector_score: Floats
    text_evidence: Floats
    vector_evidence: Floats
    coverage: Floats
    agreement: Floats
    telling: Floats
    document_evidence: Floats
    base_score: Floats
    boost: Floats
    score: Floats
    contrast: Floats
    idf_share: Floats
    named: Floats
    relevance: Floats

    def of(self, place: int) -> dict[str, float]:
        """The scores of one passage, by name."""
        return {name: float(getattr(self, name)[place]) for name in self.__slots__}


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


def relevance(contrast: Floats, idf_share: Floats, named: Floats) -> Floats:
    """How far a passage helps with a query, between 0 and 1, the same scale for every query.

    σ(CONTRAST_SLOPE · contrast + IDF_SHARE_SLOPE · idf_share + NAMED_SLOPE · named + OFFSET), or, where `contrast` is
    NaN, σ(IDF_SHARE_SLOPE_ALONE · idf_share + NAMED_SLOPE_ALONE · named + OFFSET_ALONE), with σ(z) = 1 / (1 + e^−z). It
    is no probability: FOUND_FROM (0.3) is where one in twenty of the messages finds something that have nothing to do
    with the memory.
    """
    both = CONTRAST_SLOPE * contrast + IDF_SHARE_SLOPE * idf_share + NAMED_SLOPE * named + OFFSET
    alone = IDF_SHARE_SLOPE_ALONE * idf_share + NAMED_SLOPE_ALONE * named + OFFSET_ALONE
    return np.asarray(1 / (1 + np.exp(-np.where(np.isnan(contrast), alone, both))))


def usual_similarity(similarity: Floats) -> float:
    """What a passage of a memory is like that has nothing to do with the query.

    The median of the cosines known of a pool, drawn to USUAL_SIMILARITY as if USUAL_COUNT more of it had that median.
    Texts in a language that a model hardly knows, or about the same few things, are all near to each other and to any
    query in it, whatever it asks: only what stands out from them is near.
    """
    known = similarity[~np.isnan(similarity)]
    if not len(known):
        return USUAL_SIMILARITY
    total = USUAL_COUNT * USUAL_SIMILARITY + len(known) * float(np.median(known))
    return total / (USUAL_COUNT + len(known))


def score(pool: Pool, query: Query, weights: Weights) -> Scores:
    """Score what is proposed; in the order of the pool. `weights` are the effective ones."""
    count = pool.proposed
    bm25, similarity = pool.bm25[:count], pool.similarity[:count]
    top_bm25 = bm25.max(initial=0.0)
    text = text_score = bm25 / top_bm25 if top_bm25 > 0 else np.zeros(count)
    is_known = ~np.isnan(similarity)
    # A passage that still waits for its vector must neither win nor lose by that: it counts as an average one.
    typical = float(np.median(similarity[is_known])) if is_known.any() else 0.0
    vector = vector_score = np.clip(np.where(is_known, similarity, typical), 0.0, 1.0)
    coverage, agreed, telling = np.zeros(count), np.full(count, np.nan), np.ones(count)
    if weights.context > 0:
        evidence = gather(pool, query.idfs, query.query_idf)
        coverage = evidence.coverage
        text = (text_score + coverage) / 2
        beside = evidence.beside_similarity
        vector = np.where(np.isnan(beside), vector_score, 0.7 * vector_score + 0.3 * np.clip(beside, 0.0, 1.0))
        total = weights.text * text + weights.vector * vector
        if weights.text > 0:
            total = _with(total, coverage, COVERAGE_WEIGHT)
        agreed = _agreement(pool, query)
        if not np.isnan(agreed).any():
            total = _with(total, agreed, SPEAKER_WEIGHT)
        telling = 1.0 - pool.asks
        total = _with(total, telling, TELLING_WEIGHT)
    else:
        total = weights.text * text + weights.vector * vector
    best = _best_of_document(pool.document_id[:count], total)
    base = (total + weights.context * best) / (1 + weights.context)
    boost = np.where(pool.is_own, weights.user_boost, 1.0)
    contrast = np.clip(similarity, 0.0, 1.0) - usual_similarity(similarity)
    held = pool.held[:count]
    idf_share = held @ query.meant / query.meant_idf if query.meant_idf > 0 else np.zeros(count)
    named = 1 - np.exp(-(held @ query.naming) / NAMED_IDF)
    return Scores(
        text_score=text_score,
        vector_score=vector_score,
        text_evidence=text,
        vector_evidence=vector,
        coverage=coverage,
        agreement=agreed,
        telling=telling,
        document_evidence=best,
        base_score=base,
        boost=boost,
        score=base * boost,
        contrast=contrast,
        idf_share=idf_share,
        named=named,
        relevance=relevance(contrast, idf_share, named),
    )


def _with(total: Floats, further: Floats, weight: float) -> Floats:
    """A mean that further evidence enters with a weight, beside 1 for the evidence before."""
    return (total + weight * further) / (1 + weight)


def _agreement(pool: Pool, query: Query) -> Floats:
    """For each passage whether somebody whom the query names says it; NaN when it names nobody."""
    speakers = speakers_of(pool.label)
    named = named_speakers(query.text, speakers)
    return np.array([agreement(speaker, named) if named else np.nan for speaker in speakers], np.float64)


def _best_of_document(document_id: Integers, total: Floats) -> Floats:
    """For each passage the largest total of its document; a passage of no document has its own."""
    documents, document = np.unique(document_id, return_inverse=True)
    best = np.full(len(documents), -np.inf)
    np.maximum.at(best, document, total)
    return np.where(document_id == NO_DOCUMENT, total, best[document])


def select(
    pool: Pool,
    scores: Scores,
    is_exact: Booleans,
    *,
    min_score: float,
    limit: int,
    left_out: Collection[int] = (),
) -> list[int]:
    """The places in the pool of the best `limit`: over the threshold or exact finds, one of equal passages.

    Places in `left_out` are none of them.

    Order is total: score, then newer, then id. `min_score` is compared with the score before the boost. Of
    passages with the same text, or the same path and lines, in several scopes the most personal stays, and of
    messages, and of episodes, with the same text the best. Other tiers than documents take at most half of the
    places, rounded up, while documents are left.
    """
    order = np.lexsort((pool.chunk_id[: pool.proposed], -pool.updated_at, -scores.score))
    kept = (scores.base_score >= min_score) | is_exact
    shadowed = _shadowed(pool).union(left_out)
    ordered = [place for place in order.tolist() if kept[place] and place not in shadowed]
    return _with_quota(pool.tier, _said_once(pool, ordered), limit)


def holds_exact(path: str, text: str, exact: tuple[str, ...]) -> bool:
    """Whether a passage, or its path, holds a quoted phrase, identifier or path of the query to the letter."""
    return holds_exactly(f"{path}\n{text}", exact)


def _shadowed(pool: Pool) -> set[int]:
    """The places of the passages that a more personal one stands for."""
    if not len(pool.specificity) or pool.specificity.min() == pool.specificity.max():
        return set()
    specificity = pool.specificity.tolist()
    most_personal: dict[object, int] = {}
    shadowed = set()
    for place in np.argsort(pool.specificity, kind="stable").tolist():
        keys = (
            (pool.path[place], pool.start_line[place], pool.end_line[place], pool.tier[place]),
            pool.text_key[place],
        )
        if any(most_personal.get(key, specificity[place]) != specificity[place] for key in keys):
            shadowed.add(place)
            continue
        for key in keys:
            most_personal[key] = specificity[place]
    return shadowed


def _said_once(pool: Pool, ordered: Sequence[int]) -> list[int]:
    """The places without those, of messages and of episodes, whose text another of its tier before has: what is said
    often is found once."""
    best: dict[tuple[Tier, int], int] = {}
    for place in ordered:
        if pool.tier[place] != "document":
            best.setdefault((pool.tier[place], pool.text_key[place]), place)
    return [
        place
        for place in ordered
        if pool.tier[place] == "document" or best[pool.tier[place], pool.text_key[place]] == place
    ]


def _with_quota(tiers: Sequence[Tier], ordered: Sequence[int], limit: int) -> list[int]:
    documents = sum(tiers[place] == "document" for place in ordered)
    allowed = max((limit + 1) // 2, limit - documents)
    chosen: list[int] = []
    others = 0
    for place in ordered:
        if len(chosen) == limit:
            break
        if tiers[place] != "document":
            if others == allowed:
                continue
            others += 1
        chosen.append(place)
    return chosen
