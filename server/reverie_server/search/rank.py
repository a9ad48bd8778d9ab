"""From two channels to one list. Pure: no database, no model, no clock.

    sum   = text_weight × text + vector_weight × vector
    base  = (sum + context × largest sum of the document) / (1 + context)
    score = base × boost

Without context (context = 0) text is `text_score`, the passage's BM25 over the largest among the candidates, and vector
is `vector_score`, its cosine similarity, clamped to 0..1.

With context, text is the mean of text_score and `coverage`, the share of the query that the passage and its neighbours
have; vector is 0.7 × vector_score + 0.3 × the highest similarity of its neighbours. Further evidence x then enters the
sum with a weight w, as sum := (sum + w × x) / (1 + w): coverage once more (w = 0.2); `speaker_match`, where the query
names a speaker (0.05); `statement_score`, which is 0 for a passage that only asks (0.05). docs/measurements.md has the
ablation.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reverie_indexer.model import Tier
from reverie_indexer.text.analyse import holds_exactly
from reverie_server.search.candidates import NO_DOCUMENT, Booleans, Candidates, Floats, Integers
from reverie_server.search.derived_files import is_derived
from reverie_server.search.evidence import context_evidence, named_speakers, speaker_match, speakers_of
from reverie_server.search.relevance import (
    MIN_RELEVANCE,
    OWN_PRIOR,
    Plane,
    named_score,
    relevance,
    usual_similarity,
)

# The weight of coverage in the sum: to cover the query matters more than to repeat its words, which BM25 rewards.
COVERAGE_WEIGHT = 0.2
# The weight of `speaker_match` in the sum.
SPEAKER_WEIGHT = 0.05
# The weight of `statement_score` in the sum: a question has the words of its answer, and not the answer.
STATEMENT_WEIGHT = 0.05
# The share of the nearest neighbour in the evidence of the vector.
NEIGHBOUR_SHARE = 0.3
_OF_SPEECH = frozenset[Tier]({"message", "episodic"})


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each channel; the two sum to 1. `user_boost` multiplies a passage of the owner who searches.

    `context` is the weight of the best passage of a document for each other passage of it; 0 also leaves out the
    evidence of neighbours.
    """

    text: float = 0.3
    vector: float = 0.7
    user_boost: float = 1.2
    context: float = 0.3


