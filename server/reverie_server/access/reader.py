"""Who reads and writes whose memory, once the gate has let them."""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.errors import Forbidden, ValidationFailed
from reverie_indexer.model import Place, Scope


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks: a tenant's agent, for one owner or for what is shared; a team member has a leader.

    `is_bound`: the key is that owner's own, and writes nothing that others read.
    """

    tenant_id: str
    agent_id: str
    owner_key: str | None
    leader_agent_id: str | None = None
    is_bound: bool = False


def place_for(reader: Reader, scope: Scope | None) -> Place:
    """Where a write goes: personal when an owner is given, else team, unless the request says."""
    chosen: Scope = scope or ("personal" if reader.owner_key is not None else "team")
    if chosen == "personal" and reader.owner_key is None:
        raise ValidationFailed("scope personal needs an owner_key")
    return Place(reader.tenant_id, reader.agent_id, chosen, reader.owner_key if chosen == "personal" else None)


def check_own(reader: Reader, place: Place) -> None:
    """Forbidden where an owner's own key would write what others read, too."""
    if reader.is_bound and place.owner_key != reader.owner_key:
        raise Forbidden("the key is bound to an owner and writes that owner's memory only")
