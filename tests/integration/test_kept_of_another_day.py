"""What somebody told on another day and asks to be kept, found by its meaning, with the real embedding model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.embedders import runtime_with
from tests.integration.test_extraction import extract, file
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)
TOLD = "That tank at the vicarage is a 210 litre vented one."


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return load_local(tmp_path_factory.mktemp("graphs"), E5)


@pytest.fixture
async def runtime(database: Database, embedder: LocalEmbedder) -> Runtime:
    return await runtime_with(database, embedder)


async def told(runtime: Runtime, day: int, *texts: str, owner_key: str | None = ADA) -> Talk:
    talk = Talk(runtime, f"web:{owner_key}:{day}", owner_key)
    at = MARCH + timedelta(days=day)
    roles = ("user", "assistant")
    await talk.add([NewMessage(roles[number % 2], text, at=at) for number, text in enumerate(texts)])
    await extract(runtime, talk, by_hand=True, owner_key=owner_key)
    return talk


async def test_what_was_told_days_ago_is_kept_when_it_is_asked_for(runtime: Runtime) -> None:
    await told(
        runtime, 0, f"Job at the vicarage is done, three hours. {TOLD}", "A long one.", "Lunch was a pie.", "Nice."
    )
    await told(
        runtime, 1, "The van passed its MOT at last.", "Good news.", "My knees hurt from the stairs.", "Rest them."
    )
    asking = "That tank up at the vicarage, the size of it, keep that for me for next time, will you."
    talk = await told(runtime, 9, asking, "Will do, it's stored.", "I'm having soup tonight.", "Enjoy it.")
    kept = await file(talk, "MEMORY.md") or ""
    assert "- That tank at the vicarage is a 210 litre vented one." in kept
    assert "the size of it" not in kept


async def test_what_somebody_else_told_is_not_kept(runtime: Runtime) -> None:
    await told(runtime, 0, f"Job done. {TOLD}", "A long one.", "Lunch was a pie.", "Nice.", owner_key="user:bob")
    asking = "That tank up at the vicarage, the size of it, keep that for me for next time, will you."
    talk = await told(
        runtime, 9, f"I live in Leeds. {asking}", "Will do, it's stored.", "I'm having soup.", "Enjoy it."
    )
    assert "210" not in (await file(talk, "MEMORY.md") or "")
    assert "210" not in await talk.notes()


async def test_what_the_assistant_alone_told_is_not_kept(runtime: Runtime) -> None:
    await told(runtime, 0, "I was at the vicarage for three hours.", TOLD, "Lunch was a pie.", "Nice.")
    asking = "That tank up at the vicarage, the size of it, keep that for me for next time, will you."
    talk = await told(runtime, 9, asking, "Will do, it's stored.", "I'm having soup tonight.", "Enjoy it.")
    assert "210" not in (await file(talk, "MEMORY.md") or "")
