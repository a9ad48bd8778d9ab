"""The statements of a search: visible slices, frequencies of terms, candidates of the channels, texts of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import sql
from psycopg.rows import DictRow, tuple_row

from reverie_indexer.database.database import ALL_OWNERS, Connection, Slice, opening_slices
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Vector
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import scope_of
from reverie_indexer.index.vectors import MAX_COVERED_DIMENSION
from reverie_indexer.model import ModelIdentity, Scope
from reverie_indexer.text.analyse import QueryTerms
from reverie_server.search.candidates import NO_DOCUMENT, Candidates, term_matrix
from reverie_server.search.evidence import LABEL_CHARS
from reverie_server.search.filters import day_of, filters_passages, passages_within
from reverie_server.search.hot.cache import HotSlices
from reverie_server.search.hot.held import HeldSlice
from reverie_server.search.hot.load import term_key
from reverie_server.search.hot.propose import frequencies
from reverie_server.search.hot.remembered import Remembered
from reverie_server.search.owner_names import given_names
from reverie_server.search.rank import idf, producing_terms
from reverie_server.search.request import SearchRequest, SearchRules

SQL = Queries(__file__)
# The candidates that each channel fetches at least. Evidence of neighbours changes their order later: 50 instead of 200
# cost 2 points of recall, and 400 gain nothing.
CHANNEL_LIMIT = 200
# Under a path of a large slice that has no more passages, each is compared.
EXACT_UNDER_PATH = 5000
_SPECIFICITY: dict[Scope, int] = {"personal": 0, "team": 1, "global": 2}


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The embedding of a query, and the model whose vectors it can be compared with."""

    vector: Vector
    model_id: int
    identity: ModelIdentity


@dataclass(frozen=True, slots=True)
class Corpus:
    """The slices that a search sees, with the statistics that BM25 needs.

    `frequencies` has each known term of the query, in the query's order, with the number of passages that have it.
    `active_model_id` is the model whose vectors the index has. `expired` are the ids of the expired documents. `held`
    is what this process holds of each slice, None where PostgreSQL is to be asked; then `expired` is empty. `within`
    are the ids of the passages that pass the filters of the request, None for one without such a filter.
    """

    slices: Sequence[Slice]
    frequencies: Mapping[str, int]
    active_model_id: int | None
    expired: Sequence[int] = ()
    held: Sequence[HeldSlice] | None = None
    within: Sequence[int] | None = None

    @property
    def chunk_count(self) -> int:
        """The number of passages in the slices."""
        return sum(s.chunk_count for s in self.slices)

    @property
    def mean_length(self) -> float:
        """The mean number of terms in a passage; at least 1."""
        return max(1.0, sum(s.term_total for s in self.slices) / max(1, self.chunk_count))

    @property
    def slice_ids(self) -> list[int]:
        """The ids of the slices."""
        return [s.slice_id for s in self.slices]

    @property
    def remembered(self) -> Mapping[int, Remembered]:
        """What is remembered of each slice, by its id, where they are held; else nothing."""
        return {s.slice_id: held.remembered for s, held in zip(self.slices, self.held or (), strict=False)}

    def slice_of(self, slice_id: int) -> Slice:
        """The slice with this id."""
        return next(s for s in self.slices if s.slice_id == slice_id)


@dataclass(frozen=True, slots=True)
class OpenSlices:
    """The slices that are open to a transaction, the active model, and what is held of each slice (see `Corpus`).

    `owner_names` is what their owner is called by, as far as facts tell.
    """

    slices: Sequence[Slice]
    active_model_id: int | None
    held: Sequence[HeldSlice] | None
    owner_names: Sequence[str] = ()


def opening(request: SearchRequest) -> list[Statement]:
    """The statements by which a search begins; `opened` takes their rows."""
    return [
        Statement(SQL["active_model_id"], {}),
        *opening_slices(request.tenant_id, request.agent_id, request.owner_key, with_past=_with_past(request)),
        *([Statement(SQL["owner_names"], _of_owner(request))] if _has_owner(request) else []),
    ]


