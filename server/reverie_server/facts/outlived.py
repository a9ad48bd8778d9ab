"""Statements of old talk that is imported, long after it fell silent: nobody can know whether they hold.

"My boss there is called Lorna", said five years ago, is a fact that ended when the talk did. What is lasting ("I'm
allergic to nuts") is none of them: a model of sentences says what ends one day.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_server.facts.paired import SentenceVectors
from reverie_server.facts.settle import SILENCE, silent_since
from reverie_server.facts.unread import Round, Unread, statements_of
from reverie_server.heuristics.changes.change_pairs import PairModel
from reverie_server.heuristics.changes.paired_changes import can_change

SQL = Queries(__file__)
# Log-odds: from here on a statement ends one day. It finds 45 of the 53 superseded ones in the imports of our
# own lives; of 500 statements in any talk that hold and are worth keeping 115, most of them homes, jobs and plans.
_ENDS_ONE_DAY = -1.0
_OF_MESSAGE = ("seq", "role", "content", "at", "tokens", "message_id", "extra")
# Of one round.
_MAX_STATEMENTS = 400


async def outlived_statements(
    database: Database, given: Round, model: PairModel, vectors: SentenceVectors
) -> list[Unread]:
    """The statements of a round that are outlived and that no fact says; the newest of too many.

    Raises EmbedderUnavailable, and EmbeddingRejected.
    """
    rows = await _old_messages(database, given)
    if not rows:
        return []
    chars = sum(len(row["content"]) for row in rows)
    found = await isolated(statements_of, rows, given.language, chars=chars)
    told = {
        reading.stated.sentence
        for of_one in given.readings
        for reading in of_one
        if can_change(reading.stated.predicate)
    }
    found = [each for each in found if each.sentence not in told][-_MAX_STATEMENTS:]
    meant = await vectors.of([each.sentence for each in found])
    judge = partial(_ending, [each.sentence for each in found], meant, model)
    ending = await isolated(judge, chars=0)
    return [found[at] for at in ending]


def _ending(sentences: list[str], vectors: list[Any], model: PairModel) -> list[int]:
    pairs = zip(sentences, vectors, strict=True)
    return [at for at, (text, vector) in enumerate(pairs) if model.endable(text, vector) >= _ENDS_ONE_DAY]


async def _old_messages(database: Database, given: Round) -> list[Mapping[str, Any]]:
    """The users' messages of a round that are of before the last long silence, and that were imported after it."""
    keys = [session.session_key for session in given.sessions if session.messages]
    if not keys:
        return []
    async with database.tenant(given.place.tenant_id) as connection:
        slice_ids = await own_slices(connection, given.place)
        tenant_id, slice_id = given.place.tenant_id, slice_ids[0]
        silent_from = await silent_since(connection, tenant_id, slice_id)
        if silent_from is None:
            return []
        params = {
            "tenant_id": tenant_id,
            "slice_id": slice_id,
            "session_keys": keys,
            "latest": silent_from + SILENCE,
        }
        rows = await (await connection.execute(SQL["made_after"], params)).fetchall()
    imported: Collection[int] = {row["session_key"] for row in rows}
    return [
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
    ]
