"""How the configured reranker is loaded."""

from __future__ import annotations

import asyncio

from reverie_indexer.errors import SetupError
from reverie_server.search.rerank.protocol import Reranker
from reverie_server.search.rerank.reranking import Reranking
from reverie_server.settings.server import Settings


def reranking_of(settings: Settings) -> Reranking | None:
    """The configured reranker, not loaded yet; None when none is configured. Loading it imports its libraries."""
    if settings.reranker == "none":
        return None

    async def load() -> Reranker:
        return await asyncio.to_thread(_load, settings)

    return Reranking(load, candidates=settings.reranker_candidates, timeout_seconds=settings.reranker_timeout_seconds)


def _load(settings: Settings) -> Reranker:
    if settings.reranker_model is None:
        raise SetupError(f"reranker {settings.reranker} needs REVERIE_RERANKER_MODEL: a model's name or path")
    if settings.reranker == "cross-encoder":
        from reverie_server.search.rerank.cross_encoder import load_cross_encoder

        return load_cross_encoder(settings.reranker_model, device=settings.embedder_device)
    from reverie_server.search.rerank.endpoint import EndpointConfig, EndpointReranker

    if settings.reranker_base_url is None:
        raise SetupError("reranker endpoint needs REVERIE_RERANKER_BASE_URL")
    key = settings.reranker_api_key
    return EndpointReranker(
        EndpointConfig(
            base_url=settings.reranker_base_url,
            model=settings.reranker_model,
            api_key=key.get_secret_value() if key else None,
        )
    )
