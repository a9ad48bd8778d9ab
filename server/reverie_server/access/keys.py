"""API keys: shown once when they are made, stored as hashes, looked up at every request."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, ReverieError, SetupError, Unauthorized, ValidationFailed
from reverie_indexer.file_rules import check_agent_id, check_owner_key

SQL = Queries(__file__)
log = structlog.get_logger()
Role = Literal["viewer", "member", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "member", "admin")
_KEY = re.compile(r"rv_([a-z0-9]{16})_([A-Za-z0-9_-]{43})")
_TENANT = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAX_NAME_CHARS = 100
OPEN_TENANT = "default"
BOOTSTRAP_NAME = "bootstrap"
# The shortest time between two notes of a key's last use.
_NOTE_USE_SECONDS = 60.0
# The most keys for which the time of that note is remembered.
_MAX_NOTED = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request. `owner_key` and `agent_ids` are the bindings of the key; None: not bound.

    `has_foreign_key`: the request to an open server has a bearer token that may be the key of a language model's
    provider. Only routes that forward the token accept such a caller.
    """

    tenant_id: str
    role: Role
    owner_key: str | None = None
    agent_ids: frozenset[str] | None = None
    key_id: str | None = None
    key_name: str | None = None
    has_foreign_key: bool = False

    @property
    def is_bound(self) -> bool:
        """Whether the key is bound to an owner or to agents."""
        return self.owner_key is not None or self.agent_ids is not None


# A command on the database itself may do everything, and so may any request to an open server.
OPERATOR = Caller(OPEN_TENANT, "admin")


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A key without its secret."""

    tenant_id: str
    key_id: str
    role: Role
    owner_key: str | None
    agent_ids: Sequence[str] | None
    name: str | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        """Whether the key is accepted at `now`, and if not, why."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made. `owner_key` and `agent_ids` None: bound to none; `expires_at` None: never."""

    tenant_id: str
    role: Role
    owner_key: str | None = None
    agent_ids: Sequence[str] | None = None
    name: str | None = None
    expires_at: datetime | None = None

    def check(self) -> None:
        """ValidationFailed for a value that no key may have."""
        if not _TENANT.fullmatch(self.tenant_id):
            raise ValidationFailed("a tenant is 1 to 64 of A-Z a-z 0-9 . _ -")
        if self.role not in ROLES:
            raise ValidationFailed(f"a role is one of {', '.join(ROLES)}")
        if self.owner_key is not None:
            check_owner_key(self.owner_key)
        for agent_id in self.agent_ids or ():
            check_agent_id(agent_id)
        if self.name is not None and not (0 < len(self.name) <= _MAX_NAME_CHARS and self.name.isprintable()):
            raise ValidationFailed("the name of a key is 1 to 100 characters, all of them printable")
        if self.expires_at is not None and self.expires_at <= datetime.now(UTC):
            raise ValidationFailed("expires_at is in the past")


