"""Statements of old talk that is imported, long after it fell silent: nobody can know whether they hold.

"My boss there is called Lorna", said five years ago, is a fact that ended when the talk did. What is lasting ("I'm
allergic to nuts") is none of them: a model of sentences says what ends one day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed.protocol import Vector
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_server.facts.model import Reading
from reverie_server.facts.paired import PairedChanges
from reverie_server.facts.settle import SILENCE, silent_since
from reverie_server.facts.unread import MAX_BYTES, Round, Unread, statements_of
from reverie_server.heuristics.changes.change_pairs import PairModel
from reverie_server.heuristics.changes.paired_changes import can_change

SQL = Queries(__file__)
# Log-odds: from here on a statement ends one day. It finds 45 of the 53 superseded ones in the imports of our
# own lives; of 500 statements in any talk that hold and are worth keeping 115, most of them homes, jobs and plans.
_ENDS_ONE_DAY = -1.0
_OF_MESSAGE = ("seq", "role", "content", "at", "tokens", "message_id", "extra")
# How many statements of one round are judged, those that were said last.
_MAX_STATEMENTS = 2_000


async def outlived_facts(
    database: Database, given: Round, others: Iterable[Reading], paired: PairedChanges
) -> list[Reading]:
    """The statements of a round that are outlived as facts, unless one of these is read, or among the `others`.

    Each has its end: later imports that fill the silence do not take it back. Raises EmbedderUnavailable, and
    EmbeddingRejected.
    """
    old = await _old_messages(database, given)
    if old is None:
        return []
    silent_from, rows = old
    statements = await isolated(statements_of, rows, given.language, chars=sum(len(row["content"]) for row in rows))
    readings = [*others, *(reading for of_one in given.readings for reading in of_one)]
    read = {reading.stated.sentence for reading in readings if can_change(reading.stated.predicate)}
    statements = [each for each in statements if each.sentence not in read]
    statements = sorted(statements, key=lambda each: each.message.at)[-_MAX_STATEMENTS:]
    sentences = [each.sentence for each in statements]
    judge = partial(_ending, sentences, await paired.vectors.of(sentences), paired.model)
    return [_until(statements[index], silent_from) for index in await isolated(judge, chars=0)]


def _until(statement: Unread, end: datetime) -> Reading:
    reading = statement.reading(statement.as_fact_about(statement.sentence))
    return replace(reading, stated=replace(reading.stated, valid_to=max(reading.stated.valid_from, end)))


def _ending(sentences: Sequence[str], vectors: Sequence[Vector], model: PairModel) -> list[int]:
    pairs = zip(sentences, vectors, strict=True)
    return [index for index, (text, vector) in enumerate(pairs) if model.endable(text, vector) >= _ENDS_ONE_DAY]


async def _old_messages(database: Database, given: Round) -> tuple[datetime, Sequence[Mapping[str, Any]]] | None:
    """When the last long silence began, and users' messages of a round that are of before it, imported after it."""
    keys = [session.session_key for session in given.sessions if session.messages]
    if not keys:
        return None
    async with database.tenant(given.place.tenant_id) as connection:
        tenant_id, slice_ids = given.place.tenant_id, (await own_slices(connection, given.place))[:1]
        silent_from = await silent_since(connection, tenant_id, slice_ids[0]) if slice_ids else None
        if silent_from is None:
            return None
        params = {
            "tenant_id": tenant_id,
            "slice_id": slice_ids[0],
            "session_keys": keys,
            "latest": silent_from + SILENCE,
        }
        rows = await (await connection.execute(SQL["made_after"], params)).fetchall()
    imported = {row["session_key"] for row in rows}
    messages = [
        {
            **{name: getattr(message, name) for name in _OF_MESSAGE},
            "session_key": session.session_key,
            "slice_id": session.slice_id,
            "session_id": session.session_id,
        }
        for session in given.sessions
        if session.session_key in imported
        for message in session.messages
        if message.role == "user" and message.at <= silent_from and message.seq not in session.of_cron
        if len(message.content.encode()) <= MAX_BYTES
    ]
    return (silent_from, messages) if messages else None
