"""The window of a turn's prompt: summaries of older messages, emergencies, what is trimmed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import psycopg
import pytest
from tests.scripted_model import Reply, ScriptedModel, fails, hangs, says
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.forgetting.selection import Target
from reverie_server.prompt.turn import Turn
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings
from reverie_server.text.fences import SUMMARY_MARK

MakeRuntime = Callable[..., Runtime]
# With what the seed files take, so many long exchanges fill three quarters of the window of 4,000 tokens.
FULL, WORDS = 14, 40


@pytest.fixture
async def windowed(
    database: Database, models: ModelSlot, scripted: ScriptedModel
) -> AsyncIterator[Callable[..., Runtime]]:
    """Runtimes with a small window whose sessions are never compacted by themselves."""
    made: list[Runtime] = []

    def make(*, model: bool = True, **more: Any) -> Runtime:
        base = {"embedder": "hashing", "context_max_tokens": 4000, "compact_keep_last": 1000}
        endpoint = {"llm_base_url": scripted.base_url, "llm_model": "scripted", "llm_max_retries": 0}
        given = {**base, **(endpoint if model else {}), **more}
        made.append(assemble(Settings(**given), database, models))
        return made[-1]

    yield make
    for runtime in made:
        await runtime.compactions.aclose()
        if runtime.llm is not None:
            await runtime.llm.aclose()


def said(turn: Turn) -> list[str]:
    """The beginnings of what the prompt's messages hold."""
    return [message["content"].removesuffix(" and so on" * (WORDS - 1)) for message in turn.messages]


def summary(text: str) -> str:
    return f"{SUMMARY_MARK}\n{text}"


LAST_PAIRS = ["asking 13", "answering 13", "asking 14", "answering 14"]


