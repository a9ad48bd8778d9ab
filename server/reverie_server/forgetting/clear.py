"""Clearing: memory removed for good by age, prefix, tier and owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reverie_indexer.database.database import ALL_OWNERS, Database, visible_slices
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import lock_slice, scope_of
from reverie_indexer.model import Place, Tier
from reverie_server.forgettable import Forgettable, Selection
from reverie_server.provenance.forgotten_log import ForgottenLog

# Messages come last: a session is removed with the last of its messages and episodes.
_ORDER: Sequence[Tier] = ("document", "fact", "episodic", "message")


@dataclass(frozen=True, slots=True)
class Cleared:
    """How many files, facts, episodes and messages were removed, by tier; with `dry_run` how many would be."""

    dry_run: bool
    removed: Mapping[Tier, int]


class Clearing:
    """Removes memory for good, from every store."""

    def __init__(
        self, database: Database, stores: Sequence[Forgettable], forgotten_log: ForgottenLog | None = None
    ) -> None:
        self._database = database
        self._stores = stores
        self._forgotten_log = forgotten_log

    async def clear(self, place: Place, selection: Selection, *, dry_run: bool) -> Cleared:
        """Clear one place, each tier in one transaction; NotFound for an unknown agent."""
        removed: dict[Tier, int] = dict.fromkeys(selection.tiers, 0)
        for tier in _ORDER:
            stores = [each for each in self._stores if each.cleared_with == tier]
            if tier in removed and stores:
                of_tier = replace(selection, tiers=(tier,))
                removed[tier] = await self._clear_stores(stores, place, of_tier, dry_run=dry_run)
        return Cleared(dry_run, removed)

    async def clear_everybody(self, tenant_id: str, agent_id: str, selection: Selection, *, dry_run: bool) -> Cleared:
        """Clear the memory of the agent's team and of each owner, one place after the other."""
        removed: dict[Tier, int] = dict.fromkeys(selection.tiers, 0)
        for place in await self._places(tenant_id, agent_id):
            cleared = await self.clear(place, selection, dry_run=dry_run)
            for tier, count in cleared.removed.items():
                removed[tier] += count
        return Cleared(dry_run, removed)

    async def _places(self, tenant_id: str, agent_id: str) -> list[Place]:
        async with self._database.tenant(tenant_id, snapshot=True) as connection:
            slices = await visible_slices(connection, tenant_id, agent_id, ALL_OWNERS)
        of_agent = [s for s in slices if s.agent_id is not None]
        return [Place(tenant_id, agent_id, scope_of(s.agent_id, s.owner_key), s.owner_key) for s in of_agent]

    async def _clear_stores(
        self, stores: Sequence[Forgettable], place: Place, selection: Selection, *, dry_run: bool
    ) -> int:
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            slice_ = await lock_slice(connection, place)
            count = sum([await each.clear(connection, place, slice_, selection, dry_run=dry_run) for each in stores])
            if self._forgotten_log is not None and not dry_run:
                await self._forgotten_log.note_clear(connection, place, selection)
            return count
