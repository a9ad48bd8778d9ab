"""The ranked results of requests that differ in their queries alone, from one snapshot.

What one of them fetched the others have: all candidates are scored before any text is read, and texts, and in the end
the passages of all results, are fetched together.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_server.search.candidates import Booleans, Candidates, Integers
from reverie_server.search.choice import Choice, Chosen
from reverie_server.search.copied_lines import copies
from reverie_server.search.copies import (
    ComparedRows,
    ComparedTexts,
    compared_rows,
    copies_by_original,
    equal_lines,
    scored_by,
)
from reverie_server.search.empty_talk import empty_messages, without_empty
from reverie_server.search.fact_copies import composed_copies, fact_copies
from reverie_server.search.hot.answer import SharedTexts, candidates_held, check_passage, expect_texts, need_texts
from reverie_server.search.hot.facts import HeldFacts
from reverie_server.search.known_facts import KnownFacts, StoredFacts
from reverie_server.search.rank import Query, Scores, Weights, are_files, effective_weights, holds_exact, score
from reverie_server.search.request import SearchRequest, SearchResult
from reverie_server.search.rerank.order import Placing
from reverie_server.search.results import MAX_COPIES, ScoredCandidates, result_of
from reverie_server.search.scoring_query import AnalysedRequest, scoring_query
from reverie_server.search.store import Corpus, OpenSlices, corpus_of, passages, propose
from reverie_server.search.superseded import superseded_of, superseded_statement
from reverie_server.search.superseded_text import Superseded
from reverie_server.text.spans import span

# The candidates for each result whose texts are fetched at once: the best messages are read, and some drop out.
_LIKELY_EACH = 5


@dataclass(frozen=True, slots=True)
class RankedResults:
    """The results, the weights of their scores, which channels had a say, warnings, and how long scoring took."""

    results: Sequence[SearchResult]
    weights: Weights
    has_text: bool
    has_vector: bool
    warnings: Sequence[str]
    scoring_seconds: float
    query: Query
    placing: Placing


@dataclass(frozen=True, slots=True)
class _Scored:
    """The candidates of a request with their scores, and which of them are compared for copies."""

    analysed: AnalysedRequest
    corpus: Corpus
    candidates: Candidates
    hnsw_slice_ids: Collection[int]
    query: Query
    weights: Weights
    has_text: bool
    scores: Scores
    compared: ComparedRows
    seconds: float


@dataclass(frozen=True, slots=True)
class _Picked:
    """What was chosen of the candidates of a request; `standing` and `stands_for` as `ScoredCandidates` has them."""

    chosen: Chosen
    standing: Integers
    stands_for: Mapping[int, Sequence[int]]
    seconds: float

    @property
    def shown(self) -> set[int]:
        """The rows of the results and of the copies that are told of."""
        copied = (row for rows in self.stands_for.values() for row in rows[:MAX_COPIES])
        return {*self.chosen.rows, *copied}


async def find(connection: Connection, requests: Sequence[AnalysedRequest], scope: OpenSlices) -> list[RankedResults]:
    """The results of each request. The transaction ends. OutOfStepError where held slices are not as the database has
    them."""
    texts, compared = SharedTexts(), ComparedTexts()
    scored = [await _scored(connection, analysed, scope, texts) for analysed in requests]
    for each in scored:
        likely = _likely_rows(each.scores, each.analysed.request)
        expect_texts(each.candidates, [*likely, *each.compared.rows])
    picked = [await _picked(connection, each, compared) for each in scored]
    with span("passages"):
        rows, superseded = await _passages(connection, scored, picked)
        return [_ranked(*each, rows, superseded) for each in zip(scored, picked, strict=True)]


async def _scored(connection: Connection, analysed: AnalysedRequest, scope: OpenSlices, texts: SharedTexts) -> _Scored:
    """Fetch the candidates of a request, and score them."""
    request, vector = analysed.request, analysed.vector
    with span("scope"):
        corpus = await corpus_of(connection, scope, request, analysed.rules, analysed.terms, now=analysed.at)
    with span("candidates"):
        if corpus.held is not None:
            candidates = await candidates_held(request, analysed.rules, corpus, vector, analysed.at, texts)
            hnsw_slice_ids: Collection[int] = ()
        else:
            candidates, hnsw_slice_ids = await propose(connection, request, analysed.rules, corpus, vector)
    started = time.perf_counter()
    with span("rank"):
        has_text = bool(corpus.frequencies) and (request.mode != "vector" or vector is None)
        weights = effective_weights(analysed.rules.weights, has_text=has_text, has_vector=vector is not None)
        query = scoring_query(analysed, corpus)
        scores = score(candidates, query, weights)
        compared = compared_rows(candidates, scores.score, request.max_results)
    seconds = time.perf_counter() - started
    return _Scored(analysed, corpus, candidates, hnsw_slice_ids, query, weights, has_text, scores, compared, seconds)


async def _picked(connection: Connection, scored: _Scored, texts: ComparedTexts) -> _Picked:
    """Choose the results of a request; texts are fetched as they are needed."""
    analysed, corpus, candidates = scored.analysed, scored.corpus, scored.candidates
    request = analysed.request
    facts = _facts_of(connection, analysed, corpus, candidates)
    of_facts = await fact_copies(facts, candidates)
    of_facts |= await composed_copies(connection, request, candidates, texts.origins)
    await need_texts(connection, request, candidates, scored.compared.rows)
    with span("copies"):
        started = time.perf_counter()
        equal = equal_lines(candidates, scored.compared, texts)
        seconds = time.perf_counter() - started
        copied = await copies(connection, request, candidates, equal, texts.origins) | of_facts
        standing = scored_by(candidates.proposed_count, copied, scored.scores.score)
        scores = scored.scores.standing_for(standing)
    with span("empty_talk"):
        language = analysed.rules.language
        empty = await empty_messages(connection, request, candidates, scores, scored.query, language, corpus.remembered)
        scores = without_empty(scores, empty)
    choice = Choice(connection, request, analysed.terms.terms, language, corpus, candidates, facts)
    chosen = await choice.best(scores, await _exact_finds(connection, analysed, candidates, scores), copied)
    return _Picked(chosen, standing, copies_by_original(copied, chosen.rows), seconds)


async def _passages(
    connection: Connection, scored: Sequence[_Scored], picked: Sequence[_Picked]
) -> tuple[Mapping[int, DictRow], Mapping[bytes, Superseded]]:
    """The rows of the passages that are shown, by chunk id, and what is told of ended sentences."""
    analysed, corpus = scored[0].analysed, scored[0].corpus
    request = analysed.request
    chunk_ids: set[int] = set()
    for each, pick in zip(scored, picked, strict=True):
        shown = pick.shown if corpus.held is not None else set(pick.chosen.rows)
        chunk_ids.update(each.candidates.chunk_id[sorted(shown)].tolist())
    ended = set[bytes]().union(*(pick.chosen.ended for pick in picked))
    of_ended = superseded_statement(request.tenant_id, corpus.slice_ids, ended, now=analysed.at, as_of=request.as_of)
    also = [of_ended] if ended else []
    rows, answers = await passages(connection, request, sorted(chunk_ids), also=also, is_last=True)
    elsewhere = {key: each.elsewhere for pick in picked for key, each in pick.chosen.ended.items()}
    return rows, superseded_of((row for answer in answers for row in answer), elsewhere)


def _ranked(
    scored: _Scored, picked: _Picked, passage_rows: Mapping[int, DictRow], superseded: Mapping[bytes, Superseded]
) -> RankedResults:
    """The results of a request, with the rows of their passages."""
    candidates, chosen = scored.candidates, picked.chosen
    chunk_id = candidates.chunk_id.tolist()
    if scored.corpus.held is not None:
        for row in picked.shown:
            check_passage(candidates, row, passage_rows.get(chunk_id[row]))
    # Another request may have asked about more sentences.
    of_request = {key: superseded[key] for key in chosen.ended if key in superseded}
    found = ScoredCandidates(
        candidates, chosen.scores, picked.standing, of_request, scored.hnsw_slice_ids, picked.stands_for
    )
    return RankedResults(
        [result_of(scored.analysed, scored.corpus, found, row, passage_rows[chunk_id[row]]) for row in chosen.rows],
        scored.weights,
        scored.has_text,
        scored.analysed.vector is not None,
        scored.analysed.warnings,
        scored.seconds + picked.seconds,
        scored.query,
        _placing(candidates, chosen),
    )


def _facts_of(connection: Connection, analysed: AnalysedRequest, corpus: Corpus, candidates: Candidates) -> KnownFacts:
    """What is asked about facts, of what is held where the slices are."""
    if corpus.held is None:
        return StoredFacts(connection, analysed.request, corpus.slice_ids, candidates, analysed.at)
    return HeldFacts(connection, analysed.request, candidates, corpus.remembered, analysed.at)


def _placing(candidates: Candidates, chosen: Chosen) -> Placing:
    """What decides over the places of the chosen candidates besides their scores."""
    chunk_id, is_file = candidates.chunk_id.tolist(), are_files(candidates)
    return Placing(
        [(chunk_id[old], chunk_id[new]) for old, new in chosen.replaced],
        frozenset(chunk_id[row] for row in chosen.rows if is_file[row]),
    )


def _likely_rows(scores: Scores, request: SearchRequest) -> list[int]:
    """The rows whose texts are looked at, as far as scores say: fetched together."""
    order: list[int] = np.argsort(-scores.score, kind="stable").tolist()
    return order[: _LIKELY_EACH * request.max_results]


async def _exact_finds(
    connection: Connection, analysed: AnalysedRequest, candidates: Candidates, scores: Scores
) -> Booleans:
    """Which of the candidates below the threshold have an exact part of the query to the letter."""
    is_exact = np.zeros(candidates.proposed_count, np.bool_)
    if analysed.terms.exact:
        below = np.flatnonzero(scores.base_score < analysed.request.min_score).tolist()
        await need_texts(connection, analysed.request, candidates, below)
        for row in below:
            is_exact[row] = holds_exact(candidates.path[row], candidates.text[row], analysed.terms.exact)
    return is_exact
