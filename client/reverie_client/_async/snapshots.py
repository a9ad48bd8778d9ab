"""Snapshots of an agent's memory: export a ZIP, import a ZIP."""

from __future__ import annotations

from reverie_client._async.bound import AsyncBound
from reverie_client.model import Scope
from reverie_client.receipts import ImportReport
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call


class AsyncSnapshots(AsyncBound):
    """Export and import of the owner's files where the view has an owner, else the team's, unless `scope` says."""

    async def export_snapshot(self, *, prefix: str | None = None, scope: Scope | None = None) -> bytes:
        """The files, all or those whose path begins with `prefix`, as a ZIP archive with a manifest."""
        query = {**self._owner, "prefix": prefix, "scope": scope}
        call = Call(method="GET", path=f"{self._path}/workspace/memory/export", query=query, is_read=True)
        return (await self._connection.send(call)).content

    async def preview_import(self, archive: bytes, *, scope: Scope | None = None) -> ImportReport:
        """What importing the archive would create, update and skip; nothing is written.

        ValidationError for what is no archive, PayloadTooLarge for one over the limit.
        """
        query = {**self._owner, "scope": scope}
        url = f"{self._path}/workspace/memory/import/preview"
        call = Call(method="POST", path=url, query=query, body=archive, is_read=True)
        return await self._connection.ask(ImportReport, call)

    async def import_snapshot(
        self, archive: bytes, *, scope: Scope | None = None, timeout_seconds: float = LONG_TIMEOUT_SECONDS
    ) -> ImportReport:
        """Write what the archive brings, all of it or nothing. Raises what `preview_import` raises."""
        query = {**self._owner, "scope": scope}
        url = f"{self._path}/workspace/memory/import"
        call = Call(method="POST", path=url, query=query, body=archive, timeout_seconds=timeout_seconds)
        return await self._connection.ask(ImportReport, call)
