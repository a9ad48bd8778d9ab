"""What people say of facts: that one was of use or not, and that one is so. Never written into files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.facts.model import Vote, public_id

SQL = Queries(__file__)


class FactVotes:
    """Votes and confirmations. `now` gives the time, with its zone."""

    def __init__(self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def vote(self, place: Place, fact_id: int, kind: Vote, *, voter: str, turn_id: str) -> None:
        """Store the one vote of a voter on a fact in a turn ("" for none); `none` takes it back. NotFound."""
        async with self._database.tenant(place.tenant_id) as connection:
            params = {**await self._lock(connection, place, fact_id), "voter": voter, "turn_id": turn_id}
            if kind == "none":
                await connection.execute(SQL["unvote"], params)
            else:
                await connection.execute(SQL["vote"], {**params, "is_helpful": kind == "helpful"})
            await connection.execute(SQL["count"], params)

    async def confirm(self, place: Place, fact_id: int, *, by: str) -> None:
        """Note that somebody says that a fact is so. NotFound."""
        async with self._database.tenant(place.tenant_id) as connection:
            params = await self._lock(connection, place, fact_id)
            await connection.execute(SQL["confirm"], {**params, "by": by})

    async def _lock(self, connection: Connection, place: Place, fact_id: int) -> dict[str, Any]:
        for slice_id in await own_slices(connection, place):
            params = {
                "tenant_id": place.tenant_id,
                "slice_id": slice_id,
                "fact_id": fact_id,
                "at": self._now(),
            }
            if await (await connection.execute(SQL["lock"], params)).fetchone() is not None:
                return params
        raise NotFound(f"there is no fact {public_id('fact', fact_id)!r}")
