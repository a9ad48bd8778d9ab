"""A model as one that no constants were fitted for: to see what relevance is worth with any other one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reverie_bench.frame import LoadEmbedder
from reverie_indexer.embed import Embedder
from reverie_indexer.embed.protocol import Embedding, Role
from reverie_indexer.model import ModelIdentity


class Unfitted:
    """The same vectors as an embedder's, which it owns, without its adapters and under an identity of its own."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the embedder, by another provider."""
        return replace(self._embedder.identity, provider="bench")

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """As the embedder does that knows queries and passages alone."""
        return await self._embedder.embed(texts, "passage" if role == "passage" else "query")

    def familiarity(self, text: str) -> float:
        """As the embedder has it."""
        return self._embedder.familiarity(text)

    async def aclose(self) -> None:
        """Release the embedder."""
        await self._embedder.aclose()


def unfitted(load: LoadEmbedder) -> LoadEmbedder:
    """Loads what `load` loads, as a model without constants."""

    async def load_unfitted() -> Embedder:
        return Unfitted(await load())

    return load_unfitted
