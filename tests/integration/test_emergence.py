"""Emergence on a real database: what enters MEMORY.md, what does not, and what each run leaves."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.facts import read_facts
from tests.nights import ADA, START, TEA, Nights, lines, nights
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.errors import DatabaseUnavailable
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.files.files import Write
from reverie_server.forgetting.selection import Target
from reverie_server.heuristics import worth_model
from reverie_server.heuristics.entries import undated
from reverie_server.jobs.model import Work
from reverie_server.jobs.nights_due import next_nightly
from reverie_server.nights.emergence import entry_groups
from reverie_server.nights.emergence import inputs as emergence_inputs
from reverie_server.nights.emergence.model import EmergenceInput
from reverie_server.nights.emergence.stage import Emergence, EmergenceRules
from reverie_server.nights.reports import trim_reports
from reverie_server.provenance import record as derive
from reverie_server.search.request import request_for
from reverie_server.sessions.model import NewMessage


@pytest.fixture
async def ada(database: Database, models: ModelSlot) -> Nights:
    return await nights(database, models)


async def test_what_is_noted_and_asked_for_enters_the_memory_with_a_report(ada: Nights) -> None:
    await ada.ready()
    await ada.note(1, "Looked at a screenshot of the dashboard.")
    outcome = await ada.emerge()
    assert (outcome.status, outcome.method) == ("completed", "extractive")
    assert lines(await ada.text("MEMORY.md")) == [TEA]
    [report] = await ada.reports()
    assert report.report_id == outcome.report_id
    assert (report.mode, report.trigger, report.status, report.topic) == ("full", "cron", "success", None)
    assert (report.path, report.version_before, report.version_after) == ("MEMORY.md", None, 1)
    assert report.seen["notes"] == ["memory/2026-04-02.md", "memory/2026-04-01.md"]
    assert (report.seen["entries"], report.seen["candidates"], report.seen["passed"]) == (2, 2, 1)
    [promoted] = report.promoted
    assert (promoted["text"], promoted["source"]) == (TEA, "memory/2026-04-01.md:3")
    assert promoted["parts"].keys() == {"frequency", "recency", "diversity", "freshness", "consolidation"}
    [rejected] = report.rejected
    assert (rejected["text"], rejected["gate"]) == ("Looked at a screenshot of the dashboard.", "lasting")
    assert f"+- {TEA}" in report.diff
    diary = await ada.text("DREAMS.md")
    assert diary is not None
    assert f"(report {report.report_id})" in diary
    assert f"Concluded: {TEA}" in diary
    grant = await ada.grant()
    file = await ada.runtime.workspace.read(grant.principal, "DREAMS.md")
    assert (file.document.enabled, file.document.scope) == (False, "personal")


async def test_each_line_says_where_it_comes_from(ada: Nights) -> None:
    await ada.ready()
    await ada.emerge()
    [(document, _)] = (await ada.runtime.workspace.present(ada.place, ["MEMORY.md"])).values()
    async with ada.runtime.database.tenant("default") as connection:
        await own_slices(connection, ada.place)
        found = await derive.origins(connection, "default", document.document_id, [TEA])
    [row] = found[derive.line_sha256(TEA)]
    assert (row["stage"], row["method"], row["prompt"]) == ("emergence", "extractive", None)
    assert row["sources"] == [{"kind": "lines", "path": "memory/2026-04-01.md", "start_line": 3, "end_line": 3}]


async def test_a_night_is_done_once_however_often_it_is_run(ada: Nights) -> None:
    await ada.ready()
    outcomes = await asyncio.gather(*(ada.emerge() for _ in range(3)))
    assert sorted(outcome.status for outcome in outcomes) == ["completed", "skipped", "skipped"]
    assert len(await ada.reports()) == 1
    assert lines(await ada.text("MEMORY.md")) == [TEA]
    assert (await ada.text("DREAMS.md") or "").count("## ") == 1
    ada.later(days=1)
    again = await ada.emerge()
    assert (again.status, again.reason) == ("skipped", "none of 1 candidates passed: 1 known already")
    diary = await ada.text("DREAMS.md") or ""
    assert f"## 2026-04-04 02:00 emergence: nothing concluded: {again.reason} (report {again.report_id})" in diary


async def test_by_hand_beside_a_night_nothing_enters_twice(ada: Nights) -> None:
    await ada.ready()
    outcomes = await asyncio.gather(ada.emerge(), ada.emerge("api"), ada.emerge("api"))
    assert [outcome.status for outcome in outcomes].count("completed") == 1
    assert lines(await ada.text("MEMORY.md")) == [TEA]
    assert [report.status for report in await ada.reports()].count("success") == 1


async def test_the_servers_own_searches_are_no_recalls(ada: Nights) -> None:
    """They were *(seen elsewhere)*."""
    await ada.note(2, TEA)
    for _ in range(3):
        await ada.emerge("api", topic=f"{TEA} and nothing else")
        ada.later(hours=1)
        await ada.runtime.consolidation.emergence.candidates(await ada.grant(), ada.place)
    await ada.runtime.recalls.flush()
    async with ada.runtime.database.maintenance() as connection:
        row = await (await connection.execute("SELECT count(*) AS count FROM recalls")).fetchone()
    assert row == {"count": 0}


async def test_injections_count_as_searches_do(ada: Nights) -> None:
    await ada.note(2, TEA)
    await ada.ask(TEA, days_ago=1)
    grant = await ada.grant()
    for query in (f"{TEA} Now?", f"{TEA} And today?"):
        outcome = await ada.runtime.search.search(request_for(grant, query))
        ada.runtime.recalls.note("default", query, outcome.relevances(), "inject")
    await ada.runtime.recalls.flush()
    [candidate] = await ada.runtime.consolidation.emergence.candidates(grant, ada.place)
    assert (candidate.scored.gates["recalls"].value, candidate.scored.stopped_by) == (3, None)


async def test_a_topic_needs_no_recalls_and_finds_notes_of_weeks_ago(ada: Nights) -> None:
    await ada.note(20, "The kiln behind the barn is made of old bricks.")
    for days in range(1, 9):
        await ada.note(days, f"Walked to the lake, {days} days before.")
    outcome = await ada.emerge("api", topic="the kiln of old bricks behind the barn")
    assert outcome.status == "completed"
    assert lines(await ada.text("MEMORY.md")) == ["The kiln behind the barn is made of old bricks."]
    [report] = await ada.reports()
    assert (report.mode, report.topic) == ("focused", "the kiln of old bricks behind the barn")
    nothing = await ada.emerge("api", topic="zeppelin timetables of Friedrichshafen")
    assert (nothing.status, nothing.reason) == ("skipped", "the notes hold no candidates")


async def test_only_the_last_notes_are_looked_at_at_night(ada: Nights) -> None:
    for days in range(1, 10):
        await ada.note(days, f"Walked to the lake, {days} days before.")
    await ada.note(-1, "A note of tomorrow, which is not there yet.")
    await ada.emerge()
    [report] = await ada.reports()
    assert report.seen["notes"] == [f"memory/2026-{day}.md" for day in ("04-02", "04-01")] + [
        f"memory/2026-03-{day}.md" for day in range(31, 26, -1)
    ]


async def test_a_decision_of_each_day_is_found_among_hundreds_of_other_statements(ada: Nights) -> None:
    bread = "We decided to bake the bread ourselves."
    for ago in range(7):
        words = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove")
        others = [f"I prefer the {words[n % 7]} {words[ago]} number {1000 * ago + n} to others." for n in range(150)]
        await ada.note(ago, bread, *others)
    inputs = await _read_input(ada)
    assert len(inputs.entries) == 600
    [candidate] = [one for one in await _candidates(ada) if one.text == bread]
    assert len(candidate.evidence.days) == 7


async def test_what_a_person_took_out_or_corrected_does_not_come_back_until_it_is_said_again(ada: Nights) -> None:
    await ada.ready()
    await ada.emerge()
    long_term = ada.runtime.long_term
    # The history goes by the database's clock.
    ada.clock[0] = datetime.now(UTC)
    await ada.note(1, TEA)
    await ada.ask(TEA, f"{TEA} again", f"what about {TEA}", days_ago=0.5)
    await long_term.update(ada.place, TEA, "Prefers coffee to tea by now.", by="user")
    outcome = await ada.emerge("api")
    assert outcome.status == "skipped"
    assert lines(await ada.text("MEMORY.md")) == ["Prefers coffee to tea by now."]
    by_text = {one["text"]: one["gate"] for one in (await ada.reports())[0].rejected}
    assert by_text[TEA] == "not_corrected"
    ada.later(days=1)
    await ada.note(0, TEA)
    found = {c.text: c.scored.stopped_by for c in await _candidates(ada)}
    assert found[TEA] is None


async def test_a_forgotten_text_does_not_emerge_and_its_report_goes_too(ada: Nights) -> None:
    await ada.ready()
    await ada.emerge()
    grant, place = await ada.runtime.gate.write(OPERATOR, ada.agent_id, ADA, None)
    await ada.runtime.forgetting.forget(grant, place, Target(text=TEA), dry_run=False)
    assert TEA not in (await ada.text("DREAMS.md") or "") + (await ada.text("MEMORY.md") or "")
    # A note that comes back by itself, as a job's would.
    await ada.note(1, TEA)
    assert await _candidates(ada) == []
    ada.later(days=1)
    assert (await ada.emerge()).status == "skipped"


async def test_a_report_of_more_than_a_month_keeps_what_entered_and_not_what_did_not(ada: Nights) -> None:
    await ada.ready()
    await ada.note(1, "The kiln behind the barn is made of old bricks.")
    await ada.emerge()
    [report] = await ada.reports()
    assert report.rejected
    assert report.diff
    ada.later(days=29)
    assert await trim_reports(ada.runtime.database, now=ada.at) == 0
    assert await ada.reports() == [report]
    ada.later(days=2)
    assert await trim_reports(ada.runtime.database, now=ada.at) == 1
    assert await ada.reports() == [replace(report, rejected=[], diff="")]
    assert await trim_reports(ada.runtime.database, now=ada.at) == 0


async def test_what_is_forgotten_while_a_run_thinks_is_not_written(
    ada: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ada.ready()
    from reverie_server.nights.emergence import stage as emergence

    grant, place = await ada.runtime.gate.write(OPERATOR, ada.agent_id, ADA, None)
    write, met = emergence.write_conclusion, []

    async def forget_first(*args: Any) -> None:
        if not met:
            met.append(await ada.runtime.forgetting.forget(grant, place, Target(text=TEA), dry_run=False))
        await write(*args)

    monkeypatch.setattr(emergence, "write_conclusion", forget_first)
    outcome = await ada.emerge()
    assert outcome.status == "skipped"
    assert met[0].removed["document"].files == 1
    assert await ada.text("MEMORY.md") is None


async def test_a_full_memory_stays_as_it_is_and_the_report_says_why(ada: Nights) -> None:
    full = "# Long-term Memory\n\n## Notes\n\n" + "".join(f"- Line {n} of a full memory.\n" for n in range(310))
    await ada.memory(full)
    await ada.ready()
    outcome = await ada.emerge()
    assert outcome.status == "skipped"
    assert "8000 is the most" in outcome.reason
    assert await ada.text("MEMORY.md") == full
    [report] = await ada.reports()
    assert [(one["text"], one["gate"]) for one in report.rejected] == [(TEA, "room")]


async def test_the_file_before_can_be_restored(ada: Nights) -> None:
    before = "# Long-term Memory\n\n## Notes\n\n- I never work on Fridays.\n"
    await ada.memory(before)
    await ada.ready()
    await ada.emerge()
    [report] = await ada.reports()
    assert (report.version_before, report.version_after) == (1, 2)
    write = Write("MEMORY.md", "user", "restore")
    await ada.runtime.workspace.restore(ada.principal, write, ada.place, report.version_before or 0)
    assert await ada.text("MEMORY.md") == before


async def test_what_the_server_wrote_and_is_contradicted_leaves_for_the_archive(ada: Nights) -> None:
    oslo, bergen = "I live in Oslo, close to the harbour.", "I live in Bergen, close to the harbour."
    await ada.ready(oslo)
    await ada.emerge()
    ada.later(days=10)
    await ada.ready(bergen)
    outcome = await ada.emerge()
    assert outcome.status == "completed"
    assert lines(await ada.text("MEMORY.md")) == [bergen]
    assert lines(await ada.text("memory/archive/2026-04.md")) == [oslo]


async def test_without_notes_or_switched_off_nothing_happens_and_it_says_so(ada: Nights) -> None:
    empty = await ada.emerge()
    assert (empty.status, empty.reason) == ("skipped", "there are no notes to look at")
    assert await ada.text("DREAMS.md") is None
    assert len(await ada.reports()) == 1
    await ada.runtime.agents.put("default", ada.agent_id, "Wren", None, {"emergence_enabled": False})
    off = await ada.emerge("api")
    assert (off.status, off.report_id) == ("skipped", None)
    gone = await Nights(ada.runtime, ada.clock, agent_id="nobody").emerge()
    assert gone.status == "skipped"


async def test_a_run_that_fails_for_good_leaves_a_report(ada: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    await ada.ready()
    from reverie_server.nights.emergence import stage as emergence

    async def fail(*_: Any) -> None:
        raise DatabaseUnavailable("secret words")

    with monkeypatch.context() as patched:
        patched.setattr(emergence, "write_conclusion", fail)
        with pytest.raises(DatabaseUnavailable):
            await ada.emerge()
        assert await ada.reports() == []
        with pytest.raises(DatabaseUnavailable):
            await ada.emerge(is_last_attempt=True)
        by_hand = await ada.emerge("api")
    assert (by_hand.status, by_hand.reason) == ("failed", "it failed: database_unavailable")
    assert [report.status for report in await ada.reports()] == ["failed", "failed"]
    assert "secret words" not in str(await ada.reports())
    assert await ada.text("MEMORY.md") is None
    # The night is not done by that.
    assert (await ada.emerge()).status == "completed"


async def test_another_owner_and_the_team_see_and_move_nothing(ada: Nights) -> None:
    await ada.ready()
    bo, team = ada.of("user:bo"), ada.of(None)
    await bo.note(2, "Prefers mate to everything else.")
    assert (await bo.emerge()).status == "skipped"
    assert (await ada.emerge()).status == "completed"
    assert await bo.text("MEMORY.md") is None
    assert [TEA in str(await who.reports()) for who in (ada, bo, team)] == [True, False, False]
    assert [c.text for c in await _candidates(bo)] == ["Prefers mate to everything else."]


@pytest.mark.parametrize(
    ("day", "zone", "expected"),
    [
        # The clock skips from 02:00 to 03:00, and repeats 02:00 to 03:00.
        (datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "Europe/Berlin", datetime(2026, 3, 30, 0, 0, tzinfo=UTC)),
        (datetime(2026, 10, 25, 0, 0, tzinfo=UTC), "Europe/Berlin", datetime(2026, 10, 26, 1, 0, tzinfo=UTC)),
    ],
)
async def test_on_days_when_clocks_change_a_night_is_one_night(
    database: Database, models: ModelSlot, day: datetime, zone: str, expected: datetime
) -> None:
    ada = await nights(database, models, at=day, time_zone=zone)
    await ada.ready()
    assert (await ada.emerge()).status == "completed"
    # Where the hour comes twice, its second time is the same night.
    ada.later(hours=1)
    assert (await ada.emerge()).reason == "this night has its report"
    assert next_nightly(day, zone) == expected
    assert expected - day in (timedelta(hours=23), timedelta(hours=25))


async def test_what_dreaming_consolidated_may_emerge_with_the_days_on_which_it_was_said(ada: Nights) -> None:
    for number in range(5):
        await ada.episode(f"web:{number}", f"- User: {TEA}", days_ago=9 - number)
    await ada.dream()
    path = "_system/dreaming/20260403-consolidated.md"
    assert TEA in (await ada.text(path) or "")
    await ada.ask(TEA, f"{TEA} again", f"what about {TEA}")
    [candidate] = await _candidates(ada)
    assert candidate.source == f"{path}:5"
    assert [day.isoformat() for day in candidate.evidence.days] == [f"2026-03-{day}" for day in range(25, 30)]
    outcome = await ada.emerge()
    assert outcome.status == "completed", outcome.reason
    assert lines(await ada.text("MEMORY.md")) == [TEA]


async def test_past_its_cap_the_diary_folds_into_its_archive_in_one_write(
    database: Database, models: ModelSlot
) -> None:
    ada = await nights(database, models, dreams_max_chars=2000)
    topics = ("kiln", "barn", "lake", "dune", "moss", "fern", "reed", "crag")
    for number, topic in enumerate(topics):
        line = f"The {topic} is what this owner wants to remember about place number {number}."
        await ada.note(1, line)
        assert (await ada.emerge("api", topic=line)).status == "completed"
        ada.later(days=1)
    diary = await ada.text("DREAMS.md") or ""
    archive = await ada.text("memory/dreams/2026-04.md") or ""
    assert len(diary) <= 2000
    for report in await ada.reports():
        assert f"(report {report.report_id})" in diary
        assert f"Concluded: {report.promoted[0]['text']}" in diary + archive
    assert START.date().isoformat() in archive


async def _candidates(who: Nights) -> list[Any]:
    return list(await who.runtime.consolidation.emergence.candidates(await who.grant(), who.place))


async def _read_input(who: Nights) -> EmergenceInput:
    window = emergence_inputs.InputWindow(who.at, "UTC", "english", 7, 30, 60.0)
    async with who.runtime.database.tenant(who.tenant_id, snapshot=True) as connection:
        return await emergence_inputs.read_input(connection, who.place, window)


async def test_a_long_history_of_the_memory_is_compared_elsewhere_and_no_further_than_it_counts(
    ada: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read of candidates must not hold the loop for as long as all versions of a large memory take."""
    await ada.ready()
    for number in range(4):
        await ada.memory(f"- Number {number} is the lantern.\n" + "- The lantern is lit.\n" * 4000)
    monkeypatch.setattr(derive, "added_lines", lambda *_: [f"- {os.getpid()}"])
    inputs = await _read_input(ada)
    assert len(inputs.corrections) == 3
    assert str(os.getpid()) not in {line.removeprefix("- ") for _, line in inputs.corrections}
    monkeypatch.setattr(emergence_inputs, "_COMPARED_CHARS", 400_000)
    assert len((await _read_input(ada)).corrections) == 2
    monkeypatch.setattr(emergence_inputs, "MAX_LINES", 1)
    assert len((await _read_input(ada)).corrections) == 1


