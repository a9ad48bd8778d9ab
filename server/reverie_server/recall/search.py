"""Hybrid search: one snapshot, two channels, one ranked list."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pgvector import HalfVector
from psycopg import sql
from psycopg.rows import DictRow

from reverie_indexer import store
from reverie_indexer.analyse import QueryTerms, analyse_query
from reverie_indexer.db import Connection, Database, Slice, visible_slices
from reverie_indexer.embed import Vector
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected, NotFound, ValidationFailed
from reverie_indexer.model import ModelIdentity, Tier
from reverie_indexer.queries import Queries
from reverie_indexer.slices import scope_of
from reverie_indexer.slot import ModelSlot
from reverie_indexer.vectors import MAX_COVERED_DIMENSION
from reverie_server.recall.evidence import Evidence, Found, gather
from reverie_server.recall.rank import (
    FOUND_FROM,
    Candidate,
    Query,
    Ranked,
    Weights,
    effective_weights,
    idf,
    producing_terms,
    score,
    select,
)

SQL = Queries(__file__)
Mode = Literal["hybrid", "text", "vector"]
MAX_QUERY_CHARS = 8000
# What each channel fetches at least. Context changes the order: with 50 it costs 2 points of recall, with 400 nothing.
CHANNEL_LIMIT = 200
# Below, the vector of a query says nothing, and would outweigh its words. Scripts lie far to either side.
FAMILIAR_FROM = 0.5
UNFAMILIAR_SCRIPT = "the embedding model does not know the script of the query: searched by words"
ALL_TIERS: tuple[Tier, ...] = ("document", "episodic", "message")


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of search."""

    weights: Weights = field(default_factory=Weights)
    language: str = "english"
    time_zone: str = "UTC"
    hnsw_ef_search: int = 100
    # A term in more passages than this, and than this share of them, yields no candidates where rarer terms do.
    frequent_df: int = 2000
    frequent_share: float = 0.1


