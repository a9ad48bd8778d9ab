"""Forgetting reaches what conversations came to: nothing is left of a text in episodes, their index or their jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.consistency import assert_index_consistent
from tests.episodes import answers, complete, episode_rows, events, run, shown, summarised, tiers
from tests.forgetting import forget_all
from tests.jobs import jobs_of
from tests.rows import leftovers
from tests.scripted_model import ScriptedModel
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.forget import Receipt
from reverie_server.forgetting.selection import Target
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime

SECRET = "The vault opens with 4711-quince."
REVIEW = "We decided to move the review with Ada Lovelace to Thursday."


async def forget(talk: Talk, dry_run: bool = False, **target: str) -> Receipt:
    grant, place = await talk.grant()
    return await forget_all(talk.runtime, grant, place, dry_run=dry_run, **target)


async def test_nothing_is_left_and_the_episode_keeps_its_id_and_the_rest(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    talk = Talk(runtime)
    before = await summarised(talk, f"{SECRET} Remember that.", "I will.", REVIEW)
    await summarised(Talk(runtime, "web:2"), f"Remember that: {SECRET}")
    others = await summarised(Talk(runtime, "web:3", "user:bo"), SECRET)
    assert "quince" in before.episode.summary
    dry = await forget(talk, dry_run=True, text=SECRET)
    assert dry.removed["episodic"].files == 2
    assert dry.removed["episodic"].passages == 2
    paths = [item.path for item in dry.items if item.tier == "episodic"]
    assert paths == ["episodes/web:1/3", "episodes/web:2/1"]
    receipt = await forget(talk, text=SECRET)
    assert receipt.removed["episodic"] == dry.removed["episodic"]
    own = [row for row in await episode_rows(database) if row["owner_key"] == talk.owner_key]
    assert own[0]["episode_id"] == before.episode.episode_id
    # "Remember that." was about it alone.
    assert own[0]["summary"] == f"- Assistant: I will.\n- User: {REVIEW}"
    assert own[0]["abstract"] == REVIEW
    assert (own[0]["method"], own[0]["semantic_at"]) == ("extractive", None)
    # The graph is told.
    assert [event["episode_id"] for event in await events(database)].count(before.episode.episode_id) == 2
    assert "episodic" not in await tiers(talk, "vault quince", mode="text")
    assert_index_consistent(conninfo)
    # What another person has of it stays.
    [kept] = await shown(Talk(runtime, "web:3", "user:bo"))
    assert kept.episode == others.episode
    grant, place = await Talk(runtime, "web:3", "user:bo").grant()
    await runtime.forgetting.forget(grant, place, Target(text=SECRET), dry_run=False)
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


async def test_an_episode_that_tells_it_in_other_words_is_made_of_what_is_left(
    talking: Runtime, scripted: ScriptedModel, database: Database, conninfo: str
) -> None:
    talk = Talk(talking)
    scripted.script = lambda _: answers("The code of Ada's vault is four-seven-one-one Quince.", "Quince vault")
    await summarised(talk, SECRET, "I see.", REVIEW)
    scripted.requests.clear()
    await forget(talk, text=SECRET)
    [row] = await episode_rows(database)
    assert row["summary"] == f"- User: {REVIEW}"
    assert (row["method"], row["fallback"], row["model"]) == ("extractive", "forgotten", None)
    # No model is asked in the transaction; later it makes it again of what the messages are now.
    assert scripted.requests == []
    assert leftovers(conninfo, "quince") == []
    assert [job["stage"] for job in await jobs_of(database)].count("episodic") == 1
    scripted.script = lambda _: answers("Ada Lovelace's review is on Thursday.")
    await run(talk)
    [again] = await episode_rows(database)
    assert (again["episode_id"], again["summary"]) == (row["episode_id"], "Ada Lovelace's review is on Thursday.")
    assert all("quince" not in asked.texts().casefold() for asked in scripted.requests)


async def test_a_models_own_words_are_taken_out_and_the_rest_stays(
    talking: Runtime, scripted: ScriptedModel, database: Database, conninfo: str
) -> None:
    talk = Talk(talking)
    said = "Ada likes quince tea. The review is on Thursday."
    scripted.script = lambda _: answers(said, "quince tea", "Ada Lovelace")
    await summarised(talk, REVIEW)
    [row] = await episode_rows(database)
    receipt = await forget(talk, text="Ada likes quince tea.")
    assert receipt.removed["episodic"].files == 1
    [after] = await episode_rows(database)
    assert (after["summary"], after["abstract"]) == ("The review is on Thursday.", "The review is on Thursday.")
    assert after["key_topics"] == ["Ada Lovelace"]
    assert (after["method"], after["fallback"], after["episode_id"]) == ("llm", None, row["episode_id"])
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


@pytest.mark.parametrize("by", ["id", "query"])
async def test_a_passage_of_an_episode_is_forgotten_where_it_was_said(
    runtime: Runtime, database: Database, conninfo: str, by: str
) -> None:
    """Without the label of who says it, which the message and the log do not have so."""
    talk = Talk(runtime)
    await summarised(talk, SECRET, "I see.")
    async with database.maintenance() as connection:
        row = await (await connection.execute("SELECT chunk_id, text FROM chunks WHERE tier = 'episodic'")).fetchone()
    assert row is not None
    assert row["text"] == f"- User: {SECRET}"
    target = {"id": str(row["chunk_id"])} if by == "id" else {"query": "What does the vault open with, 4711-quince?"}
    await forget(talk, **target)
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


async def test_an_episode_of_which_nothing_is_left_goes(runtime: Runtime, database: Database, conninfo: str) -> None:
    talk = Talk(runtime)
    await summarised(talk, SECRET)
    await forget(talk, text=SECRET)
    assert await episode_rows(database) == []
    assert leftovers(conninfo, "quince") == []
    # Also where its messages are gone already, and when it has expired.
    await summarised(Talk(runtime, "web:2"), SECRET, "I see.", REVIEW)
    await runtime.sessions.clear(talk.principal, "web:2")
    async with database.maintenance() as connection:
        await connection.execute("UPDATE episodes SET expires_at = %s", [datetime(2020, 1, 1, tzinfo=UTC)])
    await forget(talk, text=SECRET)
    [row] = await episode_rows(database)
    assert row["summary"] == f"- User: {REVIEW}"
    assert leftovers(conninfo, "quince") == []


async def test_what_was_forgotten_before_does_not_become_an_episode(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    talk = Talk(runtime)
    await talk.say(SECRET, "I see.", REVIEW)
    await forget(talk, text=SECRET)
    await complete(talk)
    await run(talk)
    [row] = await episode_rows(database)
    assert row["summary"] == f"- User: {REVIEW}"
    assert leftovers(conninfo, "quince") == []


async def test_nothing_is_left_of_what_every_stage_made_of_it(runtime: Runtime, conninfo: str) -> None:
    """Files, graph, dreams and reports hold it too, some without the words it began with."""
    talk = Talk(runtime)
    said = "Remember that the vault of Ada Quincesmith opens with 4711-quince."
    also = "Ada Quincesmith works at Quincecorp in Lisbon."
    for number in range(5):
        one = Talk(runtime, f"web:{number}")
        await one.say(said, "I will.", f"{REVIEW[:-1]}, part {number}.", "Noted.", also, "Good to know.")
        await complete(one)
    later = datetime.now(UTC) + timedelta(days=1)
    await drain(runtime, until=later)
    emergence = Work("emergence", "default", "wren", talk.owner_key, trigger="api")
    await runtime.consolidation.stages["emergence"].run(emergence)
    assert {"entities", "episodes", "reports", "versions"} <= set(leftovers(conninfo, "quince"))
    for text in (said, also):
        await forget(talk, text=text)
    assert leftovers(conninfo, "quince") == []
    # Nor does what is still to be done bring it back.
    await drain(runtime, until=later)
    assert leftovers(conninfo, "quince") == []
    assert leftovers(conninfo, "lovelace") != []
    assert_index_consistent(conninfo)
