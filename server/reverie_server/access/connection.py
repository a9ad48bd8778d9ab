"""Whose memory a tool works on: said by the connection, never by the model."""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.file_rules import check_agent_id, check_owner_key
from reverie_server.access.gate import acting_owner
from reverie_server.access.keys import Caller


@dataclass(frozen=True, slots=True)
class Connection:
    """Who calls, for which agent, and as whom; `owner_key` None: for all who use the agent."""

    caller: Caller
    agent_id: str
    owner_key: str | None


def connect(caller: Caller, agent_id: str, owner_key: str | None) -> Connection:
    """The connection, within what the caller's key is bound to.

    Raises ValidationFailed for a malformed agent or owner, Forbidden for one that the key is not for.
    """
    check_agent_id(agent_id)
    if owner_key is not None:
        check_owner_key(owner_key)
    return Connection(caller, agent_id, acting_owner(caller, agent_id, owner_key))
