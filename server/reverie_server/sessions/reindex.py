"""Indexing the messages of sessions anew, by the rules of today."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import transcript
from reverie_indexer.index.slices import lock_slice, own_slices
from reverie_indexer.index.transcript import Indexed, MessagePassages
from reverie_indexer.model import Passage, Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.reindex import Reindexed
from reverie_server.sessions.chunk import chunk_messages
from reverie_server.sessions.model import Message, Session
from reverie_server.sessions.sessions import SQL as SESSIONS
from reverie_server.settings.agent import AgentSettings

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class _ChunkedPage:
    """A page of a session's messages with their passages by the rules of today."""

    session: Session
    messages: Sequence[Message]
    passages: Sequence[Sequence[Passage]]
    model_id: int | None


async def reindex_messages(
    database: Database, pipeline: Pipeline, place: Place, settings: AgentSettings, *, page_messages: int = 200
) -> Reindexed:
    """Chunk and embed anew the messages of a place, `page_messages` at a time, each page in one transaction.

    `documents` counts sessions. With `index_messages` off nothing of them is left in the index. A message that changes
    meanwhile is left as whoever changed it left it.
    """
    done: list[Indexed] = []
    sessions = await _sessions(database, place)
    for session in sessions:
        after = 0
        while True:
            page = await _page(database, place, session, after, page_messages)
            if not page:
                break
            passages = await asyncio.to_thread(chunk_messages, settings, page)
            ready = await pipeline.embed(place.tenant_id, [p for of_one in passages for p in of_one])
            done.append(
                await _replace(
                    database, place, _ChunkedPage(session, page, passages, ready.model_id if ready else None)
                )
            )
            after = page[-1].seq
    if any(indexed.waiting for indexed in done):
        pipeline.backfill_wanted.set()
    chunks, reused = sum(indexed.chunks for indexed in done), sum(indexed.reused for indexed in done)
    return Reindexed(len(sessions), chunks, chunks - reused - sum(indexed.waiting for indexed in done), reused)


async def _sessions(database: Database, place: Place) -> list[Session]:
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        params = {"tenant_id": place.tenant_id, "slice_ids": await own_slices(connection, place)}
        rows = await (await connection.execute(SQL["sessions"], params)).fetchall()
    return [Session(**row) for row in rows]


async def _page(database: Database, place: Place, session: Session, after: int, limit: int) -> list[Message]:
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        await own_slices(connection, place)
        return await _read(connection, place, session, after, limit)


async def _read(connection: Connection, place: Place, session: Session, after: int, limit: int) -> list[Message]:
    params = {
        "tenant_id": place.tenant_id,
        "session_key": session.session_key,
        "slice_id": session.slice_id,
        "after": after,
        "limit": limit,
        "max_bytes": None,
    }
    rows: list[DictRow] = await (await connection.execute(SESSIONS["messages"], params)).fetchall()
    return [Message(**row) for row in rows]


async def _replace(database: Database, place: Place, page: _ChunkedPage) -> Indexed:
    async with database.tenant(place.tenant_id) as connection:
        slice_ = await lock_slice(connection, place)
        now = await _read(connection, place, page.session, page.messages[0].seq - 1, len(page.messages))
        present = {(message.seq, message.content, message.speaker) for message in now}
        reindexed = [
            MessagePassages(message.seq, message.at, passages)
            for message, passages in zip(page.messages, page.passages, strict=True)
            if (message.seq, message.content, message.speaker) in present
        ]
        session = page.session
        opened = (connection, place, slice_, session.session_key, session.path)
        if any(message.passages for message in reindexed):
            file = await transcript.open_transcript(*opened)
        elif (known := await transcript.find_transcript(*opened)) is not None:
            file = known
        else:
            return Indexed(0, 0, 0, ())
        return await transcript.replace_messages(connection, file, reindexed, page.model_id)
