"""The stage `episodic`: each range of messages of a session is summarised once, completely, whatever happens."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from tests.consistency import assert_index_consistent
from tests.episodes import (
    answers,
    complete,
    episode_rows,
    events,
    garbage,
    hanging,
    of_prompt,
    run,
    session_row,
    shown,
    tiers,
    work_of,
)
from tests.jobs import jobs_of
from tests.scripted_model import Asked, Reply, ScriptedModel, fails, says
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_server.app.pending_jobs import drain
from reverie_server.episodes import make as episode_making
from reverie_server.episodes.make import UNGROUNDED
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage
from reverie_server.text.fences import CLOSE_FENCE, HEADER, OPEN_FENCE

REVIEW = "We decided to move the review with Ada Lovelace to Thursday."
TEA = "I prefer tea to coffee."


@pytest.fixture
async def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


@pytest.fixture
async def spoken(talking: Runtime, scripted: ScriptedModel) -> Talk:
    """A talk of a system with a language model, that is told what to answer to the prompt alone."""
    scripted.script = lambda _: says("nothing to say")
    return Talk(talking)


async def test_what_was_completed_becomes_one_episode_with_all_that_follows(
    talk: Talk, database: Database, conninfo: str
) -> None:
    await talk.add(
        [
            NewMessage("user", REVIEW, "m-1", datetime(2026, 4, 3, 9, tzinfo=UTC)),
            NewMessage("assistant", "Noted.", None, datetime(2026, 4, 3, 10, tzinfo=UTC)),
        ]
    )
    await complete(talk)
    await talk.say("This belongs to the next stretch.")
    outcome = await run(talk)
    assert (outcome.status, outcome.method, outcome.fallback) == ("completed", "extractive", None)
    [found] = await shown(talk)
    episode = found.episode
    assert (episode.from_seq, episode.through_seq) == (1, 2)
    assert episode.summary == f"- User: {REVIEW}"
    assert episode.abstract == REVIEW
    assert list(episode.key_topics) == ["Ada Lovelace"]
    assert (episode.method, episode.prompt, episode.model, episode.fallback) == ("extractive", None, None, None)
    assert episode.ended_at == datetime(2026, 4, 3, 10, tzinfo=UTC)
    assert episode.expires_at - episode.created_at == timedelta(days=90)
    [source] = found.sources
    assert source["session_id"] == "web:1"
    assert source["messages"] == [{"seq": 1, "id": "m-1"}, {"seq": 2, "id": None}]
    session = await session_row(database)
    assert (session["summarised_through"], session["completed_through"]) == (2, 2)
    key = session["session_key"]
    assert await events(database) == [{"episode_id": episode.episode_id, "session_key": key}]
    waiting = {job["stage"]: job for job in await jobs_of(database) if job["status"] == "todo"}
    assert waiting["semantic"]["args"]["episode_id"] == episode.episode_id
    assert "dreaming" in waiting
    assert_index_consistent(conninfo)
    assert (await run(talk)).status == "skipped"
    assert len(await shown(talk)) == 1


async def test_each_stretch_is_summarised_once_by_several_runs_at_once_and_appends_meanwhile(
    talk: Talk, runtime: Runtime, database: Database, conninfo: str
) -> None:
    """Seen elsewhere: only the first turn ever was summarised."""
    for round_ in range(3):
        await talk.say(f"We decided that lamp {round_} is green.", "Green it is.", f"Lamp {round_} hangs in the hall.")
        await complete(talk)
        work = await work_of(talk)
        stage = runtime.consolidation.stages["episodic"]
        *outcomes, _ = await asyncio.gather(*(stage.run(work) for _ in range(4)), talk.say(f"And meanwhile {round_}."))
        assert sum(outcome.method is not None for outcome in outcomes) == 1
    rows = await episode_rows(database)
    assert [(row["from_seq"], row["through_seq"]) for row in rows] == [(1, 3), (4, 7), (8, 11)]
    assert all(f"amp {n}" in row["summary"] for n, row in enumerate(rows))
    assert "lamp 0" not in rows[1]["summary"]
    assert len(await events(database)) == 3
    assert_index_consistent(conninfo)


async def test_what_is_completed_while_it_runs_is_summarised_too(spoken: Talk, scripted: ScriptedModel) -> None:
    await spoken.say(REVIEW)
    await complete(spoken)
    scripted.plan(hanging("Ada Lovelace's review is on Thursday."))
    scripted.script = lambda _: answers("They prefer tea to coffee.")
    running = asyncio.create_task(run(spoken))
    await scripted.arrived.wait()
    await spoken.say(TEA)
    await complete(spoken)
    scripted.release()
    await running
    assert [one.episode.summary for one in await shown(spoken)] == [
        "They prefer tea to coffee.",
        "Ada Lovelace's review is on Thursday.",
    ]


# Numbers that nobody said leave a summary.
LETTERS = "abcdefghijklmnop"


async def test_a_model_summarises_all_of_a_long_session_part_by_part(spoken: Talk, scripted: ScriptedModel) -> None:
    """Seen elsewhere: the end of long sessions was cut."""
    filler = "and so on and on about the harbour " * 40
    await spoken.say(*(f"Lantern {n} hangs at pier {n}. {filler}" for n in range(60)))
    await complete(spoken)
    given: list[str] = []

    def answer(asked: Asked) -> Reply:
        assert of_prompt(asked, "episodic")
        assert asked.body["max_tokens"] == 1024
        given.append(asked.texts("user"))
        return answers(f"Lanterns hang at piers. This is part {LETTERS[len(given)]}.", "Lantern", "harbour")

    scripted.script = answer
    outcome = await run(spoken)
    assert outcome.method == "llm"
    assert len(given) >= 3
    for number in range(60):
        assert sum(f"Lantern {number} hangs" in text for text in given) == 1
    assert all(f"This is part {LETTERS[n]}." in text for n, text in enumerate(given[1:], 1))
    [found] = await shown(spoken)
    assert (found.episode.from_seq, found.episode.through_seq) == (1, 60)
    assert found.episode.summary == f"Lanterns hang at piers. This is part {LETTERS[len(given)]}."
    assert list(found.episode.key_topics)[:2] == ["Lantern", "harbour"]
    assert (found.episode.prompt, found.episode.prompt_version, found.episode.model) == ("episodic", "1", "scripted")


async def test_a_stretch_that_is_too_long_for_one_summary_becomes_several(
    talk: Talk, runtime: Runtime, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episode_making, "PART_TOKENS", 5)
    await talk.say(*(f"We decided that door {n} shall be painted blue by the end of {2000 + n}." for n in range(30)))
    await complete(talk)
    while (await run(talk)).status != "skipped":
        pass
    rows = await episode_rows(database)
    assert len(rows) > 5
    assert [row["from_seq"] for row in rows] == [1, *(row["through_seq"] + 1 for row in rows[:-1])]
    assert rows[-1]["through_seq"] == 30
    assert all("We decided that door" in row["summary"] for row in rows)


async def test_what_a_compaction_summarised_is_not_summarised_again(spoken: Talk, scripted: ScriptedModel) -> None:
    await spoken.say(REVIEW, "Noted.", "Bo writes the agenda.", "Good.", TEA, "Tea then.")
    scripted.plan(says('{"lines": []}'), says("- Ada Lovelace's review was moved to Thursday; Bo writes the agenda."))
    assert (await spoken.compact(keep_last=2)).method == "llm"
    await complete(spoken)
    scripted.requests.clear()
    scripted.plan(answers("Ada's review is on Thursday. Bo writes the agenda. They prefer tea.", "Ada Lovelace"))
    await run(spoken)
    [asked] = scripted.requests
    assert "Ada Lovelace's review was moved to Thursday; Bo writes the agenda." in asked.texts("user")
    assert REVIEW not in asked.texts("user")
    assert TEA in asked.texts("user")
    [found] = await shown(spoken)
    assert (found.episode.from_seq, found.episode.through_seq, found.episode.compactions) == (1, 6, 1)
    # What was compacted of a later stretch has a summary of what came before it, too.
    await spoken.say("The boat is sold.", "To whom?", "To Eve.", "I see.")
    scripted.plan(says('{"lines": []}'), says("- All of the past in one line."))
    await spoken.compact(keep_last=0)
    await complete(spoken)
    scripted.requests.clear()
    scripted.plan(answers("The boat is sold to Eve."))
    await run(spoken)
    [asked] = scripted.requests
    assert "The boat is sold." in asked.texts("user")
    assert "All of the past" not in asked.texts("user")


async def test_a_compaction_of_exactly_a_stretch_is_its_episode(spoken: Talk, scripted: ScriptedModel) -> None:
    await spoken.say(REVIEW, "Noted.")
    scripted.plan(says('{"lines": []}'), says("- Ada Lovelace's review was moved to Thursday."))
    await spoken.compact(keep_last=0)
    await complete(spoken)
    scripted.requests.clear()
    await run(spoken)
    assert scripted.requests == []
    [found] = await shown(spoken)
    assert found.episode.summary == "- Ada Lovelace's review was moved to Thursday."
    assert (found.episode.method, found.episode.prompt, found.episode.model) == ("llm", "summary", "scripted")


async def test_what_is_nobodys_words_makes_no_episode_and_is_passed_over(talk: Talk, database: Database) -> None:
    echo = f"{OPEN_FENCE}\n{HEADER}\nRecalled data.\n- (2026-04-03, a.md) Ada likes tea.\n{CLOSE_FENCE}"
    await talk.add([NewMessage("system", "Be kind."), NewMessage("tool", "42", extra={"tool_call_id": "1"})])
    await talk.add([NewMessage("user", echo)])
    await complete(talk)
    outcome = await run(talk)
    assert (outcome.status, outcome.method) == ("completed", None)
    assert await episode_rows(database) == []
    assert await events(database) == []
    row = await session_row(database)
    assert row["summarised_through"] == row["completed_through"] == row["last_seq"]


async def test_cleared_messages_are_passed_over(talk: Talk, runtime: Runtime, database: Database) -> None:
    await talk.say(REVIEW, "Noted.")
    await complete(talk)
    async with database.maintenance() as connection:
        await connection.execute("DELETE FROM messages")
    await run(talk)
    assert await episode_rows(database) == []
    assert (await session_row(database))["summarised_through"] == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (garbage(), "unusable"),
        (answers("Lorem ipsum dolor sit amet consectetur."), UNGROUNDED),
        (answers("…"), "unusable"),
        (fails(400), "rejected"),
    ],
    ids=["chatter", "ungrounded", "dots", "refused"],
)
async def test_a_model_that_gives_nothing_of_use_costs_nothing(
    spoken: Talk, scripted: ScriptedModel, database: Database, reply: Reply, reason: str
) -> None:
    scripted.script = lambda _: reply
    await spoken.say(REVIEW, "Noted.")
    await complete(spoken)
    outcome = await run(spoken)
    [row] = await episode_rows(database)
    assert row["summary"] == f"- User: {REVIEW}"
    assert (row["method"], row["attempts"]) == ("extractive", 1)
    assert row["fallback"] == outcome.fallback
    assert outcome.fallback == reason or reason == "rejected"
    assert outcome.fallback


async def test_a_model_that_fails_for_an_hour_is_caught_up_with(
    spoken: Talk, scripted: ScriptedModel, database: Database, conninfo: str
) -> None:
    """Nothing is lost, nothing stays behind, and each episode keeps its id."""
    scripted.script = lambda _: garbage()
    others = [Talk(spoken.runtime, f"web:{n}") for n in range(2, 4)]
    for number, talk in enumerate([spoken, *others]):
        await talk.say(f"We decided that lamp {number} is green.", "Green it is.")
        await complete(talk)
    assert await drain(spoken.runtime) >= 3
    before = await episode_rows(database)
    assert [row["method"] for row in before] == ["extractive"] * 3
    jobs = [job for job in await jobs_of(database) if job["stage"] == "episodic"]
    retries = [job for job in jobs if job["args"]["trigger"] == "retry"]
    assert len(retries) == 3
    now = datetime.now(UTC)
    assert all(now + timedelta(minutes=5) < job["scheduled_at"] < now + timedelta(minutes=15) for job in retries)
    # It still fails: it is asked again after a longer time, and nothing else changes.
    assert (await run(spoken)).fallback == "unusable"
    again = await episode_rows(database)
    assert [row["attempts"] for row in again] == [2, 1, 1]
    assert [row["summary"] for row in again] == [row["summary"] for row in before]
    await run(spoken)
    [later] = [
        job["scheduled_at"]
        for job in await jobs_of(database)
        if job["stage"] == "episodic"
        and job["status"] == "todo"
        and job["args"]["session_key"] == again[0]["session_key"]
    ]
    # The waiting job is enough; it is never later than asked for.
    assert later > now
    scripted.script = lambda asked: answers("The lamp is green.", "lamp")
    for talk in [spoken, *others]:
        outcome = await run(talk)
        assert (outcome.status, outcome.method, outcome.fallback) == ("completed", "llm", None)
    after = await episode_rows(database)
    assert [row["episode_id"] for row in after] == [row["episode_id"] for row in before]
    assert [(row["method"], row["fallback"], row["model"]) for row in after] == [("llm", None, "scripted")] * 3
    assert [(row["created_at"], row["expires_at"]) for row in after] == [
        (row["created_at"], row["expires_at"]) for row in before
    ]
    assert all(row["summary"].startswith("The lamp is green") for row in after)
    assert len(await events(database)) == 6
    assert "episodic" in await tiers(spoken, "lamp green", tiers=("episodic",))
    assert_index_consistent(conninfo)


async def test_what_waits_for_the_model_is_due_again_with_the_sweep(
    spoken: Talk, scripted: ScriptedModel, database: Database, runtime: Runtime
) -> None:
    scripted.script = lambda _: garbage()
    await spoken.say(REVIEW)
    await complete(spoken)
    await run(spoken)
    async with database.maintenance() as connection:
        await connection.execute("DELETE FROM procrastinate_jobs")
    scripted.script = lambda _: answers("Ada Lovelace's review is on Thursday.")
    assert await spoken.runtime.consolidation.episodes.prune(datetime.now(UTC)) == 0
    assert [job["stage"] for job in await jobs_of(database)] == ["episodic"]
    assert await drain(spoken.runtime) >= 1
    assert (await episode_rows(database))[0]["method"] == "llm"
    # Of one whose messages are gone, nothing better can be made.
    scripted.script = lambda _: garbage()
    await spoken.say(TEA)
    await complete(spoken)
    await run(spoken)
    await spoken.runtime.sessions.clear(spoken.principal, spoken.session_id)
    scripted.script = lambda _: answers("I prefer tea to coffee, invented.")
    await run(spoken)
    assert [row["method"] for row in await episode_rows(database)] == ["llm", "extractive"]


async def test_what_is_forgotten_while_the_model_works_does_not_come_back(
    spoken: Talk, scripted: ScriptedModel, database: Database
) -> None:
    grant, place = await spoken.grant()
    await spoken.say("The vault opens with 4711-quince.", "I see.", REVIEW)
    await complete(spoken)
    scripted.plan(
        Reply(answers("The vault opens with 4711-quince. Ada Lovelace's review is Thursday.").content, hangs=True)
    )
    running = asyncio.create_task(run(spoken))
    await scripted.arrived.wait()
    scripted.script = lambda _: answers("Ada Lovelace's review is on Thursday.")
    await spoken.runtime.forgetting.forget(
        grant, place, Target(text="The vault opens with 4711-quince."), dry_run=False
    )
    scripted.release()
    await running
    [row] = await episode_rows(database)
    assert row["summary"] == "Ada Lovelace's review is on Thursday."


async def test_a_session_or_agent_that_is_gone_meanwhile_gets_no_episode(
    spoken: Talk, scripted: ScriptedModel, database: Database
) -> None:
    runtime = spoken.runtime
    await spoken.say(REVIEW)
    await complete(spoken)
    work = await work_of(spoken)
    scripted.plan(hanging("Ada Lovelace's review is on Thursday."))
    running = asyncio.create_task(runtime.consolidation.stages["episodic"].run(work))
    await scripted.arrived.wait()
    await runtime.agents.delete("default", "wren")
    scripted.release()
    assert (await running).status == "skipped"
    assert await episode_rows(database) == []
    async with database.maintenance() as connection:
        agents = await (await connection.execute("SELECT agent_id FROM agents")).fetchall()
    assert agents == []
    outcome = await runtime.consolidation.stages["episodic"].run(work)
    assert (outcome.status, outcome.reason) == ("skipped", "the agent is gone")