@dataclass(frozen=True, slots=True)
class Query:
    """A query as scoring sees it: its text, the IDF of each known term, and the sum of the IDFs of all its terms.

    `meaning_idfs` and `name_idfs` are the same IDFs, 0 for the terms that carry no meaning or name nothing (see
    `query_terms`). `meaning_idf` is the sum of the IDFs of all terms that carry a meaning, known or not. With
    `about_self` it asks about the life of the one who searches. `plane` and the fields after it: see `relevance`.
    """

    text: str
    idfs: Floats
    query_idf: float
    meaning_idfs: Floats
    name_idfs: Floats
    meaning_idf: float
    plane: Plane
    usual_similarity: float
    personal: float = 0.0
    has_unknown_name: bool = False
    about_self: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of the proposed candidates, in their order: `score` is in 0..1.2, `relevance` in 0..1 and absolute.

    `text_evidence` and `vector_evidence` are the factors of the two weights. `coverage` is the share of the query that
    a passage has with its neighbours. `speaker_match` says whether its speaker is one whom the query names, NaN where
    the query names nobody. `statement_score` is 0 for a passage that only asks. `document_evidence` is the largest sum
    of its document. Without context the first two are 0 and NaN, and `statement_score` is 1. `of_assistant` is 1 for
    what an assistant without a name said, unless the query asks for that (`empty_talk`).

    Relevance is made of three: `contrast` is the passage's similarity minus the usual one of this memory, NaN without a
    vector; `idf_share` is the IDF-weighted share of the query's terms with a meaning that the passage has itself, 0..1,
    0 for a query without such terms; `named` grows with the IDF of the names among them, 0..1.
    """

    text_score: Floats
    vector_score: Floats
    text_evidence: Floats
    vector_evidence: Floats
    coverage: Floats
    speaker_match: Floats
    statement_score: Floats
    document_evidence: Floats
    of_assistant: Floats
    base_score: Floats
    boost: Floats
    score: Floats
    contrast: Floats
    idf_share: Floats
    named: Floats
    relevance: Floats

    def standing_for(self, rows: Integers) -> Scores:
        """These scores with those of the candidate `rows[i]` in the i'th place; its relevance is the higher of the two.

        A message has the scores of its best copy.
        """
        taken = {name: getattr(self, name)[rows] for name in self.__slots__}
        taken["relevance"] = np.maximum(self.relevance, taken["relevance"])
        return Scores(**taken)

    def of(self, row: int) -> dict[str, float]:
        """The scores of the candidate at `row`, by name."""
        return {name: float(getattr(self, name)[row]) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class _WeightedSum:
    """The sum of each proposed candidate, and the evidence that it is made of."""

    text: Floats
    vector: Floats
    coverage: Floats
    speaker_match: Floats
    statement_score: Floats
    total: Floats


def effective_weights(weights: Weights, *, has_text: bool, has_vector: bool) -> Weights:
    """The weights, of which a channel that cannot say anything leaves all to the other; without either, both are 0."""
    if has_text and has_vector:
        return weights
    return replace(weights, text=1.0 if has_text else 0.0, vector=1.0 if has_vector else 0.0)


def idf(document_frequency: int, count: int) -> float:
    """Inverse document frequency of a term that `document_frequency` of `count` passages have.

    ln(1 + (N − df + ½) / (df + ½)), from Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond" (2009), with 1 added inside the logarithm so that it is never negative.
    """
    return math.log(1 + (count - document_frequency + 0.5) / (document_frequency + 0.5))


def producing_terms(frequencies: Mapping[str, int], *, frequent_from: int) -> list[str]:
    """The terms that yield candidates: those in fewer than `frequent_from` passages, or else the rarest one.

    The other terms only add to the scores of these candidates, which bounds the cost of a query.
    """
    known = [term for term, df in frequencies.items() if df > 0]
    rare = [term for term in known if frequencies[term] < frequent_from]
    return rare or sorted(known, key=lambda term: (frequencies[term], term))[:1]


def score(candidates: Candidates, query: Query, weights: Weights) -> Scores:
    """The scores of the proposed candidates, in their order. `weights` are the effective ones."""
    count = candidates.proposed_count
    bm25, similarity = candidates.bm25[:count], candidates.similarity[:count]
    top_bm25 = bm25.max(initial=0.0)
    text_score = bm25 / top_bm25 if top_bm25 > 0 else np.zeros(count)
    vector_score = _vector_score(similarity)
    if weights.context > 0:
        weighted = _sum_with_context(candidates, query, weights, text_score, vector_score)
    else:
        weighted = _sum_alone(weights, text_score, vector_score)
    best = _best_of_document(candidates.document_id[:count], weighted.total)
    base = (weighted.total + weights.context * best) / (1 + weights.context)
    boost = np.where(candidates.is_owners, weights.user_boost, 1.0)
    contrast = np.clip(similarity, 0.0, 1.0) - usual_similarity(similarity, query.usual_similarity)
    has_term = candidates.has_term[:count]
    idf_share = has_term @ query.meaning_idfs / query.meaning_idf if query.meaning_idf > 0 else np.zeros(count)
    named = named_score(has_term @ query.name_idfs)
    own = OWN_PRIOR * (candidates.is_owners & (candidates.asks == 0)) if query.about_self else 0.0
    prior = query.plane.prior(query.personal, has_unknown_name=query.has_unknown_name) + own
    return Scores(
        text_score=text_score,
        vector_score=vector_score,
        text_evidence=weighted.text,
        vector_evidence=weighted.vector,
        coverage=weighted.coverage,
        speaker_match=weighted.speaker_match,
        statement_score=weighted.statement_score,
        document_evidence=best,
        of_assistant=np.zeros(count),
        base_score=base,
        boost=boost,
        score=base * boost,
        contrast=contrast,
        idf_share=idf_share,
        named=named,
        relevance=relevance(contrast, idf_share, named, query.plane, prior),
    )


def _vector_score(similarity: Floats) -> Floats:
    """The cosines, clamped to 0..1. A passage that still waits for its vector neither wins nor loses by that: it counts
    as the median one."""
    is_known = ~np.isnan(similarity)
    median = float(np.median(similarity[is_known])) if is_known.any() else 0.0
    return np.clip(np.where(is_known, similarity, median), 0.0, 1.0)


def _sum_alone(weights: Weights, text_score: Floats, vector_score: Floats) -> _WeightedSum:
    """The sum of the two channels, without evidence of neighbours and speakers."""
    count = len(text_score)
    total = weights.text * text_score + weights.vector * vector_score
    return _WeightedSum(text_score, vector_score, np.zeros(count), np.full(count, np.nan), np.ones(count), total)


def _sum_with_context(
    candidates: Candidates, query: Query, weights: Weights, text_score: Floats, vector_score: Floats
) -> _WeightedSum:
    """The sum of the two channels with the evidence of neighbours and speakers, as the module's docstring has it."""
    evidence = context_evidence(candidates, query.idfs, query.query_idf)
    text = (text_score + evidence.coverage) / 2
    neighbours = evidence.neighbour_similarity
    with_neighbours = (1 - NEIGHBOUR_SHARE) * vector_score + NEIGHBOUR_SHARE * np.clip(neighbours, 0.0, 1.0)
    vector = np.where(np.isnan(neighbours), vector_score, with_neighbours)
    total = weights.text * text + weights.vector * vector
    if weights.text > 0:
        total = _mean_with(total, evidence.coverage, COVERAGE_WEIGHT)
    matches = _speaker_matches(candidates, query)
    if not np.isnan(matches).any():
        total = _mean_with(total, matches, SPEAKER_WEIGHT)
    statement_score = 1.0 - candidates.asks
    total = _mean_with(total, statement_score, STATEMENT_WEIGHT)
    return _WeightedSum(text, vector, evidence.coverage, matches, statement_score, total)


