"""Who reads and writes whose memory, once the gate has let them."""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.errors import Forbidden, ValidationFailed
from reverie_indexer.model import Place, Scope


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a tenant's agent, for one owner or for what is shared; a team member has a leader.

    `is_bound`: the key is that owner's own, and writes nothing that others read.
    """

    tenant_id: str
    agent_id: str
    owner_key: str | None
    leader_agent_id: str | None = None
    is_bound: bool = False


def place_for(principal: Principal, scope: Scope | None) -> Place:
    """Where a write goes: personal when an owner is given, else team, unless the request says."""
    chosen: Scope = scope or ("personal" if principal.owner_key is not None else "team")
    if chosen == "personal" and principal.owner_key is None:
        raise ValidationFailed("scope personal needs an owner_key")
    return Place(principal.tenant_id, principal.agent_id, chosen, principal.owner_key if chosen == "personal" else None)


def check_own(principal: Principal, place: Place) -> None:
    """Forbidden where an owner's own key would write what others read, too."""
    if principal.is_bound and place.owner_key != principal.owner_key:
        raise Forbidden("the key is bound to an owner and writes that owner's memory only")
