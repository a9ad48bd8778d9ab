"""The slices that a process holds: within a bound, each at the revision that the request's snapshot has of it.

A slice is read at the second request for it, in the transaction of that request, under its role, and later requests
read what has changed since; a large one is read beside the requests, soon after one that needed it. Whatever cannot be
answered from here is None, and is searched in PostgreSQL.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import ReverieError
from reverie_server.search.hot.held import HeldSlice
from reverie_server.search.hot.load import SliceKey, refreshed
from reverie_server.text.cancelled import is_cancelled

log = structlog.get_logger()
SQL = Queries(__file__)
# The slices that are remembered as asked for, held or not.
_MAX_KNOWN = 4096
# What a passage takes at least: larger slices are not read.
_LEAST_PASSAGE_BYTES = 300
# To read this many passages, or what has changed among them, takes longer than a request should wait.
_READ_APART_FROM = 10_000
_LEAST_SECONDS = 1.0
# What was forgotten is gone from memory after so many seconds at most, asked for or not.
SWEEP_SECONDS = 5.0
# What nobody asked for this long is not read anew when it changes, but let go.
_IDLE_SECONDS = 60.0


@dataclass(slots=True)
class HotCounts:
    """What the metrics tell: requests answered from memory, slices read, refreshed and let go for room."""

    hits: int = 0
    misses: int = 0
    loads: int = 0
    refreshes: int = 0
    evictions: int = 0
    mismatches: int = 0


@dataclass(slots=True)
class _Slot:
    """A slice that was asked for: what is held of it, and whose it is. One reader at a time has the lock.

    `too_large` is a number of passages of it that did not fit; `is_awaited` that a request would have had use of it.
    """

    agent_id: str
    owner_key: str | None
    held: HeldSlice | None = None
    asked_at: float = 0.0
    too_large: int | None = None
    is_awaited: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class HotSlices:
    """Holds slices for searches, up to `max_bytes` in all; 0: none."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._slots: OrderedDict[SliceKey, _Slot] = OrderedDict()
        self._bytes = 0
        self._has_awaited = asyncio.Event()
        self.counts = HotCounts()

    @property
    def used_bytes(self) -> int:
        """The memory that the held slices take, about."""
        return self._bytes

    def __len__(self) -> int:
        """The number of held slices."""
        return sum(slot.held is not None for slot in self._slots.values())

    async def of(
        self, connection: Connection, tenant_id: str, agent_id: str, slices: Sequence[Slice], model_id: int | None
    ) -> list[HeldSlice] | None:
        """What is held of some slices, at the revisions that the transaction sees; None where one is not held.

        `connection` has a snapshot in which these slices are open.
        """
        if not self._max_bytes or not slices:
            return None
        found: list[HeldSlice] = []
        for slice_ in slices:
            held = await self._one(connection, SliceKey(tenant_id, slice_.slice_id, model_id), agent_id, slice_)
            if held is None:
                self.counts.misses += 1
                return None
            found.append(held)
        self.counts.hits += 1
        return found

    def drop(self, tenant_id: str, slice_ids: Sequence[int]) -> None:
        """Let go of slices that turned out not to be as the database has them."""
        self.counts.mismatches += 1
        for key in [key for key in self._slots if key.tenant_id == tenant_id and key.slice_id in slice_ids]:
            self._forget(key)

    async def _one(self, connection: Connection, key: SliceKey, agent_id: str, slice_: Slice) -> HeldSlice | None:
        least_bytes = slice_.chunk_count * _LEAST_PASSAGE_BYTES
        if slice_.past or least_bytes > self._max_bytes:
            self._forget(key)
            return None
        slot = self._slots.get(key)
        if slot is None:
            self._slots[key] = _Slot(slice_.agent_id or agent_id, slice_.owner_key, asked_at=time.monotonic())
            while len(self._slots) > _MAX_KNOWN:
                self._forget(next(iter(self._slots)))
            return None
        self._slots.move_to_end(key)
        slot.asked_at = time.monotonic()
        if slot.held is None and slot.lock.locked():
            # Somebody reads all of it: to search meanwhile takes less time than to wait.
            return None
        if slot.too_large is not None and slice_.chunk_count >= slot.too_large:
            return None
        is_behind = slot.held is None or slot.held.revision != slice_.revision
        if is_behind and slice_.chunk_count >= _READ_APART_FROM:
            slot.is_awaited = True
            self._has_awaited.set()
            return None
        if is_behind:
            async with slot.lock:
                await self._refresh(connection, key, slot, slice_)
        # A transaction that began before the last reader's sees an older revision.
        return slot.held if slot.held is not None and slot.held.revision == slice_.revision else None

    async def _refresh(self, connection: Connection, key: SliceKey, slot: _Slot, slice_: Slice) -> None:
        """Bring what is held of a slice to its revision, unless it is there already or further."""
        known = slot.held
        if known is not None and known.revision >= slice_.revision:
            return
        held = await refreshed(connection, key, slice_, known)
        if known is None:
            self.counts.loads += 1
        else:
            self.counts.refreshes += 1
        if self._slots.get(key) is slot:
            self._bytes += held.size_bytes - (known.size_bytes if known is not None else 0)
            slot.held, slot.too_large = held, None
            self._make_room(key)

    def _make_room(self, but: SliceKey) -> None:
        for key in list(self._slots):
            if self._bytes <= self._max_bytes:
                return
            if key != but and self._slots[key].held is not None:
                self._forget(key)
                self.counts.evictions += 1
        slot = self._slots[but]
        if self._bytes > self._max_bytes and slot.held is not None:
            self._bytes -= slot.held.size_bytes
            slot.too_large, slot.held = len(slot.held), None
            self.counts.evictions += 1

    def _forget(self, key: SliceKey) -> None:
        slot = self._slots.pop(key, None)
        if slot is not None and slot.held is not None:
            self._bytes -= slot.held.size_bytes
            slot.held = None

    async def run(self) -> None:
        """Compare all that is held with the database every SWEEP_SECONDS, and sooner where a request waits for a large
        slice, until cancelled."""
        while not is_cancelled():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_awaited.wait(), SWEEP_SECONDS)
            # What is written to all the time is not read all the time.
            await asyncio.sleep(_LEAST_SECONDS if self._has_awaited.is_set() else 0.0)
            self._has_awaited.clear()
            try:
                await self.sweep()
            except ReverieError as error:
                log.warning("hot_slices_not_compared", code=error.code)
                self._let_all_go()
            except Exception:  # the next round may do better; until then nothing is held that was not compared
                log.exception("hot_slices_not_compared")
                self._let_all_go()

    async def sweep(self) -> None:
        """Bring what has changed up to date, or let it go; so nothing that was forgotten stays in memory. Then read the
        large slices that requests wait for.

        What is held at a later revision than the database has, as after a restore, is let go. Raises ReverieError where
        the database does not answer.
        """
        await self._let_changed_go()
        for key in [key for key, slot in self._slots.items() if slot.is_awaited]:
            slot = self._slots.get(key)
            if slot is not None:
                slot.is_awaited = False
                await self._renewed(key, slot)

    async def _let_changed_go(self) -> None:
        held = {key: slot.held.revision for key, slot in self._slots.items() if slot.held is not None}
        if not held:
            return
        params = {"tenant_ids": [key.tenant_id for key in held], "slice_ids": [key.slice_id for key in held]}
        rows = await self._database.maintenance_query(SQL["revisions"], params)
        revisions = {(row["tenant_id"], row["slice_id"]): row["revision"] for row in rows}
        for key, known in held.items():
            now, slot = revisions.get((key.tenant_id, key.slice_id)), self._slots.get(key)
            if slot is None or now == known:
                continue
            is_idle = time.monotonic() - slot.asked_at > _IDLE_SECONDS
            if now is None or now < known or is_idle or not await self._renewed(key, slot):
                self._forget(key)

    async def _renewed(self, key: SliceKey, slot: _Slot) -> bool:
        """Whether a slice was brought up to date, as whoever it belongs to sees it."""
        async with self._database.tenant(key.tenant_id, snapshot=True) as connection:
            slices = await visible_slices(connection, key.tenant_id, slot.agent_id, slot.owner_key)
            now = next((each for each in slices if each.slice_id == key.slice_id), None)
            if now is None:
                return False
            async with slot.lock:
                await self._refresh(connection, key, slot, now)
        return True

    def _let_all_go(self) -> None:
        for key in list(self._slots):
            self._forget(key)
