"""The changes that people make to a graph: merging, undoing a merge, deciding on pairs that may be one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Place
from reverie_server.graph.merge import Pair, dismiss, merge, undo
from reverie_server.graph.store import Graph
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work


class GraphUpkeep:
    """Changes graphs for people; each change is one transaction under the slice's lock. `now` gives the time."""

    def __init__(self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def merge(self, place: Place, keep: int, absorb: int, *, by: str) -> int:
        """Merge an entity of a place into another. Returns the id of the merge. Raises what `merge.merge` raises."""
        async with self._locked(place) as graph:
            merge_id = await merge(graph, Pair(keep, absorb), by=by)
            await self._compare_again(graph, place)
            return merge_id

    async def undo(self, place: Place, merge_id: int, *, by: str) -> tuple[int, int]:
        """Take a merge back. Returns the kept and the absorbed entity. Raises what `merge.undo` raises."""
        async with self._locked(place) as graph:
            entities = await undo(graph, merge_id, by=by)
            await self._compare_again(graph, place)
            return entities

    async def dismiss(self, place: Place, duplicate_id: int, *, by: str) -> None:
        """Decide that a pair is two entities. Raises what `merge.dismiss` raises."""
        async with self._locked(place) as graph:
            await dismiss(graph, duplicate_id, by=by)

    @asynccontextmanager
    async def _locked(self, place: Place) -> AsyncIterator[Graph]:
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            slice_ = await lock_slice(connection, place)
            yield Graph(connection, place.tenant_id, slice_.slice_id, self._now())

    async def _compare_again(self, graph: Graph, place: Place) -> None:
        """Have changed entities embedded and compared again in the background, since their text is another now."""
        if place.scope != "global":
            await defer(graph.connection, Work("dedup", place.tenant_id, place.agent_id, place.owner_key))
