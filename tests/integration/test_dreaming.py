"""Dreaming on a real database: which episodes it takes, into what, and what happens when something is in between."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.nights import ADA, Nights, lines, nights

from reverie_indexer.database.database import Database
from reverie_indexer.errors import Conflict, DatabaseUnavailable
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.forgetting.selection import Target
from reverie_server.nights.dreaming import stage as dreaming
from reverie_server.provenance import record as derive
from reverie_server.search.request import request_for

FILE = "_system/dreaming/20260403-consolidated.md"
JOBS = "SELECT count(*) AS count FROM procrastinate_jobs WHERE task_name = 'dreaming' AND status = 'todo'"


@pytest.fixture
async def ada(database: Database, models: ModelSlot) -> Nights:
    return await nights(database, models)


async def stated(ada: Nights, *texts: str, first: int = 0) -> list[int]:
    """One episode for each text, of a conversation of its own, oldest first."""
    return [
        await ada.episode(f"web:{first + number}", f"- User: {text}", days_ago=20 - first - number)
        for number, text in enumerate(texts)
    ]


PREFERENCES = tuple(
    f"I prefer {one} for the {two} on Sundays."
    for one, two in zip(
        ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade", "kelp", "larch"),
        ("mast", "nest", "oar", "pier", "quay", "rope", "sail", "tide", "urn", "vane", "well", "yard"),
        strict=True,
    )
)


async def test_fewer_than_five_episodes_wait(ada: Nights) -> None:
    ids = await stated(ada, *PREFERENCES[:4])
    outcome = await ada.dream()
    assert (outcome.status, outcome.reason) == ("skipped", "4 episodes wait, 5 are needed")
    assert await ada.unpromoted() == ids
    assert (await ada.text(FILE), await ada.reports(), await ada.text("DREAMS.md")) == (None, [], None)


async def test_what_episodes_come_to_is_written_indexed_sourced_told_and_only_then_marked(ada: Nights) -> None:
    ids = await stated(ada, *PREFERENCES[:5])
    outcome = await ada.dream()
    assert (outcome.status, outcome.method, outcome.reason) == ("completed", "extractive", "5 lines of 5 episodes")
    text = await ada.text(FILE)
    assert lines(text)[0] == f"{PREFERENCES[0]} (2026-03-14)"
    assert len(lines(text)) == 5
    assert await ada.unpromoted() == []
    found = await ada.runtime.search.search(request_for(await ada.grant(), PREFERENCES[2]))
    assert FILE in {result.path for result in found.results}
    [report] = await ada.reports()
    assert (report.mode, report.status, report.path) == ("dreaming", "success", FILE)
    assert report.seen == {"episodes": [f"ep-{number}" for number in ids], "sessions": 5}
    assert [one["source"] for one in report.promoted] == [f"ep-{number}" for number in ids]
    assert f"(report {report.report_id})" in (await ada.text("DREAMS.md") or "")
    [(document, _)] = (await ada.runtime.workspace.present(ada.place, [FILE])).values()
    async with ada.runtime.database.tenant("default") as connection:
        await own_slices(connection, ada.place)
        rows = await derive.origins(connection, "default", document.document_id, lines(text)[:1])
    assert [row["sources"] for [row] in rows.values()] == [
        [{"kind": "episode", "episode_id": f"ep-{ids[0]}", "session_id": "web:0"}]
    ]


async def test_the_oldest_are_never_starved_and_the_rest_is_taken_by_another_run(ada: Nights) -> None:
    newer = await stated(ada, *PREFERENCES[6:], first=6)
    older = await stated(ada, *PREFERENCES[:6])
    outcome = await ada.dream(trigger="event")
    assert outcome.reason == "10 lines of 10 episodes"
    assert await ada.unpromoted() == newer[4:]
    assert await waiting(ada) == 0, "two are too few for another run"
    assert older
    await stated(ada, *(f"We decided to name the {text[9:-1]}." for text in PREFERENCES), first=12)
    await stated(ada, *(f"Please remember the {text[9:-1]}." for text in PREFERENCES[:6]), first=24)
    await ada.dream()
    assert len(await ada.unpromoted()) == 10
    assert await waiting(ada) == 1, "another run is deferred in the same transaction"


async def test_a_second_run_on_the_same_day_adds_to_the_file(ada: Nights) -> None:
    """It replaced it and lost facts *(seen elsewhere)*."""
    await stated(ada, *PREFERENCES[:5])
    await ada.dream()
    first = lines(await ada.text(FILE))
    await stated(ada, PREFERENCES[0], *PREFERENCES[5:9], first=5)
    assert (await ada.dream()).reason == "4 lines of 5 episodes"
    assert lines(await ada.text(FILE))[:5] == first
    assert len(lines(await ada.text(FILE))) == 9


async def test_two_runs_at_once_and_a_repeated_one_have_one_result(ada: Nights) -> None:
    await stated(ada, *PREFERENCES[:5])
    outcomes = await asyncio.gather(*(ada.dream() for _ in range(3)))
    assert sorted(outcome.status for outcome in outcomes) == ["completed", "skipped", "skipped"]
    assert (await ada.dream()).status == "skipped"
    assert len(lines(await ada.text(FILE))) == 5
    assert len(await ada.reports()) == 1


async def test_a_failure_between_file_and_marks_leaves_neither(ada: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await stated(ada, *PREFERENCES[:5])

    async def fail(*_: Any) -> int:
        raise DatabaseUnavailable("in between")

    with monkeypatch.context() as patched:
        patched.setattr(dreaming, "mark_promoted", fail)
        with pytest.raises(DatabaseUnavailable):
            await ada.dream()
        assert (await ada.text(FILE), await ada.unpromoted(), await ada.reports()) == (None, ids, [])
        with pytest.raises(DatabaseUnavailable):
            await ada.dream(is_last_attempt=True)
    [report] = await ada.reports()
    assert (report.status, report.reason) == ("failed", "it failed: database_unavailable")

    async def too_few(*_: Any) -> int:
        return 4

    with monkeypatch.context() as patched:
        patched.setattr(dreaming, "mark_promoted", too_few)
        with pytest.raises(Conflict):
            await ada.dream()
    assert (await ada.text(FILE), await ada.unpromoted()) == (None, ids)
    assert (await ada.dream()).status == "completed"


async def test_episodes_that_say_nothing_are_taken_too_and_no_file_is_made(ada: Nights) -> None:
    await stated(ada, "Hello there.", "What time is it?", "Thanks a lot!", "Good morning.", "Bye.")
    assert (await ada.dream()).reason == "0 lines of 5 episodes"
    assert await ada.unpromoted() == []
    assert (await ada.text(FILE), await ada.text("DREAMS.md")) == (None, None)


async def test_what_was_forgotten_is_not_consolidated(ada: Nights) -> None:
    await stated(ada, *PREFERENCES[:7])
    grant, place = await ada.runtime.gate.write(OPERATOR, ada.agent_id, ADA, None)
    await ada.runtime.forgetting.forget(grant, place, Target(text=PREFERENCES[1]), dry_run=False)
    await ada.dream()
    text = await ada.text(FILE) or ""
    assert PREFERENCES[0] in text
    assert PREFERENCES[1] not in text


async def test_switched_off_or_gone_it_is_skipped(ada: Nights) -> None:
    ids = await stated(ada, *PREFERENCES[:5])
    await ada.runtime.agents.put("default", ada.agent_id, "Wren", None, {"consolidation_enabled": False})
    assert (await ada.dream()).status == "skipped"
    assert (await Nights(ada.runtime, ada.clock, agent_id="nobody").dream()).status == "skipped"
    assert await ada.unpromoted() == ids


async def test_another_owners_episodes_are_not_taken(ada: Nights) -> None:
    await stated(ada, *PREFERENCES[:5])
    bo = ada.of("user:bo")
    assert (await bo.dream()).reason == "0 episodes wait, 5 are needed"
    assert (await ada.of(None).dream()).status == "skipped"
    await ada.dream()
    assert await bo.text(FILE) is None
    assert await bo.reports() == []


async def waiting(ada: Nights) -> int:
    async with ada.runtime.database.maintenance() as connection:
        row = await (await connection.execute(JOBS)).fetchone()
    return int((row or {})["count"])
