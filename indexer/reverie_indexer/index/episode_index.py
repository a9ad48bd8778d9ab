"""The index of an episode: the passages of its summary, under a document of its own.

A passage of the tier `episodic` is valid from the last message that the episode is made of. The key topics are among
the words of the first passage, which stands for the whole; they are not shown. Every function that takes a connection
works inside the caller's transaction, which holds the lock of the slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import document_index, transcript
from reverie_indexer.index.difference import difference
from reverie_indexer.index.document_index import IndexedFile
from reverie_indexer.model import Passage, Place
from reverie_indexer.text.analyse import spoken_date
from reverie_indexer.text.chunk import chunk, context_line
from reverie_indexer.text.passages import Rules, passage_of

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class EpisodeEntry:
    """An episode as the index knows it: what it is found under, from when on it is valid, and until when visible."""

    episode_id: int
    session_key: int
    path: str
    at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class EpisodeIndexed:
    """Counts of passages: all, those that stayed as they were, and those that wait for their vector.

    `removed` are the rows of those that are gone.
    """

    chunks: int
    reused: int
    waiting: int
    removed: Sequence[DictRow]


def passages_of_episode(summary: str, key_topics: Sequence[str], day: date, rules: Rules) -> list[Passage]:
    """The passages of a summary, in order, with the day on which the episode ended among their words. Pure."""
    dated = spoken_date(day, rules.language)
    pieces = chunk(summary, max_chars=rules.chunk_max_chars)
    return [
        passage_of(
            piece,
            context_line("", piece),
            "\n".join([dated, *key_topics]) if piece.ordinal == 0 else dated,
            rules.language,
        )
        for piece in pieces
    ]


async def index_episode(
    connection: Connection,
    place: Place,
    slice_: Slice,
    entry: EpisodeEntry,
    passages: Sequence[Passage],
    model_id: int | None,
) -> EpisodeIndexed:
    """Make the index of an episode hold exactly these passages.

    One that was there before keeps its chunk and its id; one that is gone is removed for good.
    """
    params: dict[str, Any] = {
        "tenant_id": place.tenant_id,
        "slice_id": slice_.slice_id,
        "path": entry.path,
        "session_key": entry.session_key,
        "episode_id": entry.episode_id,
        "episode_ids": [entry.episode_id],
        "expires_at": entry.expires_at,
        "at": entry.at,
    }
    row = await (await connection.execute(SQL["open_document"], params)).fetchone()
    file = IndexedFile(place, slice_, (row or {})["document_id"], entry.path, "episodic")
    rows = await (await connection.execute(SQL["chunks_of_episodes"], params)).fetchall()
    change = difference(passages, rows)
    await _remove(connection, place.tenant_id, slice_, change.removed)
    if change.moved:
        await connection.execute(
            document_index.SQL["move_chunks"], {"tenant_id": place.tenant_id, "rows": Jsonb(change.moved)}
        )
    waiting = 0
    if change.added:
        waiting = await document_index.add_chunks(
            connection, file, change.added, [entry.at] * len(change.added), model_id=model_id
        )
        terms = sum(passage.term_count for passage in change.added)
        await document_index.count_chunks(connection, place.tenant_id, slice_.slice_id, len(change.added), terms)
    return EpisodeIndexed(len(passages), len(passages) - len(change.added), waiting, change.removed)


async def remove_episodes(
    connection: Connection, tenant_id: str, slice_: Slice, episode_ids: Sequence[int]
) -> Sequence[DictRow]:
    """Take episodes out of the index, and out of the cache what they had alone; the rows of their passages.

    A passage that somebody whom this transaction sees holds as well stays in the cache.
    """
    params = {"tenant_id": tenant_id, "slice_id": slice_.slice_id, "episode_ids": list(episode_ids)}
    rows = await (await connection.execute(SQL["chunks_of_episodes"], params)).fetchall()
    await _remove(connection, tenant_id, slice_, rows)
    hashes = sorted({bytes(row["passage_sha256"]) for row in rows})
    await connection.execute(transcript.SQL["forget_unshared"], {"tenant_id": tenant_id, "hashes": hashes})
    await connection.execute(SQL["remove_documents"], params)
    return rows


async def _remove(connection: Connection, tenant_id: str, slice_: Slice, rows: Sequence[DictRow]) -> None:
    if not rows:
        return
    await document_index.remove_chunks(connection, tenant_id, slice_.slice_id, [row["chunk_id"] for row in rows])
    terms = sum(row["term_count"] for row in rows)
    await document_index.count_chunks(connection, tenant_id, slice_.slice_id, -len(rows), -terms)
