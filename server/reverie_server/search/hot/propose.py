"""The candidates of a search from slices that are held: each passage is scored, and the best of each channel are taken.

Candidates and scores are those of the statement `candidates` (search/store.sql), which searches all other slices. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.model import Tier
from reverie_server.search.candidates import NO_DOCUMENT, Booleans, Candidates, Floats, Integers
from reverie_server.search.evidence import COVERAGE_AT_DISTANCE
from reverie_server.search.hot.held import NO_FACT, HeldSlice, Vectors, widened
from reverie_server.search.request import ALL_TIERS

# The rows of which the vectors are widened at a time: they stay in the processor's cache.
_BLOCK = 512
_STEPS = np.array([step for distance in COVERAGE_AT_DISTANCE for step in (-distance, distance)], np.int64)


@dataclass(frozen=True, slots=True)
class HeldPart:
    """A slice that is held, as one of a request's: its id, what it counts as, and which rows the request asks for."""

    slice_id: int
    held: HeldSlice
    specificity: int
    is_owners: bool
    is_wanted: Booleans


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of a request: the keys of its known terms with their IDFs, and the rules of the two channels.

    `produces` are the terms that yield candidates. `in_order` are the numbers of the terms in the order in which
    PostgreSQL sums BM25: what is equal there is equal here. `vector` None: none is compared. A limit of 0: the channel
    proposes nothing.
    """

    keys: Sequence[int]
    idfs: Sequence[float]
    produces: Sequence[bool]
    in_order: Sequence[int]
    vector: NDArray[np.float32] | None
    mean_length: float
    k1: float
    b: float
    text_limit: int
    vector_limit: int
    with_context: bool


@dataclass(frozen=True, slots=True)
class _Scored:
    """The scores of all rows of a slice, and which of them have a term that yields candidates; `lists` as `_lists_of`
    has them for the terms that are asked for."""

    bm25: Floats
    similarity: Floats
    is_produced: Booleans
    lists: Sequence[tuple[int, int]]


def wanted(held: HeldSlice, *, tiers: Sequence[Tier], path_prefix: str | None, expired_at: float) -> Booleans:
    """The rows of some tiers, under a path, whose documents have not expired."""
    places, documents = held.places, held.documents
    is_of_tier = np.zeros(len(ALL_TIERS), np.bool_)
    is_of_tier[[ALL_TIERS.index(tier) for tier in tiers]] = True
    is_wanted = is_of_tier[held.traits.tier]
    expired = documents.document_id[documents.expires_at <= expired_at]
    if len(expired):
        is_wanted &= ~np.isin(places.document_id, expired)
    if path_prefix is not None:
        under = np.fromiter((path.startswith(path_prefix) for path in documents.path), np.bool_, len(documents.path))
        is_wanted &= np.isin(places.document_id, documents.document_id[under])
    return is_wanted


def frequencies(helds: Sequence[HeldSlice], keys: Mapping[str, int], *, expired_at: float) -> dict[str, int]:
    """The number of passages that have each term, without those of expired documents, for terms that some have."""
    count = dict.fromkeys(keys, 0)
    for held in helds:
        documents = held.documents
        expired = documents.document_id[documents.expires_at <= expired_at]
        gone = np.isin(held.places.document_id, expired) if len(expired) else None
        for term, (start, end) in zip(keys, _lists_of(held, list(keys.values())), strict=True):
            count[term] += end - start if gone is None else int((~gone[held.postings.row[start:end]]).sum())
    return {term: df for term, df in count.items() if df}


def propose_held(parts: Sequence[HeldPart], asked: Asked) -> Candidates:
    """The best passages of each channel, in the order of their ids, followed by their neighbours."""
    scored = [_scored(part, asked) for part in parts]
    firsts = np.concatenate(([0], np.cumsum([len(part.held) for part in parts]))).astype(np.int64)
    chunk_id = np.concatenate([part.held.places.chunk_id for part in parts])
    bm25 = np.concatenate([each.bm25 for each in scored])
    similarity = np.concatenate([each.similarity for each in scored])
    is_produced = np.concatenate([each.is_produced for each in scored])
    is_wanted = np.concatenate([part.is_wanted for part in parts])
    by_words = _best(np.flatnonzero(is_produced), bm25, chunk_id, asked.text_limit)
    compared = np.flatnonzero(is_wanted & _has_vector(parts)) if asked.vector is not None else np.zeros(0, np.int64)
    by_meaning = _best(compared, similarity, chunk_id, asked.vector_limit)
    best = np.union1d(by_words, by_meaning)
    proposed: list[Integers] = []
    beside: list[Integers] = []
    for part, first, end in zip(parts, firsts[:-1], firsts[1:], strict=True):
        rows = best[(best >= first) & (best < end)] - first
        rows = rows[_has_path(part.held, rows)]
        proposed.append(rows)
        beside.append(_neighbours(part.held, rows) if asked.with_context else rows[:0])
    return _columns(parts, scored, asked, proposed, beside)


def _scored(part: HeldPart, asked: Asked) -> _Scored:
    held = part.held
    count = len(held)
    produced, other = np.zeros(count), np.zeros(count)
    is_produced = np.zeros(count, np.bool_)
    discounted = asked.k1 * (1 - asked.b + asked.b * held.traits.length / asked.mean_length)
    lists = _lists_of(held, asked.keys)
    for term in asked.in_order:
        start, end = lists[term]
        rows, tf = held.postings.row[start:end], held.postings.tf[start:end]
        weight = asked.idfs[term] * tf * (1 + asked.k1) / (tf + discounted[rows])
        if asked.produces[term]:
            produced[rows] += weight
            is_produced[rows] = True
        else:
            other[rows] += weight
    is_produced &= part.is_wanted
    similarity = np.full(count, np.nan)
    if asked.vector is not None:
        similarity = np.where(part.is_wanted, _compared(held, asked.vector), np.nan)
    return _Scored(np.where(is_produced, produced, 0.0) + other, similarity, is_produced, lists)


def _compared(held: HeldSlice, vector: NDArray[np.float32]) -> Floats:
    """The cosines of all rows to a query; of the query that was asked last they are known."""
    key, known = vector.tobytes(), held.remembered.compared
    if known is None or known[0] != key:
        known = held.remembered.compared = (key, cosines(held.vectors, vector))
    return known[1]


def cosines(vectors: Vectors, vector: NDArray[np.float32]) -> Floats:
    """The cosine of each vector to that of a query, as halves; NaN where there is none."""
    bits = np.asarray(vector, np.float32).astype(np.float16).view(np.uint16)
    query = widened(bits)
    dots = np.empty(len(vectors.bits), np.float32)
    if vectors.bits.shape[1] != len(query):
        return np.full(len(vectors.norm), np.nan)
    room = np.empty((min(_BLOCK, len(dots)), len(query)), np.int32)
    for start in range(0, len(dots), _BLOCK):
        bits = vectors.bits[start : start + _BLOCK]
        block = widened(bits, room[: len(bits)])
        # Row by row in the same order: equal vectors have equal cosines, wherever they stand.
        np.einsum("ij,j->i", block, query, out=dots[start : start + _BLOCK])
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = dots.astype(np.float64) / (vectors.norm.astype(np.float64) * float(np.sqrt(np.dot(query, query))))
    return np.asarray(np.clip(cosine, -1.0, 1.0))


def _lists_of(held: HeldSlice, keys: Sequence[int]) -> list[tuple[int, int]]:
    """From where to where the postings of each term are."""
    known, start = held.postings.key, held.postings.start
    if not len(known):
        return [(0, 0)] * len(keys)
    sought = np.array(keys, np.uint64)
    places = np.minimum(np.searchsorted(known, sought), len(known) - 1)
    is_known = known[places] == sought
    first, end = np.where(is_known, start[places], 0), np.where(is_known, start[places + 1], 0)
    return list(zip(first.tolist(), end.tolist(), strict=True))


def _has_vector(parts: Sequence[HeldPart]) -> Booleans:
    return np.concatenate([~np.isnan(part.held.vectors.norm) for part in parts])


def _best(rows: Integers, values: Floats, chunk_id: Integers, limit: int) -> Integers:
    """Of some rows the `limit` with the highest values; of equal ones those with later ids first. NaN is last."""
    if len(rows) <= limit:
        return rows
    if limit == 0:
        return rows[:0]
    of_rows = np.where(np.isnan(values[rows]), -np.inf, values[rows])
    least = np.partition(of_rows, len(rows) - limit)[len(rows) - limit]
    rows, of_rows = rows[of_rows >= least], of_rows[of_rows >= least]
    return rows[np.lexsort((-chunk_id[rows], -of_rows))[:limit]]


def _has_path(held: HeldSlice, rows: Integers) -> Booleans:
    places = held.places
    return np.asarray((places.document_id[rows] != NO_DOCUMENT) | (places.fact_id[rows] != NO_FACT))


def _neighbours(held: HeldSlice, rows: Integers) -> Integers:
    """The rows that stand up to two places beside some rows, without these."""
    places = held.places
    rows = rows[places.document_id[rows] != NO_DOCUMENT]
    order, positions = held.positions.order, held.positions.number
    own = held.positions.of(places.document_id[rows], places.ordinal[rows])
    found = []
    for step in _STEPS:
        sought = own + step
        at = np.minimum(np.searchsorted(positions, sought), max(len(positions) - 1, 0))
        found.append(order[at[positions[at] == sought]] if len(positions) else order[:0])
    return np.setdiff1d(np.concatenate(found), rows) if found else rows[:0]


def _columns(
    parts: Sequence[HeldPart],
    scored: Sequence[_Scored],
    asked: Asked,
    proposed: Sequence[Integers],
    beside: Sequence[Integers],
) -> Candidates:
    """The columns of some rows of each slice, of the proposed ones first."""
    found = [_PartColumns.of(part, each, asked, rows) for part, each, rows in zip(parts, scored, proposed, strict=True)]
    near = [_PartColumns.of(part, each, asked, rows) for part, each, rows in zip(parts, scored, beside, strict=True)]
    order = np.argsort(np.concatenate([each.chunk_id for each in found]), kind="stable")
    after = np.argsort(np.concatenate([each.chunk_id for each in near]), kind="stable")

    def both(name: str) -> NDArray[np.generic]:
        first = np.concatenate([getattr(each, name) for each in found])[order]
        return np.concatenate((first, np.concatenate([getattr(each, name) for each in near])[after]))

    def of_parts(name: str) -> NDArray[np.generic]:
        columns = [getattr(part.held.traits, name)[rows] for part, rows in zip(parts, proposed, strict=True)]
        return np.concatenate(columns)[order]

    lines = [[getattr(p.held.places, name)[rows] for p, rows in zip(parts, proposed, strict=True)] for name in _LINES]
    start_line, end_line = (np.concatenate(columns)[order].tolist() for columns in lines)
    tiers = [ALL_TIERS[tier] for tier in of_parts("tier").tolist()]
    paths, updated = zip(
        *(_described(part.held, rows) for part, rows in zip(parts, proposed, strict=True)), strict=True
    )
    path = np.concatenate(paths)[order].tolist()
    counts = [len(rows) for rows in proposed]
    label = of_parts("label").tolist() if asked.with_context else [""] * len(path)
    asks = of_parts("asks").astype(np.float64) if asked.with_context else np.zeros(len(path))
    return Candidates(
        chunk_id=np.asarray(both("chunk_id"), np.int64),
        slice_id=np.asarray(both("slice_id"), np.int64),
        document_id=np.asarray(both("document_id"), np.int64),
        ordinal=np.asarray(both("ordinal"), np.int64),
        bm25=np.asarray(both("bm25"), np.float64),
        similarity=np.asarray(both("similarity"), np.float64),
        has_term=np.asarray(both("has_term"), np.bool_),
        tier=tiers,
        path=path,
        start_line=start_line,
        end_line=end_line,
        text_key=of_parts("text_key").tolist(),
        text=(),
        label=label,
        asks=asks,
        specificity=np.repeat([part.specificity for part in parts], counts)[order].astype(np.int64),
        is_owners=np.repeat([part.is_owners for part in parts], counts)[order],
        updated_at=np.concatenate(updated)[order],
    )


_LINES = ("start_line", "end_line")


@dataclass(frozen=True, slots=True)
class _PartColumns:
    """The columns that proposed passages and neighbours have, of some rows of a slice."""

    chunk_id: Integers
    slice_id: Integers
    document_id: Integers
    ordinal: Integers
    bm25: Floats
    similarity: Floats
    has_term: Booleans

    @classmethod
    def of(cls, part: HeldPart, scored: _Scored, asked: Asked, rows: Integers) -> _PartColumns:
        places = part.held.places
        return cls(
            places.chunk_id[rows],
            np.full(len(rows), part.slice_id, np.int64),
            places.document_id[rows],
            places.ordinal[rows],
            scored.bm25[rows],
            scored.similarity[rows],
            _has_term(part, asked, scored.lists, rows),
        )


def _has_term(part: HeldPart, asked: Asked, lists: Sequence[tuple[int, int]], rows: Integers) -> Booleans:
    """Which of some rows have which terms; those that yield candidates count for the rows asked for alone."""
    has_term = np.zeros((len(rows), len(asked.keys)), np.bool_)
    number = np.full(len(part.held), -1, np.int64)
    number[rows] = np.arange(len(rows))
    for term, ((start, end), produces) in enumerate(zip(lists, asked.produces, strict=True)):
        having = part.held.postings.row[start:end]
        if produces:
            having = having[part.is_wanted[having]]
        at = number[having]
        has_term[at[at >= 0], term] = True
    return has_term


def _described(held: HeldSlice, rows: Integers) -> tuple[NDArray[np.object_], Floats]:
    """The path of each row and when it was said, or a file last written."""
    places, documents, traits = held.places, held.documents, held.traits
    has_document = places.document_id[rows] != NO_DOCUMENT
    path = np.empty(len(rows), np.object_)
    at = np.searchsorted(documents.document_id, places.document_id[rows[has_document]])
    path[has_document] = documents.path[at]
    path[~has_document] = [f"facts/fact-{fact_id}" for fact_id in places.fact_id[rows[~has_document]].tolist()]
    updated = traits.valid_from[rows].copy()
    written = np.zeros(len(rows), np.float64)
    written[has_document] = documents.updated_at[at]
    is_file = traits.tier[rows] == ALL_TIERS.index("document")
    return path, np.where(is_file & has_document, written, updated)
