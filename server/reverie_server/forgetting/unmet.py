"""What somebody asked in a conversation to forget, and nothing was found for: it waits for a person, by its message.

A request is the number of its message in its session and no text. It goes with the message, with what is forgotten of
the message, and when a person dismisses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from psycopg.rows import DictRow

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.access.principal import Principal

SQL = Queries(__file__)
Standing = Literal["done", "unmet", "for_model"]
"""Whether a person has to look for what a message asks, or a language model alone is asked: it may ask for nothing."""


@dataclass(frozen=True, slots=True)
class UnmetRequest:
    """The message that asks: the session's id, its number there, and the caller's own id of it, if it has one."""

    request_id: int
    asked_at: datetime
    session_id: str
    seq: int
    message_id: str | None
    owner_key: str | None


@dataclass(frozen=True, slots=True)
class UnjudgedRequest:
    """A request of which no model has been asked what it means: the session, whose it is, and the message's number."""

    request_id: int
    session_id: str
    owner_key: str | None
    seq: int


class UnmetRequests:
    """Notes such requests, and reads those of the owner's conversations, or without one of the team's.

    Those for a model are not read before it has said that they ask for something.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, place: Place, session_key: int, seq: int, *, unheard: int | None) -> bool:
        """Note that what the message `seq` asks is being done: until `end` it stands on the list, for a person.

        Turns the note that the message `unheard` waits for being heard into that. False where there is none: somebody
        else has begun, or the message is gone.
        """
        async with self._database.tenant(place.tenant_id) as connection:
            if not await own_slices(connection, place):
                return False
            params = {"tenant_id": place.tenant_id, "session_key": session_key, "seqs": [unheard], "seq": seq}
            if unheard is not None:
                dropped = await (await connection.execute(SQL["drop_unheard"], params)).fetchall()
                if not dropped:
                    return False
            await connection.execute(SQL["begin"], params)
            return True

    async def end(self, place: Place, session_key: int, seq: int, standing: Standing) -> None:
        """Note what is left of what a message asks that was begun: nothing, or who has to look for it."""
        async with self._database.tenant(place.tenant_id) as connection:
            if await own_slices(connection, place):
                params = {"tenant_id": place.tenant_id, "session_key": session_key, "seq": seq}
                await connection.execute(SQL["drop"], params)
                if standing != "done":
                    await connection.execute(SQL["add"], {**params, "for_model": standing == "for_model"})

    async def drop_unheard(self, place: Place, session_key: int, seqs: Sequence[int]) -> None:
        """Drop the notes that messages wait for being heard: they were, and ask for nothing."""
        async with self._database.tenant(place.tenant_id) as connection:
            if await own_slices(connection, place):
                params = {"tenant_id": place.tenant_id, "session_key": session_key, "seqs": list(seqs)}
                await connection.execute(SQL["drop_unheard"], params)

    async def give_up_hearing(self, place: Place, before: datetime, *, for_model: bool) -> None:
        """Put on the list what has waited since a time before that for being heard: whoever listened has ended."""
        async with self._database.tenant(place.tenant_id) as connection:
            if not (slice_ids := await own_slices(connection, place)):
                return
            params = {"tenant_id": place.tenant_id, "slice_ids": slice_ids, "before": before, "for_model": for_model}
            for statement in ("add_confirmed", "drop_answers", "give_up_hearing"):
                await connection.execute(SQL[statement], params)

    async def not_judged(self, place: Place, limit: int) -> list[UnjudgedRequest]:
        """The requests of a place of which no model has been asked what they mean, the oldest first."""
        return [UnjudgedRequest(**row) for row in await self._of_place("not_judged", place, {"limit": limit})]

    async def judge(self, place: Place, request_id: int, now: datetime, *, is_judged: bool = True) -> bool:
        """Note that a model was asked, and, not `is_judged`, had no answer: what it alone was to judge stays unread.

        False for a request that is gone, or of which another run has noted it.
        """
        params = {"request_id": request_id, "now": now, "is_judged": is_judged}
        return bool(await self._of_place("judge", place, params))

    async def meet(self, place: Place, request_id: int) -> None:
        """Take a request from the list: it is done, or it asks for nothing."""
        await self._of_place("meet", place, {"request_id": request_id})

    async def page(self, principal: Principal, *, before: int | None, limit: int) -> list[UnmetRequest]:
        """Requests, newest first."""
        return await self._rows("page", principal, {"before": before, "limit": limit})

    async def one(self, principal: Principal, given_id: str) -> UnmetRequest:
        """The request of that id; NotFound for one that is gone, or that is somebody else's."""
        rows = await self._rows("one", principal, {"request_id": parse_request_id(given_id)})
        if not rows:
            raise NotFound(f"there is no request {given_id!r}")
        return rows[0]

    async def dismiss(self, principal: Principal, given_id: str) -> None:
        """Take a request from the list; NotFound as `one`. Nothing is forgotten by it."""
        await self._rows("dismiss", principal, {"request_id": (await self.one(principal, given_id)).request_id})

    async def _of_place(self, name: str, place: Place, params: Mapping[str, Any]) -> list[DictRow]:
        async with self._database.tenant(place.tenant_id) as connection:
            if not (slice_ids := await own_slices(connection, place)):
                return []
            values = {"tenant_id": place.tenant_id, "slice_ids": slice_ids, **params}
            cursor = await connection.execute(SQL[name], values)
            return await cursor.fetchall() if cursor.description else []

    async def _rows(self, name: str, principal: Principal, params: Mapping[str, Any]) -> list[UnmetRequest]:
        tenant_id, agent_id, owner_key = principal.tenant_id, principal.agent_id, principal.owner_key
        async with self._database.tenant(tenant_id) as connection:
            if not await store.agent_exists(connection, tenant_id, agent_id):
                raise NotFound(f"there is no agent {agent_id!r}")
            await visible_slices(connection, tenant_id, agent_id, owner_key)
            values = {"tenant_id": tenant_id, "agent_id": agent_id, "owner_key": owner_key, **params}
            rows = await (await connection.execute(SQL[name], values)).fetchall()
        return [UnmetRequest(**row) for row in rows]


def request_name(number: int) -> str:
    """The id of a request as everybody outside sees it, such as `ask-12`."""
    return f"ask-{number}"


def parse_request_id(name: str) -> int:
    """The number in such an id; NotFound for anything else."""
    number = name.removeprefix("ask-")
    if number == name or not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise NotFound(f"there is no request {name[:100]!r}")
    return int(number)
