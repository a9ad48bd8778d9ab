"""Hybrid search: one snapshot, two channels, one ranked list."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from psycopg.rows import DictRow

from reverie_indexer.analyse import QueryTerms, analyse_query
from reverie_indexer.db import Connection, Database
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.slices import scope_of
from reverie_indexer.slot import ModelSlot
from reverie_server.search.candidates import Booleans, Pool
from reverie_server.search.duplicates import may_repeat, repeated
from reverie_server.search.query_terms import meaning_of
from reverie_server.search.query_vector import query_vector
from reverie_server.search.rank import (
    FOUND_FROM,
    Query,
    Scores,
    Weights,
    effective_weights,
    holds_exact,
    idf,
    score,
    select,
)
from reverie_server.search.request import EpisodeOf, Mode, Outcome, Request, Result, Rules
from reverie_server.search.store import QueryVector, Searched, open_slices, passages, propose
from reverie_server.text.query import check_query
from reverie_server.text.spans import span

# Below, the vector of a query says nothing, and would outweigh its words. Scripts lie far to either side.
FAMILIAR_FROM = 0.5
UNFAMILIAR_SCRIPT = "the embedding model does not know the script of the query: searched by words"
MODEL_MOVED = "the index has moved to another embedding model: restart this server; searched by words"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with what it is searched by."""

    request: Request
    rules: Rules
    query: str
    terms: QueryTerms
    vector: QueryVector | None


@dataclass(frozen=True, slots=True)
class _Found:
    """The results, the weights they were scored with, which channels had a say, and the seconds that scoring took."""

    results: Sequence[Result]
    weights: Weights
    has_text: bool
    has_vector: bool
    scoring_seconds: float


@dataclass(frozen=True, slots=True)
class _Scored:
    """Passages with their scores; `by_index` are the slices that an HNSW index was asked for."""

    pool: Pool
    scores: Scores
    by_index: Collection[int]


