"""What a process holds of a slice of memory, as columns: all that ranking needs, and no text. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reverie_server.search.candidates import Booleans, Floats, Integers
from reverie_server.search.evidence import COVERAGE_AT_DISTANCE
from reverie_server.search.hot.remembered import Remembered

Bits = NDArray[np.uint16]
Keys = NDArray[np.uint64]
Rows = NDArray[np.int32]
Objects = NDArray[np.object_]
# The fact of a passage that states none.
NO_FACT = 0
# What comes to be remembered of a passage: the keys of some sentences, or where a fact is stated.
_REMEMBERED_BYTES = 400
_FARTHEST = max(COVERAGE_AT_DISTANCE)
_HALF_SCALE = np.float32(2.0**112)


@dataclass(frozen=True)
class Places:
    """Where the passages stand: the columns that change while a passage stays. A row each, by `chunk_id`.

    `fact_id` is NO_FACT for a passage that states none; `document_id` NO_DOCUMENT for a passage of a fact.
    """

    chunk_id: Integers
    document_id: Integers
    ordinal: Integers
    start_line: Integers
    end_line: Integers
    fact_id: Integers


@dataclass(frozen=True)
class Documents:
    """The documents of a slice, by `document_id`. Times are in seconds since 1970, infinite for what never expires."""

    document_id: Integers
    path: Objects
    updated_at: Floats
    expires_at: Floats


@dataclass(frozen=True)
class Traits:
    """What a passage is made of, which never changes. A row each, by the passages' chunk ids.

    `tier` is an index into ALL_TIERS. `label` is the name of the speaker and a colon, or "". `length` is the number of
    terms.
    """

    tier: NDArray[np.uint8]
    text_key: Integers
    asks: Booleans
    valid_from: Floats
    length: NDArray[np.int32]
    label: Objects


@dataclass(frozen=True)
class Vectors:
    """The embeddings as halves, by their bits, a row each, and their lengths: NaN for a passage without one."""

    bits: Bits
    norm: NDArray[np.float32]


@dataclass(frozen=True)
class Postings:
    """Which rows have which terms, and how often: those of the t'th term from `start[t]` to `start[t + 1]`.

    A term is known by its key (`term_keys`), in whose order they are; the rows of a term are in order.
    """

    key: Keys
    start: Integers
    row: Rows
    tf: NDArray[np.int32]


@dataclass(frozen=True)
class ByPosition:
    """The rows of a slice by document and ordinal, with one number for the position of each.

    It is the rank of its document among `documents`, times `width`, plus its ordinal. `width` is more than any ordinal
    and the distance of the farthest neighbour together.
    """

    order: Integers
    documents: Integers
    width: int
    positions: Integers


@dataclass(frozen=True)
class HeldSlice:
    """A slice at one revision, with the vectors of one model."""

    revision: int
    places: Places
    documents: Documents
    traits: Traits
    vectors: Vectors
    postings: Postings
    remembered: Remembered = field(default_factory=Remembered, compare=False)

    def __len__(self) -> int:
        return len(self.places.chunk_id)

    @cached_property
    def size_bytes(self) -> int:
        """The memory that it takes, about."""
        parts = (self.places, self.documents, self.traits, self.vectors, self.postings)
        arrays = sum(getattr(part, each.name).nbytes for part in parts for each in fields(part))
        # A path is a string of its own; labels are shared.
        return int(arrays) + sum(80 + len(path) for path in self.documents.path) + _REMEMBERED_BYTES * len(self)

    @cached_property
    def by_position(self) -> ByPosition:
        """The rows by document and place."""
        places = self.places
        order = np.lexsort((places.ordinal, places.document_id))
        documents = np.unique(places.document_id)
        width = int(places.ordinal.max(initial=0)) + 1 + 2 * _FARTHEST
        rank = np.searchsorted(documents, places.document_id[order])
        return ByPosition(order, documents, width, rank * width + places.ordinal[order])

    @classmethod
    def empty(cls) -> Self:
        """A slice without passages."""
        integers, floats = np.zeros(0, np.int64), np.zeros(0, np.float64)
        small, objects = np.zeros(0, np.int32), np.zeros(0, np.object_)
        return cls(
            0,
            Places(integers, integers, integers, integers, integers, integers),
            Documents(integers, objects, floats, floats),
            Traits(np.zeros(0, np.uint8), integers, np.zeros(0, np.bool_), floats, small, objects),
            Vectors(np.zeros((0, 0), np.uint16), np.zeros(0, np.float32)),
            Postings(np.zeros(0, np.uint64), np.zeros(1, np.int64), small, small),
        )


def widened(bits: Bits, into: NDArray[np.int32] | None = None) -> NDArray[np.float32]:
    """Halves by their bits as floats, exactly; in `into`, where given. numpy's own cast takes five times as long."""
    wide = np.empty(bits.shape, np.int32) if into is None else into
    # The sign is copied into all bits above the half, of which the shift leaves the topmost in its place.
    np.copyto(wide, bits.view(np.int16))
    shifted = wide.view(np.uint32)
    np.left_shift(shifted, np.uint32(13), out=shifted)
    np.bitwise_and(shifted, np.uint32(0x8FFFE000), out=shifted)
    floats = wide.view(np.float32)
    # The exponent of a half is biased by 15, that of a float by 127.
    return np.multiply(floats, _HALF_SCALE, out=floats)