@dataclass(frozen=True, slots=True)
class Request:
    """What is searched for, where, and how much of it is wanted.

    `with_past` searches also what files held before. With `as_of`: files as they were then, and daily notes up to
    that day in the agent's time zone, as they are now.
    """

    tenant_id: str
    agent_id: str
    query: str
    owner_key: str | None = None
    leader_agent_id: str | None = None
    max_results: int = 6
    min_score: float = 0.0
    path_prefix: str | None = None
    tiers: tuple[Tier, ...] = ALL_TIERS
    mode: Mode = "hybrid"
    as_of: datetime | None = None
    with_past: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found, best first, and how it was searched. Times are in milliseconds."""

    results: Sequence[Ranked]
    mode: Mode
    fallback: Literal["global", "leader"] | None
    warnings: Sequence[str]
    weights: Weights
    terms: QueryTerms
    embed_ms: float
    database_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class _QueryVector:
    vector: Vector
    model_id: int
    identity: ModelIdentity


@dataclass(frozen=True, slots=True)
class _Scope:
    slices: Sequence[Slice]
    active_model_id: int | None

    @property
    def chunk_count(self) -> int:
        return sum(s.chunk_count for s in self.slices)

    @property
    def mean_length(self) -> float:
        return max(1.0, sum(s.term_total for s in self.slices) / max(1, self.chunk_count))


def check_query(query: str) -> str:
    """The query without the white space around it; ValidationFailed for an empty, overlong or unstorable one."""
    query = query.strip()
    if not query or len(query) > MAX_QUERY_CHARS:
        raise ValidationFailed(f"a query has 1 to {MAX_QUERY_CHARS} characters")
    if "\x00" in query or any(0xD800 <= ord(character) <= 0xDFFF for character in query):
        raise ValidationFailed("the query has a NUL character or a lone surrogate")
    return query


class Search:
    """Finds passages of the memory an owner may see with one agent."""

    def __init__(self, database: Database, models: ModelSlot, rules: Rules) -> None:
        self._database = database
        self._models = models
        self.rules = rules

    async def search(self, request: Request, rules: Rules | None = None) -> Outcome:
        """The best passages for a query, by the server's rules or an agent's; else what the leader shares.

        Raises ValidationFailed for an empty or overlong query, NotFound for an unknown agent. A missing or
        failing model is a warning, and the search goes by words.
        """
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
        terms = analyse_query(query, rules.language)
        vector = None if request.mode == "text" else await self._embed(request, query, warnings)
        embedded = time.perf_counter()
        async with self._database.tenant(request.tenant_id, snapshot=True) as connection:
            scope = await self._scope(connection, request)
            if vector is not None and vector.model_id != scope.active_model_id:
                warnings.append(
                    "the index has moved to another embedding model: restart this server; searched by words"
                )
                vector = None
            frequencies = await _frequencies(connection, request, scope, terms)
            rows = await self._candidates(connection, request, rules, scope, frequencies, vector)
        searched = time.perf_counter()
        has_text = bool(frequencies) and (request.mode != "vector" or vector is None)
        weights = effective_weights(rules.weights, has_text=has_text, has_vector=vector is not None)
        idfs = {term: idf(frequencies.get(term, 0), scope.chunk_count) for term in terms.terms}
        query_facts = Query(sum(idfs.values()), request.owner_key, query)
        ranked = score(_candidates(rows, idfs), query_facts, weights)
        results = select(ranked, terms.exact, min_score=request.min_score, limit=request.max_results)
        return Outcome(
            results=results,
            mode=_mode_done(request.mode, has_text=has_text, has_vector=vector is not None),
            fallback=_fallback(results, request.owner_key),
            warnings=warnings,
            weights=weights,
            terms=terms,
            embed_ms=(embedded - started) * 1000,
            database_ms=(searched - embedded) * 1000,
            total_ms=(time.perf_counter() - started) * 1000,
        )

    async def _embed(self, request: Request, query: str, warnings: list[str]) -> _QueryVector | None:
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
            if request.mode == "hybrid" and ready.embedder.familiarity(query) < FAMILIAR_FROM:
                warnings.append(UNFAMILIAR_SCRIPT)
                return None
            vector = await ready.queries.embed(query)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            warnings.append(f"the query could not be embedded ({error.detail}): searched by words")
            return None
        return _QueryVector(vector, ready.model_id, ready.embedder.identity)

    async def _scope(self, connection: Connection, request: Request) -> _Scope:
        slices = await visible_slices(
            connection,
            request.tenant_id,
            request.agent_id,
            request.owner_key,
            with_past=request.with_past or request.as_of is not None,
        )
        # An agent without a slice of its own may still be known; a slice of its own proves it is.
        if not any(s.agent_id == request.agent_id for s in slices) and not await store.agent_exists(
            connection, request.tenant_id, request.agent_id
        ):
            raise NotFound(f"there is no agent {request.agent_id!r}")
        active = await (await connection.execute(SQL["active_model_id"])).fetchone()
        return _Scope(slices, active["model_id"] if active else None)

    async def _candidates(
        self,
        connection: Connection,
        request: Request,
        rules: Rules,
        scope: _Scope,
        frequencies: Mapping[str, int],
        vector: _QueryVector | None,
    ) -> list[DictRow]:
        limit = max(CHANNEL_LIMIT, 5 * request.max_results)
        by_text = request.mode != "vector" or vector is None
        frequent_from = max(rules.frequent_df, int(rules.frequent_share * scope.chunk_count))
        producers = producing_terms(frequencies, frequent_from=frequent_from)
        params: dict[str, Any] = {
            "tenant_id": request.tenant_id,
            "slice_ids": [s.slice_id for s in scope.slices],
            "exact_slice_ids": [s.slice_id for s in scope.slices if s.partition_id == 0],
            "terms": list(frequencies),
            "idfs": [idf(df, scope.chunk_count) for df in frequencies.values()],
            "producers": producers,
            "others": sorted(set(frequencies) - set(producers)),
            "tiers": list(request.tiers),
            "path_prefix": request.path_prefix,
            "as_of": request.as_of,
            "as_of_day": None if request.as_of is None else _day_of(request.as_of, rules.time_zone),
            "mean_length": scope.mean_length,
            "with_context": rules.weights.context > 0,
            "text_limit": limit if by_text else 0,
            "vector_limit": limit if vector else 0,
            "embedding": HalfVector(vector.vector) if vector else None,
            "model_id": vector.model_id if vector else None,
            "covered": vector is not None and vector.identity.dimension <= MAX_COVERED_DIMENSION,
        }
        large = [s for s in scope.slices if s.partition_id != 0] if vector else []
        hnsw_chunk_ids = [
            chunk_id for s in large for chunk_id in await self._nearest_of_large(connection, s, params, vector)
        ]
        cursor = await connection.execute(SQL["candidates"], {**params, "hnsw_chunk_ids": hnsw_chunk_ids})
        return await cursor.fetchall()

    async def _nearest_of_large(
        self, connection: Connection, slice_: Slice, params: dict[str, Any], vector: _QueryVector | None
    ) -> list[int]:
        if vector is None:
            return []
        ef_search = max(self.rules.hnsw_ef_search, 2 * params["vector_limit"])
        await connection.execute(SQL["hnsw_settings"], {"ef_search": str(min(1000, ef_search))})
        # The dimension is a type modifier, which no parameter can be; it comes from the model's own identity.
        query = sql.SQL(SQL["hnsw_candidates"].decode()).format(  # our own file, not input
            dimension=sql.Literal(vector.identity.dimension)
        )
        cursor = await connection.execute(
            query, {**params, "slice_id": slice_.slice_id, "partition_id": slice_.partition_id}
        )
        return [row["chunk_id"] for row in await cursor.fetchall()]


async def _frequencies(connection: Connection, request: Request, scope: _Scope, terms: QueryTerms) -> dict[str, int]:
    """Term to the number of visible passages that hold it; a term that none holds is left out."""
    cursor = await connection.execute(
        SQL["term_frequencies"],
        {
            "tenant_id": request.tenant_id,
            "slice_ids": [s.slice_id for s in scope.slices],
            "terms": list(terms.terms),
        },
    )
    return {row["term"]: row["df"] for row in await cursor.fetchall()}


def _day_of(instant: datetime, time_zone: str) -> date:
    try:
        return instant.astimezone(ZoneInfo(time_zone)).date()
    except OverflowError:
        # The first or the last day of the calendar, pushed out of it by the zone.
        return instant.date()


def _candidates(rows: Sequence[DictRow], idfs: Mapping[str, float]) -> list[Candidate]:
    """The candidates of a pool, each with what its neighbours add."""
    pool = [
        Found(
            row["document_id"],
            row["ordinal"],
            frozenset(row["matched"]),
            None if row["similarity"] is None else float(row["similarity"]),
        )
        for row in rows
    ]
    proposed = [(row, found) for row, found in zip(rows, pool, strict=True) if row["is_candidate"]]
    evidence = gather(pool, (found for _, found in proposed), idfs)
    return [_candidate(row, found, beside, idfs) for (row, found), beside in zip(proposed, evidence, strict=True)]


def _candidate(row: DictRow, found: Found, evidence: Evidence, idfs: Mapping[str, float]) -> Candidate:
    return Candidate(
        chunk_id=row["chunk_id"],
        tier=row["tier"],
        path=row["path"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        text=row["text"],
        document_id=found.document_id,
        scope=scope_of(row["agent_id"], row["owner_key"]),
        owner_key=row["owner_key"],
        updated_at=row["updated_at"],
        bm25=float(row["bm25"]),
        matched=found.matched,
        matched_idf=sum(idfs[term] for term in found.matched),
        similarity=found.similarity,
        evidence=evidence,
    )


def _mode_done(asked: Mode, *, has_text: bool, has_vector: bool) -> Mode:
    """`text` without an embedding, `vector` when asked for or no word of the query occurs, else `hybrid`."""
    if not has_vector:
        return "text"
    return "hybrid" if has_text and asked == "hybrid" else "vector"


def _fallback(results: Sequence[Ranked], owner_key: str | None) -> Literal["global"] | None:
    """`global` when an owner asked and nothing of their own was found among what was."""
    if owner_key is None or not results:
        return None
    own = any(r.candidate.owner_key == owner_key and r.relevance >= FOUND_FROM for r in results)
    return None if own else "global"
