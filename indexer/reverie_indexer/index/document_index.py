"""The index of a document: its chunks, their postings and vectors. Works inside the caller's transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import vectors
from reverie_indexer.index.slices import past_slice
from reverie_indexer.model import Passage, Place, Tier
from reverie_indexer.text.chunk import note_date

SQL = Queries(__file__)
_PLACE_OF = itemgetter("ordinal", "start_line", "end_line", "char_start", "char_end")


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A document as its chunks know it (None: they belong to no document).

    The slice is the place's, locked by this transaction.
    """

    place: Place
    slice_: Slice
    document_id: int | None
    path: str
    tier: Tier = "document"


@dataclass(frozen=True, slots=True)
class Indexed:
    """How many chunks stayed as they were, and whether every chunk of the document has its vector."""

    kept: int
    embedded: bool


@dataclass(frozen=True, slots=True)
class KnownPassages:
    """The passages of a file in the index: how often each, by hash, and which of them wait for their vectors."""

    counts: Mapping[bytes, int]
    waiting: Collection[bytes]


KNOWS_NOTHING = KnownPassages(MappingProxyType({}), frozenset())


class Unread(Exception):
    """A passage that was not analysed, because the index had it, is not there any more: others changed the file."""


async def known_passages(
    connection: Connection, tenant_id: str, document_ids: Sequence[int]
) -> dict[int, KnownPassages]:
    """The indexed passages of the present texts of some files, by the files' ids."""
    params = {"tenant_id": tenant_id, "document_ids": list(document_ids)}
    rows = await (await connection.execute(SQL["known_passages"], params)).fetchall()
    return {row["document_id"]: KnownPassages(Counter(row["hashes"]), frozenset(row["waiting"] or ())) for row in rows}


async def replace_chunks(
    connection: Connection,
    file: IndexedFile,
    passages: Sequence[Passage],
    *,
    at: datetime | None,
    model_id: int | None,
    is_new: bool = False,
) -> Indexed:
    """Make the index of a document hold exactly these passages, from `at` (None: now) on.

    A passage that was there before keeps its chunk, wherever it moved, with its id, postings and vector. One that
    is gone is kept in the slice's past twin, for `as_of`; of a daily note, which goes by its day, it is removed.
    A document that `is_new` has nothing in the index. Raises Unread for a passage that is neither there nor analysed.
    """
    tenant_id, slice_ = file.place.tenant_id, file.slice_
    key: dict[str, Any] = {"tenant_id": tenant_id, "document_id": file.document_id}
    existing = [] if is_new else await (await connection.execute(SQL["chunks_of_document"], key)).fetchall()
    by_hash: defaultdict[bytes, list[DictRow]] = defaultdict(list)
    for row in reversed(existing):
        by_hash[row["passage_sha256"]].append(row)
    added: list[Passage] = []
    moved: list[dict[str, int]] = []
    for passage in passages:
        if equal_rows := by_hash[passage.sha256]:
            row, chunk = equal_rows.pop(), passage.chunk
            # Of a long file almost all stay where they are: told without a dictionary for each.
            if _PLACE_OF(row) != (chunk.ordinal, chunk.start_line, chunk.end_line, chunk.char_start, chunk.char_end):
                moved.append({"chunk_id": row["chunk_id"], **_position(passage)})
        elif passage.is_analysed:
            added.append(passage)
        else:
            raise Unread
    removed = [row for rows in by_hash.values() for row in rows]
    if removed and note_date(file.path) is None:
        await _retire_chunks(connection, file, removed, at)
    elif removed:
        await remove_chunks(connection, tenant_id, slice_.slice_id, [row["chunk_id"] for row in removed])
    if moved:
        await connection.execute(SQL["move_chunks"], {"tenant_id": tenant_id, "rows": Jsonb(moved)})
    pending = await add_chunks(connection, file, added, [at] * len(added), model_id=model_id)
    terms = sum(p.term_count for p in added) - sum(row["term_count"] for row in removed)
    if added or removed:
        await count_chunks(connection, tenant_id, slice_.slice_id, len(added) - len(removed), terms)
    gone = {row["chunk_id"] for row in removed}
    waiting = [row["chunk_id"] for row in existing if not row["embedded"] and row["chunk_id"] not in gone]
    attached = 0
    if waiting and model_id is not None:
        attached = await vectors.attach(connection, tenant_id, model_id, waiting)
    return Indexed(kept=len(passages) - len(added), embedded=pending + len(waiting) == attached)


