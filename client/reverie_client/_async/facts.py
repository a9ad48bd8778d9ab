"""Facts: list them by trust, rate, confirm, edit and forget them, decide contradictions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Literal

from reverie_client._async.bound import AsyncBound
from reverie_client.facts import (
    Contradiction,
    ContradictionPage,
    ContradictionState,
    Fact,
    FactCategory,
    FactChain,
    FactPage,
    FactState,
    Feedback,
    Keep,
)
from reverie_client.receipts import Receipt
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call, segment


class AsyncFacts(AsyncBound):
    """The facts of the owner and what is shared."""

    def facts(
        self,
        q: str | None = None,
        *,
        category: FactCategory | None = None,
        min_trust: float | None = None,
        as_of: datetime | str | None = None,
        state: FactState | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[Fact]:
        """Facts by trust, those with all words of `q`; pages are fetched as they are needed. NotFound."""
        query = {
            **self._owner,
            "q": q,
            "category": category,
            "min_trust": None if min_trust is None else str(min_trust),
            "as_of": as_of.isoformat() if isinstance(as_of, datetime) else as_of,
            "state": state,
            "limit": page_size,
        }
        return self._connection.each(
            FactPage, Call(method="GET", path=f"{self._path}/facts", query=query, is_read=True)
        )

    async def fact(self, fact_id: str) -> FactChain:
        """A fact, with those that it replaced and what replaced it; NotFound."""
        path = f"{self._path}/facts/{segment(fact_id, 'the id of a fact')}"
        return await self._connection.ask(FactChain, Call(method="GET", path=path, query=self._owner, is_read=True))

    async def rate_fact(self, fact_id: str, kind: Feedback, *, turn_id: str | None = None) -> Fact:
        """Say whether a fact was of use: one vote for each owner, fact and turn; `none` takes it back."""
        body = {**self._owner, "kind": kind, "turn_id": turn_id}
        return await self._connection.ask(Fact, Call(method="POST", path=self._fact(fact_id, "feedback"), body=body))

    async def confirm_fact(self, fact_id: str) -> Fact:
        """Say that a fact is so."""
        call = Call(method="POST", path=self._fact(fact_id, "confirm"), body=self._owner)
        return await self._connection.ask(Fact, call)

    async def edit_fact(self, fact_id: str, text: str) -> Fact:
        """Write other words into exactly the line of a fact; the fact that they state. ValidationError."""
        body = {**self._owner, "text": text}
        return await self._connection.ask(Fact, Call(method="POST", path=self._fact(fact_id, "edit"), body=body))

    async def forget_fact(self, fact_id: str) -> Receipt:
        """Take the statement of a fact out of everything, as `forget` does."""
        call = Call(
            method="POST", path=self._fact(fact_id, "forget"), body=self._owner, timeout_seconds=LONG_TIMEOUT_SECONDS
        )
        return await self._connection.ask(Receipt, call)

    def contradictions(
        self, *, state: ContradictionState | Literal["all"] | None = None, page_size: int | None = None
    ) -> AsyncIterator[Contradiction]:
        """Pairs of facts that cannot both hold, newest first; only open ones by default."""
        query = {**self._owner, "state": state, "limit": page_size}
        call = Call(method="GET", path=f"{self._path}/contradictions", query=query, is_read=True)
        return self._connection.each(ContradictionPage, call)

    async def resolve_contradiction(
        self, contradiction_id: str, keep: Keep, *, text: str | None = None
    ) -> Contradiction:
        """Decide which of two facts holds, once (then Conflict); `merge` needs the text that stands for both."""
        path = f"{self._path}/contradictions/{segment(contradiction_id, 'the id of a contradiction')}/resolve"
        body = {**self._owner, "keep": keep, "text": text}
        return await self._connection.ask(Contradiction, Call(method="POST", path=path, body=body))

    def _fact(self, fact_id: str, action: str) -> str:
        return f"{self._path}/facts/{segment(fact_id, 'the id of a fact')}/{action}"
