"""Embeddings from any OpenAI-compatible endpoint: batches, and the one bad text found in a refused one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import replace

from reverie_indexer.breaker import Breaker
from reverie_indexer.embed.endpoint_client import Clock, EndpointClient, EndpointConfig, Refused
from reverie_indexer.embed.protocol import Embedding, Role, replace_surrogates
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model import ModelIdentity

__all__ = ["EndpointConfig", "EndpointEmbedder", "connect_endpoint"]

_HARMLESS_TEXT = "The weather is fine today."


class EndpointEmbedder:
    """One model of one endpoint. Make one with `connect_endpoint`."""

    def __init__(self, client: EndpointClient, identity: ModelIdentity, batch_texts: int) -> None:
        self._client = client
        self._identity = identity
        self._batch_texts = batch_texts
        self._closed = False

    @property
    def identity(self) -> ModelIdentity:
        """The model's name at the endpoint, and the revision its operator gave it."""
        return self._identity

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        """See `Embedder.embed`. One request at a time; each batch may take as long as the deadline.

        A refused batch is halved until the refused text stands alone and becomes `EmbeddingRejected`, as does
        a text whose vector is no direction. Before a text is blamed, the endpoint must have embedded another.
        All roles are the same to an endpoint.
        """
        del role
        if self._closed:
            raise EmbedderUnavailable("The embedder is closed.")
        sendable = [replace_surrogates(text) for text in texts]
        distinct = list(dict.fromkeys(sendable))
        starts = range(0, len(distinct), self._batch_texts)
        pending = [distinct[start : start + self._batch_texts] for start in reversed(starts)]
        done: dict[str, Embedding] = {}
        proven = False
        while pending:
            batch = pending.pop()
            answer = await self._client.request(batch)
            if isinstance(answer, Refused) and len(batch) > 1:
                middle = len(batch) // 2
                pending += [batch[middle:], batch[:middle]]
                continue
            vectors = [None] if isinstance(answer, Refused) else answer
            proven = proven or any(vector is not None for vector in vectors)
            if not proven:
                await self._prove()
                proven = True
            why = f"HTTP {answer.status}" if isinstance(answer, Refused) else "no usable vector"
            for text, vector in zip(batch, vectors, strict=True):
                done[text] = _rejected(why) if vector is None else vector
        return [done[text] for text in sendable]

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`: it cannot tell."""
        del text
        return 1.0

    @property
    def breaker(self) -> Breaker:
        """The breaker, which says whether the endpoint is asked now."""
        return self._client.breaker

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        self._closed = True
        await self._client.aclose()

    async def _prove(self) -> None:
        """Raise `EmbedderUnavailable` if a text that nothing is wrong with fares no better."""
        answer = await self._client.request([_HARMLESS_TEXT])
        if isinstance(answer, Refused) or answer[0] is None:
            raise EmbedderUnavailable(
                "The embedding endpoint gives no vector for any text: check the model's name, the limits of "
                "the account and the endpoint's log."
            )


async def connect_endpoint(config: EndpointConfig, *, clock: Clock | None = None) -> EndpointEmbedder:
    """Make the embedder; without a configured dimension, ask the endpoint by embedding one short text.

    Raises `SetupError` for a configuration that cannot work, and `EmbedderUnavailable` when the dimension
    must be asked for and cannot be.
    """
    clock = clock or Clock()
    await asyncio.to_thread(importlib.import_module, "openai")  # seconds, the first time
    client = EndpointClient(config, clock)
    dimension = config.dimension
    if dimension is None:
        try:
            dimension = await _ask_dimension(client, config)
        finally:
            await client.aclose()
        client = EndpointClient(replace(config, dimension=dimension), clock)
    identity = ModelIdentity("endpoint", config.model, config.revision, dimension, True)
    return EndpointEmbedder(client, identity, config.batch_texts)


async def _ask_dimension(client: EndpointClient, config: EndpointConfig) -> int:
    answer = await client.request([_HARMLESS_TEXT])
    if isinstance(answer, Refused) or answer[0] is None:
        raise EmbedderUnavailable(
            f"The embedding endpoint {config.host} gives no vector for a short text, so that its dimension "
            "is not known: check the model's name and the endpoint's log, or configure the dimension."
        )
    return int(answer[0].size)


def _rejected(why: str) -> EmbeddingRejected:
    return EmbeddingRejected(f"The embedding endpoint takes this text never ({why}); others are not concerned.")
