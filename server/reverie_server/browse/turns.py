"""Turns for people: what was asked, and which memories were put into the prompt or nearly were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import scope_of
from reverie_indexer.model import Scope
from reverie_server.access.principal import Principal

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class TurnMemory:
    """A memory of a turn. `state` is `injected`, or why it was not: `below`, `known`, `budget`.

    `text`, `tier`, `source` and `scope` are the passage's as it is; None where it was changed since, or forgotten.
    `score` is that of the search; None in a turn that an older server noted.
    """

    id: str
    relevance: float
    state: str
    score: float | None = None
    text: str | None = None
    tier: str | None = None
    source: str | None = None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it was noted; `asked` is what the user said, cut where it is long.

    `answer` is what became of the answer to a chat completion; None: not known yet, or the caller's own affair.
    """

    turn_id: str
    owner_key: str | None
    session_id: str | None
    kind: str
    at: datetime
    asked: str
    sections: Sequence[Mapping[str, Any]]
    tokens: int
    memories: Sequence[TurnMemory]
    match_count: int
    top_score: float
    outcome: str
    model: str | None
    milliseconds: int
    answer: str | None


class StoredTurns:
    """The turns of owners, or of the team where a principal names none: never anybody else's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, principal: Principal, session_id: str | None, *, before: tuple[datetime, str] | None, limit: int
    ) -> list[StoredTurn]:
        """A page of turns, newest first, of one session or of all; with the texts of their memories."""
        before_at, before_id = before or (None, None)
        filters = {"session_id": session_id, "turn_id": None, "before_at": before_at, "before_id": before_id}
        return await self._read(principal, {**filters, "limit": limit})

    async def one(self, principal: Principal, turn_id: str) -> StoredTurn:
        """The turn of an id; NotFound."""
        filters = {"session_id": None, "turn_id": turn_id, "before_at": None, "before_id": None, "limit": 1}
        for turn in await self._read(principal, filters):
            return turn
        raise NotFound(f"there is no turn {turn_id!r}")

    async def _read(self, principal: Principal, filters: Mapping[str, Any]) -> list[StoredTurn]:
        params = {
            **filters,
            "tenant_id": principal.tenant_id,
            "agent_id": principal.agent_id,
            "owner_key": principal.owner_key,
        }
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            await visible_slices(
                connection, principal.tenant_id, principal.agent_id, principal.owner_key, with_past=True
            )
            rows = await (await connection.execute(SQL["page"], params)).fetchall()
            passages = await self._passages(connection, principal.tenant_id, rows)
        return [_turn(row, passages) for row in rows]

    async def _passages(self, connection: Connection, tenant_id: str, rows: Sequence[DictRow]) -> dict[str, DictRow]:
        ids = sorted({int(memory["id"]) for row in rows for memory in row["memories"]})
        params = {"tenant_id": tenant_id, "chunk_ids": ids}
        found = await (await connection.execute(SQL["passages"], params)).fetchall() if ids else []
        return {str(row["chunk_id"]): row for row in found}


def _turn(row: DictRow, passages: Mapping[str, DictRow]) -> StoredTurn:
    memories = [_memory(TurnMemory(**memory), passages.get(memory["id"])) for memory in row.pop("memories")]
    return StoredTurn(**row, memories=memories)


def _memory(memory: TurnMemory, passage: DictRow | None) -> TurnMemory:
    if passage is None:
        return memory
    source = f"sessions/{passage['session_id']}" if passage["session_id"] else passage["path"]
    scope = scope_of(passage["agent_id"], passage["owner_key"])
    return replace(memory, text=passage["text"], tier=passage["tier"], source=source, scope=scope)
