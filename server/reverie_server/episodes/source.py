"""Reads the messages of an episode, and checks whether they have changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.retry import Superseded
from reverie_server.episodes.make import PreviousSummary
from reverie_server.episodes.store import Episode, read_episodes
from reverie_server.llm.generation import Generation
from reverie_server.sessions.message_range import has_same_messages
from reverie_server.sessions.model import Message
from reverie_server.sessions.sessions import SQL as SESSIONS

SQL = Queries(__file__)
_PAGE = 500


@dataclass(frozen=True, slots=True)
class MessageRange:
    """Successive messages of a session to summarise, and the state they were read in.

    Afterwards the session is summarised up to `through`. `previous` is the summary of the first messages by the
    compaction `compaction_number`. `tombstone_mark` changes whenever something is forgotten in the slice.
    """

    session_key: int
    slice_id: int
    session_id: str
    owner_key: str | None
    compactions: int
    summarised_through: int
    through: int
    messages: Sequence[Message]
    previous: PreviousSummary | None
    compaction_number: int | None
    tombstone_mark: tuple[Any, ...]


async def next_message_range(
    database: Database, place: Place, session_key: int, *, max_tokens: int, has_model: bool, skips_cron: bool = False
) -> MessageRange | None:
    """The completed messages of a session that are not summarised, from the first on within `max_tokens`.

    With `skips_cron` the messages of scheduled jobs are a range of their own without messages. None where the
    session is gone, or all completed messages are summarised.
    """
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        slice_ids = await own_slices(connection, place)
        params: dict[str, Any] = {"tenant_id": place.tenant_id, "session_key": session_key, "slice_ids": slice_ids}
        row = await (await connection.execute(SQL["session"], params)).fetchone()
        if row is None or row["summarised_through"] >= row["completed_through"]:
            return None
        params["slice_id"] = row["slice_id"]
        through, is_of_cron = row["completed_through"], False
        if skips_cron:
            through, is_of_cron = await _up_to_cron(connection, params, row["summarised_through"], through)
        messages: list[Message] = []
        is_whole = True
        if not is_of_cron:
            bounds = (row["summarised_through"], through)
            messages, is_whole = await _messages(connection, params, bounds, max_tokens)
        previous, number = await _previous_summary(connection, params, messages, has_model=has_model)
        return MessageRange(
            **{name: row[name] for name in ("session_key", "slice_id", "session_id", "owner_key", "compactions")},
            summarised_through=row["summarised_through"],
            through=through if is_whole else messages[-1].seq,
            messages=messages,
            previous=previous,
            compaction_number=number,
            tombstone_mark=await _forgotten_mark(connection, params),
        )


async def message_range_of(
    database: Database, place: Place, episode_id: int, *, now: datetime
) -> tuple[Episode, MessageRange] | None:
    """An episode that a model is to make again, with its messages; None where it or one of its messages is gone."""
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        slice_ids = await own_slices(connection, place)
        found = await read_episodes(connection, place.tenant_id, slice_ids, now=now, episode_ids=[episode_id])
        if not found or found[0].fallback is None:
            return None
        episode = found[0]
        params = {
            "tenant_id": place.tenant_id,
            "session_key": episode.session_key,
            "slice_id": episode.slice_id,
            "slice_ids": [episode.slice_id],
        }
        messages = await messages_of(connection, place.tenant_id, episode)
        if len(messages) != episode.through_seq - episode.from_seq + 1:
            return None
        mark = await _forgotten_mark(connection, params)
    return episode, MessageRange(
        session_key=episode.session_key,
        slice_id=episode.slice_id,
        session_id=episode.session_id,
        owner_key=episode.owner_key,
        compactions=episode.compactions,
        summarised_through=episode.from_seq - 1,
        through=episode.through_seq,
        messages=messages,
        previous=None,
        compaction_number=None,
        tombstone_mark=mark,
    )


async def messages_of(connection: Connection, tenant_id: str, episode: Episode) -> list[Message]:
    """The messages of an episode that are there still, in order; the slice is open to the transaction."""
    params = {
        "tenant_id": tenant_id,
        "session_key": episode.session_key,
        "slice_id": episode.slice_id,
        "after": episode.from_seq - 1,
        "limit": episode.through_seq - episode.from_seq + 1,
        "max_bytes": None,
    }
    rows = await (await connection.execute(SESSIONS["messages"], params)).fetchall()
    return [message for row in rows if (message := Message(**row)).seq <= episode.through_seq]


async def check_unchanged(connection: Connection, place: Place, slice_: Slice, message_range: MessageRange) -> None:
    """Raise Superseded where the messages or the previous summary have changed, or something was forgotten.

    The caller holds the slice's lock: forgetting that begins later finds the episode.
    """
    params: dict[str, Any] = {
        "tenant_id": place.tenant_id,
        "session_key": message_range.session_key,
        "slice_ids": [slice_.slice_id],
    }
    if message_range.messages and not await has_same_messages(
        connection, place.tenant_id, message_range, message_range.messages
    ):
        raise Superseded
    if message_range.previous is not None:
        summary = {"number": message_range.compaction_number, "summary": message_range.previous.summary}
        row = await (await connection.execute(SQL["has_compaction"], {**params, **summary})).fetchone()
        if not (row or {})["found"]:
            raise Superseded
    if await _forgotten_mark(connection, params) != message_range.tombstone_mark:
        raise Superseded


async def move_cursor(connection: Connection, place: Place, slice_: Slice, message_range: MessageRange) -> None:
    """Mark the session as summarised through the range. Raises Superseded where somebody was faster, or it is gone."""
    params = {
        "tenant_id": place.tenant_id,
        "session_key": message_range.session_key,
        "slice_id": slice_.slice_id,
        "summarised_through": message_range.summarised_through,
        "through": message_range.through,
    }
    if await (await connection.execute(SQL["move_cursor"], params)).fetchone() is None:
        raise Superseded


async def _up_to_cron(connection: Connection, params: dict[str, Any], after: int, through: int) -> tuple[int, bool]:
    """The last number of the next range that scheduled jobs wrote whole or not at all, and whether they wrote it."""
    spans = await (await connection.execute(SQL["of_cron"], {**params, "after": after})).fetchall()
    for span in spans:
        if span["from_seq"] <= after + 1:
            return min(through, span["through_seq"]), True
        return min(through, span["from_seq"] - 1), False
    return through, False


async def _messages(
    connection: Connection, params: dict[str, Any], bounds: tuple[int, int], max_tokens: int
) -> tuple[list[Message], bool]:
    """The messages within two numbers (the first excluded) and `max_tokens`, at least one; and whether they are all."""
    after, through = bounds
    messages: list[Message] = []
    tokens = 0
    while True:
        page = {**params, "after": after, "limit": _PAGE, "max_bytes": None}
        rows = await (await connection.execute(SESSIONS["messages"], page)).fetchall()
        for row in rows:
            message = Message(**row)
            if message.seq > through:
                return messages, True
            if messages and tokens + message.tokens > max_tokens:
                return messages, False
            messages.append(message)
            tokens += message.tokens
        if len(rows) < _PAGE:
            return messages, True
        after = rows[-1]["seq"]


async def _previous_summary(
    connection: Connection, params: dict[str, Any], messages: Sequence[Message], *, has_model: bool
) -> tuple[PreviousSummary | None, int | None]:
    """The summary of the first messages by a compaction, and the number of that compaction."""
    if not messages:
        return None, None
    span = {"from_seq": messages[0].seq, "through_seq": messages[-1].seq}
    found = await (await connection.execute(SQL["compacted"], {**params, **span})).fetchone()
    # Messages that were summarised while the model failed are summarised by the model now.
    if found is None or (found["method"] == "extractive" and has_model):
        return None, None
    generation = Generation(found["method"], found["prompt"], found["prompt_version"], found["model"])
    return PreviousSummary(found["through_seq"], found["summary"], generation), found["number"]


async def _forgotten_mark(connection: Connection, params: dict[str, Any]) -> tuple[Any, ...]:
    row = await (await connection.execute(SQL["forgotten_mark"], params)).fetchone()
    return tuple((row or {}).values())
