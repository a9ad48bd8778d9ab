"""The messages that an episode is made of: reading them, and finding out whether they still are what they were."""

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
from reverie_server.episodes.make import Before
from reverie_server.episodes.store import Episode, read_episodes
from reverie_server.llm.generation import Generation
from reverie_server.sessions.message_range import has_same_messages
from reverie_server.sessions.model import Message
from reverie_server.sessions.sessions import SQL as SESSIONS

SQL = Queries(__file__)
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages of a session to be summarised, and what that depends on.

    `through` is where the session is summarised to afterwards; `before` what a compaction left of the beginning, and
    `number` which one. `forgotten` changes whenever something is forgotten in the slice.
    """

    session_key: int
    slice_id: int
    session_id: str
    owner_key: str | None
    compactions: int
    summarised_through: int
    through: int
    messages: Sequence[Message]
    before: Before | None
    number: int | None
    forgotten: tuple[Any, ...]


async def next_stretch(
    database: Database, place: Place, session_key: int, *, max_tokens: int, has_model: bool, skips_cron: bool = False
) -> Stretch | None:
    """What a session has completed and nobody has summarised, or as much of its beginning as `max_tokens` allow.

    With `skips_cron` what came by the clock is a stretch of its own that has no messages. None where the session is
    gone, or summarised as far as it is completed.
    """
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        own = await own_slices(connection, place)
        params: dict[str, Any] = {"tenant_id": place.tenant_id, "session_key": session_key, "slice_ids": own}
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
        before, number = await _compacted(connection, params, messages, has_model=has_model)
        return Stretch(
            **{name: row[name] for name in ("session_key", "slice_id", "session_id", "owner_key", "compactions")},
            summarised_through=row["summarised_through"],
            through=through if is_whole else messages[-1].seq,
            messages=messages,
            before=before,
            number=number,
            forgotten=await _forgotten_mark(connection, params),
        )


async def stretch_of(
    database: Database, place: Place, episode_id: int, *, now: datetime
) -> tuple[Episode, Stretch] | None:
    """An episode that a model is to make again, with its messages; None where it is gone, or some of them are."""
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        own = await own_slices(connection, place)
        found = await read_episodes(connection, place.tenant_id, own, now=now, episode_ids=[episode_id])
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
        forgotten = await _forgotten_mark(connection, params)
    return episode, Stretch(
        session_key=episode.session_key,
        slice_id=episode.slice_id,
        session_id=episode.session_id,
        owner_key=episode.owner_key,
        compactions=episode.compactions,
        summarised_through=episode.from_seq - 1,
        through=episode.through_seq,
        messages=messages,
        before=None,
        number=None,
        forgotten=forgotten,
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


async def check_unchanged(connection: Connection, place: Place, slice_: Slice, stretch: Stretch) -> None:
    """Superseded where messages, or a summary that was used, are not what they were, or something was forgotten.

    The caller holds the slice's lock: what is forgotten later finds what is now made.
    """
    params: dict[str, Any] = {
        "tenant_id": place.tenant_id,
        "session_key": stretch.session_key,
        "slice_ids": [slice_.slice_id],
    }
    if stretch.messages and not await has_same_messages(connection, place.tenant_id, stretch, stretch.messages):
        raise Superseded
    if stretch.before is not None:
        used = {**params, "number": stretch.number, "summary": stretch.before.summary}
        stands = await (await connection.execute(SQL["compaction_stands"], used)).fetchone()
        if not (stands or {})["found"]:
            raise Superseded
    if await _forgotten_mark(connection, params) != stretch.forgotten:
        raise Superseded


async def move_cursor(connection: Connection, place: Place, slice_: Slice, stretch: Stretch) -> None:
    """Mark the session summarised so far; Superseded where somebody was faster, or it is gone."""
    params = {
        "tenant_id": place.tenant_id,
        "session_key": stretch.session_key,
        "slice_id": slice_.slice_id,
        "summarised_through": stretch.summarised_through,
        "through": stretch.through,
    }
    if await (await connection.execute(SQL["move_cursor"], params)).fetchone() is None:
        raise Superseded


async def _up_to_cron(connection: Connection, params: dict[str, Any], after: int, through: int) -> tuple[int, bool]:
    """The end of the next stretch that came by the clock altogether, or not at all, and which of the two it is."""
    spans = await (await connection.execute(SQL["of_cron"], {**params, "after": after})).fetchall()
    for span in spans:
        if span["from_seq"] <= after + 1:
            return min(through, span["through_seq"]), True
        return min(through, span["from_seq"] - 1), False
    return through, False


async def _messages(
    connection: Connection, params: dict[str, Any], bounds: tuple[int, int], max_tokens: int
) -> tuple[list[Message], bool]:
    """The messages after one number, through another, and whether they are all of them; at least one, if there is."""
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


async def _compacted(
    connection: Connection, params: dict[str, Any], messages: Sequence[Message], *, has_model: bool
) -> tuple[Before | None, int | None]:
    """What a compaction left of the beginning of a stretch, and which one."""
    if not messages:
        return None, None
    span = {"from_seq": messages[0].seq, "through_seq": messages[-1].seq}
    found = await (await connection.execute(SQL["compacted"], {**params, **span})).fetchone()
    # What was summarised while the model failed, the model is to summarise now.
    if found is None or (found["method"] == "extractive" and has_model):
        return None, None
    made = Generation(found["method"], found["prompt"], found["prompt_version"], found["model"])
    return Before(found["through_seq"], found["summary"], made), found["number"]


async def _forgotten_mark(connection: Connection, params: dict[str, Any]) -> tuple[Any, ...]:
    row = await (await connection.execute(SQL["forgotten_mark"], params)).fetchone()
    return tuple((row or {}).values())