def _mean_with(total: Floats, evidence: Floats, weight: float) -> Floats:
    """The mean of `total`, with weight 1, and further evidence, with `weight`."""
    return (total + weight * evidence) / (1 + weight)


def _speaker_matches(candidates: Candidates, query: Query) -> Floats:
    """The `speaker_match` of each proposed candidate; NaN for all where the query names nobody."""
    speakers = speakers_of(candidates.label)
    named = named_speakers(query.text, speakers)
    if not named:
        return np.full(len(speakers), np.nan)
    match_of = {speaker: speaker_match(speaker, named) for speaker in set(speakers)}
    return np.array([match_of[speaker] for speaker in speakers], np.float64)


def _best_of_document(document_id: Integers, total: Floats) -> Floats:
    """For each passage the largest total of its document; a passage of no document has its own."""
    documents, document = np.unique(document_id, return_inverse=True)
    best = np.full(len(documents), -np.inf)
    np.maximum.at(best, document, total)
    return np.where(document_id == NO_DOCUMENT, total, best[document])


def select(
    candidates: Candidates,
    scores: Scores,
    is_exact: Booleans,
    *,
    min_score: float,
    limit: int,
    min_relevance: float = 0.0,
    excluded: Collection[int] = (),
) -> list[int]:
    """The rows of the best `limit` candidates, best first; the order is total: score, then newer, then id.

    A candidate needs a `base_score`, which is before the boost, of `min_score`, or is an exact find, and a relevance of
    `min_relevance` in any case; rows in `excluded` are left out. Of those of one tier with the same text in several
    scopes the most personal one stays. Of messages with the same text, and of episodes, the best one stays. What was
    said, and what the server wrote from it, takes at most half of the places, rounded up, while other
    files match: they share a word with the query or are relevant to it.
    """
    order = np.lexsort((candidates.chunk_id[: candidates.proposed_count], -candidates.updated_at, -scores.score))
    passes = ((scores.base_score >= min_score) | is_exact) & (scores.relevance >= min_relevance)
    passes[list(excluded)] = False
    passes[_shadowed_rows(candidates, passes)] = False
    ordered = order[passes[order]].tolist()
    matches = candidates.has_term[: candidates.proposed_count].any(axis=1) | (scores.relevance >= MIN_RELEVANCE)
    is_file = np.array(are_files(candidates), np.bool_)
    # No file is left out as a repeated text.
    files = int((is_file & matches & passes).sum())
    return with_quota(is_file, files, _without_repeated_texts(candidates, ordered), limit)


def holds_exact(path: str, text: str, exact: tuple[str, ...]) -> bool:
    """Whether a passage, or its path, has a quoted phrase, identifier or path of the query to the letter."""
    return holds_exactly(f"{path}\n{text}", exact)


def _shadowed_rows(candidates: Candidates, passes: Booleans) -> list[int]:
    """The rows that pass and that a more personal one with the same text and tier, which passes too, stands for."""
    if not len(candidates.specificity) or candidates.specificity.min() == candidates.specificity.max():
        return []
    specificity = candidates.specificity.tolist()
    order = np.argsort(candidates.specificity, kind="stable")
    most_personal: dict[tuple[Tier, int], int] = {}
    shadowed = []
    for row in order[passes[order]].tolist():
        key = (candidates.tier[row], candidates.text_key[row])
        if most_personal.setdefault(key, specificity[row]) != specificity[row]:
            shadowed.append(row)
    return shadowed


def _without_repeated_texts(candidates: Candidates, ordered: Sequence[int]) -> Iterator[int]:
    """The rows without messages, and without episodes, whose text a better one of the same tier has."""
    seen: set[tuple[Tier, int]] = set()
    for row in ordered:
        key = (candidates.tier[row], candidates.text_key[row])
        if candidates.tier[row] == "document" or key not in seen:
            yield row
        seen.add(key)


def are_files(candidates: Candidates) -> list[bool]:
    """Which passages are of files that are not written from what was said; all files where nothing was."""
    is_said = not _OF_SPEECH.isdisjoint(candidates.tier)
    derived = {path for path in set(candidates.path) if is_derived(path)} if is_said else set()
    places = zip(candidates.tier, candidates.path, strict=True)
    return [tier == "document" and path not in derived for tier, path in places]


def with_quota(is_file: Booleans, matching_files: int, ordered: Iterable[int], limit: int) -> list[int]:
    """The first `limit` rows, of which others than files are at most half, while files that match are left.

    `matching_files` is the number of these among the rows.
    """
    allowed = max((limit + 1) // 2, limit - matching_files)
    chosen: list[int] = []
    others = 0
    for row in ordered:
        if len(chosen) == limit:
            break
        if not is_file[row]:
            if others == allowed:
                continue
            others += 1
        chosen.append(row)
    return chosen
