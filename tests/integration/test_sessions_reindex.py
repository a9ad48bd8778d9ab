"""What was said is indexed anew by the rules of today, and its order stays."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.consistency import assert_index_consistent
from tests.conversations import ADA, BO, SESSION, TEAM, append, assistant, place_of, user

from reverie_indexer.database.database import Database
from reverie_indexer.errors import ReverieError
from reverie_indexer.reindex import Reindexed
from reverie_server.access.principal import Principal
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.sessions import reindex
from reverie_server.sessions.model import Message, NewMessage, Session
from reverie_server.settings.agent import AgentSettings

NOON = datetime(2026, 4, 3, 12, tzinfo=UTC)


async def again(runtime: Runtime, principal: Principal = ADA, **settings: Any) -> Reindexed:
    """Index anew with settings that the agent then has."""
    await runtime.agents.put("default", "wren", None, None, settings)
    # Pages of five: the twelve messages of a talk are more than one.
    return await reindex.reindex_messages(
        runtime.database, runtime.pipeline, place_of(principal), AgentSettings(**settings), page_messages=5
    )


async def talk(runtime: Runtime, session_id: str = SESSION) -> None:
    for number in range(4):
        await append(
            runtime,
            user(f"What about number {number}?\n\nAnd what else is there, {number}?", at=NOON),
            NewMessage("tool", f"result {number}"),
            assistant(f"Number {number} is fine. " * 12, at=NOON),
            session_id=session_id,
        )


async def test_by_the_same_rules_nothing_changes(runtime: Runtime, conninfo: str) -> None:
    await talk(runtime)
    await talk(runtime, "web:2")
    await append(runtime, user("Of Bo."), principal=BO)
    assert await again(runtime) == Reindexed(documents=2, chunks=24, embedded=0, reused=24)
    assert await again(runtime, TEAM) == Reindexed(0, 0, 0, 0)
    assert_index_consistent(conninfo)


@pytest.mark.parametrize(
    "settings", [{"language": "german"}, {"chunk_max_chars": 100}, {"time_zone": "Pacific/Kiritimati"}]
)
async def test_new_rules_are_followed(runtime: Runtime, conninfo: str, settings: dict[str, Any]) -> None:
    await talk(runtime)
    done = await again(runtime, **settings)
    # The short ones are not cut otherwise.
    reused = 8 if "chunk_max_chars" in settings else 0
    assert (done.documents, done.reused, done.embedded) == (1, reused, done.chunks - reused)
    assert (done.chunks > 12) == ("chunk_max_chars" in settings)
    assert_index_consistent(conninfo)
    assert (await again(runtime, **settings)).reused == done.chunks
    # And back, which makes fewer of more.
    await again(runtime)
    assert_index_consistent(conninfo)


async def test_an_agent_that_keeps_what_is_said_out_of_search_does_so_for_the_past(
    runtime: Runtime, conninfo: str
) -> None:
    await talk(runtime)
    assert (await again(runtime, index_messages=False)).chunks == 0
    assert_index_consistent(conninfo)
    await append(runtime, user("Not indexed."), index_messages=False)
    await append(runtime, user("Indexed."), user("Indexed too."))
    # What was said between is put between.
    assert (await again(runtime)).chunks == 15
    assert_index_consistent(conninfo)
    request = SearchRequest("default", "wren", "indexed", "user:1", mode="text", tiers=("message",), max_results=9)
    found = (await runtime.search.search(request)).results
    middle = next(r for r in found if r.text == "Indexed.")
    expanded = await runtime.expansion.expand(ADA, str(middle.chunk_id))
    assert [p.text for p in expanded.before][-1] == "Not indexed."
    assert [p.text for p in expanded.after] == ["Indexed too."]


async def test_a_message_that_is_forgotten_meanwhile_does_not_come_back(
    runtime: Runtime, database: Database, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(runtime)
    read = reindex._page

    async def read_then_forget(*arguments: Any) -> list[Message]:
        page = await read(*arguments)
        async with database.maintenance() as connection:
            # As forgetting leaves it: the message told anew, and its passages with it.
            await connection.execute("UPDATE messages SET content = 'forgotten' WHERE seq = 1")
        return page

    monkeypatch.setattr(reindex, "_page", read_then_forget)
    await again(runtime, chunk_max_chars=100)
    monkeypatch.setattr(reindex, "_page", read)
    await again(runtime, chunk_max_chars=100)
    assert_index_consistent(conninfo)


async def test_a_session_that_is_deleted_meanwhile_is_passed_over(
    runtime: Runtime, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(runtime)
    read = reindex._sessions

    async def read_then_delete(*arguments: Any) -> list[Session]:
        sessions = await read(*arguments)
        await runtime.sessions.delete(ADA, SESSION)
        return sessions

    monkeypatch.setattr(reindex, "_sessions", read_then_delete)
    try:
        assert (await again(runtime)).chunks == 0
    except ReverieError:
        pytest.fail("a deleted session is nothing to complain of")
    assert_index_consistent(conninfo)
