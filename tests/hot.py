"""Searches by what is held in memory, beside the same searches in PostgreSQL."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import numpy as np

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_server.search.hot.cache import HotSlices
from reverie_server.search.hot.held import HeldSlice
from reverie_server.search.hot.load import SliceKey, refreshed
from reverie_server.search.request import SearchOutcome, SearchRequest, SearchResult, SearchRules
from reverie_server.search.search import Search

ROOM = 64 << 20
_CLOSE = 1e-6


@dataclass
class Both:
    """A search that holds slices, and one that does not. `at` is their clock."""

    database: Database
    models: ModelSlot
    rules: SearchRules = dataclasses.field(default_factory=SearchRules)
    max_bytes: int = ROOM

    def __post_init__(self) -> None:
        self.at: datetime | None = None
        self.hot = HotSlices(self.database, self.max_bytes)
        self.in_memory = Search(self.database, self.models, self.rules, hot=self.hot, now=self._now)
        self.in_database = Search(self.database, self.models, self.rules, now=self._now)

    def _now(self) -> datetime:
        return self.at or datetime.now(UTC)

    async def warm(self, request: SearchRequest) -> None:
        """Ask often enough that all slices of a request are held."""
        for _ in range(4):
            await self.in_memory.search(request)

    async def compare(self, request: SearchRequest) -> SearchOutcome:
        """The outcome, which is the same both ways."""
        self.at = self.at or datetime.now(UTC)
        found, expected = await self.in_memory.search(request), await self.in_database.search(request)
        assert_same(expected, found)
        return found


def assert_same(expected: SearchOutcome, found: SearchOutcome) -> None:
    assert [r.chunk_id for r in expected.results] == [r.chunk_id for r in found.results]
    for first, second in zip(expected.results, found.results, strict=True):
        _assert_same_result(first, second)
    for name in ("mode", "fallback", "warnings", "weights", "terms"):
        assert getattr(expected, name) == getattr(found, name)


def _assert_same_result(expected: SearchResult, found: SearchResult) -> None:
    for field in fields(SearchResult):
        if field.name == "plan":
            # A large slice is searched by its index, or exactly where it is held.
            continue
        first, second = getattr(expected, field.name), getattr(found, field.name)
        if isinstance(first, float):
            assert np.isclose(first, second, rtol=_CLOSE, atol=_CLOSE, equal_nan=True), (field.name, first, second)
        else:
            assert first == second, field.name


async def in_full(database: Database, key: SliceKey, agent_id: str, owner_key: str | None) -> HeldSlice:
    """A slice as it is read by somebody who knows nothing of it."""
    async with database.tenant(key.tenant_id, snapshot=True) as connection:
        slices = await visible_slices(connection, key.tenant_id, agent_id, owner_key)
        slice_ = next(s for s in slices if s.slice_id == key.slice_id)
        return await refreshed(connection, key, slice_, None)


async def assert_held_as_in_full(both: Both) -> None:
    """What is held of each slice is, column by column, what somebody reads who knows nothing of it."""
    for key, slot in list(both.hot._slots.items()):
        if slot.held is None:
            continue
        expected = await in_full(both.database, key, slot.agent_id, slot.owner_key)
        if expected.revision == slot.held.revision:
            assert differences(expected, slot.held) == []


def differences(expected: HeldSlice, found: HeldSlice) -> Sequence[str]:
    """The columns that differ."""
    return [
        f"{part}.{field.name}"
        for part in ("places", "documents", "traits", "vectors", "postings")
        for field in fields(getattr(expected, part))
        if not _equal(getattr(getattr(expected, part), field.name), getattr(getattr(found, part), field.name))
    ]


def _equal(first: Any, second: Any) -> bool:
    if first.dtype != second.dtype or ((first.size or second.size) and first.shape != second.shape):
        return False
    return bool(np.array_equal(first, second, equal_nan=first.dtype.kind == "f"))
