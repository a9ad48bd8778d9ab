"""The stage `facts`: what messages and files state becomes facts with sources, periods and passages."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from tests.facts import read_facts, reading, rows
from tests.rows import leftovers
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.errors import NotFound
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.app.wiring import assemble
from reverie_server.browse.expand import ExpandedPassage
from reverie_server.facts import settle
from reverie_server.facts.model import MessageSource, Reading
from reverie_server.facts.store import FactSlice, add
from reverie_server.facts.view import FactFilter
from reverie_server.files.files import Write
from reverie_server.forgettable import Selection
from reverie_server.forgetting.selection import Target
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.stated_fact import Change, StatedFact
from reverie_server.jobs.model import lines_source, message_source
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.line_identity import Derived
from reverie_server.provenance.record import record
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for
from reverie_server.sessions.model import Message, NewMessage


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(reading(runtime))


async def test_what_a_message_states_is_a_fact_with_its_source_and_a_passage(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "A fine place.")
    outcome = await read_facts(talk)
    assert outcome.status == "completed"
    [fact] = await rows(talk)
    assert (fact["subject"], fact["predicate"], fact["object"], fact["state"]) == ("user", "home", "Rome", "current")
    [source] = await rows(talk, "fact_sources")
    assert (source["session_id"], source["seqs"]) == ("web:1", [1])
    [chunk] = await rows(talk, "chunks")
    assert (chunk["chunk_id"], chunk["document_id"], chunk["valid_to"]) == (fact["chunk_id"], None, None)


async def test_a_later_statement_supersedes_and_its_passage_is_past(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    await talk.say("home of user := Milan.", "Yes.")
    await read_facts(talk)
    rome, milan = await rows(talk)
    assert (rome["state"], rome["superseded_by"], milan["state"]) == ("superseded", milan["fact_id"], "current")
    assert rome["valid_to"] == milan["valid_from"]
    past, present = await rows(talk, "chunks")
    assert past["valid_to"] is not None
    assert present["valid_to"] is None
    assert past["slice_id"] != present["slice_id"]


async def test_a_later_statement_supersedes_what_was_said_before_the_newest_facts(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle, "MAX_FACTS", 5)
    await talk.say("home of user = Rome.", "Yes.")
    await talk.say("alarm code of user = 4711.", "Yes.")
    await read_facts(talk)
    for number in range(8):
        await talk.say(f"colour of boat {number} = blue.", "Yes.")
    await read_facts(talk)
    before = {fact["object"]: fact for fact in await rows(talk)}
    assert [before[name]["state"] for name in ("Rome", "4711")] == ["current", "current"]
    # As the words are compared, not as they stand.
    await talk.say("home of User := Milan.", "Yes.")
    await read_facts(talk)
    after = {fact["object"]: fact for fact in await rows(talk)}
    assert (after["Rome"]["state"], after["Rome"]["superseded_by"]) == ("superseded", after["Milan"]["fact_id"])
    assert after["Rome"]["valid_to"] == after["Milan"]["valid_from"]
    assert after["4711"] == before["4711"]


async def test_contradictions_of_what_was_said_before_the_newest_facts_stay_open(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = datetime.now(UTC) - timedelta(days=3)
    await talk.add([NewMessage("user", text, at=at) for text in ("home of user = Rome.", "home of user = Oslo.")])
    await read_facts(talk)
    assert [pair["state"] for pair in await rows(talk, "contradictions")] == ["open"]
    monkeypatch.setattr(settle, "MAX_FACTS", 5)
    for number in range(8):
        await talk.say(f"colour of boat {number} = blue.", "Yes.")
    await read_facts(talk)
    assert [pair["state"] for pair in await rows(talk, "contradictions")] == ["open"]
    await talk.say("home of user := Milan.", "Yes.")
    await read_facts(talk)
    assert [pair["state"] for pair in await rows(talk, "contradictions")] == ["closed"]
    assert [
        fact["object"] for fact in await rows(talk) if fact["predicate"] == "home" and fact["state"] == "current"
    ] == ["Milan"]


async def test_what_was_superseded_and_is_said_again_holds_again(talk: Talk) -> None:
    for place in ("= Rome", ":= Milan", "= Rome"):
        await talk.say(f"home of user {place}.", "Yes.")
        await read_facts(talk)
    rome, milan = await rows(talk)
    assert (rome["state"], rome["valid_to"], milan["state"]) == ("current", None, "superseded")
    assert milan["superseded_by"] == rome["fact_id"]


async def test_a_line_that_is_marked_as_over_is_not_said_anew(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await talk.say("home of user := Milan.", "Yes.")
    await read_facts(talk)
    # As extraction marks a line of which something else still holds: it is written later than what replaced it.
    await talk.put("PROFILE.md", "- home of user = Rome. (until 2026-05-04)\n")
    await read_facts(talk)
    assert [(fact["object"], fact["state"]) for fact in await rows(talk)] == [
        ("Rome", "superseded"),
        ("Milan", "current"),
    ]


async def write_copy(talk: Talk, line: str, sources: list[dict[str, Any]]) -> None:
    """A line of MEMORY.md that the server wrote, made of something."""
    _, place = await talk.grant()

    async def within(connection: Connection, slice_: Slice) -> None:
        derived = [Derived("MEMORY.md", [line], EXTRACTIVE, "emergence", sources)]
        await record(connection, "default", slice_.slice_id, derived)

    await talk.runtime.workspace.edit(place, Write("MEMORY.md", "test", "test"), lambda _: f"{line}\n", within)


async def test_a_copy_of_what_was_said_states_what_was_read_then(runtime: Runtime) -> None:
    talk = Talk(runtime)
    # Of the line alone, which begins with a capital, one reads another fact than of the talk that has none.
    await talk.say("hola, mañana te cuento más. vivo en la rondilla, en un tercero.", "Muy bien.")
    await read_facts(talk)
    [fact] = await rows(talk)
    await write_copy(talk, "- Vivo en la rondilla, en un tercero.", [message_source("web:1", [(1, None)])])
    await read_facts(talk)
    assert [row["fact_id"] for row in await rows(talk)] == [fact["fact_id"]]
    of_message, of_line = await rows(talk, "fact_sources")
    assert (of_message["session_id"], of_line["path"]) == ("web:1", "MEMORY.md")


async def test_a_copy_that_does_not_tell_when_it_was_said_takes_nothing_back(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    await talk.say("home of user := Milan.", "Yes.")
    await read_facts(talk)
    # As a night does that promotes what the night before concluded.
    await write_copy(talk, "- home of user = Rome.", [lines_source("_system/dreaming/20260504-consolidated.md", 9, 9)])
    await read_facts(talk)
    assert await holding(talk) == ["Milan"]


async def test_a_line_of_a_whole_conversation_takes_back_nothing_of_it(talk: Talk) -> None:
    """It is as of the last message that it is made of, which says otherwise."""
    texts = ("home of user = Rome.", "home of user := Milan.", "Nothing else is new.")
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    await talk.add([NewMessage("user", text, at=noon + timedelta(minutes=n)) for n, text in enumerate(texts)])
    await read_facts(talk)
    await write_copy(talk, "- home of user = Rome.", [message_source("web:1", [(1, None), (3, None)])])
    await read_facts(talk)
    assert await holding(talk) == ["Milan"]


async def test_what_a_line_states_alone_is_of_the_message_that_it_repeats_and_outlives_the_line(
    runtime: Runtime,
) -> None:
    """Nothing is read in the message, and in the line, which is of a file, something is."""
    talk = Talk(runtime)
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    paid = "I already pay 38 pounds a month for the gym and never go."
    code = "The code of the garage is 5512."
    said = [code, f"Great, that'll be expensive. {paid}", "What else is new?"]
    await talk.add([NewMessage("user", text, at=noon + timedelta(hours=n)) for n, text in enumerate(said)])
    await read_facts(talk)
    before = {row["fact_id"] for row in await rows(talk)}
    await write_copy(talk, f"- {paid}", [message_source("web:1", [(2, None), (3, None)])])
    await read_facts(talk)
    [fact] = [row for row in await rows(talk) if row["fact_id"] not in before]
    sources = [row for row in await rows(talk, "fact_sources") if row["fact_id"] == fact["fact_id"]]
    assert [(row["path"], row["session_id"], row["said_at"]) for row in sources] == [
        ("MEMORY.md", None, noon + timedelta(hours=1)),
        (None, "web:1", noon + timedelta(hours=1)),
    ]
    await talk.put("MEMORY.md", "")
    await read_facts(talk)
    assert fact["fact_id"] in {row["fact_id"] for row in await rows(talk)}
    # What was said after a message that is forgotten is read again, and the line is no more there to be.
    grant, place = await talk.grant()
    await runtime.forgetting.forget(grant, place, Target(text=code), dry_run=False)
    await read_facts(talk)
    assert "5512" not in str(await rows(talk))
    assert fact["fact_id"] in {row["fact_id"] for row in await rows(talk)}
    # Of what is left of a message it stays, too; of what is not, it goes.
    await runtime.forgetting.forget(grant, place, Target(text="Great, that'll be expensive."), dry_run=False)
    await read_facts(talk)
    assert fact["fact_id"] in {row["fact_id"] for row in await rows(talk)}
    await runtime.forgetting.forget(grant, place, Target(text=paid), dry_run=False)
    await read_facts(talk)
    assert fact["fact_id"] not in {row["fact_id"] for row in await rows(talk)}


async def test_a_line_with_who_somebody_is_ends_with_what_is_said_of_them(runtime: Runtime) -> None:
    """It is made of "She's vegetarian", in other words than the fact that is read there."""
    talk = Talk(runtime)
    said = "Our daughter Carys is studying geology at Leeds. She's vegetarian."
    await talk.say(said, "Noted.")
    await read_facts(talk)
    message = Message(1, "user", said, datetime.now(UTC), 1, "1", {})
    texts = [each.statement.text for each in memorable_of([message], "english", "UTC").lines]
    [line] = [text for text in texts if "vegetarian" in text]
    await write_copy(talk, f"- {line}", [message_source("web:1", [(1, None)])])
    await read_facts(talk)
    await talk.say("Our daughter Carys came for dinner. She's gone vegan.", "Noted.")
    await read_facts(talk)
    facts = {row["object"]: (row["fact_id"], row["state"]) for row in await rows(talk) if row["predicate"] == "diet"}
    assert {value: state for value, (_, state) in facts.items()} == {"vegetarian": "superseded", "vegan": "current"}
    keys = {
        bytes(r["sentence_sha256"])
        for r in await rows(talk, "fact_sentences")
        if r["fact_id"] == facts["vegetarian"][0]
    }
    assert sentence_key(line) in keys


async def test_a_copy_of_two_facts_gives_each_its_own_words_and_days(runtime: Runtime) -> None:
    said = "I live in Leeds and I start at Acme Tools on 1 June 2031."
    talk = Talk(runtime)
    await talk.say(said, "Noted.")
    await read_facts(talk)
    before = {fact["predicate"]: (fact["fact_id"], fact["valid_from"]) for fact in await rows(talk)}
    known = {(row["fact_id"], bytes(row["sentence_sha256"])) for row in await rows(talk, "fact_sentences")}
    await write_copy(talk, f"- {said}", [message_source("web:1", [(1, None)])])
    await read_facts(talk)
    after = {fact["predicate"]: (fact["fact_id"], fact["valid_from"]) for fact in await rows(talk)}
    assert after == before
    assert len(before) == 2
    assert {(row["fact_id"], bytes(row["sentence_sha256"])) for row in await rows(talk, "fact_sentences")} == known
    sources = [(row["fact_id"], row["path"]) for row in await rows(talk, "fact_sources") if row["path"]]
    assert sorted(sources) == sorted((fact_id, "MEMORY.md") for fact_id, _ in before.values())


async def test_what_is_forgotten_is_not_named_by_what_took_its_place(runtime: Runtime, conninfo: str) -> None:
    talk = Talk(runtime)
    party = "The farewell party is at the Swordfish on 13 June"
    await talk.say(f"{party}.", "Noted.")
    await talk.say("We hold it at home instead.", "Noted.")
    await read_facts(talk)
    grant, place = await talk.grant()
    # As the pair of both sentences does, whose model is not there.
    stated = StatedFact(
        0, "We hold it at home instead.", "We hold it at home instead.", "party", "is", "at home", "general",
        said_at=datetime.now(UTC), valid_from=datetime.now(UTC), change=Change("replaces", "likely", party),
    )  # fmt: skip
    source = MessageSource((await rows(talk, "fact_sources"))[0]["session_key"], "web:1", (3,), ("",))
    async with runtime.pipeline.unit_of_work(place) as unit:
        facts = FactSlice(unit.connection, "default", unit.slice_.slice_id, datetime.now(UTC))
        await add(facts, [Reading(stated, EXTRACTIVE, frozenset(), messages=source)])
    assert party in str([row["change"] for row in await rows(talk)])
    await runtime.forgetting.forget(grant, place, Target(text=f"{party}."), dry_run=False)
    assert leftovers(conninfo, "Swordfish") == []
    kept = [row["change"] for row in await rows(talk) if row["object"] == "at home"]
    # It named something, which is no more there: not that it takes the place of whatever there is.
    assert kept == [{"cue": "likely", "kind": "replaces", "old_object": "…"}]


async def test_what_a_tool_saves_is_said_anew(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    await talk.say("home of user := Milan.", "Yes.")
    await read_facts(talk)
    await write_copy(talk, "- home of user = Rome.", [])
    await read_facts(talk)
    assert await holding(talk) == ["Rome"]


YEARS_AGO, LAST_SAID = datetime(2023, 5, 4, 9, tzinfo=UTC), datetime(2023, 6, 9, 9, tzinfo=UTC)


async def import_talk(talk: Talk, *texts: str, at: datetime = YEARS_AGO) -> None:
    """A conversation of then, in a session of its own."""
    messages = [NewMessage("user", text, at=at) for text in texts]
    await replace(talk, session_id=f"import:{at:%Y-%m}").add(messages)
    await read_facts(talk)


async def holding(talk: Talk) -> list[str]:
    """The objects of the facts that hold."""
    return [fact["object"] for fact in await rows(talk) if fact["state"] == "current"]


async def test_of_imported_talk_before_a_silence_what_changes_held_until_then(talk: Talk) -> None:
    await import_talk(talk, "home of user = Rome.", "name of user = Ada.", "sister of user = Eve.")
    await import_talk(talk, "Nothing new.", at=LAST_SAID)
    assert await holding(talk) == ["Rome", "Ada", "Eve"]
    await talk.say("car of user = blue.")
    await read_facts(talk)
    assert await holding(talk) == ["Ada", "Eve", "blue"]
    rome = (await rows(talk))[0]
    assert (rome["state"], rome["valid_to"], rome["superseded_by"]) == ("superseded", LAST_SAID, None)
    # Said again, it holds.
    await talk.say("home of user = Rome.")
    await read_facts(talk)
    assert await holding(talk) == ["Rome", "Ada", "Eve", "blue"]


async def test_imported_talk_of_all_the_time_since_holds(talk: Talk) -> None:
    await import_talk(talk, "home of user = Rome.")
    at = YEARS_AGO
    while (at := at + timedelta(days=500)) < datetime.now(UTC):
        await import_talk(talk, "Nothing new.", at=at)
    await talk.say("car of user = blue.")
    await read_facts(talk)
    assert await holding(talk) == ["Rome", "blue"]


async def test_who_comes_back_after_years_is_known(talk: Talk) -> None:
    await import_talk(talk, "home of user = Rome.")
    async with talk.runtime.database.maintenance() as connection:
        await connection.execute("UPDATE sessions SET created_at = %s", [YEARS_AGO])
    await talk.say("car of user = blue.")
    await read_facts(talk)
    assert await holding(talk) == ["Rome", "blue"]


async def test_what_begins_on_a_day_to_come_takes_over_on_that_day(runtime: Runtime) -> None:
    clock = [datetime(2026, 2, 10, 9, tzinfo=UTC)]
    begins = datetime(2026, 3, 2, tzinfo=UTC)
    talk = Talk(assemble(runtime.settings, runtime.database, runtime.models, now=lambda: clock[0]))
    await talk.add([NewMessage("user", "I work at Bosch.", at=clock[0])])
    clock[0] += timedelta(days=3)
    await talk.add([NewMessage("user", "I start at Nordwind on 2 March.", at=clock[0])])
    await read_facts(talk)
    bosch, nordwind = await rows(talk)
    assert [bosch["state"], nordwind["state"]] == ["current", "current"]
    assert bosch["valid_to"] == nordwind["valid_from"] == begins
    assert (await read_facts(talk)).status == "skipped"
    grant = await runtime.gate.read(OPERATOR, "wren", ADA)
    found = (await talk.runtime.search.search(request_for(grant, "Where do I work? Bosch?"))).results
    assert [result.superseded_by for result in found if "Bosch" in result.text] == [None]
    # The night says so where nobody talks.
    clock[0] = begins + timedelta(hours=3)
    await talk.runtime.consolidation.cron.defer_nightly()
    await drain(talk.runtime)
    bosch, nordwind = await rows(talk)
    assert [bosch["state"], nordwind["state"]] == ["superseded", "current"]
    assert bosch["superseded_by"] == nordwind["fact_id"]
    assert (await read_facts(talk)).status == "skipped"


async def test_nothing_new_is_nothing_to_do(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    assert (await read_facts(talk)).status == "skipped"


async def test_a_file_that_is_emptied_drops_its_facts(talk: Talk) -> None:
    await talk.put("notes/home.md", "# Home\n\n- home of user = Rome.\n- car of user = blue.\n")
    await read_facts(talk)
    assert [fact["object"] for fact in await rows(talk)] == ["Rome", "blue"]
    await talk.put("notes/home.md", "- car of user = blue.\n")
    await read_facts(talk)
    [fact] = await rows(talk)
    [source] = await rows(talk, "fact_sources")
    assert (fact["object"], source["path"], source["start_line"]) == ("blue", "notes/home.md", 1)
    await talk.put("notes/home.md", "")
    await read_facts(talk)
    assert await rows(talk) == []
    assert await rows(talk, "chunks") == []


async def test_the_same_fact_keeps_its_row_when_its_file_is_written_anew(talk: Talk) -> None:
    await talk.put("notes/home.md", "- home of user = Rome.\n")
    await read_facts(talk)
    [before] = await rows(talk)
    await talk.put("notes/home.md", "Sorted anew.\n\n- home of user = Rome.\n")
    await read_facts(talk)
    [after] = await rows(talk)
    assert (after["fact_id"], after["created_at"], after["said_at"]) == (
        before["fact_id"],
        before["created_at"],
        before["said_at"],
    )


async def test_two_runs_at_once_come_to_the_same(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.", "car of user = blue.", "Yes.")
    await asyncio.gather(read_facts(talk), read_facts(talk), read_facts(talk))
    assert [fact["object"] for fact in await rows(talk)] == ["Rome", "blue"]
    assert len(await rows(talk, "fact_sources")) == 2


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Awaitable[None]]], None]:
    """Has something done each time between the reading of facts and their writing."""

    def do(act: Callable[[], Awaitable[None]]) -> None:
        embed, is_acting = Pipeline.embed, ContextVar("is_acting", default=False)

        async def acting(pipeline: Pipeline, *arguments: Any) -> Any:
            if not is_acting.get():
                is_acting.set(True)
                await act()
                is_acting.set(False)
            return await embed(pipeline, *arguments)

        monkeypatch.setattr(Pipeline, "embed", acting)

    return do


async def test_a_file_that_is_written_all_the_time_holds_no_fact_up(
    talk: Talk, meanwhile: Callable[[Callable[[], Awaitable[None]]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()

    async def write() -> None:
        await talk.put("notes/log.md", f"- home of user = Rome.\n- round of log = {next(numbers)}.\n")

    await write()
    await talk.say("car of user = blue.", "Yes.")
    meanwhile(write)
    assert (await read_facts(talk)).status == "completed"
    assert {"Rome", "blue"} <= {fact["object"] for fact in await rows(talk)}
    monkeypatch.undo()
    await read_facts(talk)
    assert {fact["object"] for fact in await rows(talk)} == {"Rome", "blue", str(next(numbers) - 1)}


async def test_what_a_person_writes_while_facts_are_read_stays(
    talk: Talk, meanwhile: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    await talk.put("notes/home.md", "- home of user = Rome.\n")
    await read_facts(talk)
    await talk.put("notes/home.md", "- home of user = Rome.\n- car of user = blue.\n")
    grant, place = await talk.grant()
    found = await talk.runtime.facts.view.facts(grant.principal, FactFilter(), after=None, limit=10)

    async def edit() -> None:
        while found:
            # The reader of this test reads no fact in it: it is one because a person said so.
            await talk.runtime.facts.changes.edit(grant, place, found.pop(), "We have moved to Milan.")

    meanwhile(edit)
    await read_facts(talk)
    assert not found
    states = {fact["text"]: fact["state"] for fact in await rows(talk)}
    assert states["We have moved to Milan."] == "current"


async def test_a_file_that_is_deleted_while_facts_are_read_leaves_none(
    talk: Talk, meanwhile: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    grant, place = await talk.grant()
    await talk.put("notes/home.md", "- home of user = Rome.\n")
    await talk.say("car of user = blue.", "Yes.")

    async def delete() -> None:
        with suppress(NotFound):
            await talk.runtime.workspace.delete(place, "notes/home.md", by=grant.author, if_version=None)

    meanwhile(delete)
    await read_facts(talk)
    assert [fact["object"] for fact in await rows(talk)] == ["blue"]


async def test_a_daily_note_is_of_its_day(talk: Talk) -> None:
    await talk.put(
        "memory/2023-05-04.md", "# 2023-05-04\n\n- home of user = Rome.\n- car of user = red. (2023-01-02)\n"
    )
    await read_facts(talk)
    home, car = await rows(talk)
    assert home["said_at"].date().isoformat() == "2023-05-04"
    assert car["said_at"].date().isoformat() == "2023-01-02"


async def test_a_rebuild_keeps_ids_dates_votes_and_use(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await talk.put("notes/car.md", "- car of user = blue.\n")
    await read_facts(talk)
    _, place = await talk.grant()
    before = await rows(talk)
    await talk.runtime.facts.votes.vote(place, before[0]["fact_id"], "helpful", voter="", turn_id="")
    await talk.runtime.facts.votes.confirm(place, before[1]["fact_id"], by="ada")
    voted = await rows(talk)
    await talk.runtime.facts.upkeep.rebuild(place)
    assert (await read_facts(talk)).status == "completed"
    kept = ("fact_id", "created_at", "said_at", "valid_from", "helpful", "last_confirmed_at", "use_count", "chunk_id")
    assert [[row[name] for name in kept] for row in await rows(talk)] == [[row[name] for name in kept] for row in voted]
    assert len(await rows(talk, "fact_sources")) == 2


async def test_what_is_shown_from_a_relevance_on_is_used(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    [fact] = await rows(talk)
    talk.runtime.recalls.note("default", "where?", [(fact["chunk_id"], 0.7)], "search")
    talk.runtime.recalls.note("default", "what?", [(fact["chunk_id"], 0.2)], "search")
    assert await talk.runtime.recalls.flush()
    [fact] = await rows(talk)
    assert fact["use_count"] == 1
    assert fact["last_used_at"] is not None


@pytest.mark.parametrize("how", ["clear", "delete"])
async def test_the_facts_of_a_session_go_with_it(talk: Talk, how: str) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await Talk(talk.runtime, "web:2").say("home of user := Milan.", "Yes.")
    await read_facts(talk)
    assert [fact["state"] for fact in await rows(talk)] == ["superseded", "current"]
    sessions = talk.runtime.sessions
    await (sessions.clear if how == "clear" else sessions.delete)(talk.principal, "web:2")
    [rome] = await rows(talk)
    assert (rome["object"], rome["state"], rome["superseded_by"], rome["valid_to"]) == ("Rome", "current", None, None)
    [chunk] = await rows(talk, "chunks")
    assert chunk["valid_to"] is None


async def test_a_deleted_agent_leaves_no_passages_of_facts(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.", "home of user := Milan.", "Yes.")
    await read_facts(talk)
    assert len(await rows(talk, "chunks")) == 2
    await talk.runtime.agents.delete("default", talk.agent_id)
    assert await rows(talk, "chunks") == []
    assert await rows(talk) == []


async def test_a_message_brings_a_job_that_waits_a_few_seconds(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    health = await talk.runtime.consolidation.health.of(talk.principal)
    assert health.stages["facts"].scheduled == 1
    await drain(talk.runtime, until=datetime.now(UTC) + timedelta(minutes=1))
    assert [fact["object"] for fact in await rows(talk)] == ["Rome"]


async def test_the_facts_of_cleared_messages_go_with_them(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await talk.put("notes/car.md", "- car of user = blue.\n")
    await read_facts(talk)
    _, place = await talk.grant()
    await talk.runtime.clearing.clear(place, Selection(None, None, ["message"]), dry_run=False)
    assert [fact["object"] for fact in await rows(talk)] == ["blue"]


async def test_the_facts_of_cleared_files_go_with_them(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await talk.put("notes/car.md", "- car of user = blue.\n- home of user = Rome.\n")
    await read_facts(talk)
    assert len(await rows(talk)) == 2
    _, place = await talk.grant()
    await talk.runtime.clearing.clear(place, Selection(None, "notes/", ["document"]), dry_run=False)
    # What a message states, too, is stated still.
    assert [fact["object"] for fact in await rows(talk)] == ["Rome"]
    assert "blue" not in str(await rows(talk, "chunks"))


async def test_clearing_facts_takes_facts_alone(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    _, place = await talk.grant()
    selection = Selection(None, None, ["fact"])
    assert (await talk.runtime.clearing.clear(place, selection, dry_run=True)).removed == {"fact": 1}
    assert len(await rows(talk)) == 1
    assert (await talk.runtime.clearing.clear(place, selection, dry_run=False)).removed == {"fact": 1}
    assert (await rows(talk), await rows(talk, "chunks")) == ([], [])
    assert len(await talk.everything()) == 2


async def test_a_deleted_person_leaves_nothing_and_the_export_has_their_facts(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    export = await talk.runtime.owners.export("default", ADA)
    with export.file as file, zipfile.ZipFile(file) as archive:
        [fact] = json.loads(archive.read("wren/facts.json"))
    assert (fact["object"], fact["sources"]) == ("Rome", [{"session_id": "web:1", "messages": [1]}])
    receipt = await talk.runtime.owners.delete("default", ADA, dry_run=False)
    assert receipt.removed["facts"] == 1
    for table in ("facts", "fact_sources", "fact_sentences", "chunks"):
        assert await rows(talk, table) == []


async def test_a_fact_is_expanded_to_the_passage_that_states_it(talk: Talk) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    [fact] = await rows(talk)
    for public_id in (f"fact-{fact['fact_id']}", str(fact["chunk_id"])):
        found = await talk.runtime.expansion.expand(talk.principal, public_id)
        assert isinstance(found, ExpandedPassage)
        assert (found.tier, found.passage.text) == ("message", "home of user = Rome.")
    with pytest.raises(NotFound):
        await talk.runtime.expansion.expand(replace(talk, owner_key="user:bob").principal, f"fact-{fact['fact_id']}")
