"""Administration of a tenant: keys, audit, people. It needs an admin's key without bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from reverie_client._async.connection import AsyncConnection
from reverie_client.administration import (
    AuditAction,
    AuditEntry,
    AuditPage,
    Key,
    KeyPage,
    KeyRole,
    ListedOwner,
    NewKey,
    OwnerDeleted,
    OwnerPage,
)
from reverie_client.request import Call, segment


class AsyncAdministration:
    """The routes that concern a tenant as a whole."""

    _connection: AsyncConnection

    def keys(self, *, page_size: int | None = None) -> AsyncIterator[Key]:
        """The tenant's keys that are not revoked, oldest first; pages are fetched as they are needed."""
        call = Call(method="GET", path="/keys", query={"limit": page_size}, is_read=True)
        return self._connection.each(KeyPage, call)

    async def create_key(
        self,
        role: KeyRole,
        *,
        name: str | None = None,
        agents: Sequence[str] | None = None,
        owner_key: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Make a key of the tenant. From the first one on, no request goes without a key."""
        body = {
            "role": role,
            "name": name,
            "agents": None if agents is None else list(agents),
            "owner_key": owner_key,
            "expires_at": None if expires_at is None else expires_at.isoformat(),
        }
        return await self._connection.ask(NewKey, Call(method="POST", path="/keys", body=body))

    async def revoke_key(self, key_id: str) -> None:
        """Accept a key no more, from the next request on. NotFound where the tenant has none of that id."""
        await self._connection.send(Call(method="DELETE", path=f"/keys/{segment(key_id, 'a key id')}"))

    def audit(
        self,
        *,
        since: datetime | None = None,
        owner_key: str | None = None,
        action: AuditAction | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[AuditEntry]:
        """Who read, wrote, forgot, exported, or changed keys and settings, newest first; `since` an aware datetime."""
        query = {
            "since": None if since is None else since.isoformat(),
            "owner_key": owner_key,
            "action": action,
            "limit": page_size,
        }
        return self._connection.each(AuditPage, Call(method="GET", path="/audit", query=query, is_read=True))

    def owners(
        self, agent_id: str, *, q: str | None = None, page_size: int | None = None
    ) -> AsyncIterator[ListedOwner]:
        """Whose memory an agent has, the one that changed last first; with `q` those whose key has it.

        Forbidden but for an admin's key that is bound to no owner.
        """
        path = f"/agents/{segment(agent_id, 'an agent id')}/owners"
        call = Call(method="GET", path=path, query={"q": q, "limit": page_size}, is_read=True)
        return self._connection.each(OwnerPage, call)

    async def delete_owner(self, owner_key: str, *, dry_run: bool = True) -> OwnerDeleted:
        """Remove all memory of a person with any agent, and their keys, for good; with `dry_run` only count it."""
        query = {"dry_run": str(dry_run).lower()}
        call = Call(method="DELETE", path=_owner(owner_key), query=query, is_read=dry_run)
        return await self._connection.ask(OwnerDeleted, call)

    async def export_owner(self, owner_key: str) -> bytes:
        """All memory of a person as a ZIP with a folder for each agent. NotFound where there is nothing."""
        call = Call(method="GET", path=f"{_owner(owner_key)}/export", is_read=True)
        return (await self._connection.send(call)).content


def _owner(owner_key: str) -> str:
    return f"/owners/{segment(owner_key, 'an owner key')}"
