"""What follows for facts from changes elsewhere: they are read anew, soon."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from reverie_indexer.database.database import Connection
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.facts.store import FactSlice, unmark
from reverie_server.jobs.defer import Delays, defer
from reverie_server.jobs.model import Work


async def defer_facts(delays: Delays, connection: Connection, place: Place) -> None:
    """Have the facts of a place read soon, in the caller's transaction. Global memory has no facts of its own."""
    if place.scope != "global":
        work = Work("facts", place.tenant_id, place.agent_id, place.owner_key)
        await defer(connection, work, after_seconds=delays.facts_debounce_seconds)


class FactUpkeep:
    """Reads all facts of a place anew. `now` gives the time, with its zone."""

    def __init__(self, pipeline: Pipeline, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._pipeline = pipeline
        self._now = now

    async def rebuild(self, place: Place) -> None:
        """Have all that was said and written read anew by a job; the same words keep their fact, votes and dates."""
        if place.scope == "global":
            return
        async with self._pipeline.unit_of_work(place) as unit:
            await unmark(FactSlice(unit.connection, place.tenant_id, unit.slice_.slice_id, self._now()))
            await defer(unit.connection, Work("facts", place.tenant_id, place.agent_id, place.owner_key))
