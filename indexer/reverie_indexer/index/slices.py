"""The slices of places. Every function works inside the caller's transaction."""

from __future__ import annotations

from reverie_indexer.database.database import Connection, Slice, act_for, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.model import Place, Scope

SQL = Queries(__file__)


def scope_of(agent_id: str | None, owner_key: str | None) -> Scope:
    """The scope of a slice, from its keys."""
    if agent_id is None:
        return "global"
    return "team" if owner_key is None else "personal"


async def lock_slice(connection: Connection, place: Place) -> Slice:
    """The slice of a place at its next revision, made where new; opens it to the transaction, and locks out writers."""
    await act_for(connection, place.agent_id, place.owner_key)
    return await _locked(connection, place, past=False)


async def past_slice(connection: Connection, place: Place) -> Slice:
    """The past twin of a place's slice, made where new. The caller holds the slice's lock."""
    return await _locked(connection, place, past=True)


async def _locked(connection: Connection, place: Place, *, past: bool) -> Slice:
    keys = {
        "tenant_id": place.tenant_id,
        "agent_id": None if place.scope == "global" else place.agent_id,
        "owner_key": place.owner_key if place.scope == "personal" else None,
        "past": past,
    }
    await connection.execute(SQL["create_slice"], keys)
    row = await (await connection.execute(SQL["lock_slice"], keys)).fetchone()
    if row is None:
        raise NotFound("the agent was deleted while it was written to")
    await visible_slices(connection, place.tenant_id, place.agent_id, place.owner_key, with_past=True)
    return Slice(**row)


async def own_slices(connection: Connection, place: Place, *, with_past: bool = False) -> list[int]:
    """The slices a place consists of (one, or none before its first write); opens what it sees to the transaction.

    `with_past` adds its past twin, if it has one.
    """
    visible = await visible_slices(connection, place.tenant_id, place.agent_id, place.owner_key, with_past=with_past)
    return [s.slice_id for s in visible if scope_of(s.agent_id, s.owner_key) == place.scope]
