"""Clearing: files with their history, and what was said, removed for good by age, prefix and owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.database.database import ALL_OWNERS, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.document_index import purge_documents
from reverie_indexer.index.slices import lock_slice, scope_of
from reverie_indexer.model import Place, Tier
from reverie_server.files.well_known import INSTRUCTIONS
from reverie_server.forgetting.episode_removal import clear_episodes
from reverie_server.forgetting.retention import clear_messages
from reverie_server.nights import report_erase as reports_forgetting

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Selection:
    """What to clear: everything that all given conditions fit.

    A daily note is as old as its day, a message as its time, an episode as its last message; the path of a message is
    its session's, `sessions/<id>`, that of an episode `episodes/<id>/<number of its last message>`.
    """

    older_than_days: int | None
    path_prefix: str | None
    tiers: Sequence[Tier]


@dataclass(frozen=True, slots=True)
class Cleared:
    """How many things of each tier, files, episodes or messages, were, or with `dry_run` would be, removed."""

    dry_run: bool
    removed: Mapping[Tier, int]


class Clearing:
    """Removes memory for good."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def clear(self, place: Place, selection: Selection, *, dry_run: bool) -> Cleared:
        """Clear one place, each tier in one transaction; NotFound for an unknown agent."""
        removed: dict[Tier, int] = dict.fromkeys(selection.tiers, 0)
        if "document" in removed:
            removed["document"] = await self._documents(place, selection, dry_run=dry_run)
        # Before the messages: a session goes with the last of both.
        if "episodic" in removed:
            removed["episodic"] = await self._episodes(place, selection, dry_run=dry_run)
        if "message" in removed:
            removed["message"] = await self._messages(place, selection, dry_run=dry_run)
        return Cleared(dry_run, removed)

    async def clear_everybody(self, tenant_id: str, agent_id: str, selection: Selection, *, dry_run: bool) -> Cleared:
        """Clear what the agent's team and each of its owners have, one place after the other."""
        removed: dict[Tier, int] = dict.fromkeys(selection.tiers, 0)
        for place in await self._places(tenant_id, agent_id):
            cleared = await self.clear(place, selection, dry_run=dry_run)
            for tier, count in cleared.removed.items():
                removed[tier] += count
        return Cleared(dry_run, removed)

    async def _places(self, tenant_id: str, agent_id: str) -> list[Place]:
        async with self._database.tenant(tenant_id, snapshot=True) as connection:
            slices = await visible_slices(connection, tenant_id, agent_id, ALL_OWNERS)
        own = [s for s in slices if s.agent_id is not None]
        return [Place(tenant_id, agent_id, scope_of(s.agent_id, s.owner_key), s.owner_key) for s in own]

    async def _documents(self, place: Place, selection: Selection, *, dry_run: bool) -> int:
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            slice_ = await lock_slice(connection, place)
            params = {
                "tenant_id": place.tenant_id,
                "slice_id": slice_.slice_id,
                "path_prefix": selection.path_prefix or None,
                "older_than_days": selection.older_than_days,
                "kept": [] if place.scope == "personal" else list(INSTRUCTIONS),
            }
            rows = await (await connection.execute(SQL["clearable"], params)).fetchall()
            if rows and not dry_run:
                await purge_documents(connection, place.tenant_id, [row["document_id"] for row in rows])
            if not selection.path_prefix:
                # What reports tell of files is as old as they are.
                await reports_forgetting.clear(
                    connection,
                    place.tenant_id,
                    slice_.slice_id,
                    older_than_days=selection.older_than_days,
                    dry_run=dry_run,
                )
            return len(rows)

    async def _episodes(self, place: Place, selection: Selection, *, dry_run: bool) -> int:
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            return await clear_episodes(
                connection,
                place,
                await lock_slice(connection, place),
                older_than_days=selection.older_than_days,
                path_prefix=selection.path_prefix or None,
                dry_run=dry_run,
            )

    async def _messages(self, place: Place, selection: Selection, *, dry_run: bool) -> int:
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            return await clear_messages(
                connection,
                place,
                await lock_slice(connection, place),
                older_than_days=selection.older_than_days,
                path_prefix=selection.path_prefix or None,
                dry_run=dry_run,
            )