def _has_owner(request: SearchRequest) -> bool:
    return request.owner_key not in (None, ALL_OWNERS)


def _of_owner(request: SearchRequest) -> dict[str, Any]:
    return {"tenant_id": request.tenant_id, "owner_key": request.owner_key}


async def namesakes(connection: Connection, request: SearchRequest, names: Sequence[str]) -> set[str]:
    """Those of the names by which somebody else is known, too."""
    cursor = await connection.execute(SQL["namesakes"], {**_of_owner(request), "names": list(names)})
    return {row["name"] for row in await cursor.fetchall()}


async def open_scope(connection: Connection, request: SearchRequest) -> OpenSlices:
    """Open the slices that the request may see to this transaction. NotFound for an unknown agent.

    What this process holds of them is not asked for.
    """
    return await opened(connection, request, await in_one_message(connection, opening(request)))


async def opened(
    connection: Connection,
    request: SearchRequest,
    answers: Sequence[Sequence[DictRow]],
    *,
    hot: HotSlices | None = None,
) -> OpenSlices:
    """The slices that are open after the statements of `opening`, and what `hot` holds of them; NotFound as above."""
    model, _, visible, *named = answers
    model_id = next((row["model_id"] for row in model), None)
    slices = [Slice(**row) for row in visible]
    # A slice of its own proves that an agent exists; an agent without one may exist too.
    is_known = request.is_new_agent or any(s.agent_id == request.agent_id for s in slices)
    if not is_known and not await store.agent_exists(connection, request.tenant_id, request.agent_id):
        raise NotFound(f"there is no agent {request.agent_id!r}")
    held = None
    if (
        hot is not None
        and not _with_past(request)
        and not filters_passages(request)
        and request.owner_key != ALL_OWNERS
    ):
        held = await hot.of(connection, request.tenant_id, request.agent_id, slices, model_id)
    return OpenSlices(slices, model_id, held, given_names([row["object"] for rows in named for row in rows]))


def _with_past(request: SearchRequest) -> bool:
    return request.with_past or request.as_of is not None


async def corpus_of(
    connection: Connection,
    scope: OpenSlices,
    request: SearchRequest,
    rules: SearchRules,
    terms: QueryTerms,
    *,
    now: datetime,
) -> Corpus:
    """The statistics of a query in a scope, and what passes the filters of its request.

    Documents that have expired at `now` are listed in the corpus and not counted in its frequencies.
    """
    if scope.held is not None:
        keys = {term: term_key(term) for term in terms.terms}
        df_of = frequencies(scope.held, keys, expired_at=now.timestamp())
        return Corpus(scope.slices, df_of, scope.active_model_id, held=scope.held)
    slice_ids = [s.slice_id for s in scope.slices]
    params = {
        "tenant_id": request.tenant_id,
        "slice_ids": slice_ids,
        "terms": list(terms.terms),
        "now": now,
    }
    async with connection.pipeline():
        expired_cursor = await connection.execute(SQL["expired"], params)
        frequency_cursor = await connection.execute(SQL["term_frequencies"], params)
        df_of = {row["term"]: row["df"] for row in await frequency_cursor.fetchall()}
        expired = [row["document_id"] for row in await expired_cursor.fetchall()]
    known = {term: df_of[term] for term in terms.terms if term in df_of}
    within = await passages_within(connection, request, slice_ids, rules.time_zone)
    return Corpus(scope.slices, known, scope.active_model_id, expired, within=within)


async def open_corpus(
    connection: Connection, request: SearchRequest, rules: SearchRules, terms: QueryTerms, *, now: datetime
) -> Corpus:
    """The corpus of one request, from PostgreSQL: see `open_scope` and `corpus_of`."""
    return await corpus_of(connection, await open_scope(connection, request), request, rules, terms, now=now)


