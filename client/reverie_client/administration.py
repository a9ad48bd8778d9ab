"""Answers of the administration of a tenant: keys, the audit, the deletion of a person's memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

AuditAction: TypeAlias = Literal["read", "write", "forget", "export", "keys", "settings"]
AuditOutcome: TypeAlias = Literal["ok", "denied", "refused", "failed"]
KeyRole: TypeAlias = Literal["viewer", "member", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key without its secret. None: bound to no `agents`, to no owner; without name, end or use."""

    id: str
    role: KeyRole
    name: str | None = None
    agents: tuple[str, ...] | None = None
    owner_key: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey(Key):
    """A key that was just made; `key` is what to send, and is shown this once."""

    key: str

    def __repr__(self) -> str:
        # Without the key: what is shown may be logged.
        return f"NewKey(id={self.id!r}, role={self.role!r}, name={self.name!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPage:
    """A page of keys, oldest first."""

    keys: tuple[Key, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Key, ...]:
        """The items of the page."""
        return self.keys


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedOwner:
    """An owner of whom an agent has anything; `counts` by tier. `updated_at`: when a file or a session last changed."""

    owner_key: str
    updated_at: datetime
    sessions: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerPage:
    """A page of owners, the one whose memory changed last first."""

    owners: tuple[ListedOwner, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[ListedOwner, ...]:
        """The items of the page."""
        return self.owners


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what, when, by which key; `count` of how many things, in `requests` requests. Never a text.

    `key_name` is `system` for what the server did by itself; `owner_key` `*` stands for all owners.
    """

    id: str
    at: datetime
    action: AuditAction
    outcome: AuditOutcome
    key_id: str | None = None
    key_name: str | None = None
    agent_id: str | None = None
    owner_key: str | None = None
    count: int
    requests: int
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """A page of the audit, newest first."""

    entries: tuple[AuditEntry, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[AuditEntry, ...]:
        """The items of the page."""
        return self.entries


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerCounts:
    """How many things of each kind memory has of a person; with one agent, where `agent_id` names it."""

    agent_id: str | None = None
    files: int
    sessions: int
    messages: int
    episodes: int
    facts: int
    entities: int
    relations: int
    reports: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerDeleted:
    """How much of a person was removed, or with `dry_run` would be, in all and by agent; `keys` counts their keys.

    The audit tells of it under the request id `receipt_id`.
    """

    owner_key: str
    dry_run: bool
    removed: OwnerCounts
    keys: int
    agents: tuple[OwnerCounts, ...]
    receipt_id: str | None = None
