"""The index of a conversation: the passages of its messages, one after the other, under one document.

The line of a passage of the tier `message` is the number of its message. The passage is valid from the time of the
message. Its ordinal runs through the conversation: the passages before and after it are its neighbours.
Every function that takes a connection works inside the caller's transaction, which holds the lock of the slice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import document_index
from reverie_indexer.index.difference import difference
from reverie_indexer.index.document_index import IndexedFile
from reverie_indexer.model import Passage, Place

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class MessagePassages:
    """A message with its passages, in the order of its text."""

    seq: int
    at: datetime
    passages: Sequence[Passage]


@dataclass(frozen=True, slots=True)
class Indexed:
    """Counts of passages: all, the unchanged ones, and those that wait for their vector.

    `removed` are the rows of the removed passages.
    """

    chunks: int
    reused: int
    waiting: int
    removed: Sequence[DictRow]


async def open_transcript(
    connection: Connection, place: Place, slice_: Slice, session_key: int, path: str
) -> IndexedFile:
    """The document of a session, created if there is none."""
    params = {"tenant_id": place.tenant_id, "slice_id": slice_.slice_id, "session_key": session_key, "path": path}
    row = await (await connection.execute(SQL["open_document"], params)).fetchone()
    return IndexedFile(place, slice_, (row or {})["document_id"], path, "message")


async def find_transcript(
    connection: Connection, place: Place, slice_: Slice, session_key: int, path: str
) -> IndexedFile | None:
    """The document of a session; None if nothing of the session is indexed."""
    params = {"tenant_id": place.tenant_id, "session_key": session_key}
    row = await (await connection.execute(SQL["document"], params)).fetchone()
    return IndexedFile(place, slice_, row["document_id"], path, "message") if row else None


async def append_messages(
    connection: Connection, file: IndexedFile, messages: Sequence[MessagePassages], model_id: int | None
) -> int:
    """Index messages that follow those in the document; the number of passages that wait for their vector."""
    ordinal = await _next_ordinal(connection, file, None)
    added = [(passage, message.at) for message in messages for passage in _numbered(message, 0)]
    passages = [_at_ordinal(passage, ordinal + index) for index, (passage, _) in enumerate(added)]
    return await _add(connection, file, passages, [at for _, at in added], model_id)


async def replace_messages(
    connection: Connection,
    file: IndexedFile,
    messages: Sequence[MessagePassages],
    model_id: int | None,
    *,
    only_present: bool = False,
) -> Indexed:
    """Replace the passages of some messages, which are in order.

    No other message between them has passages; with `only_present`, messages without passages are left out. An
    unchanged passage keeps its chunk; the other old ones are removed for good.
    """
    rows = await _rows_of(connection, file, [message.seq for message in messages])
    if only_present:
        messages = [message for message in messages if rows[message.seq]]
    free = await _next_ordinal(connection, file, messages[0].seq) if messages else 0
    shift = 0
    moved: list[dict[str, int]] = []
    removed: list[DictRow] = []
    added: list[tuple[Passage, datetime]] = []
    for message in messages:
        present, shift_before = rows[message.seq], shift
        first = present[0]["ordinal"] + shift if present else free
        passages = _numbered(message, first)
        last = present[-1]["ordinal"] + shift if present else first - 1
        free = max(last, first + len(passages) - 1) + 1
        if free > last + 1:
            # Later passages make room.
            added_ordinals = free - last - 1
            await connection.execute(SQL["make_room"], {**_key(file), "seq": message.seq, "by": added_ordinals})
            shift += added_ordinals
        change = difference(passages, present, shift=shift_before)
        added += [(passage, message.at) for passage in change.added]
        moved += change.moved
        removed += change.removed
    if removed:
        ids = [row["chunk_id"] for row in removed]
        await document_index.remove_chunks(connection, file.place.tenant_id, file.slice_.slice_id, ids)
        terms = sum(row["term_count"] for row in removed)
        await document_index.count_chunks(connection, file.place.tenant_id, file.slice_.slice_id, -len(removed), -terms)
    if moved:
        await connection.execute(
            document_index.SQL["move_chunks"], {"tenant_id": file.place.tenant_id, "rows": Jsonb(moved)}
        )
    waiting = await _add(connection, file, [passage for passage, _ in added], [at for _, at in added], model_id)
    chunks = sum(len(message.passages) for message in messages)
    return Indexed(chunks, chunks - len(added), waiting, removed)


async def remove_messages(
    connection: Connection, place: Place, slice_: Slice, session_key: int, seqs: Sequence[int] | None
) -> None:
    """Remove messages from the index, or, with `seqs` None, the whole document; and their vectors from the cache.

    The cache keeps the vector of a passage that another slice has, too, if this transaction sees that slice.
    """
    params: dict[str, Any] = {
        "tenant_id": place.tenant_id,
        "session_key": session_key,
        "seqs": None if seqs is None else list(seqs),
    }
    rows = await (await connection.execute(SQL["chunks_of_session"], params)).fetchall()
    await document_index.remove_chunks(connection, place.tenant_id, slice_.slice_id, [row["chunk_id"] for row in rows])
    terms = sum(row["term_count"] for row in rows)
    await document_index.count_chunks(connection, place.tenant_id, slice_.slice_id, -len(rows), -terms)
    hashes = sorted({bytes(row["passage_sha256"]) for row in rows})
    await connection.execute(SQL["forget_unshared"], {"tenant_id": place.tenant_id, "hashes": hashes})
    if seqs is None:
        await connection.execute(SQL["remove_document"], params)


def _key(file: IndexedFile) -> dict[str, Any]:
    return {"tenant_id": file.place.tenant_id, "document_id": file.document_id}


def _numbered(message: MessagePassages, first: int) -> list[Passage]:
    """The passages of a message with their positions in the conversation; `first` is the first ordinal."""
    return [
        replace(passage, chunk=replace(passage.chunk, ordinal=ordinal, start_line=message.seq, end_line=message.seq))
        for ordinal, passage in enumerate(message.passages, first)
    ]


def _at_ordinal(passage: Passage, ordinal: int) -> Passage:
    return replace(passage, chunk=replace(passage.chunk, ordinal=ordinal))


async def _next_ordinal(connection: Connection, file: IndexedFile, before_seq: int | None) -> int:
    params = {**_key(file), "before_seq": before_seq}
    row = await (await connection.execute(SQL["next_ordinal"], params)).fetchone()
    return int((row or {})["ordinal"])


async def _rows_of(connection: Connection, file: IndexedFile, seqs: Sequence[int]) -> defaultdict[int, list[DictRow]]:
    cursor = await connection.execute(SQL["chunks_of_messages"], {**_key(file), "seqs": list(seqs)})
    rows: defaultdict[int, list[DictRow]] = defaultdict(list)
    for row in await cursor.fetchall():
        rows[row["start_line"]].append(row)
    return rows


async def _add(
    connection: Connection,
    file: IndexedFile,
    passages: Sequence[Passage],
    times: Sequence[datetime],
    model_id: int | None,
) -> int:
    if not passages:
        return 0
    waiting = await document_index.add_chunks(connection, file, passages, times, model_id=model_id)
    terms = sum(passage.term_count for passage in passages)
    await document_index.count_chunks(connection, file.place.tenant_id, file.slice_.slice_id, len(passages), terms)
    return waiting
