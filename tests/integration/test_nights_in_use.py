"""Nights of daily use, in which nobody searches: what stands in the prompt, and what conversations take up from it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.nights import Nights, lines, nights

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.fact_sentences import sentence_key

BISCUIT = "Our dog Biscuit is diabetic and gets insulin at 7 in the morning."
FERN = "I watered the office fern this morning."


@pytest.fixture
async def ada(database: Database, models: ModelSlot) -> Nights:
    return await nights(database, models)


async def talk(ada: Nights, days_ago: int, *exchanges: tuple[str, str]) -> None:
    """A day's log."""
    day = (ada.at - timedelta(days=days_ago)).date().isoformat()
    log = "".join(
        f"[09:0{number}] User: {user} | Assistant: {said}\n\n" for number, (user, said) in enumerate(exchanges)
    )
    change = overwrite(f"memory/{day}.md", f"# {day}\n\n{log}", by="server", reason="daily_log")
    await ada.runtime.pipeline.write_many(ada.place, [change])


async def test_what_the_conversations_of_several_days_speak_of_enters_though_nobody_searched(ada: Nights) -> None:
    await ada.note(6, BISCUIT, FERN, "I bought some milk.")
    await talk(ada, 4, ("What does Biscuit need on a walk in the morning?", "Insulin at 7: Biscuit is diabetic."))
    await talk(ada, 2, (FERN, "Good."), ("How lovely!", "Indeed."))
    assert (await ada.emerge()).status == "completed"
    assert lines(await ada.text("MEMORY.md")) == [BISCUIT]


async def test_a_moment_does_not_enter_however_often_somebody_asks(ada: Nights) -> None:
    """*(Found)*: the watering of an office fern became long-term memory."""
    await ada.note(3, FERN)
    await ada.note(2, FERN)
    await ada.ask(FERN, f"{FERN} again", f"about {FERN}")
    assert (await ada.emerge()).status == "skipped"
    [report] = await ada.reports()
    assert [one["gate"] for one in report.rejected] == ["lasting"]


async def test_searches_about_other_things_are_no_recalls(ada: Nights) -> None:
    """*(Found)*: six searches that happened to list a line made it long-term memory."""
    await ada.note(2, "The kiln behind the barn is made of old bricks.")
    await ada.ask("holiday in Spain", "tax return", "a present for Tom", "train to Oslo", "new laptop", "yoga")
    [candidate] = await ada.runtime.consolidation.emergence.candidates(await ada.grant(), ada.place)
    assert candidate.scored.gates["recalls"].value == 0


async def test_what_the_profile_says_in_other_words_does_not_enter(ada: Nights) -> None:
    await ada.runtime.pipeline.write_many(
        ada.place,
        [overwrite("PROFILE.md", "# Profile\n\n- Works as a vet in Leeds since 2019.\n", by="user", reason="put")],
    )
    await ada.ready("I work as a vet in Leeds.")
    await ada.emerge()
    [report] = await ada.reports()
    assert [one["gate"] for one in report.rejected] == ["not_known"]


async def test_a_focused_run_takes_what_is_about_its_topic_and_nothing_else(ada: Nights) -> None:
    """*(Found)*: a passage that held the topic and other things brought these into MEMORY.md, too."""
    clinic = "The clinic moves to Harrogate in March."
    await ada.note(3, clinic, "Theo's birthday is on 14 November.", "Nora's birthday is in May.", BISCUIT)
    await talk(ada, 2, ("The clinic in Harrogate needs a vet. Our cat Moss is twelve years old.", "I see."))
    assert (await ada.emerge("api", topic="Theo's birthday")).status == "completed"
    assert lines(await ada.text("MEMORY.md")) == ["Theo's birthday is on 14 November."]
    assert (await ada.emerge("api", topic="the move of the Harrogate clinic")).status == "completed"
    assert clinic in lines(await ada.text("MEMORY.md"))
    assert not any("Moss" in line or "Nora" in line or "Biscuit" in line for line in lines(await ada.text("MEMORY.md")))


async def test_a_focused_run_leaves_the_status_of_the_nights(ada: Nights) -> None:
    """*(Found)*: it overwrote `last_run`."""
    await ada.emerge()
    night = await ada.runtime.consolidation.reports.emergence_status(ada.place)
    ada.later(hours=3)
    await ada.note(1, BISCUIT)
    assert (await ada.emerge("api", topic="Biscuit")).status == "completed"
    after = await ada.runtime.consolidation.reports.emergence_status(ada.place)
    assert (after.last_run, after.last_status) == (night.last_run, night.last_status)
    assert after.promoted == 1


FACTS = b"""
WITH fact AS (
    INSERT INTO facts (tenant_id, slice_id, fact_sha256, subject, predicate, object, text, category, confidence,
                       is_functional, is_request, about_user, said_at, valid_from, state, method,
                       created_at, updated_at)
    SELECT 'default', slice_id, %(key)s, 'user', 'lives in', 'x', %(text)s, 'profile', 0.8, true, false, true, now(),
           now(), %(state)s, 'extractive', now(), now()
    FROM slices WHERE agent_id = 'wren' AND owner_key = 'user:ada' AND NOT past
    RETURNING tenant_id, slice_id, fact_id
)
INSERT INTO fact_sentences (tenant_id, slice_id, sentence_sha256, fact_id)
SELECT tenant_id, slice_id, %(key)s, fact_id FROM fact
"""


async def test_what_no_longer_holds_does_not_enter_and_what_holds_is_confirmed(ada: Nights) -> None:
    old, new = "My sister Nora lives in Porto.", "My sister Nora has a flat in Braga."
    await ada.note(3, old, new)
    await ada.note(2, old, new)
    async with ada.runtime.database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        for text, state in ((old, "superseded"), (new, "current")):
            await connection.execute(FACTS, {"key": sentence_key(text), "text": text, "state": state})
    assert (await ada.emerge()).status == "completed"
    assert lines(await ada.text("MEMORY.md")) == [new]
    [report] = await ada.reports()
    assert [(one["text"], one["gate"]) for one in report.rejected] == [(old, "not_contradicted")]
    entries = ada.runtime.consolidation.card_entries
    await entries.confirm(ada.place, report.report_id, f"{report.report_id}:1", "english", by="ada")
    async with ada.runtime.database.maintenance() as connection:
        rows = await (await connection.execute("SELECT text, confirmed_by FROM facts ORDER BY fact_id")).fetchall()
    assert [(row["text"], row["confirmed_by"]) for row in rows] == [(old, None), (new, "ada")]
