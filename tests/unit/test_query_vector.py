"""A query to an embedding model that hangs: the next ones do not wait for it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from reverie_indexer.embed.query_cache import CachedQueries
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model import ModelIdentity
from reverie_server.search import query_vector as module
from reverie_server.search.query_vector import query_vector


class Hanging:
    """An embedder that never answers, and counts what it was asked."""

    identity = ModelIdentity("test", "hanging", "1", 2, True)
    asked = 0

    async def embed(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        await asyncio.Event().wait()


async def test_a_model_that_did_not_answer_is_not_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUERY_SECONDS", 0.05)
    embedder = Hanging()
    queries = CachedQueries(embedder)  # type: ignore[arg-type]
    ready: Any = SimpleNamespace(queries=queries)
    try:
        with pytest.raises(EmbedderUnavailable, match="in time"):
            await query_vector(ready, "one")
        monkeypatch.setattr(module, "QUERY_SECONDS", 3600)
        with pytest.raises(EmbedderUnavailable, match="a moment ago"):
            await query_vector(ready, "two")
        assert embedder.asked == 1
    finally:
        await queries.aclose()