class TestSummaries:
    async def test_older_messages_are_summarised_and_the_last_two_pairs_stay(
        self, windowed: MakeRuntime, scripted: ScriptedModel
    ) -> None:
        scripted.script = lambda _: says("- They asked a lot.")
        talk = Talk(windowed())
        await talk.chat(FULL, words=WORDS)
        turn = await talk.context()
        assert said(turn) == [summary("- They asked a lot."), *LAST_PAIRS, "And now?"]
        assert turn.messages[0]["role"] == "user"
        assert turn.compacted
        [asked] = scripted.requests
        assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.3, 500)
        assert "User: asking 1 " in asked.texts("user")
        assert "answering 12" in asked.texts("user")
        assert "asking 13" not in asked.texts("user")
        assert len(await talk.live()) == 2 * FULL, "the store has them all"

    async def test_below_the_share_nothing_is_summarised(self, windowed: MakeRuntime, scripted: ScriptedModel) -> None:
        talk = Talk(windowed())
        await talk.chat(4, words=WORDS)
        turn = await talk.context()
        assert len(turn.messages) == 9
        assert (turn.compacted, scripted.requests) == (False, [])

    async def test_it_stands_while_more_is_said_and_is_then_extended(
        self, windowed: MakeRuntime, scripted: ScriptedModel
    ) -> None:
        scripted.script = lambda _: says(f"- Summary {len(scripted.requests)}.")
        talk = Talk(windowed())
        await talk.chat(FULL, words=WORDS)
        first = await talk.context()
        await talk.chat(1, first=15)
        second = await talk.context("And then?")
        assert second.messages[:5] == first.messages[:5], "the provider's cache finds it again"
        assert said(second)[5:] == ["asking 15", "answering 15", "And then?"]
        assert len(scripted.requests) == 1
        await talk.chat(FULL, first=16, words=WORDS)
        third = await talk.context()
        assert said(third)[0] == summary("- Summary 2.")
        assert len(said(third)) == 6
        asked = scripted.requests[1].texts("user")
        assert "- Summary 1." in asked
        assert "asking 12 " not in asked, "only what joined"
        assert "asking 13 " in asked

    async def test_a_model_is_not_asked_in_every_turn_where_all_else_fills_the_window(
        self, windowed: MakeRuntime, scripted: ScriptedModel
    ) -> None:
        scripted.script = lambda _: says("- Summary.")
        talk = Talk(windowed(context_max_tokens=100_000))
        await talk.chat(6)
        prompt = "You answer briefly. " * 200
        others = (await talk.context(system_prompt=prompt)).tokens
        turns = []
        for number in range(7, 12):
            turns.append(await talk.context(system_prompt=prompt, model_max_tokens=others + 200))
            await talk.chat(1, first=number)
        assert len(scripted.requests) == 1
        assert said(turns[-1])[:3] == [summary("- Summary."), "asking 5", "answering 5"]
        assert all(turn.tokens <= others + 200 for turn in turns)

    async def test_after_its_time_it_is_made_anew(self, windowed: MakeRuntime, scripted: ScriptedModel) -> None:
        scripted.script = lambda _: says("- Summary.")
        talk = Talk(windowed(summary_keep_seconds=0.000001))
        await talk.chat(FULL, words=WORDS)
        await talk.context()
        await talk.context()
        assert ["User: asking 1 " in asked.texts("user") for asked in scripted.requests] == [True, True]
        assert "- Summary." not in scripted.requests[1].texts("user")

    async def test_two_turns_at_once_make_it_once(self, windowed: MakeRuntime, scripted: ScriptedModel) -> None:
        talk = Talk(windowed())
        await talk.chat(FULL, words=WORDS)
        turns = await asyncio.gather(*(talk.context() for _ in range(4)))
        assert len({str(turn.messages) for turn in turns}) == 1
        assert len(scripted.requests) == 1

    @pytest.mark.parametrize("reply", [None, fails(500), hangs(), Reply("", refusal="No.")])
    async def test_without_one_older_messages_are_dropped_from_the_prompt(
        self, windowed: MakeRuntime, scripted: ScriptedModel, reply: Reply | None
    ) -> None:
        scripted.script = lambda _: reply or says("unasked")
        talk = Talk(windowed(model=reply is not None, summary_timeout_seconds=0.2))
        await talk.chat(FULL, words=WORDS)
        turn = await talk.context()
        assert said(turn) == [*LAST_PAIRS, "And now?"]
        assert turn.compacted
        assert len(await talk.live()) == 2 * FULL

    async def test_what_is_forgotten_while_it_is_made_is_neither_kept_nor_shown(
        self, windowed: MakeRuntime, scripted: ScriptedModel, conninfo: str
    ) -> None:
        talk = Talk(windowed())
        secret = "My door code is quartz 4711 for the garage."
        await talk.say(secret, "Noted.")
        await talk.chat(FULL, words=WORDS)
        scripted.script = lambda _: hangs()
        running = asyncio.create_task(talk.context())
        await scripted.arrived.wait()
        scripted.plan(says("unasked"))
        grant, place = await talk.grant()
        await talk.runtime.forgetting.forget(grant, place, Target(text=secret), dry_run=False)
        scripted.release()
        assert said(await running) == [*LAST_PAIRS, "And now?"]
        with psycopg.connect(conninfo) as connection:
            assert connection.execute("SELECT count(*) FROM window_summaries").fetchone() == (0,)


class TestCompactedSessions:
    async def test_the_summary_stands_for_what_was_compacted(self, windowed: MakeRuntime) -> None:
        talk = Talk(windowed(model=False))
        await talk.say("We decided to use PostgreSQL 17 for the kite project.", "Noted.", "asking", "answering")
        done = await talk.compact()
        turn = await talk.context()
        assert said(turn) == [summary(done.summary), "asking", "answering", "And now?"]
        assert turn.compacted
        assert [section.name for section in turn.sections][-3:] == ["summary", "messages", "message"]

    async def test_a_summary_for_the_window_holds_it_too(self, windowed: MakeRuntime, scripted: ScriptedModel) -> None:
        talk = Talk(windowed())
        await talk.chat(1)
        scripted.script = lambda asked: says("- Before.")
        await talk.compact(keep_last=0)
        await talk.chat(FULL, words=WORDS)
        assert said(await talk.context(emergency=True))[0] == summary("- Before.")
        scripted.script = lambda asked: says(f"- Told of it: {'- Before.' in asked.texts('user')}")
        assert said(await talk.context())[0] == summary("- Told of it: True")

    async def test_a_turn_waits_for_a_compaction_under_way(
        self, windowed: MakeRuntime, scripted: ScriptedModel
    ) -> None:
        talk = Talk(windowed())
        await talk.chat(3)
        scripted.script = lambda _: hangs()
        compacting = asyncio.create_task(talk.compact())
        await scripted.arrived.wait()
        turn = asyncio.create_task(talk.context())
        await asyncio.sleep(0)
        scripted.release()
        assert said(await turn)[1:] == ["asking 3", "answering 3", "And now?"]
        await compacting

    async def test_but_not_for_ever(self, windowed: MakeRuntime, scripted: ScriptedModel) -> None:
        talk = Talk(windowed(compact_wait_seconds=0.1))
        await talk.chat(3)
        scripted.script = lambda _: hangs()
        compacting = asyncio.create_task(talk.compact())
        await scripted.arrived.wait()
        assert len(said(await talk.context())) == 7
        scripted.release()
        await compacting


