"""Removing episodes on request, with what the graph has from them alone; what expires leaves the graph as it is.

Every function works inside the caller's transaction, which holds the lock of the slice.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.model import Place
from reverie_server.episodes import store as episodes
from reverie_server.graph.erase import drop_episodes


async def remove_episodes(connection: Connection, place: Place, slice_: Slice, episode_ids: Sequence[int]) -> None:
    """Remove episodes of the slice for good, from graph, index and cache too."""
    if episode_ids:
        await drop_episodes(connection, place, slice_, episode_ids)
        await episodes.remove(connection, place.tenant_id, slice_, episode_ids)


async def remove_of_session(connection: Connection, place: Place, slice_: Slice, session_key: int) -> None:
    """Remove the episodes of a session that is to be deleted."""
    found = await episodes.of_session(connection, place.tenant_id, slice_.slice_id, session_key)
    await remove_episodes(connection, place, slice_, found)


async def clear_episodes(
    connection: Connection,
    place: Place,
    slice_: Slice,
    *,
    older_than_days: int | None,
    path_prefix: str | None,
    dry_run: bool,
) -> int:
    """Remove the episodes under a path that ended so long ago; how many."""
    found = await episodes.clearable(
        connection, place.tenant_id, slice_.slice_id, older_than_days=older_than_days, path_prefix=path_prefix
    )
    if not dry_run:
        await remove_episodes(connection, place, slice_, found)
    return len(found)
