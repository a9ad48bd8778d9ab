"""The principal of a permitted request: whose memory it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.errors import Forbidden, ValidationFailed
from reverie_indexer.model import Place, Scope


@dataclass(frozen=True, slots=True)
class Principal:
    """An agent of a tenant, acting for one owner, or (`owner_key` None) for shared memory. A team member has a leader.

    `is_bound`: the key belongs to that owner, and writes nothing that others read.
    """

    tenant_id: str
    agent_id: str
    owner_key: str | None
    leader_agent_id: str | None = None
    is_bound: bool = False


def place_for(principal: Principal, scope: Scope | None) -> Place:
    """The place of a write: that of `scope`, by default personal for a principal with an owner, else the team's.

    ValidationFailed for a personal scope without an owner.
    """
    chosen: Scope = scope or ("personal" if principal.owner_key is not None else "team")
    if chosen == "personal" and principal.owner_key is None:
        raise ValidationFailed("scope personal needs an owner_key")
    return Place(principal.tenant_id, principal.agent_id, chosen, principal.owner_key if chosen == "personal" else None)


def check_place(principal: Principal, place: Place) -> None:
    """Forbidden where a key that is bound to an owner would write memory that others read."""
    if principal.is_bound and place.owner_key != principal.owner_key:
        raise Forbidden("the key is bound to an owner and writes that owner's memory only")
