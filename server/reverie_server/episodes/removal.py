"""Removing episodes on request, and what other stores have from them alone. What expires leaves those as they are."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.model import Place
from reverie_server.episodes import store
from reverie_server.forgettable import Forgettable


class EpisodeRemoval:
    """Removes episodes for good, from index and cache too. `derived` are the stores that derive from episodes.

    Every method works inside the caller's transaction, which holds the lock of the slice.
    """

    def __init__(self, derived: Sequence[Forgettable]) -> None:
        self._derived = derived

    async def remove(self, connection: Connection, place: Place, slice_: Slice, episode_ids: Sequence[int]) -> None:
        """Remove episodes of the slice."""
        if episode_ids:
            for each in self._derived:
                await each.drop_episodes(connection, place, slice_, episode_ids)
            await store.remove(connection, place.tenant_id, slice_, episode_ids)

    async def remove_of_session(self, connection: Connection, place: Place, slice_: Slice, session_key: int) -> None:
        """Remove the episodes of a session that is to be deleted."""
        episode_ids = await store.of_session(connection, place.tenant_id, slice_.slice_id, session_key)
        await self.remove(connection, place, slice_, episode_ids)
