"""The conversations of an owner with an agent, for people: a list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_server.access.principal import Principal
from reverie_server.sessions.model import Session, State

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions: of a state, changed at or after a time."""

    state: State | None = None
    since: datetime | None = None


class Conversations:
    """The conversations of owners, or of the team where a principal names none: never anybody else's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, principal: Principal, filters: SessionFilter, *, before: tuple[datetime, int] | None, limit: int
    ) -> list[Session]:
        """A page of sessions, the one changed last first, after the one of a time and a key."""
        before_at, before_key = before or (None, None)
        params = {
            "tenant_id": principal.tenant_id,
            "agent_id": principal.agent_id,
            "owner_key": principal.owner_key,
            "state": filters.state,
            "since": filters.since,
            "before_at": before_at,
            "before_key": before_key,
            "limit": limit,
        }
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            rows = await (await connection.execute(SQL["page"], params)).fetchall()
        return [Session(**row) for row in rows]