async def propose(
    connection: Connection, request: SearchRequest, rules: SearchRules, corpus: Corpus, vector: QueryVector | None
) -> tuple[Candidates, set[int]]:
    """The best passages of each channel with their neighbours, and the ids of the slices whose HNSW index was corpus.

    The columns of `Candidates.has_term` are the terms of `corpus.frequencies`, in its order.
    """
    params = _parameters(request, rules, corpus, vector)
    if corpus.within is not None:
        # The path is among the filters.
        params["path_prefix"] = None
    nearest_of_large: list[int] = []
    hnsw_slice_ids: set[int] = set()
    if vector is not None:
        for large in (s for s in corpus.slices if s.partition_id != 0):
            nearest = await _nearest_by_comparison(connection, large, params)
            if nearest is None:
                nearest = await _nearest_by_hnsw(connection, large, params, vector, rules.hnsw_ef_search)
                hnsw_slice_ids.add(large.slice_id)
            nearest_of_large += nearest
    async with connection.pipeline(), connection.cursor(binary=True, row_factory=tuple_row) as cursor:
        await connection.execute(SQL["join_by_hash"])
        await cursor.execute(SQL["candidates"], {**params, "nearest_of_large": nearest_of_large})
        rows = await cursor.fetchall()
    # Proposed passages have a path, and come first; each in the order of their ids.
    rows.sort()
    proposed = [row for row in rows if row[_PATH] is not None]
    neighbours = [row for row in rows if row[_PATH] is None]
    return _candidates([*proposed, *neighbours], len(proposed), request, corpus), hnsw_slice_ids


async def passages(
    connection: Connection,
    request: SearchRequest,
    chunk_ids: Sequence[int],
    *,
    also: Sequence[Statement] = (),
    is_last: bool = False,
) -> tuple[dict[int, DictRow], list[list[DictRow]]]:
    """The rows of passages by chunk id: where they stand, text, updated_at, and the episode if one has it.

    Further statements are sent `also`, of which the rows come second. With `is_last` the transaction ends here.
    """
    params = {"tenant_id": request.tenant_id, "as_of": request.as_of, "chunk_ids": list(chunk_ids)}
    statements = [*([Statement(SQL["passages"], params)] if chunk_ids else ()), *also]
    if not statements:
        return {}, []
    if is_last:
        # In the same round trip.
        statements.append(Statement(SQL["end"], {}))
    answers = await in_one_message(connection, statements)
    found = {row["chunk_id"]: row for row in answers.pop(0)} if chunk_ids else {}
    return found, answers[: len(also)]


def producers_of(rules: SearchRules, corpus: Corpus) -> list[str]:
    """The terms of the query that yield candidates."""
    frequent_from = max(rules.frequent_df, int(rules.frequent_share * corpus.chunk_count))
    return producing_terms(corpus.frequencies, frequent_from=frequent_from)


def channel_limits(request: SearchRequest, vector: QueryVector | None) -> tuple[int, int]:
    """How many candidates the words and the vector of a query propose."""
    limit = max(CHANNEL_LIMIT, 5 * request.max_results)
    by_text = request.mode != "vector" or vector is None
    return limit if by_text else 0, limit if vector else 0


def specificities(slices: Sequence[Slice]) -> dict[int, int]:
    """How personal each slice is, by its id, as `Candidates.specificity` has it."""
    return {s.slice_id: _SPECIFICITY[scope_of(s.agent_id, s.owner_key)] for s in slices}


def _parameters(
    request: SearchRequest, rules: SearchRules, corpus: Corpus, vector: QueryVector | None
) -> dict[str, Any]:
    """The parameters of the statement `candidates`."""
    slices = corpus.slices
    producers = producers_of(rules, corpus)
    text_limit, vector_limit = channel_limits(request, vector)
    return {
        "tenant_id": request.tenant_id,
        "slice_ids": [s.slice_id for s in slices],
        "exact_slice_ids": [s.slice_id for s in slices if s.partition_id == 0],
        "partition_ids": [s.partition_id for s in slices if s.partition_id != 0],
        "terms": list(corpus.frequencies),
        "idfs": [idf(df, corpus.chunk_count) for df in corpus.frequencies.values()],
        "producers": producers,
        "others": sorted(set(corpus.frequencies) - set(producers)),
        "tiers": list(request.tiers),
        "expired": list(corpus.expired),
        "path_prefix": request.path_prefix,
        "within": corpus.within,
        "as_of": request.as_of,
        "as_of_day": None if request.as_of is None else day_of(request.as_of, rules.time_zone),
        "mean_length": corpus.mean_length,
        "k1": rules.bm25_k1,
        "b": rules.bm25_b,
        "with_context": rules.weights.context > 0,
        "label_chars": LABEL_CHARS,
        "text_limit": text_limit,
        "vector_limit": vector_limit,
        "embedding": HalfVector(vector.vector) if vector else None,
        "model_id": vector.model_id if vector else None,
        "covered": vector is not None and vector.identity.dimension <= MAX_COVERED_DIMENSION,
    }


