"""An embedder that notes what it is asked."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.embed import Embedder
from reverie_indexer.embed.protocol import Embedding, Role
from reverie_indexer.model import ModelIdentity


class NotingEmbedder:
    """An embedder that notes the texts of each call."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.calls: list[list[str]] = []

    @property
    def identity(self) -> ModelIdentity:
        """Of the embedder behind it."""
        return self._inner.identity

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """See `Embedder.embed`."""
        self.calls.append(list(texts))
        return await self._inner.embed(texts, role)

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`."""
        return self._inner.familiarity(text)

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        await self._inner.aclose()
