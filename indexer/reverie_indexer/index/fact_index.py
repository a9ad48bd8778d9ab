"""The index of facts: a passage of the tier `fact` for each, which belongs to no document.

Such a passage is valid from when its fact holds. While the fact holds no longer, the passage is in the past twin of its
slice. Everything happens inside the caller's transaction, which holds the lock of the slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import document_index
from reverie_indexer.index.document_index import IndexedFile
from reverie_indexer.index.slices import past_slice
from reverie_indexer.model import Chunk, Passage, Place
from reverie_indexer.text.analyse import spoken_date
from reverie_indexer.text.passages import passage_of

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class FactEntry:
    """A fact as the index knows it: its text, since when it holds, and when it was last said.

    `label` is the fact in the words of questions: found by, and not shown.
    """

    fact_id: int
    text: str
    valid_from: datetime
    said_at: datetime
    label: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """The passage of each fact, and how many passages wait for their vector."""

    chunk_ids: Mapping[int, int] = field(default_factory=dict)
    waiting: int = 0


def passage_of_fact(text: str, said_at: datetime, language: str, ordinal: int = 0, label: str = "") -> Passage:
    """The passage of a fact, with its label in words and vector, and the day on which it was said in words. Pure."""
    piece = Chunk(ordinal, text, 1, 1, 0, len(text), ())
    return passage_of(piece, label, spoken_date(said_at.date(), language), language)


@dataclass(frozen=True, slots=True)
class FactIndex:
    """The passages of the facts of a locked slice. `model_id` is the model whose vectors the cache has."""

    connection: Connection
    place: Place
    slice_: Slice
    language: str
    model_id: int | None

    async def add(self, entries: Sequence[FactEntry]) -> Added:
        """Index facts that have no passage."""
        if not entries:
            return Added()
        file = IndexedFile(self.place, self.slice_, None, "", "fact")
        passages = [
            passage_of_fact(entry.text, entry.said_at, self.language, ordinal, entry.label)
            for ordinal, entry in enumerate(entries)
        ]
        times = [entry.valid_from for entry in entries]
        added = await document_index.add_each(self.connection, file, passages, times, model_id=self.model_id)
        terms = sum(passage.term_count for passage in passages)
        await document_index.count_chunks(
            self.connection, self.place.tenant_id, self.slice_.slice_id, len(passages), terms
        )
        chunk_ids = {entry.fact_id: chunk_id for entry, (chunk_id, _) in zip(entries, added, strict=True)}
        return Added(chunk_ids, sum(not is_embedded for _, is_embedded in added))

    async def retire(self, chunk_ids: Sequence[int], at: datetime) -> None:
        """Move passages to the past twin of the slice: their facts hold no longer from `at` on."""
        if not chunk_ids:
            return
        past = await past_slice(self.connection, self.place)
        params = {
            "tenant_id": self.place.tenant_id,
            "slice_id": self.slice_.slice_id,
            "past_slice_id": past.slice_id,
            "past_partition_id": past.partition_id,
            "chunk_ids": list(chunk_ids),
            "at": at,
        }
        rows = await (await self.connection.execute(SQL["present"], params)).fetchall()
        params["chunk_ids"] = [row["chunk_id"] for row in rows]
        await self.connection.execute(document_index.SQL["retire_chunks"], params)
        await self.connection.execute(document_index.SQL["retire_vectors"], params)
        terms = sum(row["term_count"] for row in rows)
        await document_index.count_chunks(
            self.connection, self.place.tenant_id, self.slice_.slice_id, -len(rows), -terms
        )
        await document_index.count_chunks(self.connection, self.place.tenant_id, past.slice_id, len(rows), terms)

    async def remove(self, chunk_ids: Sequence[int]) -> None:
        """Remove passages, of now and of the past, and keep their vectors in the cache."""
        if not chunk_ids:
            return
        params = {"tenant_id": self.place.tenant_id, "chunk_ids": list(chunk_ids)}
        rows = await (await self.connection.execute(SQL["chunks"], params)).fetchall()
        for slice_id in sorted({row["slice_id"] for row in rows}):
            of_slice = [row for row in rows if row["slice_id"] == slice_id]
            terms = sum(row["term_count"] for row in of_slice)
            await document_index.count_chunks(self.connection, self.place.tenant_id, slice_id, -len(of_slice), -terms)
            await document_index.remove_chunks(
                self.connection, self.place.tenant_id, slice_id, [row["chunk_id"] for row in of_slice]
            )