async def _nearest_by_comparison(connection: Connection, slice_: Slice, params: dict[str, Any]) -> list[int] | None:
    """The passages under the request's path, or within its filters, that are nearest to the query.

    None where these are more than EXACT_UNDER_PATH, for a request without either, and for a path in the past.
    """
    place = {"slice_id": slice_.slice_id, "partition_id": slice_.partition_id, "most": EXACT_UNDER_PATH}
    if params["within"] is not None:
        if len(params["within"]) > EXACT_UNDER_PATH:
            return None
        cursor = await connection.execute(SQL["nearest_within"], {**params, **place})
        return [row["chunk_id"] for row in await cursor.fetchall()]
    if params["path_prefix"] is None or params["as_of"] is not None:
        return None
    cursor = await connection.execute(SQL["under_path"], {**params, **place})
    row = await cursor.fetchone()
    return None if row is None or row["count"] > EXACT_UNDER_PATH else list(row["chunk_ids"])


async def _nearest_by_hnsw(
    connection: Connection, slice_: Slice, params: dict[str, Any], vector: QueryVector, ef_search: int
) -> list[int]:
    """The passages of a large slice that its HNSW index finds nearest to the query."""
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


# The columns of the statement `candidates`, in order.
_COLUMNS = (
    *(
        "chunk_id",
        "slice_id",
        "document_id",
        "ordinal",
        "tier",
        "start_line",
        "end_line",
        "text_key",
        "text",
        "label",
        "asks",
    ),
    *("path", "updated_at", "bm25", "matched", "similarity"),
)
_PATH = _COLUMNS.index("path")


def _candidates(rows: Sequence[tuple[Any, ...]], proposed: int, request: SearchRequest, corpus: Corpus) -> Candidates:
    """The rows of the statement `candidates` as columns; the first `proposed` rows may be results."""
    columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(_COLUMNS, ())
    specificity = specificities(corpus.slices)
    owners = {s.slice_id for s in corpus.slices if s.owner_key is not None and s.owner_key == request.owner_key}
    slice_ids = columns["slice_id"]
    return Candidates(
        chunk_id=np.array(columns["chunk_id"], np.int64),
        slice_id=np.array(slice_ids, np.int64),
        document_id=np.array([NO_DOCUMENT if d is None else d for d in columns["document_id"]], np.int64),
        ordinal=np.array(columns["ordinal"], np.int64),
        bm25=np.array(columns["bm25"], np.float64),
        similarity=np.array(columns["similarity"], np.float64),
        has_term=term_matrix([matched or () for matched in columns["matched"]], len(corpus.frequencies)),
        tier=columns["tier"][:proposed],
        path=columns["path"][:proposed],
        start_line=columns["start_line"][:proposed],
        end_line=columns["end_line"][:proposed],
        text_key=columns["text_key"][:proposed],
        text=columns["text"][:proposed],
        label=[label or "" for label in columns["label"][:proposed]],
        asks=np.array(columns["asks"][:proposed], np.float64),
        specificity=np.array([specificity[s] for s in slice_ids[:proposed]], np.int64),
        is_owners=np.array([s in owners for s in slice_ids[:proposed]], np.bool_),
        updated_at=np.array(columns["updated_at"][:proposed], np.float64),
    )
