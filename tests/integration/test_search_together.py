"""Requests that are answered together, as the queries of a turn are, get what each gets by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.facts import read_facts
from tests.hot import Both, assert_same
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.sessions.model import NewMessage

FIRST = datetime(2026, 3, 3, 9, tzinfo=UTC)
SAID = ("I live in Oslo near the harbour.", "I moved to Bergen last week.", "Bo, my brother, repairs ship lanterns.")
QUERIES = ("Where do I live?", "Oslo harbour", "Who repairs lanterns?", "I moved to Bergen", "zebra")


def ask(query: str, limit: int, owner: str | None = ADA) -> SearchRequest:
    return SearchRequest("default", "wren", query, owner, max_results=limit)


async def remember(runtime: Runtime) -> None:
    for number, text in enumerate(SAID):
        talk = Talk(runtime, f"web:{number}")
        at = FIRST + timedelta(days=60 * number)
        await talk.add([NewMessage("user", text, at=at), NewMessage("assistant", "Nice.", at=at)])
        await read_facts(talk)
    await Talk(runtime).put("MEMORY.md", "\n\n".join(f"- {text}" for text in SAID))
    await Talk(runtime).put("notes/plain.md", "Where the lantern hangs.\n\nOslo has a harbour.")


@pytest.mark.parametrize("limit", [1, 6, 20])
async def test_together_they_find_what_each_finds(
    database: Database, models: ModelSlot, runtime: Runtime, limit: int
) -> None:
    await remember(runtime)
    both = Both(database, models)
    await both.warm(ask("lantern", limit))
    hits = both.hot.counts.hits
    requests = [ask(query, limit) for query in QUERIES]
    for search in (both.in_memory, both.in_database):
        together = await search.search_together(requests)
        for request, found in zip(requests, together, strict=True):
            assert_same(await search.search(request), found)
        results = [result for outcome in together for result in outcome.results]
        assert any(result.superseded for result in results) == (limit > 1)
        assert any(result.copies for result in results)
    assert both.hot.counts.hits == hits + 1 + len(requests)
    assert both.hot.counts.mismatches == 0
