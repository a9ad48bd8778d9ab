"""The people of whom an agent has anything: a list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_server.access.principal import Principal

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Person:
    """An owner's memory with an agent: files, messages, episodes and facts that hold, by tier, and conversations.

    `updated_at` is when a file or a conversation of theirs last changed.
    """

    owner_key: str
    updated_at: datetime
    sessions: int
    document: int
    message: int
    episodic: int
    fact: int


class People:
    """The owners of an agent."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, principal: Principal, *, part: str | None, before: tuple[datetime, str] | None, limit: int
    ) -> list[Person]:
        """A page of owners, the one whose memory changed last first, after the one of a time and a key.

        The principal sees all owners (`Gate.every_owner`). With `part` only those whose key has it, in any case.
        """
        before_at, before_owner = before or (None, None)
        params = {
            "tenant_id": principal.tenant_id,
            "agent_id": principal.agent_id,
            "part": part,
            "before_at": before_at,
            "before_owner": before_owner,
            "limit": limit,
        }
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            rows = await (await connection.execute(SQL["page"], params)).fetchall()
        return [Person(**row) for row in rows]
