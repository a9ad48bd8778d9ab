"""Models of keys."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from reverie_server.access.keys import KeyEntry, NewKey, Role
from reverie_server.http.schemas.common import Owner, request_config, response_config, response_from
from reverie_server.text.fields import Instant, Text

_KEY = {
    "id": "3f9c2a71b04de586",
    "name": "shop",
    "role": "member",
    "agents": ["wren"],
    "owner_key": None,
    "created_at": "2026-04-03T09:30:00Z",
    "expires_at": "2030-04-03T00:00:00Z",
    "last_used_at": "2026-04-03T09:31:00Z",
}
# Not in the form of a key: no document shows what could be one.
_EXAMPLE = "rv_3f9c2a71b04de586_…"


class KeyPost(Owner):
    """A key to be made, of the caller's tenant. Without agents and owner it is bound to none."""

    model_config = request_config(name="shop", role="member", agents=["wren"], expires_at="2030-04-03T00:00:00Z")

    role: Role
    name: Annotated[Text, Field(min_length=1, max_length=100)] | None = None
    agents: Annotated[list[str], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="The agents that the key is for; none: any"
    )
    expires_at: Instant | None = Field(None, description="From when on it is not accepted, RFC 3339 with an offset")

    def new_key(self, tenant_id: str) -> NewKey:
        """The key to make for a tenant; ValidationFailed for an owner that is none."""
        return NewKey(tenant_id, self.role, self.resolved_owner(), self.agents, self.name, self.expires_at)


class KeyBody(BaseModel):
    """A key without its secret. `last_used_at` is right to a minute."""

    model_config = response_config(**_KEY)

    id: str
    name: str | None
    role: Role
    agents: list[str] | None
    owner_key: str | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class KeyMade(KeyBody):
    """A new key, with the key itself, which is shown this once."""

    model_config = response_config(**{**_KEY, "last_used_at": None, "key": _EXAMPLE})

    key: str


class KeyList(BaseModel):
    """A page of the keys that are not revoked, oldest first."""

    model_config = response_config(keys=[_KEY], next_cursor=None)

    keys: list[KeyBody]
    next_cursor: str | None


def key_body(entry: KeyEntry) -> KeyBody:
    """A key as a response model."""
    return response_from(KeyBody, entry, id=entry.key_id, agents=entry.agent_ids)


def new_key_body(entry: KeyEntry, key: str) -> KeyMade:
    """A new key with the key itself as a response model."""
    return response_from(KeyMade, entry, id=entry.key_id, agents=entry.agent_ids, key=key)
