"""The agent and the owner of a tool's calls: they come from the connection, never from the model."""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.file_rules import check_agent_id, check_owner_key
from reverie_server.access.gate import acting_owner
from reverie_server.access.keys import Caller


@dataclass(frozen=True, slots=True)
class Connection:
    """The caller, the agent and the owner; `owner_key` None: the memory that all users of the agent share."""

    caller: Caller
    agent_id: str
    owner_key: str | None


def connect(caller: Caller, agent_id: str, owner_key: str | None) -> Connection:
    """The connection, within the bindings of the caller's key.

    Raises ValidationFailed for a malformed agent or owner, Forbidden for one that the key is not for.
    """
    check_agent_id(agent_id)
    if owner_key is not None:
        check_owner_key(owner_key)
    return Connection(caller, agent_id, acting_owner(caller, agent_id, owner_key))
