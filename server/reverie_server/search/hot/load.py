"""Reads what is held of a slice, or what changed of it, in the transaction of a request, as its role sees it."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format
from psycopg.rows import dict_row

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_server.search.candidates import Booleans, Floats, Integers
from reverie_server.search.evidence import LABEL_CHARS, speaker_of
from reverie_server.search.hot.held import (
    Documents,
    HeldSlice,
    Places,
    Postings,
    Traits,
    Vectors,
    joined,
    kept,
    norms_of,
    postings_joined,
    postings_of,
    postings_without,
)
from reverie_server.search.request import ALL_TIERS

SQL = Queries(__file__)
# A slice of which more is new than this share is read as a whole.
_MOSTLY_NEW = 0.25
# More passages are put together in a thread.
OFF_LOOP_FROM = 5000
# Terms are known by a keyed hash: nobody can make two that are the same, and none can be read from memory.
_TERM_SECRET = secrets.token_bytes(16)


@dataclass(frozen=True, slots=True)
class SliceKey:
    """Which slice, and the model whose vectors are compared; None: none is active."""

    tenant_id: str
    slice_id: int
    model_id: int | None


@dataclass(frozen=True, slots=True)
class _Found:
    """What the database has now: all places, with what may have a vector, and all documents."""

    places: Places
    documents: Documents
    embedded: Booleans


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of passages that are new, or have a vector that is. `postings` are lists by term."""

    traits: Mapping[str, Any]
    postings: Mapping[str, Any]
    vectors: Mapping[str, Any]


def term_key(term: str) -> int:
    """By what a term is known in this process."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8, key=_TERM_SECRET).digest(), "little")


async def refreshed(connection: Connection, key: SliceKey, slice_: Slice, known: HeldSlice | None) -> HeldSlice:
    """The slice as the transaction's snapshot has it, from what was known of it at another revision."""
    params = {
        "tenant_id": key.tenant_id,
        "slice_id": key.slice_id,
        "partition_id": slice_.partition_id,
        "model_id": key.model_id,
    }
    revision = slice_.revision
    found = await _find(connection, params)
    old = known or HeldSlice.empty()
    stays = np.isin(old.places.chunk_id, found.places.chunk_id, assume_unique=True)
    is_new = ~np.isin(found.places.chunk_id, old.places.chunk_id, assume_unique=True)
    if is_new.sum() > _MOSTLY_NEW * len(is_new):
        old, stays, is_new = HeldSlice.empty(), np.zeros(0, np.bool_), np.ones(len(is_new), np.bool_)
    # Ids grow. One that is smaller than a known one was written by a transaction that took longer.
    new_ids, old_ids = found.places.chunk_id[is_new], old.places.chunk_id[stays]
    waits = found.embedded if key.model_id is not None else np.zeros(len(found.embedded), np.bool_)
    waits = waits & (is_new | np.isin(found.places.chunk_id, old_ids[np.isnan(old.vectors.norm[stays])]))
    read = await _read(connection, params, new_ids, found.places.chunk_id[waits], whole=not len(old))
    if len(found.places.chunk_id) > OFF_LOOP_FROM:
        return await asyncio.to_thread(_merged, old, stays, new_ids, found, read, revision)
    return _merged(old, stays, new_ids, found, read, revision)


async def _find(connection: Connection, params: Mapping[str, Any]) -> _Found:
    async with connection.pipeline():
        await connection.execute(SQL["in_index_order"])
        places = await _columns(connection, "places", params)
        documents = await _columns(connection, "documents", params)
        await connection.execute(SQL["in_any_order"])
        placed, documented = await places.fetchone(), await documents.fetchone()
    names = ("chunk_id", "document_id", "ordinal", "start_line", "end_line", "fact_id")
    columns = {name: _integers(placed, name) for name in names}
    paths = documented["path"] or () if documented else ()
    return _Found(
        Places(**columns),
        Documents(
            _integers(documented, "document_id"),
            _objects(paths),
            _floats(documented, "updated_at"),
            _floats(documented, "expires_at"),
        ),
        _integers(placed, "embedded") > 0,
    )


async def _read(
    connection: Connection, params: Mapping[str, Any], new_ids: Integers, embedded_ids: Integers, *, whole: bool
) -> _Read:
    new = {**params, "chunk_ids": new_ids.tolist(), "tiers": list(ALL_TIERS), "label_chars": LABEL_CHARS}
    nothing: dict[str, Any] = {}
    async with connection.pipeline():
        traits = await _columns(connection, "traits", new) if len(new_ids) else None
        name = "postings" if whole else "postings_of_chunks"
        postings = await _columns(connection, name, new) if len(new_ids) else None
        embedded = {**params, "chunk_ids": embedded_ids.tolist()}
        vectors = await _columns(connection, "vectors", embedded) if len(embedded_ids) else None
        return _Read(
            (traits and await traits.fetchone()) or nothing,
            (postings and await postings.fetchone()) or nothing,
            (vectors and await vectors.fetchone()) or nothing,
        )


