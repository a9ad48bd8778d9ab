"""A system whose sessions are compacted on request alone: what happens beside the answers cannot be foreseen."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.scripted_model import ScriptedModel

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

NEVER = 1_000_000


@pytest.fixture
async def talking(database: Database, models: ModelSlot, scripted: ScriptedModel) -> AsyncIterator[Runtime]:
    """As everywhere, but for that."""
    llm = {"llm_base_url": scripted.base_url, "llm_model": "scripted"}
    # Nor is SOUL.md written: forgetting takes its lines along with facts, which the world does not foresee yet.
    settings = Settings(
        embedder="hashing", events_stream_seconds=0.2, compact_from_messages=NEVER, soul_every_writes=NEVER, **llm
    )
    runtime = assemble(settings, database, models)
    yield runtime
    assert runtime.llm is not None
    assert runtime.proxy is not None
    await runtime.proxy.aclose()
    await runtime.compactions.aclose()
    await runtime.llm.aclose()
