"""Rows of a made memory in the forms that COPY takes: text lines, and binary where a row is mostly a vector. Pure.

Binary rows have fields of fixed sizes, so that numpy writes a whole batch at once; a vector as text would be three
thousand characters to format and to parse.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_bench.synthetic.text import Ints, Pool, merged_postings
from reverie_bench.synthetic.vectors import Halves

TENANT = "bench"
CHUNKS_OF_FILE = 20
_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_END = b"\xff\xff"


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive passages of one slice, to be written: sentence pairs, numbers, and in which file each is.

    `document_ids[i]` is the file of passage i; a file's passages are all in one batch, in order.
    """

    slice_id: int
    first_chunk_id: int
    left: Ints
    right: Ints
    document_ids: Ints


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a batch as lines for COPY, and the hash of every passage, in order."""

    documents: bytes
    versions: bytes
    chunks: bytes
    hashes: Sequence[bytes]


class Lines:
    """Writes passages of a pool's sentences as lines for COPY's text format."""

    def __init__(self, pool: Pool, language: str = "english") -> None:
        self._pool = pool
        self._language = language
        self._terms = [escaped(term) for term in pool.terms]
        elements = [_array_element(term) for term in pool.terms]
        self._elements = [[elements[i] for i in pool.terms_of(number)] for number in range(len(pool.sentences))]

    def files(self, batch: Batch, paths: Sequence[str]) -> Files:
        """The batch's files, one a path, with their versions and chunks; passages are paragraphs without headings."""
        documents: list[str] = []
        versions: list[str] = []
        chunks: list[str] = []
        hashes: list[bytes] = []
        for path, (document_id, size) in zip(paths, _runs(batch.document_ids), strict=True):
            texts: list[str] = []
            for ordinal in range(size):
                text = self._text(batch, len(hashes))
                hashes.append(hashlib.sha256("\0".join((self._language, "", text)).encode()).digest())
                start = sum(len(before) + 2 for before in texts)
                chunks.append(self._chunk(batch, len(hashes) - 1, ordinal, start, hashes[-1]))
                texts.append(text)
            content = "\n\n".join(texts) + "\n"
            data = content.encode()
            documents.append(f"{TENANT}\t{document_id}\t{batch.slice_id}\t{escaped(path)}\tf\t1000\t1\n")
            versions.append(
                f"{TENANT}\t{batch.slice_id}\t{document_id}\t1\t{escaped(content)}\t{len(data)}"
                f"\t\\\\x{hashlib.sha256(data).hexdigest()}\tbench\tbench\n"
            )
        return Files(_joined(documents), _joined(versions), _joined(chunks), hashes)

    def postings(self, batch: Batch) -> bytes:
        """The postings of a batch, in the order of their primary key."""
        lengths = self._pool.lengths[batch.left] + self._pool.lengths[batch.right]
        term, passage, tf = merged_postings(self._pool, batch.left, batch.right)
        head = f"{TENANT}\t{batch.slice_id}\t"
        columns = (term, passage + batch.first_chunk_id, batch.document_ids[passage], tf, lengths[passage])
        return _joined(
            [
                f"{head}{chunk_id}\t{document_id}\t{self._terms[number]}\t{times}\t{length}\tdocument\n"
                for number, chunk_id, document_id, times, length in zip(
                    *(column.tolist() for column in columns), strict=True
                )
            ]
        )

    def _text(self, batch: Batch, row: int) -> str:
        return f"{self._pool.sentences[batch.left[row]]} {self._pool.sentences[batch.right[row]]}"

    def _chunk(self, batch: Batch, row: int, ordinal: int, start: int, sha256: bytes) -> str:
        left, right = int(batch.left[row]), int(batch.right[row])
        text = self._text(batch, row)
        terms = ",".join(dict.fromkeys(self._elements[left] + self._elements[right]))
        line = 1 + 2 * ordinal
        return (
            f"{TENANT}\t{batch.first_chunk_id + row}\t{batch.slice_id}\tdocument\t{batch.document_ids[row]}"
            f"\t{ordinal}\t{line}\t{line}\t{start}\t{start + len(text)}\t{{}}\t{escaped(text)}\t"
            f"\t\\\\x{sha256.hex()}\t{{{terms}}}\t{int(self._pool.lengths[left] + self._pool.lengths[right])}\tt\n"
        )


def vectors_of(batch: Batch, vectors: Halves, model_id: int, *, covered: bool) -> bytes:
    """The vectors of a batch for a binary COPY; the i'th row is the vector of the i'th passage."""
    count, dimension = vectors.shape
    rows = _records(
        count,
        [
            ("tenant", f"S{len(TENANT)}"),
            ("slice", ">i8"),
            ("chunk", ">i8"),
            ("document", ">i8"),
            ("partition", ">i8"),
            ("model", ">i2"),
            ("tier", "S8"),
            ("covered", "i1"),
            ("embedding", _halfvec(dimension)),
        ],
    )
    rows["tenant"], rows["tier"] = TENANT.encode(), b"document"
    rows["slice"], rows["partition"], rows["model"], rows["covered"] = batch.slice_id, 0, model_id, covered
    rows["chunk"] = batch.first_chunk_id + np.arange(count)
    rows["document"] = batch.document_ids
    _put(rows["embedding"], vectors)
    return _SIGNATURE + rows.tobytes() + _END


def cache_of(hashes: Sequence[bytes], vectors: Halves, model_id: int) -> bytes:
    """The cached embeddings of the passages, for a binary COPY."""
    count, dimension = vectors.shape
    rows = _records(
        count,
        [
            ("tenant", f"S{len(TENANT)}"),
            ("model", ">i2"),
            ("sha256", "V32"),
            ("embedding", _halfvec(dimension)),
        ],
    )
    rows["tenant"], rows["model"] = TENANT.encode(), model_id
    rows["sha256"] = np.frombuffer(b"".join(hashes), "V32")
    _put(rows["embedding"], vectors)
    return _SIGNATURE + rows.tobytes() + _END


def escaped(text: str) -> str:
    """A value for COPY's text format."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _array_element(term: str) -> str:
    quoted = term.replace("\\", "\\\\").replace('"', '\\"')
    return escaped(f'"{quoted}"')


def _joined(lines: list[str]) -> bytes:
    return "".join(lines).encode()


def _runs(values: Ints) -> Iterator[tuple[int, int]]:
    """Each value and how often it stands in a row."""
    starts = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
    ends = np.append(starts[1:], len(values))
    return zip(values[starts].tolist(), (ends - starts).tolist(), strict=True)


def _halfvec(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("dimension", ">i2"), ("unused", ">i2"), ("values", ">f2", (dimension,))])


def _put(field: NDArray[np.void], vectors: Halves) -> None:
    field["dimension"], field["unused"] = vectors.shape[1], 0
    field["values"] = vectors


def _records(count: int, fields: Sequence[tuple[str, Any]]) -> NDArray[np.void]:
    """Rows of a binary COPY: the number of fields, then each field after its length in bytes."""
    layout: list[tuple[str, Any]] = [("fields", ">i2")]
    for name, kind in fields:
        layout += [(f"{name} length", ">i4"), (name, kind)]
    rows = np.zeros(count, np.dtype(layout))
    rows["fields"] = len(fields)
    for name, kind in fields:
        rows[f"{name} length"] = np.dtype(kind).itemsize
    return rows
