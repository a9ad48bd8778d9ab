"""Hybrid search: candidates of two channels from one snapshot, ranked into one list."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.index.slices import scope_of
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.text.analyse import QueryTerms, analyse_query
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.grounding_names import capitalises_nouns
from reverie_server.heuristics.own_question import asks_about_self
from reverie_server.search.candidates import Booleans, Candidates, Integers
from reverie_server.search.choice import Choice
from reverie_server.search.copies import compared_rows, copies, copies_by_original, scored_by
from reverie_server.search.empty_talk import empty_messages, without_empty
from reverie_server.search.fact_copies import composed_copies, fact_copies
from reverie_server.search.hot.answer import OutOfStepError, candidates_held, check_passage, need_texts
from reverie_server.search.hot.cache import HotSlices
from reverie_server.search.query_terms import meaning_of
from reverie_server.search.query_vector import query_vector
from reverie_server.search.rank import (
    Query,
    Scores,
    Weights,
    effective_weights,
    holds_exact,
    idf,
    score,
)
from reverie_server.search.relevance import MIN_RELEVANCE, built_in_directions, personal_score, scale_of
from reverie_server.search.request import (
    Copy,
    Mode,
    PassageEpisode,
    SearchOutcome,
    SearchRequest,
    SearchResult,
    SearchRules,
)
from reverie_server.search.store import Corpus, QueryVector, open_corpus, passages, propose
from reverie_server.search.superseded_text import Superseded
from reverie_server.text.query import check_query
from reverie_server.text.spans import span

log = structlog.get_logger()
# The vector of a less familiar query says nothing, and would outweigh its words. Scripts lie far to either side.
MIN_FAMILIARITY = 0.5
_MAX_COPIES = 10
# The candidates for each result whose texts are fetched at once: the best messages are read, and some drop out.
_LIKELY_EACH = 5
UNFAMILIAR_SCRIPT = "the embedding model does not know the script of the query: searched by words"
MODEL_MOVED = "the index has moved to another embedding model: restart this server; searched by words"


@dataclass(frozen=True, slots=True)
class _AnalysedRequest:
    """A request at a time, with the terms and the vector of its query; no vector: it is searched by words alone."""

    request: SearchRequest
    rules: SearchRules
    query: str
    terms: QueryTerms
    vector: QueryVector | None
    at: datetime


@dataclass(frozen=True, slots=True)
class _RankedResults:
    """The results, the weights of their scores, which channels had a say, and the seconds that scoring took."""

    results: Sequence[SearchResult]
    weights: Weights
    has_text: bool
    has_vector: bool
    scoring_seconds: float
    query: Query


@dataclass(frozen=True, slots=True)
class _ScoredCandidates:
    """The candidates with their scores; `standing` has for each the row of the candidate whose scores these are.

    `hnsw_slice_ids` are the slices whose HNSW index was searched, `superseded` the sentences of the results that do not
    hold, `stands_for` the rows of the copies of each result.
    """

    candidates: Candidates
    scores: Scores
    standing: Integers
    superseded: Mapping[bytes, Superseded]
    hnsw_slice_ids: Collection[int]
    stands_for: Mapping[int, Sequence[int]]


class Search:
    """Finds passages of the memory that an owner sees with an agent.

    `now` gives the time, by which episodes expire. Slices that `hot` holds are ranked in memory.
    """

    def __init__(
        self,
        database: Database,
        models: ModelSlot,
        rules: SearchRules,
        *,
        hot: HotSlices | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._models = models
        self.rules = rules
        self._hot = hot
        self._now = now

    async def search(self, request: SearchRequest, rules: SearchRules | None = None) -> SearchOutcome:
        """The best passages for a query, best first. `rules` None: the server's own.

        A team member without a relevant result gets what its leader shares. Without an embedding model, or when it
        fails, the search goes by words and a warning says so. Raises ValidationFailed for an empty or overlong query,
        NotFound for an unknown agent.
        """
        with span("search"):
            outcome = await self._search(request, rules or self.rules)
            if request.leader_agent_id is None or any(r.relevance >= MIN_RELEVANCE for r in outcome.results):
                return outcome
            # What the leader shares; never what is personal there.
            leader = replace(request, agent_id=request.leader_agent_id, owner_key=None, leader_agent_id=None)
            shared = await self._search(leader, rules or self.rules)
            return replace(shared, fallback="leader") if shared.results else outcome

    async def _search(self, request: SearchRequest, rules: SearchRules) -> SearchOutcome:
        started = time.perf_counter()
        query = check_query(request.query)
        warnings: list[str] = []
        with span("analyse"):
            terms = analyse_query(query, rules.language)
        with span("embed"):
            text = request.vector_query or query
            vector = None if request.mode == "text" else await self._embed(request, text, warnings)
        embedded = time.perf_counter()
        analysed = _AnalysedRequest(request, rules, query, terms, vector, self._now())
        try:
            ranked = await self._ranked(analysed, self._hot, warnings)
        except OutOfStepError:
            ranked = await self._ranked(analysed, None, warnings)
        finished = time.perf_counter()
        return SearchOutcome(
            results=ranked.results,
            mode=_effective_mode(request.mode, ranked),
            fallback=_fallback(ranked.results, request.owner_key),
            warnings=warnings,
            weights=ranked.weights,
            terms=terms,
            personal=ranked.query.personal,
            has_unknown_name=ranked.query.has_unknown_name,
            embed_ms=(embedded - started) * 1000,
            database_ms=(finished - embedded - ranked.scoring_seconds) * 1000,
            total_ms=(finished - started) * 1000,
        )

    async def _ranked(self, analysed: _AnalysedRequest, hot: HotSlices | None, warnings: list[str]) -> _RankedResults:
        """The results from one snapshot. OutOfStepError where they are not as `hot` has them; it holds them no more."""
        request = analysed.request
        async with self._database.tenant(request.tenant_id, snapshot=True) as connection:
            with span("scope"):
                corpus = await open_corpus(connection, request, analysed.terms, now=analysed.at, hot=hot)
            if analysed.vector is not None and analysed.vector.model_id != corpus.active_model_id:
                warnings += [] if MODEL_MOVED in warnings else [MODEL_MOVED]
                analysed = replace(analysed, vector=None)
            try:
                return await _find(connection, analysed, corpus)
            except OutOfStepError:
                log.error("held_slice_out_of_step", tenant=request.tenant_id, agent=request.agent_id)
                if hot is not None:
                    hot.drop(request.tenant_id, [slice_.slice_id for slice_ in corpus.slices])
                raise

    async def _embed(self, request: SearchRequest, text: str, warnings: list[str]) -> QueryVector | None:
        """The vector of `text`; None, with a warning added to `warnings`, where there is none."""
        ready = self._models.ready
        if ready is None:
            reason = {
                "loading": "the embedding model is still loading",
                "failed": f"the embedding model could not be loaded ({self._models.error})",
                "none": "no embedding model is configured",
            }[self._models.state]
            warnings.append(f"{reason}: searched by words")
            return None
        try:
            if request.mode == "hybrid" and ready.embedder.familiarity(text) < MIN_FAMILIARITY:
                warnings.append(UNFAMILIAR_SCRIPT)
                return None
            vector = await query_vector(ready, text)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            warnings.append(f"the query could not be embedded ({error.detail}): searched by words")
            return None
        return QueryVector(vector, ready.model_id, ready.embedder.identity)


async def _find(connection: Connection, analysed: _AnalysedRequest, corpus: Corpus) -> _RankedResults:
    """Fetch candidates, score them, and fetch the texts of the best alone."""
    request, vector = analysed.request, analysed.vector
    with span("candidates"):
        if corpus.held is not None:
            candidates = await candidates_held(request, analysed.rules, corpus, vector, analysed.at)
            hnsw_slice_ids: Collection[int] = ()
        else:
            candidates, hnsw_slice_ids = await propose(connection, request, analysed.rules, corpus, vector)
    of_facts = await fact_copies(connection, request.tenant_id, candidates)
    of_facts |= await composed_copies(connection, request, candidates)
    started = time.perf_counter()
    with span("rank"):
        has_text = bool(corpus.frequencies) and (request.mode != "vector" or vector is None)
        weights = effective_weights(analysed.rules.weights, has_text=has_text, has_vector=vector is not None)
        query = _scoring_query(analysed, corpus)
        scores = score(candidates, query, weights)
        compared = compared_rows(candidates, scores.score, request.max_results)
        await need_texts(connection, request, candidates, {*compared, *_likely_rows(scores, request)})
        copied = copies(candidates, scores.score, request.max_results) | of_facts
        standing = scored_by(candidates.proposed_count, copied, scores.score)
        scores = scores.standing_for(standing)
    finished = time.perf_counter()
    with span("empty_talk"):
        language = analysed.rules.language
        scores = without_empty(scores, *await empty_messages(connection, request, candidates, scores, query, language))
    choice = Choice(connection, request, analysed.terms.terms, language, corpus, candidates)
    chosen = await choice.best(scores, await _exact_finds(connection, analysed, candidates, scores), copied)
    best = chosen.rows
    stands_for = copies_by_original(copied, best)
    with span("passages"):
        shown = set(best)
        if corpus.held is not None:
            shown.update(row for rows in stands_for.values() for row in rows[:_MAX_COPIES])
        chunk_ids = candidates.chunk_id[sorted(shown)].tolist()
        passage_rows = await passages(connection, request, chunk_ids, is_last=True)
        if corpus.held is not None:
            for row in shown:
                check_passage(candidates, row, passage_rows.get(int(candidates.chunk_id[row])))
    scored = _ScoredCandidates(candidates, chosen.scores, standing, chosen.superseded, hnsw_slice_ids, stands_for)
    results = [
        _result(analysed, corpus, scored, index, passage_rows[int(candidates.chunk_id[index])]) for index in best
    ]
    return _RankedResults(results, weights, has_text, vector is not None, finished - started, query)


def _likely_rows(scores: Scores, request: SearchRequest) -> list[int]:
    """The rows whose texts are looked at, as far as scores say: fetched together."""
    order: list[int] = np.argsort(-scores.score, kind="stable").tolist()
    return order[: _LIKELY_EACH * request.max_results]


def _scoring_query(analysed: _AnalysedRequest, corpus: Corpus) -> Query:
    """The query as `rank.score` takes it, with the IDFs of its terms in this corpus."""
    count = corpus.chunk_count
    idfs = np.array([idf(df, count) for df in corpus.frequencies.values()], np.float64)
    unknown = set(analysed.terms.terms) - set(corpus.frequencies)
    meaning = meaning_of(analysed.query, analysed.rules.language)
    vector = analysed.vector
    scale = scale_of(None if vector is None else vector.identity.name)
    plane = scale.unasked if analysed.request.is_unasked else scale.asked
    # Where every noun has a capital, a word that is unknown is no name.
    has_unknown_name = bool(unknown & meaning.names) and not capitalises_nouns(analysed.query)
    meaning_idfs = idfs * [term in meaning.terms for term in corpus.frequencies]
    return Query(
        analysed.query,
        idfs,
        float(idfs.sum()) + len(unknown) * idf(0, count),
        meaning_idfs=meaning_idfs,
        name_idfs=idfs * [term in meaning.names for term in corpus.frequencies],
        meaning_idf=float(meaning_idfs.sum()) + len(unknown & meaning.terms) * idf(0, count),
        plane=plane,
        usual_similarity=scale.usual_similarity,
        personal=_personal(vector),
        has_unknown_name=has_unknown_name,
        about_self=asks_about_self(analysed.query),
    )


def _personal(vector: QueryVector | None) -> float:
    if vector is None:
        return 0.0
    return personal_score(built_in_directions().get(vector.identity.name), vector.vector)


async def _exact_finds(
    connection: Connection, analysed: _AnalysedRequest, candidates: Candidates, scores: Scores
) -> Booleans:
    """Which of the candidates below the threshold have an exact part of the query to the letter."""
    is_exact = np.zeros(candidates.proposed_count, np.bool_)
    if analysed.terms.exact:
        below = np.flatnonzero(scores.base_score < analysed.request.min_score).tolist()
        await need_texts(connection, analysed.request, candidates, below)
        for row in below:
            is_exact[row] = holds_exact(candidates.path[row], candidates.text[row], analysed.terms.exact)
    return is_exact


def _result(
    analysed: _AnalysedRequest, corpus: Corpus, scored: _ScoredCandidates, index: int, passage: DictRow
) -> SearchResult:
    """The candidate at `index` as a result, with the row of its passage."""
    candidates = scored.candidates
    slice_ = corpus.slice_of(int(candidates.slice_id[index]))
    standing = int(scored.standing[index])
    similarity = float(candidates.similarity[standing])
    return SearchResult(
        chunk_id=int(candidates.chunk_id[index]),
        tier=candidates.tier[index],
        path=candidates.path[index],
        start_line=candidates.start_line[index],
        end_line=candidates.end_line[index],
        text=passage["text"],
        scope=scope_of(slice_.agent_id, slice_.owner_key),
        owner_key=slice_.owner_key,
        updated_at=passage["updated_at"],
        bm25=float(candidates.bm25[standing]),
        matched=tuple(t for t, has in zip(corpus.frequencies, candidates.has_term[standing], strict=True) if has),
        is_exact=holds_exact(candidates.path[index], passage["text"], analysed.terms.exact),
        similarity=None if math.isnan(similarity) else similarity,
        plan="hnsw" if slice_.slice_id in scored.hnsw_slice_ids else "exact",
        slice_chunks=slice_.chunk_count,
        episode=_episode_of(passage),
        superseded=_superseded_in(passage["text"], scored.superseded),
        copies=[
            Copy(int(candidates.chunk_id[row]), candidates.path[row], candidates.start_line[row])
            for row in scored.stands_for.get(index, [])[:_MAX_COPIES]
        ],
        **scored.scores.of(index),
    )


def _superseded_in(text: str, superseded: Mapping[bytes, Superseded]) -> dict[bytes, Superseded]:
    """Those of the sentences that a text has."""
    keys = [sentence.key for sentence in keyed_sentences(text)] if superseded else []
    return {key: superseded[key] for key in keys if key in superseded}


def _episode_of(passage: DictRow) -> PassageEpisode | None:
    if passage["episode_id"] is None:
        return None
    return PassageEpisode(**{name: passage[name] for name in PassageEpisode.__slots__})


def _effective_mode(requested: Mode, ranked: _RankedResults) -> Mode:
    """`text` without an embedding; `vector` when requested, or where no word of the query occurs; else `hybrid`."""
    if not ranked.has_vector:
        return "text"
    return "hybrid" if ranked.has_text and requested == "hybrid" else "vector"


def _fallback(results: Sequence[SearchResult], owner_key: str | None) -> Literal["global"] | None:
    """`global` when an owner searches and no relevant result is the owner's; None without results."""
    if owner_key is None or not results:
        return None
    has_personal = any(r.owner_key == owner_key and r.relevance >= MIN_RELEVANCE for r in results)
    return None if has_personal else "global"
