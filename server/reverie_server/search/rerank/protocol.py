"""What every reranker implements, and how it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class RerankFailed(Exception):
    """There are no scores, and why, as what follows `the reranker`. `is_outage`: the reranker itself is not well."""

    def __init__(self, reason: str, *, is_outage: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_outage = is_outage


class Reranker(Protocol):
    """A model that says how well a text answers a query."""

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A score for each text, in the order of the texts; higher is better, on a scale of the model's own.

        Raises RerankFailed. Whoever stops waiting cancels the call.
        """
        ...

    async def aclose(self) -> None:
        """Release the model or the connections."""
        ...
