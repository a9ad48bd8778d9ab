"""Feature hashing, a real embedder, made slow, broken or choosy at will; and a count of what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reverie_indexer.database.database import Database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.embed.protocol import Embedder, Embedding, Role
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model import ModelIdentity
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings


@dataclass
class MoodyEmbedder:
    """Hashes texts as `HashingEmbedder` does, after `delay_seconds`, unless it is `down` or `rejects` the text.

    It also goes down with the call after `down_after` calls.
    """

    dimension: int = 64
    delay_seconds: float = 0.0
    down: bool = False
    down_after: int | None = None
    rejects: Callable[[str], bool] = lambda text: False
    calls: int = 0
    texts: list[str] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._inner = HashingEmbedder(self.dimension)

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        self.calls += 1
        self.texts += texts
        self.called.set()
        await asyncio.sleep(self.delay_seconds)
        if self.down or (self.down_after is not None and self.calls > self.down_after):
            raise EmbedderUnavailable("the provider is down")
        answers = await self._inner.embed(texts, role)
        return [
            EmbeddingRejected("the provider refuses this text") if self.rejects(text) else answer
            for text, answer in zip(texts, answers, strict=True)
        ]

    def familiarity(self, text: str) -> float:
        return 1.0 if text.isascii() else 0.2

    async def aclose(self) -> None:
        await self._inner.aclose()


async def filled_slot(database: Database, embedder: MoodyEmbedder, *, check_active: bool = True) -> ModelSlot:
    """A slot with the embedder, ready."""

    async def load() -> MoodyEmbedder:
        return embedder

    slot = ModelSlot(load, check_active=check_active)
    await slot.fill(database)
    assert slot.ready is not None, slot.error
    return slot


async def runtime_with(database: Database, embedder: Embedder) -> Runtime:
    """The system over a database with an embedding model that is ready."""

    async def load() -> Embedder:
        return embedder

    slot = ModelSlot(load)
    await slot.fill(database)
    return assemble(Settings(embedder="local"), database, slot)
