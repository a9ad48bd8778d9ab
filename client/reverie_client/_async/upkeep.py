"""Upkeep of memory: forget, clear and reindex."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_client._async.bound import AsyncBound
from reverie_client.model import Scope, Tier
from reverie_client.receipts import Cleared, Receipt, Reindexed
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call


class AsyncUpkeep(AsyncBound):
    """Upkeep of the owner's memory where the view has an owner, else of the team's."""

    async def forget(
        self,
        *,
        query: str | None = None,
        id: str | None = None,  # noqa: A002  # as on the wire
        text: str | None = None,
        dry_run: bool = True,
    ) -> Receipt:
        """Take a text out of files, their history and backups, and the index; by default only say what would go.

        Exactly one of `query` (the passages relevant to it), `id` (of a hit) and `text`: else ValidationError.
        """
        body = {**self._owner, "query": query, "id": id, "text": text, "dry_run": dry_run}
        call = Call(method="POST", path=f"{self._path}/memory/forget", body=body, is_read=dry_run)
        return await self._connection.ask(Receipt, call)

    async def clear(
        self,
        *,
        older_than_days: int | None = None,
        path_prefix: str | None = None,
        tiers: Sequence[Tier] | None = None,
        dry_run: bool = True,
    ) -> Cleared:
        """Remove what fits all conditions for good, history included; by default only say how much would go."""
        body = {
            **self._owner,
            "older_than_days": older_than_days,
            "path_prefix": path_prefix,
            "tiers": None if tiers is None else list(tiers),
            "dry_run": dry_run,
        }
        call = Call(method="POST", path=f"{self._path}/memory/clear", body=body, is_read=dry_run)
        return await self._connection.ask(Cleared, call)

    async def reindex(self, *, scope: Scope | None = None, timeout_seconds: float = LONG_TIMEOUT_SECONDS) -> Reindexed:
        """Chunk and embed anew; files stay as they are."""
        body = {**self._owner, "scope": scope}
        url = f"{self._path}/memory/reindex"
        call = Call(method="POST", path=url, body=body, timeout_seconds=timeout_seconds)
        return await self._connection.ask(Reindexed, call)
