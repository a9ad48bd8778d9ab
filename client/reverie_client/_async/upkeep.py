"""Upkeep of memory: forget, clear and reindex."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from reverie_client._async.bound import AsyncBound
from reverie_client.model import Scope, Tier
from reverie_client.receipts import (
    Cleared,
    Receipt,
    ReceiptPage,
    Reindexed,
    StoredReceipt,
    UnmetRequest,
    UnmetRequestPage,
)
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call, segment


class AsyncUpkeep(AsyncBound):
    """Upkeep of the owner's memory where the view has an owner, else of the team's."""

    async def forget(
        self,
        *,
        query: str | None = None,
        id: str | None = None,  # noqa: A002  # as on the wire
        text: str | None = None,
        entity_id: str | None = None,
        session_id: str | None = None,
        items: Sequence[str] | None = None,
        dry_run: bool = True,
    ) -> Receipt:
        """Take statements out of everything that holds them, with their history; by default only say what would go.

        One of `query`, `id` (of a hit), `text`, `entity_id` and `session_id`: else ValidationError. A query only ever
        lists: to remove what it found, give the ids of the `items` to remove with `dry_run=False`. Raises
        StaleSelection, and removes nothing, where one is not what it was.
        """
        body = {
            **self._owner,
            "query": query,
            "id": id,
            "text": text,
            "entity_id": entity_id,
            "session_id": session_id,
            "items": None if items is None else list(items),
            "dry_run": dry_run,
        }
        call = Call(method="POST", path=f"{self._path}/memory/forget", body=body, is_read=dry_run)
        return await self._connection.ask(Receipt, call)

    def receipts(self, *, page_size: int | None = None) -> AsyncIterator[StoredReceipt]:
        """The receipts of what was forgotten, newest first: the owner's and the team's."""
        query = {**self._owner, "limit": page_size}
        return self._connection.each(
            ReceiptPage, Call(method="GET", path=f"{self._path}/receipts", query=query, is_read=True)
        )

    async def receipt(self, receipt_id: str) -> StoredReceipt:
        """A receipt: when, by whom, from where and how many; NotFound."""
        path = f"{self._path}/receipts/{segment(receipt_id, 'a receipt id')}"
        call = Call(method="GET", path=path, query=self._owner, is_read=True)
        return await self._connection.ask(StoredReceipt, call)

    def unmet_requests(self, *, page_size: int | None = None) -> AsyncIterator[UnmetRequest]:
        """What was asked in the owner's conversations to forget, and nothing was found for, newest first."""
        query = {**self._owner, "limit": page_size}
        return self._connection.each(
            UnmetRequestPage, Call(method="GET", path=f"{self._path}/unmet-requests", query=query, is_read=True)
        )

    async def unmet_request(self, request_id: str) -> UnmetRequest:
        """Such a request: the session and the number of the message that asks; NotFound."""
        path = f"{self._path}/unmet-requests/{segment(request_id, 'the id of a request')}"
        call = Call(method="GET", path=path, query=self._owner, is_read=True)
        return await self._connection.ask(UnmetRequest, call)

    async def dismiss_unmet_request(self, request_id: str) -> None:
        """Take such a request from the list; nothing is forgotten by it. NotFound."""
        path = f"{self._path}/unmet-requests/{segment(request_id, 'the id of a request')}"
        await self._connection.send(Call(method="DELETE", path=path, query=self._owner))

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
