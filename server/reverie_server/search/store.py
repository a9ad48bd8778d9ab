"""What the database does for a search: which slices, which terms are rare, whom the channels propose, what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from pgvector import HalfVector
from psycopg import sql
from psycopg.rows import DictRow, tuple_row

from reverie_indexer import store
from reverie_indexer.analyse import QueryTerms
from reverie_indexer.db import Connection, Slice, visible_slices
from reverie_indexer.embed import Vector
from reverie_indexer.errors import NotFound
from reverie_indexer.model import ModelIdentity, Scope
from reverie_indexer.queries import Queries
from reverie_indexer.slices import scope_of
from reverie_indexer.vectors import MAX_COVERED_DIMENSION
from reverie_server.search.candidates import NO_DOCUMENT, Pool, held_terms
from reverie_server.search.evidence import LABEL_CHARS
from reverie_server.search.rank import idf, producing_terms
from reverie_server.search.request import Request, Rules

SQL = Queries(__file__)
# What each channel fetches at least. Context changes the order: with 50 it costs 2 points of recall, with 400 nothing.
CHANNEL_LIMIT = 200
# Up to so many passages under a path of a large slice are compared one by one.
EXACT_UNDER_PATH = 5000
_SPECIFICITY: dict[Scope, int] = {"personal": 0, "team": 1, "global": 2}


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's embedding, and the model whose vectors it may be compared with."""

    vector: Vector
    model_id: int
    identity: ModelIdentity


@dataclass(frozen=True, slots=True)
class Searched:
    """The slices that a search sees, and what BM25 needs of them.

    `frequencies` has each term of the query that occurs, in its order, with the number of passages that hold it.
    `active_model_id` is the model whose vectors the index has; `expired` are the documents that nobody sees any more.
    """

    slices: Sequence[Slice]
    frequencies: Mapping[str, int]
    active_model_id: int | None
    expired: Sequence[int] = ()

    @property
    def chunk_count(self) -> int:
        """All passages of the slices."""
        return sum(s.chunk_count for s in self.slices)

    @property
    def mean_length(self) -> float:
        """Terms of a passage, on average; at least 1."""
        return max(1.0, sum(s.term_total for s in self.slices) / max(1, self.chunk_count))

    def slice_of(self, slice_id: int) -> Slice:
        """The slice of that id."""
        return next(s for s in self.slices if s.slice_id == slice_id)


async def open_slices(connection: Connection, request: Request, terms: QueryTerms, *, now: datetime) -> Searched:
    """Open what the request may see to this transaction; what has expired at `now` it does not. NotFound for an unknown
    agent."""
    slices = await visible_slices(
        connection,
        request.tenant_id,
        request.agent_id,
        request.owner_key,
        with_past=request.with_past or request.as_of is not None,
    )
    # An agent without a slice of its own may still be known; a slice of its own proves it is.
    is_known = request.is_new_agent or any(s.agent_id == request.agent_id for s in slices)
    if not is_known and not await store.agent_exists(connection, request.tenant_id, request.agent_id):
        raise NotFound(f"there is no agent {request.agent_id!r}")
    params = {
        "tenant_id": request.tenant_id,
        "slice_ids": [s.slice_id for s in slices],
        "terms": list(terms.terms),
        "now": now,
    }
    async with connection.pipeline():
        active = await connection.execute(SQL["active_model_id"])
        gone = await connection.execute(SQL["expired"], params)
        counted = await connection.execute(SQL["term_frequencies"], params)
        model = await active.fetchone()
        found = {row["term"]: row["df"] for row in await counted.fetchall()}
        expired = [row["document_id"] for row in await gone.fetchall()]
    frequencies = {term: found[term] for term in terms.terms if term in found}
    return Searched(slices, frequencies, model["model_id"] if model else None, expired)


async def propose(
    connection: Connection, request: Request, rules: Rules, searched: Searched, vector: QueryVector | None
) -> tuple[Pool, set[int]]:
    """The best of each channel over the slices, and what stands beside them; and which slices an index was asked for.

    The terms of `Pool.held` are those of `searched.frequencies`, in its order.
    """
    params = _parameters(request, rules, searched, vector)
    hnsw_chunk_ids: list[int] = []
    by_index: set[int] = set()
    if vector is not None:
        for large in (s for s in searched.slices if s.partition_id != 0):
            found = await _nearest_under_path(connection, large, params)
            if found is None:
                found = await _nearest_of_large(connection, large, params, vector, rules.hnsw_ef_search)
                by_index.add(large.slice_id)
            hnsw_chunk_ids += found
    async with connection.pipeline(), connection.cursor(binary=True, row_factory=tuple_row) as cursor:
        await connection.execute(SQL["join_by_hash"])
        await cursor.execute(SQL["candidates"], {**params, "hnsw_chunk_ids": hnsw_chunk_ids})
        rows = await cursor.fetchall()
    # Those that may be results have a path, and come first.
    ordered = [row for row in rows if row[_PATH] is not None]
    proposed = len(ordered)
    ordered += [row for row in rows if row[_PATH] is None]
    return _pool(ordered, proposed, request, searched), by_index


async def passages(
    connection: Connection, request: Request, chunk_ids: Sequence[int], *, is_last: bool = False
) -> dict[int, DictRow]:
    """What is shown of passages (text, updated_at), by id. `is_last`: the transaction ends here."""
    if not chunk_ids:
        return {}
    params = {"tenant_id": request.tenant_id, "as_of": request.as_of, "chunk_ids": list(chunk_ids)}
    async with connection.pipeline():
        cursor = await connection.execute(SQL["passages"], params)
        if is_last:
            # In the same round trip.
            await connection.commit()
        return {row["chunk_id"]: row for row in await cursor.fetchall()}