class Keys:
    """The keys of a server."""

    def __init__(
        self, database: Database, on_revoke: Callable[[Connection, str], Awaitable[None]] | None = None
    ) -> None:
        """`on_revoke` is called with the id of a key, in the transaction that revokes it, as the last thing of it."""
        self._database = database
        self._on_revoke = on_revoke
        self._noted: dict[str, float] = {}

    async def authenticate(self, authorization: str | None) -> Caller:
        """The caller of an `Authorization` header.

        A server that never had a key is open: every caller is an admin of its one tenant, except one that sends a key
        of ours, and so believes that the server has keys. Afterwards Unauthorized for a header that is missing,
        malformed, unknown, expired or revoked, without saying which.
        """
        key_id, secret_sha256 = Keys.presented(authorization) or ("", b"")
        [row] = await self._database.maintenance_query(SQL["authenticate"], {"key_id": key_id})
        scheme, _, credential = (authorization or "").partition(" ")
        if not row["has_keys"] and not credential.strip().startswith("rv_"):
            return Caller(OPEN_TENANT, "admin", has_foreign_key=True) if scheme.lower() == "bearer" else OPERATOR
        if row["key_id"] is None or not hmac.compare_digest(secret_sha256, row["secret_sha256"]):
            raise Unauthorized("give a valid key as `Authorization: Bearer <api key>`")
        await self._note_use(row["key_id"])
        agents = frozenset(row["agent_ids"]) if row["agent_ids"] is not None else None
        return Caller(row["tenant_id"], row["role"], row["owner_key"], agents, row["key_id"], row["name"])

    @staticmethod
    def presented(authorization: str | None) -> tuple[str, bytes] | None:
        """The id and the hash of the secret of the key in an `Authorization` header; None without a key."""
        scheme, _, credential = (authorization or "").partition(" ")
        key = _KEY.fullmatch(credential.strip()) if scheme.lower() == "bearer" else None
        return (key[1], _hash(key[2])) if key else None

    async def valid(self) -> frozenset[tuple[str, bytes]]:
        """The id and the hash of the secret of each valid key."""
        rows = await self._database.maintenance_query(SQL["valid_keys"], {})
        return frozenset((row["key_id"], bytes(row["secret_sha256"])) for row in rows)

    async def create(
        self, tenant_id: str, role: Role, *, owner_key: str | None = None, agent_ids: Sequence[str] | None = None
    ) -> tuple[str, str]:
        """Make a key without name and expiry; its id and the key itself. Raises what `make` raises."""
        entry, key = await self.make(NewKey(tenant_id, role, owner_key, agent_ids))
        return entry.key_id, key

    async def make(self, new: NewKey) -> tuple[KeyEntry, str]:
        """Make a key; its entry, and the key itself, which cannot be shown again. ValidationFailed for wrong values."""
        new.check()
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        entry = await self._insert(new, key_id, secret, only_first=False)
        assert entry is not None
        return entry, f"rv_{key_id}_{secret}"

    async def bootstrap(self, key: str) -> bool:
        """Store `key` as an admin's key if this server never had a key; whether it was stored.

        SetupError for a text that has not the form of a key. Of several processes that start at once, one stores it.
        """
        match = _KEY.fullmatch(key)
        if match is None:
            raise SetupError(
                "a bootstrap key is rv_, 16 of 0-9 a-z, _, and 43 of A-Z a-z 0-9 _ -, and this is none; make one: "
                "printf 'rv_%s_%s' $(openssl rand -hex 8) $(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=')"
            )
        new = NewKey(OPEN_TENANT, "admin", name=BOOTSTRAP_NAME)
        return await self._insert(new, match[1], match[2], only_first=True) is not None

    async def entries(
        self,
        tenant_id: str | None = None,
        *,
        valid_only: bool = False,
        after: tuple[datetime, str] | None = None,
        limit: int | None = None,
    ) -> list[KeyEntry]:
        """The keys of all tenants or of one, oldest first; with `valid_only` without revoked ones; with `limit` a page.

        `after` is the creation time and the id of the last key of the page before.
        """
        after_at, after_id = after or (None, None)
        params = {
            "tenant_id": tenant_id,
            "valid_only": valid_only,
            "after_at": after_at,
            "after_id": after_id,
            "limit": limit,
        }
        return [KeyEntry(**row) for row in await self._database.maintenance_query(SQL["list_keys"], params)]

    async def revoke(self, key_id: str, tenant_id: str | None = None) -> str:
        """Revoke a key from the next request on; its tenant.

        NotFound for an unknown key, and for a key of another tenant than `tenant_id`. DatabaseUnavailable, and the key
        is valid still, where a restore of an older backup would not learn of it.
        """
        async with self._database.maintenance() as connection:
            params = {"key_id": key_id, "tenant_id": tenant_id}
            row = await (await connection.execute(SQL["revoke_key"], params)).fetchone()
            if row is None:
                raise NotFound(f"there is no valid key {key_id!r}")
            if self._on_revoke is not None:
                await self._on_revoke(connection, key_id)
        return str(row["tenant_id"])

    async def any(self) -> bool:
        """Whether this server has ever had a key."""
        [row] = await self._database.maintenance_query(SQL["authenticate"], {"key_id": ""})
        return bool(row["has_keys"])

    async def _insert(self, new: NewKey, key_id: str, secret: str, *, only_first: bool) -> KeyEntry | None:
        params = {
            "tenant_id": new.tenant_id,
            "key_id": key_id,
            "secret_sha256": _hash(secret),
            "role": new.role,
            "owner_key": new.owner_key,
            "agent_ids": sorted(set(new.agent_ids)) if new.agent_ids else None,
            "name": new.name,
            "expires_at": new.expires_at,
            "only_first": only_first,
        }
        async with self._database.maintenance() as connection:
            if only_first:
                await connection.execute(SQL["lock_keys"])
            row = await (await connection.execute(SQL["create_key"], params)).fetchone()
        return None if row is None else KeyEntry(**row)

    async def _note_use(self, key_id: str) -> None:
        """Note the use of a key, at most once a minute. A failure is logged, and refuses no request."""
        now = time.monotonic()
        if now - self._noted.get(key_id, float("-inf")) < _NOTE_USE_SECONDS:
            return
        if len(self._noted) >= _MAX_NOTED:
            self._noted.clear()
        # Before the write: of many simultaneous requests one does it.
        self._noted[key_id] = now
        try:
            async with self._database.maintenance() as connection:
                await connection.execute(SQL["use_key"], {"key_id": key_id})
        except ReverieError as error:
            log.warning("key_use_not_noted", code=error.code)


def _hash(secret: str) -> bytes:
    """A plain hash is enough: the secret has 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()
