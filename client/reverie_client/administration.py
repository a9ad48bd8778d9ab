"""What an admin of a tenant sees of it: its keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["viewer", "member", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key without its secret. None: bound to no `agents`, to no owner; without name, end or use."""

    id: str
    role: Role
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
        """What the page holds."""
        return self.keys