def _parameters(request: Request, rules: Rules, searched: Searched, vector: QueryVector | None) -> dict[str, Any]:
    limit = max(CHANNEL_LIMIT, 5 * request.max_results)
    by_text = request.mode != "vector" or vector is None
    frequencies, slices = searched.frequencies, searched.slices
    frequent_from = max(rules.frequent_df, int(rules.frequent_share * searched.chunk_count))
    producers = producing_terms(frequencies, frequent_from=frequent_from)
    return {
        "tenant_id": request.tenant_id,
        "slice_ids": [s.slice_id for s in slices],
        "exact_slice_ids": [s.slice_id for s in slices if s.partition_id == 0],
        "partition_ids": [s.partition_id for s in slices if s.partition_id != 0],
        "terms": list(frequencies),
        "idfs": [idf(df, searched.chunk_count) for df in frequencies.values()],
        "producers": producers,
        "others": sorted(set(frequencies) - set(producers)),
        "tiers": list(request.tiers),
        "expired": list(searched.expired),
        "path_prefix": request.path_prefix,
        "as_of": request.as_of,
        "as_of_day": None if request.as_of is None else _day_of(request.as_of, rules.time_zone),
        "mean_length": searched.mean_length,
        "k1": rules.bm25_k1,
        "b": rules.bm25_b,
        "with_context": rules.weights.context > 0,
        "label_chars": LABEL_CHARS,
        "text_limit": limit if by_text else 0,
        "vector_limit": limit if vector else 0,
        "embedding": HalfVector(vector.vector) if vector else None,
        "model_id": vector.model_id if vector else None,
        "covered": vector is not None and vector.identity.dimension <= MAX_COVERED_DIMENSION,
    }


async def _nearest_under_path(connection: Connection, slice_: Slice, params: dict[str, Any]) -> list[int] | None:
    """The nearest under a path of now that holds few passages; None where it holds many, or there is none."""
    if params["path_prefix"] is None or params["as_of"] is not None:
        return None
    cursor = await connection.execute(
        SQL["under_path"],
        {
            **params,
            "slice_id": slice_.slice_id,
            "partition_id": slice_.partition_id,
            "most": EXACT_UNDER_PATH,
        },
    )
    row = await cursor.fetchone()
    return None if row is None or row["count"] > EXACT_UNDER_PATH else list(row["chunk_ids"])


async def _nearest_of_large(
    connection: Connection, slice_: Slice, params: dict[str, Any], vector: QueryVector, ef_search: int
) -> list[int]:
    ef_search = min(1000, max(ef_search, 2 * params["vector_limit"]))
    # The dimension is a type modifier, which no parameter can be; it comes from the model's own identity.
    query = sql.SQL(SQL["hnsw_candidates"].decode()).format(  # our own file, not input
        dimension=sql.Literal(vector.identity.dimension)
    )
    async with connection.pipeline():
        await connection.execute(SQL["hnsw_settings"], {"ef_search": str(ef_search)})
        cursor = await connection.execute(
            query, {**params, "slice_id": slice_.slice_id, "partition_id": slice_.partition_id}
        )
        return [row["chunk_id"] for row in await cursor.fetchall()]


# The columns of `candidates`, in order.
_COLUMNS = (
    *("chunk_id", "slice_id", "document_id", "ordinal", "tier", "start_line", "end_line", "text_key", "label", "asks"),
    *("path", "updated_at", "bm25", "matched", "similarity"),
)
_PATH = _COLUMNS.index("path")


def _pool(rows: Sequence[tuple[Any, ...]], proposed: int, request: Request, searched: Searched) -> Pool:
    columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(_COLUMNS, ())
    scopes = {s.slice_id: _SPECIFICITY[scope_of(s.agent_id, s.owner_key)] for s in searched.slices}
    own = {s.slice_id for s in searched.slices if s.owner_key is not None and s.owner_key == request.owner_key}
    slice_ids = columns["slice_id"]
    return Pool(
        chunk_id=np.array(columns["chunk_id"], np.int64),
        slice_id=np.array(slice_ids, np.int64),
        document_id=np.array([NO_DOCUMENT if d is None else d for d in columns["document_id"]], np.int64),
        ordinal=np.array(columns["ordinal"], np.int64),
        bm25=np.array(columns["bm25"], np.float64),
        similarity=np.array(columns["similarity"], np.float64),
        held=held_terms([matched or () for matched in columns["matched"]], len(searched.frequencies)),
        tier=columns["tier"][:proposed],
        path=columns["path"][:proposed],
        start_line=columns["start_line"][:proposed],
        end_line=columns["end_line"][:proposed],
        text_key=columns["text_key"][:proposed],
        label=[label or "" for label in columns["label"][:proposed]],
        asks=np.array(columns["asks"][:proposed], np.float64),
        specificity=np.array([scopes[s] for s in slice_ids[:proposed]], np.int64),
        is_own=np.array([s in own for s in slice_ids[:proposed]], np.bool_),
        updated_at=np.array(columns["updated_at"][:proposed], np.float64),
    )


def _day_of(instant: datetime, time_zone: str) -> date:
    try:
        return instant.astimezone(ZoneInfo(time_zone)).date()
    except OverflowError:
        # The first or the last day of the calendar, pushed out of it by the zone.
        return instant.date()
