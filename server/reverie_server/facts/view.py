"""Reads the facts that a principal sees, by trust, and the contradictions among them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import scope_of
from reverie_indexer.text.analyse import fold
from reverie_server.access.principal import Principal
from reverie_server.facts.model import Contradiction, ContradictionState, Fact, FactState, parse_id, public_id
from reverie_server.heuristics.stated_fact import Category

SQL = Queries(__file__)
MAX_WORDS = 32
_MAX_CHAIN = 50
_SOURCE = ("path", "start_line", "end_line", "session_id", "message_ids", "seqs")


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts: with all these words, of a category and a state, from a trust on, valid at a time (None: any)."""

    query: str | None = None
    category: Category | None = None
    min_trust: float | None = None
    as_of: datetime | None = None
    state: FactState | None = None

    @property
    def words(self) -> list[str]:
        """The words of the query, folded."""
        return fold(self.query or "").split()[:MAX_WORDS]


class FactView:
    """Reads the facts of the owner, the team and the tenant; for a team member also what its leader shares.

    `half_life_days` is that of trust, 0 for none. `now` gives the time, with its zone.
    """

    def __init__(
        self, database: Database, half_life_days: float, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._half_life_days = half_life_days
        self._now = now

    async def facts(
        self, principal: Principal, wanted: FactFilter, *, after: tuple[float, int] | None, limit: int
    ) -> list[Fact]:
        """A page of facts by trust, after a cursor (`order_key` and id of the last one). NotFound: no such agent."""
        params = self._params(wanted, after, limit)
        found: list[Fact] = []
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            for each in _principals(principal):
                slice_ids = await _visible(connection, each, is_leader=each is not principal)
                found += await self._read(connection, principal.tenant_id, {**params, "slice_ids": slice_ids})
        found.sort(key=lambda fact: (-fact.order_key, -fact.fact_id))
        return found[:limit]

    async def fact(self, principal: Principal, given_id: str) -> Fact:
        """The fact of an id; NotFound."""
        fact_id = parse_id("fact", given_id)
        params = {**self._params(FactFilter(), None, 1), "fact_ids": [fact_id]}
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            for each in _principals(principal):
                slice_ids = await _visible(connection, each, is_leader=each is not principal)
                if found := await self._read(connection, principal.tenant_id, {**params, "slice_ids": slice_ids}):
                    return found[0]
        raise NotFound(f"there is no fact {given_id!r}")

    async def chain(self, principal: Principal, given_id: str) -> tuple[Fact, list[Fact]]:
        """The fact of an id, and those that took each other's place with it, the one that held first first.

        NotFound.
        """
        fact = await self.fact(principal, given_id)
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            for each in _principals(principal):
                slice_ids = await _visible(connection, each, is_leader=each is not principal)
                params = {"slice_ids": slice_ids, "fact_id": fact.fact_id, "limit": _MAX_CHAIN}
                params["tenant_id"] = principal.tenant_id
                rows = await (await connection.execute(SQL["chain"], params)).fetchall()
                if rows:
                    ids = {row["fact_id"] for row in rows}
                    found = await self._by_id(connection, principal.tenant_id, slice_ids, ids)
                    return fact, sorted(found.values(), key=lambda one: (one.valid_from, one.fact_id))
        return fact, [fact]

    async def contradictions(
        self, principal: Principal, *, state: ContradictionState | None, before: int | None, limit: int
    ) -> list[Contradiction]:
        """A page of contradictions, the newest first; of one state, or of all."""
        params = {"state": state, "before": before, "limit": limit, "contradiction_id": None}
        return await self._contradictions(principal, params)

    async def contradiction(self, principal: Principal, given_id: str) -> Contradiction:
        """One contradiction; NotFound."""
        number = parse_id("contradiction", given_id)
        params = {"state": None, "before": None, "limit": 1, "contradiction_id": number}
        for found in await self._contradictions(principal, params):
            return found
        raise NotFound(f"there is no contradiction {public_id('contradiction', number)!r}")

    async def _contradictions(self, principal: Principal, params: Mapping[str, Any]) -> list[Contradiction]:
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            slice_ids = await _visible(connection, principal, is_leader=False)
            values = {**params, "tenant_id": principal.tenant_id, "slice_ids": slice_ids}
            rows = await (await connection.execute(SQL["contradictions"], values)).fetchall()
            ids = {row[end] for row in rows for end in ("first_id", "second_id")}
            facts = await self._by_id(connection, principal.tenant_id, slice_ids, ids)
        return [_contradiction(row, facts) for row in rows if {row["first_id"], row["second_id"]} <= facts.keys()]

    async def _by_id(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], fact_ids: Collection[int]
    ) -> dict[int, Fact]:
        if not fact_ids:
            return {}
        params = {**self._params(FactFilter(), None, len(fact_ids)), "fact_ids": sorted(fact_ids)}
        found = await self._read(connection, tenant_id, {**params, "slice_ids": list(slice_ids)})
        return {fact.fact_id: fact for fact in found}

    async def _read(self, connection: Connection, tenant_id: str, params: Mapping[str, Any]) -> list[Fact]:
        rows = await (await connection.execute(SQL["facts"], {**params, "tenant_id": tenant_id})).fetchall()
        return [_fact(row) for row in rows]

    def _params(self, wanted: FactFilter, after: tuple[float, int] | None, limit: int) -> dict[str, Any]:
        return {
            "now": self._now(),
            "half_life": self._half_life_days,
            "fact_ids": None,
            "words": wanted.words,
            "category": wanted.category,
            "state": wanted.state,
            "min_trust": wanted.min_trust,
            "as_of": wanted.as_of,
            "after_key": after[0] if after else None,
            "after_id": after[1] if after else None,
            "limit": limit,
        }


def _principals(principal: Principal) -> list[Principal]:
    """The principal, and for a team member the principal that reads what its leader shares."""
    if principal.leader_agent_id is None:
        return [principal]
    return [principal, Principal(principal.tenant_id, principal.leader_agent_id, None)]


async def _visible(connection: Connection, principal: Principal, *, is_leader: bool) -> list[int]:
    """The slices that a principal sees, opened to the transaction; of a leader the team's slice alone."""
    if not await store.agent_exists(connection, principal.tenant_id, principal.agent_id):
        raise NotFound(f"there is no agent {principal.agent_id!r}")
    visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
    return [s.slice_id for s in visible if s.agent_id is not None or not is_leader]


def _fact(row: DictRow) -> Fact:
    source = {name: row.pop(name) for name in _SOURCE}
    agent_id, owner_key = row.pop("agent_id"), row.pop("owner_key")
    return Fact(**row, scope=scope_of(agent_id, owner_key), owner_key=owner_key, source=_source(source))


def _source(source: Mapping[str, Any]) -> dict[str, Any]:
    if source["path"] is not None:
        return {name: source[name] for name in ("path", "start_line", "end_line")}
    message_ids = [message_id for message_id in source["message_ids"] if message_id]
    return {"session_id": source["session_id"], "message_ids": message_ids, "messages": source["seqs"]}


def _contradiction(row: DictRow, facts: Mapping[int, Fact]) -> Contradiction:
    first, second = facts[row.pop("first_id")], facts[row.pop("second_id")]
    return Contradiction(fact_a=first, fact_b=second, **row)