async def purge_chunks(connection: Connection, tenant_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Remove chunks of any slices from every index and the embedding cache, and from their slices' counts.

    `rows` have chunk_id, slice_id, term_count and passage_sha256. The caller holds the lock of the present slice.
    """
    by_slice: defaultdict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_slice[row["slice_id"]].append(row)
    for slice_id, of_slice in sorted(by_slice.items()):
        # First, because it is the lock of the past twin, too.
        terms = sum(row["term_count"] for row in of_slice)
        await count_chunks(connection, tenant_id, slice_id, -len(of_slice), -terms)
        await remove_chunks(connection, tenant_id, slice_id, [row["chunk_id"] for row in of_slice])
    await forget_embeddings(connection, tenant_id, {row["passage_sha256"] for row in rows})


async def forget_embeddings(connection: Connection, tenant_id: str, hashes: Collection[bytes]) -> int:
    """Remove passages from the embedding cache, even if other slices hold them. Returns how many there were."""
    cursor = await connection.execute(SQL["forget_embeddings"], {"tenant_id": tenant_id, "hashes": sorted(hashes)})
    return cursor.rowcount


async def purge_documents(connection: Connection, tenant_id: str, document_ids: Sequence[int]) -> None:
    """Remove files with their history and all that the index and the cache have of them.

    The caller holds their slice's lock.
    """
    params = {"tenant_id": tenant_id, "document_ids": list(document_ids)}
    rows = await (await connection.execute(SQL["chunks_of_documents"], params)).fetchall()
    await purge_chunks(connection, tenant_id, rows)
    await connection.execute(SQL["remove_documents"], params)


async def count_chunks(connection: Connection, tenant_id: str, slice_id: int, chunks: int, terms: int) -> None:
    """Add to a slice's number of chunks and of their terms; it gets its next revision."""
    await connection.execute(
        SQL["count_slice"], {"tenant_id": tenant_id, "slice_id": slice_id, "chunks": chunks, "terms": terms}
    )


async def _retire_chunks(
    connection: Connection, file: IndexedFile, rows: Sequence[DictRow], at: datetime | None
) -> None:
    past = await past_slice(connection, file.place)
    params = {
        "tenant_id": file.place.tenant_id,
        "slice_id": file.slice_.slice_id,
        "past_slice_id": past.slice_id,
        "past_partition_id": past.partition_id,
        "chunk_ids": [row["chunk_id"] for row in rows],
        "at": at,
    }
    await connection.execute(SQL["retire_chunks"], params)
    await connection.execute(SQL["retire_vectors"], params)
    terms = sum(row["term_count"] for row in rows)
    await count_chunks(connection, file.place.tenant_id, past.slice_id, len(rows), terms)


async def remove_chunks(connection: Connection, tenant_id: str, slice_id: int, chunk_ids: Sequence[int]) -> None:
    """Remove chunks from every index. The caller holds the slice's lock and keeps its counts."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "chunk_ids": list(chunk_ids)}
    await connection.execute(SQL["remove_chunks"], params)
    await connection.execute(SQL["remove_vectors"], params)


def _position(passage: Passage) -> dict[str, int]:
    chunk = passage.chunk
    return {
        "ordinal": chunk.ordinal,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
    }


async def add_chunks(
    connection: Connection,
    file: IndexedFile,
    passages: Sequence[Passage],
    times: Sequence[datetime | None],
    *,
    model_id: int | None,
) -> int:
    """Insert passages with their postings and their vectors from the cache. Returns how many have no vector yet.

    The i'th passage is valid from the i'th time on (None: now). Ordinals are distinct. The caller keeps the counts of
    the slice.
    """
    added = await add_each(connection, file, passages, times, model_id=model_id)
    return sum(not is_embedded for _, is_embedded in added)


async def add_each(
    connection: Connection,
    file: IndexedFile,
    passages: Sequence[Passage],
    times: Sequence[datetime | None],
    *,
    model_id: int | None,
) -> list[tuple[int, bool]]:
    """As `add_chunks`: the id of the chunk of each passage, and whether it has its vector."""
    if not passages:
        return []
    rows = [
        {
            **_position(passage),
            "heading_path": list(passage.chunk.heading_path),
            "text": passage.chunk.text,
            "context": passage.context,
            "sha256": passage.sha256.hex(),
            "terms": list(passage.terms),
            "term_count": passage.term_count,
            "at": at.isoformat() if at else None,
        }
        for passage, at in zip(passages, times, strict=True)
    ]
    key = {
        "model_id": model_id,
        "tenant_id": file.place.tenant_id,
        "slice_id": file.slice_.slice_id,
        "partition_id": file.slice_.partition_id,
        "document_id": file.document_id,
        "tier": file.tier,
        "max_covered_dimension": vectors.MAX_COVERED_DIMENSION,
    }
    added = await (await connection.execute(SQL["add_chunks"], {**key, "rows": Jsonb(rows)})).fetchall()
    ids = {row["ordinal"]: row["chunk_id"] for row in added}
    postings = [
        (ids[passage.chunk.ordinal], term, tf, passage.term_count)
        for passage in passages
        for term, tf in passage.terms.items()
    ]
    await connection.execute(
        SQL["add_postings"],
        {
            **key,
            "chunk_ids": [chunk_id for chunk_id, _, _, _ in postings],
            "terms": [term for _, term, _, _ in postings],
            "tfs": [tf for _, _, tf, _ in postings],
            "lengths": [length for _, _, _, length in postings],
        },
    )
    embedded = {row["ordinal"]: row["embedded"] for row in added}
    return [(ids[passage.chunk.ordinal], embedded[passage.chunk.ordinal]) for passage in passages]