async def test_what_a_model_says_is_of_no_use_in_a_month_does_not_enter(ada: Nights) -> None:
    """The words alone tell it here (`heuristics.worth_model`)."""
    talk = "Grandad is on about the old days again, what a laugh he is."
    assert worth_model.model().by_words("passing", talk) > 1
    await ada.ready()
    await ada.note(4, talk)
    await ada.ready(talk)
    await ada.emerge()
    assert lines(await ada.text("MEMORY.md")) == [TEA]
    [report] = await ada.reports()
    assert [(each["text"], each["gate"]) for each in report.rejected] == [(talk, "lasting")]


async def test_what_was_read_of_notes_is_held_for_a_moment_and_is_not_what_was_forgotten(ada: Nights) -> None:
    await ada.ready()
    usual = ada.runtime.consolidation.emergence
    briefly = Emergence(usual._dependencies, EmergenceRules(kept_seconds=0.5), now=usual.now)
    grant = await ada.grant()
    assert [found.text for found in await briefly.candidates(grant, ada.place)] == [TEA]
    assert emergence_inputs._known_entries.cache_info().currsize > 0
    assert entry_groups._known_statement.cache_info().currsize > 0
    writer, place = await ada.runtime.gate.write(OPERATOR, "wren", ADA, None)
    await ada.runtime.forgetting.forget(writer, place, Target(text=TEA), dry_run=False)
    assert await briefly.candidates(grant, ada.place) == []
    await asyncio.sleep(1.0)
    assert emergence_inputs._known_entries.cache_info().currsize == 0
    assert entry_groups._known_statement.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("said", "line", "topic"),
    [
        (
            "I go swimming every Saturday morning, and my hair still smells of chlorine.",
            "I go swimming every Saturday morning.",
            "swimming on Saturday morning",
        ),
        (
            "I always swim on Saturday mornings, and the water is far too cold.",
            "I always swim on Saturday mornings.",
            "swim on Saturday mornings",
        ),
    ],
)
async def test_what_the_memory_says_in_other_words_enters_no_second_time(
    ada: Nights, said: str, line: str, topic: str
) -> None:
    talk = Talk(ada.runtime, owner_key=ADA, agent_id=ada.agent_id)
    thanks = "And that is all that I have to say of it for today.", "Many thanks for listening to me."
    at = ada.at - timedelta(hours=3)
    for text in (said, *thanks):
        await talk.add([NewMessage("user", text, at=at), NewMessage("assistant", "OK.", at=at)])
    await ada.runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await read_facts(talk)
    await ada.runtime.consolidation.stages["extraction"].run(
        Work("extraction", ada.tenant_id, ada.agent_id, ada.owner_key)
    )
    await read_facts(talk)
    kept = lines(await ada.text("MEMORY.md"))
    assert [undated(each)[0] for each in kept] == [line]
    await ada.note(1, said)
    await read_facts(talk)
    await ada.emerge("api", topic=topic)
    assert lines(await ada.text("MEMORY.md")) == kept
    gates = {each["text"]: each["gate"] for report in await ada.reports() for each in report.rejected}
    assert gates.get(said, "not_known") == "not_known"