class TestEmergency:
    async def test_no_model_is_asked_and_two_pairs_stay(self, windowed: MakeRuntime, scripted: ScriptedModel) -> None:
        talk = Talk(windowed())
        await talk.chat(FULL, words=WORDS)
        turn = await talk.context(emergency=True)
        assert said(turn) == [*LAST_PAIRS, "And now?"]
        assert (turn.compacted, scripted.requests) == (True, [])

    async def test_also_where_the_prompt_seemed_to_fit(self, windowed: MakeRuntime) -> None:
        talk = Talk(windowed(model=False))
        await talk.chat(3)
        assert said(await talk.context(emergency=True)) == [
            *("asking 2", "answering 2", "asking 3", "answering 3"),
            "And now?",
        ]


class TestTrimming:
    async def test_the_prompt_keeps_within_the_models_window(self, windowed: MakeRuntime) -> None:
        talk = Talk(windowed(model=False))
        await talk.chat(4, words=WORDS)
        everything = await talk.context()
        for less in (200, 400, 500):
            turn = await talk.context(model_max_tokens=everything.tokens - less)
            assert turn.tokens <= everything.tokens - less
            assert turn.messages == everything.messages[-len(turn.messages) :]
            assert turn.compacted

    async def test_the_last_two_messages_stay_whatever_the_window(self, windowed: MakeRuntime) -> None:
        talk = Talk(windowed(model=False))
        await talk.chat(4, words=WORDS)
        assert said(await talk.context(model_max_tokens=1)) == ["answering 4", "And now?"]

    async def test_files_alone_never_fill_the_window(self, windowed: MakeRuntime) -> None:
        talk = Talk(windowed(model=False))
        await talk.put("PROFILE.md", "# Profile\n\n- I live in Kiel.\n")
        short = await talk.context()
        assert short.injection.warnings == ()
        entries = "\n".join(f"- Fact {number} of the team, which is not short." for number in range(5_000))
        await talk.put("MEMORY.md", f"# Team\n\n{entries}\n", scope="team", owner_key=None)
        await talk.chat(2)
        turn = await talk.context()
        assert turn.tokens <= 4000
        assert len(turn.messages) == 5
        assert "--- MEMORY.md ---\n\n# Team\n\n- Fact 0 of the team" in turn.system_prompt
        assert "memory_search" in turn.system_prompt
        assert "- I live in Kiel." in turn.system_prompt
        [warning] = turn.injection.warnings
        assert "files too long for the window: 1" in warning

    async def test_a_larger_window_than_the_servers_is_used(
        self, windowed: MakeRuntime, scripted: ScriptedModel
    ) -> None:
        talk = Talk(windowed())
        await talk.chat(FULL, words=WORDS)
        assert len((await talk.context(model_max_tokens=100_000)).messages) == 2 * FULL + 1
        assert scripted.requests == []


async def test_what_leaves_the_prompt_does_not_come_back_as_todays_notes(windowed: MakeRuntime) -> None:
    talk = Talk(windowed(model=False, context_max_tokens=128_000))
    await talk.chat(20, words=20)
    whole, short = await talk.context("now?"), await talk.context("now?", emergency=True)
    assert (len(whole.messages), len(short.messages)) == (41, 5)
    assert "asking 1 " not in short.system_prompt
    assert short.tokens < whole.tokens / 2
    # All of a session fits as long as its messages do: what is in them does not count a second time as notes.
    assert len((await talk.context("now?", model_max_tokens=whole.tokens * 3 // 2)).messages) == 41
