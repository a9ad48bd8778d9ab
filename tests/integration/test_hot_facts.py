"""What is remembered of facts is what the database says, at each revision, and is asked for once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.facts import read_facts
from tests.forgetting import forget_all
from tests.hot import Both, assert_held_as_in_full
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.runtime import Runtime
from reverie_server.search.hot.remembered import Remembered
from reverie_server.search.request import SearchRequest
from reverie_server.sessions.model import NewMessage

HOMES = ("Oslo", "Bergen", "Turin", "Lisbon")
FIRST = datetime(2026, 3, 3, 9, tzinfo=UTC)
OLD = "I live in Oslo near the harbour."
QUERIES = ("Where do I live?", "Oslo harbour", "Where did I live before Bergen?", "I moved to Turin", "lantern")


def ask(query: str, owner: str | None = ADA, **more: object) -> SearchRequest:
    return SearchRequest("default", "wren", query, owner, **more)  # type: ignore[arg-type]


async def tell(runtime: Runtime, number: int) -> None:
    """Somebody moves to another of HOMES."""
    text = OLD if number == 0 else f"I moved to {HOMES[number]} last week."
    talk = Talk(runtime, f"web:{number}")
    at = FIRST + timedelta(days=60 * number)
    await talk.add([NewMessage("user", text, at=at), NewMessage("assistant", "Nice.", at=at + timedelta(minutes=1))])
    await read_facts(talk)


@pytest.fixture
def both(database: Database, models: ModelSlot) -> Both:
    return Both(database, models)


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


def remembered(both: Both) -> Remembered:
    [found] = [slot.held.remembered for slot in both.hot._slots.values() if slot.owner_key == ADA and slot.held]
    return found


@pytest.mark.parametrize("limit", [1, 6, 20])
async def test_each_move_is_seen_by_the_next_search(both: Both, talk: Talk, limit: int) -> None:
    await talk.put("notes/plain.md", "Where the lantern hangs.\n\nOslo has a harbour.")
    for number in range(len(HOMES)):
        await tell(talk.runtime, number)
        await both.warm(ask("lantern"))
        for _ in range(2):
            for query in QUERIES:
                await both.compare(ask(query, max_results=limit))
    outcome = await both.compare(ask("Where do I live near the harbour, in Oslo?", max_results=20))
    assert OLD in {result.text for result in outcome.results if result.superseded}
    assert both.hot.counts.mismatches == 0
    assert both.hot.counts.hits > 20


async def test_a_fact_is_asked_for_once_at_a_revision(both: Both, talk: Talk) -> None:
    for number in range(2):
        await tell(talk.runtime, number)
    await both.warm(ask("Oslo harbour"))
    first = remembered(both)
    assert first.ended is not None
    assert sentence_key(OLD) in first.ended.by_sentence
    assert sentence_key(OLD) in {key for keys in first.sentences.values() for key in keys}
    assert first.sources
    assert first.terms
    # Where nothing is remembered of facts that nobody would find by asking, it is not asked for again.
    first.ended = type(first.ended)({}, {})
    found = await both.in_memory.search(ask("Oslo harbour"))
    assert not any(result.superseded for result in found.results)
    await tell(talk.runtime, 2)
    await both.compare(ask("Oslo harbour"))
    assert remembered(both) is not first


async def test_sentences_are_looked_at_only_where_a_fact_has_ended(both: Both, talk: Talk) -> None:
    await tell(talk.runtime, 0)
    await both.warm(ask("Oslo harbour"))
    now = remembered(both)
    assert now.ended is not None
    assert (now.ended.by_sentence, now.sentences, now.terms) == ({}, {}, {})
    await tell(talk.runtime, 1)
    await both.warm(ask("Oslo harbour"))
    now = remembered(both)
    assert now.ended is not None
    assert sentence_key(OLD) in now.ended.by_sentence
    assert now.sentences


async def test_passages_are_compared_once_with_the_query_that_was_asked_last(both: Both, talk: Talk) -> None:
    await talk.put("notes/plain.md", "Where the lantern hangs.\n\nOslo has a harbour.")
    await both.warm(ask("lantern"))
    held = remembered(both)
    first = held.compared
    assert first is not None
    await both.compare(ask("lantern", max_results=3))
    assert held.compared is first
    await both.compare(ask("harbour"))
    assert held.compared is not first
    await talk.put("notes/more.md", "The lantern is lit at night.")
    outcome = await both.compare(ask("lantern"))
    assert "The lantern is lit at night." in {result.text for result in outcome.results}
    now = remembered(both).compared
    assert now is not None
    assert (now[0], len(now[1])) == (first[0], len(first[1]) + 1)


@pytest.mark.parametrize("limit", [1, 20])
async def test_what_ends_on_a_day_is_over_on_that_day_at_the_same_revision(both: Both, talk: Talk, limit: int) -> None:
    begins = datetime.now(UTC).replace(microsecond=0) + timedelta(days=40)
    said = (("I work at Klotz.", timedelta(60)), (f"From {begins:%-d %B %Y} I work at Nordlys.", timedelta(2)))
    for text, ago in said:
        await talk.add([NewMessage("user", text, at=datetime.now(UTC) - ago)])
    await read_facts(talk)
    request = ask("Do I work at Klotz?", max_results=limit)
    await both.warm(request)
    first = remembered(both)
    begins = datetime.combine(begins.date(), datetime.min.time(), UTC)
    seen = []
    for at in (begins - timedelta(minutes=1), begins, begins - timedelta(minutes=1)):
        both.at = at
        for query in ("Do I work at Klotz?", "Where did I work before Nordlys?", "Nordlys"):
            await both.compare(ask(query, max_results=limit))
        found = (await both.compare(request)).results
        seen.append(any(result.superseded for result in found) or all("Klotz" not in each.text for each in found))
    assert seen == [False, True, False]
    assert remembered(both) is first


async def test_the_forgotten_is_not_remembered(both: Both, talk: Talk) -> None:
    for number in range(3):
        await tell(talk.runtime, number)
    await both.warm(ask("Oslo harbour"))
    grant, place = await talk.grant()
    await forget_all(talk.runtime, grant, place, text=OLD)
    await both.hot.sweep()
    now = remembered(both)
    assert sentence_key(OLD) not in {key for keys in now.sentences.values() for key in keys}
    assert (now.ended, now.sources) == (None, {})
    await both.compare(ask("Oslo harbour"))
    await assert_held_as_in_full(both)
    ended = remembered(both).ended
    assert ended is None or sentence_key(OLD) not in ended.by_sentence


async def test_nobody_sees_what_ended_for_somebody_else(both: Both, runtime: Runtime) -> None:
    for number in range(2):
        await tell(runtime, number)
    bo = Talk(runtime, "web:bo", "user:bo")
    await bo.add([NewMessage("user", OLD, at=FIRST), NewMessage("assistant", "Nice.", at=FIRST)])
    await read_facts(bo)
    await both.warm(ask("Oslo harbour"))
    await both.warm(ask("Oslo harbour", "user:bo"))
    outcome = await both.compare(ask("Oslo harbour", "user:bo"))
    assert OLD in {result.text for result in outcome.results}
    assert not any(result.superseded for result in outcome.results)


async def test_who_said_a_message_is_asked_for_once(both: Both, talk: Talk) -> None:
    named = NewMessage("assistant", "What a cold harbour!", extra={"name": "Bo"})
    await talk.add([NewMessage("user", OLD), NewMessage("assistant", "A harbour, how nice!"), named])
    await both.warm(ask("harbour"))
    await both.compare(ask("harbour"))
    before = remembered(both)
    assert True in before.of_assistant.values()
    await both.in_memory.search(ask("harbour"))
    assert remembered(both) is before
    await talk.add([NewMessage("user", "A harbour, how nice!"), NewMessage("assistant", "How nice of the lantern!")])
    for query in ("harbour", "lantern", "What is nice?"):
        await both.compare(ask(query))
    grant, place = await talk.grant()
    await forget_all(talk.runtime, grant, place, text="lantern")
    await both.compare(ask("harbour"))
    assert both.hot.counts.mismatches == 0
