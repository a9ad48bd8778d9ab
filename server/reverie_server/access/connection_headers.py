"""The agent and the owner of a request to `/mcp` or the proxy: from its headers, the path or the key."""

from __future__ import annotations

from collections.abc import Iterable

from reverie_indexer.errors import ValidationFailed
from reverie_server.access.connection import Connection, connect
from reverie_server.access.keys import Caller

AGENT = "X-Reverie-Agent"
OWNER = "X-Reverie-Owner"
END_USER = "X-Reverie-End-User"
Headers = Iterable[tuple[bytes, bytes]]


def connection_of(
    caller: Caller,
    headers: Headers,
    *,
    path_agent: str | None = None,
    default_agent: str | None = None,
    default_end_user: str | None = None,
) -> Connection:
    """The agent and the owner in the headers, or those that the key is bound to.

    `path_agent` is the agent that the path names, if it does. `default_agent` is for keys bound to no agent,
    `default_end_user` for requests whose headers name no owner. Raises ValidationFailed for a header that is malformed,
    repeated or missing, or names another agent than the path, Forbidden for an agent or owner that the key is not for.
    """
    headers = list(headers)
    agent_id = header(headers, AGENT)
    if path_agent is not None:
        if agent_id not in (None, path_agent):
            raise ValidationFailed(f"the path and the header {AGENT} name different agents")
        agent_id = path_agent
    if agent_id is None and caller.agent_ids is None:
        agent_id = default_agent
    if agent_id is None:
        bound = sorted(caller.agent_ids or ())
        if len(bound) != 1:
            raise ValidationFailed(f"name the agent in the header {AGENT}: the key is not bound to exactly one")
        agent_id = bound[0]
    owner_key, end_user_id = header(headers, OWNER), header(headers, END_USER)
    if owner_key is None and end_user_id is None:
        end_user_id = default_end_user
    if end_user_id is not None:
        if owner_key not in (None, f"api:{end_user_id}"):
            raise ValidationFailed(f"{OWNER} and {END_USER} name different owners")
        owner_key = f"api:{end_user_id}"
    return connect(caller, agent_id, owner_key)


def header(headers: Headers, name: str) -> str | None:
    """The value of a header, or None; ValidationFailed for a malformed or repeated header.

    Its bytes are read as UTF-8: as Latin-1, which is customary, `user:ö` would be another owner.
    """
    values = [value for key, value in headers if key == name.lower().encode()]
    if len(values) > 1:
        raise ValidationFailed(f"the header {name} is there {len(values)} times")
    try:
        return values[0].decode() if values else None
    except UnicodeDecodeError:
        raise ValidationFailed(f"the header {name} is not UTF-8") from None
