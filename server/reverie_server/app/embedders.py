"""How the configured embedding model is loaded, and where its files are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.embedded import default_data_dir
from reverie_server.settings.server import Settings

if TYPE_CHECKING:
    from reverie_indexer.embed import Embedder
    from reverie_indexer.embed.built_in import BuiltInModel


def data_dir_of(settings: Settings) -> Path:
    """Where the embedded PostgreSQL and the converted model are."""
    return settings.data_dir or default_data_dir()


def weights_dir_of(settings: Settings) -> Path:
    """Where `reverie models fetch` puts the weights of built-in models."""
    return settings.embedder_weights_dir or data_dir_of(settings) / "models" / "weights"


def embedder_loader(settings: Settings) -> Callable[[], Awaitable[Embedder]] | None:
    """How to get the configured embedder; None when none is configured. Loading it imports its libraries."""
    match settings.embedder:
        case "none":
            return None
        case "local" | "local:multilingual-e5-small" | "local:all-MiniLM-L6-v2":
            return lambda: _load_local(settings)
        case "hashing":
            return lambda: _load_hashing(settings)
        case "sentence-transformers":
            return lambda: _load_sentence(settings)
        case "openai":
            return lambda: _connect_endpoint(settings)
        case _:
            assert_never(settings.embedder)


def built_in_model(settings: Settings) -> BuiltInModel:
    """The built-in model that is configured; the default one where it is another embedder."""
    from reverie_indexer.embed.built_in import BUILT_IN, DEFAULT_MODEL

    return BUILT_IN.get(settings.embedder.removeprefix("local:"), DEFAULT_MODEL)


async def _load_local(settings: Settings) -> Embedder:
    from reverie_indexer.embed.local import load_local

    return await asyncio.to_thread(
        load_local,
        data_dir_of(settings) / "models",
        built_in_model(settings),
        weights_dir=weights_dir_of(settings),
        threads=settings.embedder_threads,
    )


async def _load_hashing(settings: Settings) -> Embedder:
    from reverie_indexer.embed.deterministic import HashingEmbedder

    return HashingEmbedder(settings.embedder_dimension or 384)


async def _load_sentence(settings: Settings) -> Embedder:
    from reverie_indexer.embed.sentence import load_sentence

    if settings.embedder_model is None:
        raise SetupError("embedder sentence-transformers needs REVERIE_EMBEDDER_MODEL: a model's name or path")
    return await asyncio.to_thread(load_sentence, settings.embedder_model, device=settings.embedder_device)


async def _connect_endpoint(settings: Settings) -> Embedder:
    from reverie_indexer.embed.endpoint import EndpointConfig, connect_endpoint

    if settings.embedder_model is None or settings.embedder_base_url is None:
        raise SetupError("embedder openai needs REVERIE_EMBEDDER_BASE_URL and REVERIE_EMBEDDER_MODEL")
    key = settings.embedder_api_key
    return await connect_endpoint(
        EndpointConfig(
            base_url=settings.embedder_base_url,
            model=settings.embedder_model,
            api_key=key.get_secret_value() if key else None,
            dimension=settings.embedder_dimension,
            batch_texts=settings.embedder_batch_size,
            timeout_seconds=settings.embedder_timeout_seconds,
        )
    )
