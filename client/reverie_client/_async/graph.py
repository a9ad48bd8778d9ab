"""The knowledge graph: search and list entities, merge them, decide about duplicates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from reverie_client._async.bound import AsyncBound
from reverie_client.graph import (
    Duplicate,
    DuplicatePage,
    DuplicateState,
    Entity,
    EntityDetail,
    EntityPage,
    EntityType,
    GraphResults,
    Merged,
    Unmerged,
)
from reverie_client.request import Call, segment


class AsyncGraph(AsyncBound):
    """The graph of the owner and what is shared; what changes it, changes the owner's, else the team's."""

    async def search_graph(
        self,
        query: str | None = None,
        *,
        entity_id: str | None = None,
        entity_type: EntityType | None = None,
        max_depth: int | None = None,
        as_of: datetime | None = None,
    ) -> GraphResults:
        """Entities by words and meaning, or the one with `entity_id`, and what is near: `max_depth` hops, 1 to 5.

        At least one of `query`, `entity_id` and `entity_type`: else ValidationError. `as_of`, an aware datetime, asks
        for the relations that held then.
        """
        body = {
            **self._owner,
            "query": query,
            "entity_id": entity_id,
            "entity_type": entity_type,
            "max_depth": max_depth,
            "as_of": None if as_of is None else as_of.isoformat(),
        }
        call = Call(method="POST", path=f"{self._path}/graph/search", body=body, is_read=True)
        return await self._connection.ask(GraphResults, call)

    def entities(self, *, entity_type: EntityType | None = None, page_size: int | None = None) -> AsyncIterator[Entity]:
        """Entities by name; pages are fetched as they are needed."""
        query = {**self._owner, "entity_type": entity_type, "limit": page_size}
        call = Call(method="GET", path=f"{self._path}/graph/entities", query=query, is_read=True)
        return self._connection.each(EntityPage, call)

    async def entity(self, entity_id: str) -> EntityDetail:
        """An entity with its relations, sources and merges; for one that was merged, what it is part of now."""
        path = f"{self._path}/graph/entities/{segment(entity_id, 'the id of an entity')}"
        call = Call(method="GET", path=path, query=self._owner, is_read=True)
        return await self._connection.ask(EntityDetail, call)

    async def merge_entities(self, keep: str, absorb: str) -> Merged:
        """Merge two entities by their ids: `keep` gets the relations and sources of both."""
        body = {**self._owner, "keep": keep, "absorb": absorb}
        return await self._connection.ask(Merged, Call(method="POST", path=f"{self._path}/graph/merge", body=body))

    async def undo_merge(self, merge_id: str) -> Unmerged:
        """Undo a merge; the two are never merged automatically again. Conflict if it was undone before."""
        path = f"{self._path}/graph/merges/{segment(merge_id, 'the id of a merge')}/undo"
        return await self._connection.ask(Unmerged, Call(method="POST", path=path, body=self._owner))

    def duplicates(
        self, *, state: DuplicateState | None = None, page_size: int | None = None
    ) -> AsyncIterator[Duplicate]:
        """Pairs of entities that may be one, newest first; only open ones by default."""
        query = {**self._owner, "state": state, "limit": page_size}
        call = Call(method="GET", path=f"{self._path}/graph/duplicates", query=query, is_read=True)
        return self._connection.each(DuplicatePage, call)

    async def dismiss_duplicate(self, duplicate_id: str) -> Duplicate:
        """Decide that a pair is two entities: they are never merged automatically."""
        path = f"{self._path}/graph/duplicates/{segment(duplicate_id, 'the id of a pair')}/dismiss"
        return await self._connection.ask(Duplicate, Call(method="POST", path=path, body=self._owner))
