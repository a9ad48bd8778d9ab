"""API keys: made once, shown once, stored hashed, looked up at every request."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reverie_indexer.db import Database
from reverie_indexer.errors import NotFound, Unauthorized, ValidationFailed
from reverie_indexer.files import check_agent_id, check_owner_key
from reverie_indexer.queries import Queries

SQL = Queries(__file__)
Role = Literal["viewer", "member", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "member", "admin")
_KEY = re.compile(r"rv_([a-z0-9]{16})_([A-Za-z0-9_-]{43})")
_TENANT = re.compile(r"[A-Za-z0-9._-]{1,64}")
OPEN_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. `owner_key` and `agent_ids` are what the key is bound to; None: not bound."""

    tenant_id: str
    role: Role
    owner_key: str | None = None
    agent_ids: frozenset[str] | None = None
    key_id: str | None = None


# Whoever runs a command on the database itself may do all that there is to do; so may anyone at an open server.
OPERATOR = Caller(OPEN_TENANT, "admin")


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A key without its secret."""

    tenant_id: str
    key_id: str
    role: Role
    owner_key: str | None
    agent_ids: Sequence[str] | None
    created_at: datetime
    revoked_at: datetime | None


class Keys:
    """The keys of a server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def authenticate(self, authorization: str | None) -> Caller:
        """The caller of an `Authorization` header.

        A server that never had a key is open: everyone is admin of the one tenant. Afterwards Unauthorized for
        a header that is missing, malformed, unknown or revoked, without telling which.
        """
        scheme, _, credential = (authorization or "").partition(" ")
        key = _KEY.fullmatch(credential.strip()) if scheme.lower() == "bearer" else None
        [row] = await self._database.maintenance_query(SQL["authenticate"], {"key_id": key[1] if key else ""})
        if not row["has_keys"]:
            return OPERATOR
        if key is None or row["key_id"] is None or not hmac.compare_digest(_hash(key[2]), row["secret_sha256"]):
            raise Unauthorized("give a valid key as `Authorization: Bearer <api key>`")
        agents = frozenset(row["agent_ids"]) if row["agent_ids"] is not None else None
        return Caller(row["tenant_id"], row["role"], row["owner_key"], agents, row["key_id"])

    @staticmethod
    def parts(authorization: str | None) -> tuple[str, bytes] | None:
        """The id and the hash of the secret of an `Authorization` header; None for one that holds no key."""
        scheme, _, credential = (authorization or "").partition(" ")
        key = _KEY.fullmatch(credential.strip()) if scheme.lower() == "bearer" else None
        return (key[1], _hash(key[2])) if key else None

    async def valid(self) -> frozenset[tuple[str, bytes]]:
        """The id and the hash of the secret of each key that is not revoked."""
        rows = await self._database.maintenance_query(SQL["valid_keys"], {})
        return frozenset((row["key_id"], bytes(row["secret_sha256"])) for row in rows)

    async def create(
        self, tenant_id: str, role: Role, *, owner_key: str | None = None, agent_ids: Sequence[str] | None = None
    ) -> tuple[str, str]:
        """Make a key: its id and the key itself, which nobody can show again. ValidationFailed for wrong arguments."""
        if not _TENANT.fullmatch(tenant_id):
            raise ValidationFailed("a tenant is 1 to 64 of A-Z a-z 0-9 . _ -")
        if role not in ROLES:
            raise ValidationFailed(f"a role is one of {', '.join(ROLES)}")
        if owner_key is not None:
            check_owner_key(owner_key)
        for agent_id in agent_ids or ():
            check_agent_id(agent_id)
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        async with self._database.maintenance() as connection:
            await connection.execute(
                SQL["create_key"],
                {
                    "tenant_id": tenant_id,
                    "key_id": key_id,
                    "secret_sha256": _hash(secret),
                    "role": role,
                    "owner_key": owner_key,
                    "agent_ids": sorted(set(agent_ids)) if agent_ids else None,
                },
            )
        return key_id, f"rv_{key_id}_{secret}"

    async def entries(self, tenant_id: str | None = None) -> list[KeyEntry]:
        """All keys, or a tenant's, oldest first, revoked ones too."""
        rows = await self._database.maintenance_query(SQL["list_keys"], {"tenant_id": tenant_id})
        return [KeyEntry(**row) for row in rows]

    async def revoke(self, key_id: str) -> None:
        """Accept a key no more, from the next request on. NotFound when there is no such valid key."""
        async with self._database.maintenance() as connection:
            row = await (await connection.execute(SQL["revoke_key"], {"key_id": key_id})).fetchone()
        if row is None:
            raise NotFound(f"there is no valid key {key_id!r}")

    async def any(self) -> bool:
        """Whether this server has ever had a key."""
        [row] = await self._database.maintenance_query(SQL["authenticate"], {"key_id": ""})
        return bool(row["has_keys"])


def _hash(secret: str) -> bytes:
    """A plain hash is enough: the secret has 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()