def norms_of(bits: Bits) -> NDArray[np.float32]:
    """The length of each vector."""
    wide = widened(bits)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", wide, wide)), np.float32)


def kept(part: Any, rows: Booleans | Integers) -> Any:
    """Some rows of a table of columns, which is any of the above but Postings."""
    return type(part)(**{each.name: getattr(part, each.name)[rows] for each in fields(part)})


def joined(first: Any, second: Any) -> Any:
    """The rows of one table of columns after those of another."""
    return type(first)(
        **{f.name: np.concatenate((getattr(first, f.name), getattr(second, f.name))) for f in fields(first)}
    )


def postings_of(keys: Keys, counts: Integers, rows: Rows, tf: NDArray[np.int32]) -> Postings:
    """Postings from lists one after the other, each of a term with a key of its own, in any order of the terms."""
    order = np.argsort(keys, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)))
    at = _ranges(starts[:-1][order], counts[order])
    start = np.concatenate(([0], np.cumsum(counts[order])))
    return Postings(keys[order], start.astype(np.int64), rows[at], tf[at])


def postings_without(postings: Postings, stays: Booleans) -> Postings:
    """The postings of the rows that stay, which are numbered anew; terms that nothing has are gone."""
    number = (np.cumsum(stays) - 1).astype(np.int32)
    keep = stays[postings.row]
    running = np.concatenate(([0], np.cumsum(keep)))
    counts = running[postings.start[1:]] - running[postings.start[:-1]]
    has_rows = counts > 0
    start = np.concatenate(([0], np.cumsum(counts[has_rows]))).astype(np.int64)
    return Postings(postings.key[has_rows], start, number[postings.row[keep]], postings.tf[keep])


def postings_joined(first: Postings, second: Postings) -> Postings:
    """Both postings; the rows of the second come after all rows of the first."""
    keys = np.union1d(first.key, second.key)
    in_first, in_second = np.searchsorted(keys, first.key), np.searchsorted(keys, second.key)
    counts = np.zeros((2, len(keys)), np.int64)
    counts[0, in_first] = np.diff(first.start)
    counts[1, in_second] = np.diff(second.start)
    start = np.concatenate(([0], np.cumsum(counts.sum(axis=0)))).astype(np.int64)
    row = np.empty(start[-1], np.int32)
    tf = np.empty(start[-1], np.int32)
    for postings, at in (
        (first, _ranges(start[:-1], counts[0])),
        (second, _ranges(start[:-1] + counts[0], counts[1])),
    ):
        row[at], tf[at] = postings.row, postings.tf
    return Postings(keys, start, row, tf)


def _ranges(starts: Integers, counts: Integers) -> Integers:
    """The numbers from each start on, as many as its count says, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts))