def _merged(old: HeldSlice, stays: Booleans, new_ids: Integers, found: _Found, read: _Read, revision: int) -> HeldSlice:
    """The slice as it is now, of the rows that stay, what was read, and the places found."""
    ids = np.concatenate((old.places.chunk_id[stays], new_ids))
    order = np.argsort(ids, kind="stable")
    vectors = _with_vectors(_of_present(old.vectors, stays, found, ids[: len(ids) - len(new_ids)]), ids, order, read)
    if not len(new_ids) and stays.all():
        remembered = old.remembered.without(())
        return HeldSlice(revision, found.places, found.documents, old.traits, vectors, old.postings, remembered)
    traits = joined(kept(old.traits, stays), _traits(read.traits))
    postings = _postings(read.postings, new_ids, int(stays.sum()))
    if len(old):
        postings = postings_joined(postings_without(old.postings, stays), postings)
    if not np.array_equal(ids, found.places.chunk_id):
        # Of a transaction that took longer: its passages have ids between those that are known.
        traits, vectors = kept(traits, order), kept(vectors, order)
        postings = _renumbered(postings, order)
    remembered = old.remembered.without(old.places.chunk_id[~stays].tolist())
    return HeldSlice(revision, found.places, found.documents, traits, vectors, postings, remembered)


def _with_vectors(old: Vectors, ids: Integers, order: Integers, read: _Read) -> Vectors:
    """The vectors of the passages `ids`, of which those of the first are known; `order` is that of the ids."""
    read_ids, read_bits = _vectors(read.vectors)
    if len(old.norm) == len(ids) and not len(read_ids):
        return old
    dimension = read_bits.shape[1] or old.bits.shape[1]
    bits, norm = np.zeros((len(ids), dimension), np.uint16), np.full(len(ids), np.nan, np.float32)
    bits[: len(old.bits), : old.bits.shape[1]], norm[: len(old.norm)] = old.bits, old.norm
    if len(read_ids):
        rows = order[np.searchsorted(ids, read_ids, sorter=order)]
        bits[rows], norm[rows] = read_bits, norms_of(read_bits)
    return Vectors(bits, norm)


def _renumbered(postings: Postings, order: Integers) -> Postings:
    """The postings where the row `order[i]` is the i'th."""
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    row = number[postings.row]
    of_term = np.repeat(np.arange(len(postings.key)), np.diff(postings.start))
    in_order = np.lexsort((row, of_term))
    return replace(postings, row=row[in_order], tf=postings.tf[in_order])


def _traits(read: Mapping[str, Any]) -> Traits:
    labels = read.get("label") or ()
    return Traits(
        tier=_integers(read, "tier").astype(np.uint8),
        text_key=_integers(read, "text_key"),
        asks=_integers(read, "asks") > 0,
        valid_from=_floats(read, "valid_from"),
        length=_integers(read, "length").astype(np.int32),
        label=_objects([f"{name}: " if (name := speaker_of(label)) is not None else "" for label in labels]),
    )


def _postings(read: Mapping[str, Any], new_ids: Integers, first_row: int) -> Postings:
    terms = read.get("term") or ()
    keys = np.fromiter((term_key(term) for term in terms), np.uint64, len(terms))
    rows = (np.searchsorted(new_ids, _integers(read, "chunk_id")) + first_row).astype(np.int32)
    return postings_of(keys, _integers(read, "count"), rows, _integers(read, "tf").astype(np.int32))


def _of_present(old: Vectors, stays: Booleans, found: _Found, ids: Integers) -> Vectors:
    """The vectors of the rows that stay; none for a passage that the active model has none of any more."""
    has_none = ~found.embedded[np.searchsorted(found.places.chunk_id, ids)] & ~np.isnan(old.norm[stays])
    if stays.all() and not has_none.any():
        return old
    bits, norm = old.bits[stays], old.norm[stays]
    if has_none.any():
        bits[has_none], norm[has_none] = 0, np.nan
    return Vectors(bits, norm)


def _vectors(read: Mapping[str, Any]) -> tuple[Integers, NDArray[np.uint16]]:
    """The ids of passages, and the bits of their vectors."""
    ids, sent = _integers(read, "chunk_id"), read.get("embedding")
    if not len(ids) or sent is None:
        return ids, np.zeros((0, 0), np.uint16)
    # Each begins with its dimension and two bytes that are not used.
    return ids, np.frombuffer(sent, ">u2").reshape(len(ids), -1)[:, 2:].astype(np.uint16)


class _ArrayLoader(Loader):
    """An array of numbers as PostgreSQL sends it: psycopg would make an object of each."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


async def _columns(connection: Connection, name: str, params: Mapping[str, Any]) -> psycopg.AsyncCursor[dict[str, Any]]:
    """The cursor of a statement that gives a row of arrays; those of numbers come as they are sent."""
    cursor = connection.cursor(binary=True, row_factory=dict_row)
    for type_name in ("int8", "float8"):
        cursor.adapters.register_loader(cursor.adapters.types[type_name].array_oid, _ArrayLoader)
    return await cursor.execute(SQL[name], params)


def _integers(row: Mapping[str, Any] | None, name: str) -> Integers:
    return _numbers(row, name, ">i8").astype(np.int64)


def _floats(row: Mapping[str, Any] | None, name: str) -> Floats:
    return _numbers(row, name, ">f8").astype(np.float64)


def _numbers(row: Mapping[str, Any] | None, name: str, type_: str) -> NDArray[Any]:
    """The numbers of an array without nulls: after a header of twenty bytes each has its length before it."""
    data = row.get(name) if row else None
    if data is None:
        return np.zeros(0, type_)
    element = np.dtype([("size", ">i4"), ("value", type_)])
    return np.frombuffer(data, element, offset=20 if len(data) > 20 else len(data))["value"]


def _objects(values: Sequence[str]) -> NDArray[np.object_]:
    objects = np.empty(len(values), np.object_)
    objects[:] = values
    return objects