class Search:
    """Finds passages of the memory an owner may see with one agent. `now` gives the time, by which things expire."""

    def __init__(
        self,
        database: Database,
        models: ModelSlot,
        rules: Rules,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._models = models
        self.rules = rules
        self._now = now

    async def search(self, request: Request, rules: Rules | None = None) -> Outcome:
        """The best passages for a query, by the server's rules or an agent's; else what the leader shares.

        Raises ValidationFailed for an empty or overlong query, NotFound for an unknown agent. A missing or
        failing model is a warning, and the search goes by words.
        """
        with span("search"):
            outcome = await self._search(request, rules or self.rules)
            if request.leader_agent_id is None or any(r.relevance >= FOUND_FROM for r in outcome.results):
                return outcome
            # A team member has no results of its own: what its leader shares, never what is personal there.
            leader = replace(request, agent_id=request.leader_agent_id, owner_key=None, leader_agent_id=None)
            shared = await self._search(leader, rules or self.rules)
            return replace(shared, fallback="leader") if shared.results else outcome

    async def _search(self, request: Request, rules: Rules) -> Outcome:
        started = time.perf_counter()
        query = check_query(request.query)
        warnings: list[str] = []
        with span("analyse"):
            terms = analyse_query(query, rules.language)
        with span("embed"):
            text = request.vector_query or query
            vector = None if request.mode == "text" else await self._embed(request, text, warnings)
        embedded = time.perf_counter()
        async with self._database.tenant(request.tenant_id, snapshot=True) as connection:
            with span("scope"):
                searched = await open_slices(connection, request, terms, now=self._now())
            if vector is not None and vector.model_id != searched.active_model_id:
                warnings.append(MODEL_MOVED)
                vector = None
            found = await _find(connection, _Asked(request, rules, query, terms, vector), searched)
        finished = time.perf_counter()
        return Outcome(
            results=found.results,
            mode=_mode_done(request.mode, found),
            fallback=_fallback(found.results, request.owner_key),
            warnings=warnings,
            weights=found.weights,
            terms=terms,
            embed_ms=(embedded - started) * 1000,
            database_ms=(finished - embedded - found.scoring_seconds) * 1000,
            total_ms=(finished - started) * 1000,
        )

    async def _embed(self, request: Request, text: str, warnings: list[str]) -> QueryVector | None:
        ready = self._models.ready
        if ready is None:
            because = {
                "loading": "the embedding model is still loading",
                "failed": f"the embedding model could not be loaded ({self._models.error})",
                "none": "no embedding model is configured",
            }[self._models.state]
            warnings.append(f"{because}: searched by words")
            return None
        try:
            if request.mode == "hybrid" and ready.embedder.familiarity(text) < FAMILIAR_FROM:
                warnings.append(UNFAMILIAR_SCRIPT)
                return None
            vector = await query_vector(ready, text)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            warnings.append(f"the query could not be embedded ({error.detail}): searched by words")
            return None
        return QueryVector(vector, ready.model_id, ready.embedder.identity)


async def _find(connection: Connection, asked: _Asked, searched: Searched) -> _Found:
    """Propose, score, and fetch what is shown of the best, and nothing of the others."""
    request, vector = asked.request, asked.vector
    with span("candidates"):
        pool, by_index = await propose(connection, request, asked.rules, searched, vector)
    started = time.perf_counter()
    with span("rank"):
        has_text = bool(searched.frequencies) and (request.mode != "vector" or vector is None)
        weights = effective_weights(asked.rules.weights, has_text=has_text, has_vector=vector is not None)
        scores = score(pool, _query(asked, searched), weights)
    scored = time.perf_counter()
    is_exact = await _exact_finds(connection, asked, pool, scores)
    best, shown = await _best(connection, request, pool, scores, is_exact)
    ranked = _Scored(pool, scores, by_index)
    results = [_result(asked, searched, ranked, place, shown[int(pool.chunk_id[place])]) for place in best]
    return _Found(results, weights, has_text, vector is not None, scored - started)


async def _best(
    connection: Connection, request: Request, pool: Pool, scores: Scores, is_exact: Booleans
) -> tuple[list[int], dict[int, DictRow]]:
    """The places of the results, and what is shown of them by chunk. The transaction may end here.

    Whether a line of the daily log repeats a message is told by their texts, which are fetched of the chosen only.
    """
    left_out: set[int] = set()
    shown: dict[int, DictRow] = {}
    while True:
        with span("select"):
            best = select(
                pool, scores, is_exact, min_score=request.min_score, limit=request.max_results, left_out=left_out
            )
            is_final = not may_repeat(pool, best)
        with span("passages"):
            missing = [chunk_id for chunk_id in pool.chunk_id[best].tolist() if chunk_id not in shown]
            shown |= await passages(connection, request, missing, is_last=is_final)
        if is_final:
            return best, shown
        echoes = repeated(pool, best, {chunk_id: row["text"] for chunk_id, row in shown.items()})
        if not echoes:
            return best, shown
        left_out |= echoes


def _query(asked: _Asked, searched: Searched) -> Query:
    count = searched.chunk_count
    known = np.array([idf(df, count) for df in searched.frequencies.values()], np.float64)
    unknown = set(asked.terms.terms) - set(searched.frequencies)
    meaning = meaning_of(asked.query, asked.rules.language)
    meant = known * [term in meaning.terms for term in searched.frequencies]
    return Query(
        asked.query,
        known,
        float(known.sum()) + len(unknown) * idf(0, count),
        meant=meant,
        naming=known * [term in meaning.names for term in searched.frequencies],
        meant_idf=float(meant.sum()) + len(unknown & meaning.terms) * idf(0, count),
    )


async def _exact_finds(connection: Connection, asked: _Asked, pool: Pool, scores: Scores) -> Booleans:
    """Which of those that the threshold would drop hold something of the query to the letter."""
    is_exact = np.zeros(pool.proposed, np.bool_)
    if asked.terms.exact:
        below = np.flatnonzero(scores.base_score < asked.request.min_score).tolist()
        texts = await passages(connection, asked.request, pool.chunk_id[below].tolist())
        for place in below:
            text = texts[int(pool.chunk_id[place])]["text"]
            is_exact[place] = holds_exact(pool.path[place], text, asked.terms.exact)
    return is_exact


def _result(asked: _Asked, searched: Searched, scored: _Scored, place: int, shown: DictRow) -> Result:
    pool = scored.pool
    slice_ = searched.slice_of(int(pool.slice_id[place]))
    similarity = float(pool.similarity[place])
    return Result(
        chunk_id=int(pool.chunk_id[place]),
        tier=pool.tier[place],
        path=pool.path[place],
        start_line=pool.start_line[place],
        end_line=pool.end_line[place],
        text=shown["text"],
        scope=scope_of(slice_.agent_id, slice_.owner_key),
        owner_key=slice_.owner_key,
        updated_at=shown["updated_at"],
        bm25=float(pool.bm25[place]),
        matched=tuple(t for t, is_held in zip(searched.frequencies, pool.held[place], strict=True) if is_held),
        is_exact=holds_exact(pool.path[place], shown["text"], asked.terms.exact),
        similarity=None if math.isnan(similarity) else similarity,
        plan="hnsw" if slice_.slice_id in scored.by_index else "exact",
        slice_chunks=slice_.chunk_count,
        episode=_episode_of(shown),
        **scored.scores.of(place),
    )


def _episode_of(shown: DictRow) -> EpisodeOf | None:
    if shown["episode_id"] is None:
        return None
    return EpisodeOf(**{name: shown[name] for name in EpisodeOf.__slots__})


def _mode_done(asked: Mode, found: _Found) -> Mode:
    """`text` without an embedding, `vector` when asked for or no word of the query occurs, else `hybrid`."""
    if not found.has_vector:
        return "text"
    return "hybrid" if found.has_text and asked == "hybrid" else "vector"


def _fallback(results: Sequence[Result], owner_key: str | None) -> Literal["global"] | None:
    """`global` when an owner asked and nothing of their own was found among what was."""
    if owner_key is None or not results:
        return None
    own = any(r.owner_key == owner_key and r.relevance >= FOUND_FROM for r in results)
    return None if own else "global"
