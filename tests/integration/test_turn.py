"""The prompt of a turn, over a real memory: what is in it, in which order, and what it never does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from tests.embedders import MoodyEmbedder, filled_slot
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.database.messages import Message
from reverie_indexer.database.queries import name_of
from reverie_indexer.database.watched import WatchedConnection
from reverie_server.app.wiring import assemble
from reverie_server.prompt.turn import Turn
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage
from reverie_server.settings.server import Settings
from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE, OPEN_FILES

NOTES = "## Today's Notes"


def texts(turn: Turn) -> list[str]:
    return [message["content"] for message in turn.messages]


def day(back: int) -> str:
    return (datetime.now(UTC) - timedelta(days=back)).date().isoformat()


def names(turn: Turn) -> list[str]:
    return [section.name for section in turn.sections]


@pytest.fixture
async def talk(runtime: Runtime) -> Talk:
    """A conversation of an agent whose every matching memory is injected, and that is there already."""
    await runtime.agents.put("default", "wren", None, None, {"auto_inject_threshold": 0.0})
    return Talk(runtime)


class Noting(Database):
    """Notes the names of the statements that it sends, by exchange."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(conninfo)
        self.exchanges: list[tuple[str, ...]] = []

    async def _prepare(self, connection: WatchedConnection) -> None:
        await super()._prepare(connection)
        exchanges = self.exchanges

        class Cursor(psycopg.AsyncCursor[Any]):
            async def execute(self, query: Any, params: Any = None, **how: Any) -> Any:
                sent = [each.query for each in query.statements] if isinstance(query, Message) else [query]
                exchanges.append(tuple(map(name_of, sent)))
                return await super().execute(query, params, **how)

        connection.cursor_factory = Cursor


async def settings(runtime: Runtime, **own: Any) -> None:
    await runtime.agents.put("default", "wren", None, None, own)


class TestMessages:
    async def test_an_unknown_session_has_none_and_is_not_made(self, talk: Talk, conninfo: str) -> None:
        turn = await talk.context("Hello there!", system_prompt="You are Wren.")
        assert turn.messages == [{"role": "user", "content": "Hello there!"}]
        assert not turn.compacted
        with psycopg.connect(conninfo) as connection:
            assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)

    async def test_the_conversation_comes_in_order_and_the_current_message_last(self, talk: Talk) -> None:
        await talk.chat(2)
        turn = await talk.context("And now?")
        assert texts(turn) == ["asking 1", "answering 1", "asking 2", "answering 2", "And now?"]
        assert [m["role"] for m in turn.messages] == ["user", "assistant"] * 2 + ["user"]
        assert not turn.compacted
        assert len(await talk.everything()) == 4, "it stores nothing"

    async def test_tool_calls_come_as_they_were_stored(self, talk: Talk) -> None:
        call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        await talk.add(
            [
                NewMessage("user", "one"),
                NewMessage("assistant", "", extra={"tool_calls": [call]}),
                NewMessage("tool", "found", extra={"tool_call_id": "a"}),
                NewMessage("tool", "lost", extra={"tool_call_id": "b"}),
            ]
        )
        assert (await talk.context("And now?")).messages == [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "found", "tool_call_id": "a"},
            {"role": "user", "content": "And now?"},
        ]

    async def test_another_session_or_owner_never_bleeds_in(self, talk: Talk) -> None:
        await talk.say("the blue lantern", "yes")
        for other in (Talk(talk.runtime, "web:2"), Talk(talk.runtime, "web:1", "user:ben")):
            await other.chat(1)
            turn = await other.context("And now?")
            assert texts(turn) == ["asking 1", "answering 1", "And now?"]

    async def test_a_message_that_was_stored_before_it_was_answered_is_there_once(self, talk: Talk) -> None:
        await talk.say("asking 1", "answering 1", "And now?")
        assert texts(await talk.context("And now?")) == ["asking 1", "answering 1", "And now?"]

    async def test_a_stored_system_message_is_there_once(self, talk: Talk) -> None:
        await talk.add([NewMessage("system", "Be brief."), NewMessage("user", "hi"), NewMessage("system", "Be brief.")])
        assert texts(await talk.context("And now?")) == ["Be brief.", "hi", "And now?"]
        assert texts(await talk.context("And now?", system_prompt="You are Wren. Be brief.")) == ["hi", "And now?"]

    async def test_the_tokens_are_those_of_the_prompt(self, talk: Talk) -> None:
        await talk.chat(2)
        turn = await talk.context("And now?", system_prompt="You are Wren.")
        count = talk.runtime.count_tokens
        assert turn.tokens == count(turn.system_prompt) + 4 + sum(count(text) + 4 for text in texts(turn))


class TestFiles:
    async def test_shared_files_come_by_sort_order_then_path_and_only_if_enabled(self, talk: Talk) -> None:
        await settings(talk.runtime, seeds_in_prompt=True)
        team = {"scope": "team", "owner_key": None}
        await talk.put("zebra.md", "A zebra.", enabled=True, **team)
        await talk.put("aardvark.md", "An aardvark.", enabled=True, scope="global", owner_key=None)
        await talk.put("hidden.md", "A mole.", enabled=False, **team)
        prompt = (await talk.context(system_prompt="You are Wren.")).system_prompt
        order = ["You are Wren.", OPEN_FILES, "--- AGENTS.md ---", "--- SOUL.md ---", "--- PROFILE.md ---"]
        order += ["--- aardvark.md ---\n\nAn aardvark.", "--- zebra.md ---\n\nA zebra."]
        places = [prompt.index(text) for text in order]
        assert places == sorted(places)
        assert "mole" not in prompt
        assert "--- MEMORY.md ---" not in prompt, "the seed is nothing but headings"

    async def test_the_owners_files_are_the_memory_block(self, talk: Talk) -> None:
        await talk.put("PROFILE.md", "Ada, an engineer.")
        await talk.put("MEMORY.md", "- Likes tea.")
        await talk.put("projects/kite.md", "The kite flies.", enabled=True)
        await talk.put("projects/boat.md", "The boat sinks.")
        await talk.put("AGENTS.md", "Be brief.", scope="team", owner_key=None)
        turn = await talk.context()
        block = turn.system_prompt.partition("# Memory\n\n")[2]
        assert block.startswith(
            "## Profile\n\nAda, an engineer.\n\n## Long-term Memory\n\n- Likes tea.\n\n"
            "--- projects/kite.md ---\n\nThe kite flies."
        )
        assert "boat" not in turn.system_prompt
        assert names(turn)[:3] == ["shared_files", "profile", "long_term_memory"]
        other = await Talk(talk.runtime, owner_key="user:ben").context()
        assert "# Memory" not in other.system_prompt

    async def test_a_memory_that_is_switched_off_by_its_owner_stays_out(self, talk: Talk) -> None:
        await talk.put("memory.md", "Likes coffee.")
        assert "coffee" in (await talk.context()).system_prompt
        await talk.put("MEMORY.md", "Likes tea.", enabled=False)
        prompt = (await talk.context()).system_prompt
        assert "tea" not in prompt
        assert "coffee" not in prompt

    async def test_the_shared_part_is_the_same_for_every_owner(self, talk: Talk) -> None:
        prompts = []
        await settings(talk.runtime, seeds_in_prompt=True)
        for owner in (ADA, "user:ben", None):
            one = Talk(talk.runtime, owner_key=owner)
            if owner:
                await one.put("MEMORY.md", f"I am {owner}.")
            prompts.append((await one.context(system_prompt="You are Wren.")).system_prompt)
        shared = prompts[2].removesuffix("\n</memory-files>")
        assert "--- AGENTS.md ---" in shared
        assert all(prompt.startswith(shared) for prompt in prompts)

    async def test_without_isolation_the_notes_are_the_teams(self, talk: Talk) -> None:
        await talk.put(f"memory/{day(0)}.md", "The team met.", scope="team", owner_key=None)
        assert "The team met." not in (await talk.context()).system_prompt
        await settings(talk.runtime, memory_isolation=False)
        assert f"{NOTES}\n\nThe team met." in (await talk.context()).system_prompt

    async def test_a_member_reads_what_its_leader_shares(self, talk: Talk) -> None:
        await talk.put("PROFILE.md", "Ada, an engineer.")
        await talk.put("house.md", "The leader's house.", enabled=True, scope="team", owner_key=None)
        await talk.put("law.md", "The law.", enabled=True, scope="global", owner_key=None)
        await talk.runtime.agents.put("default", "member", None, "wren", {})
        member = Talk(talk.runtime, agent_id="member")
        turn = await member.context()
        assert "--- house.md ---\n\nThe leader's house." in turn.system_prompt
        assert turn.system_prompt.count("The law.") == 1
        assert "engineer" not in turn.system_prompt
        assert texts(turn) == ["And now?"]

    async def test_an_echoed_prompt_does_not_grow(self, talk: Talk) -> None:
        await talk.put("MEMORY.md", "- Likes tea.")
        await talk.put(f"memory/{day(0)}.md", "Wrote a letter about the lighthouse.")
        first = await talk.context("Where is the lighthouse?", system_prompt="You are Wren.")
        again = await talk.context("Where is the lighthouse?", system_prompt=first.system_prompt)
        assert again.system_prompt == first.system_prompt


class TestNotes:
    async def test_today_and_the_days_before_newest_first(self, talk: Talk) -> None:
        for back in (0, 1, 3, 7, 8):
            await talk.put(f"memory/{day(back)}.md", f"# {day(back)}\n\nNote of {back}.")
        turn = await talk.context()
        recent = "".join(f"\n\n### {day(back)}\n\nNote of {back}." for back in (1, 3, 7))
        assert f"{NOTES}\n\nNote of 0.\n\n## Recent Context{recent}\n</memory-files>" in turn.system_prompt
        await settings(talk.runtime, recent_days=1)
        assert "Note of 3." not in (await talk.context()).system_prompt
        await settings(talk.runtime, recent_days=0)
        prompt = (await talk.context()).system_prompt
        assert "Note of 0." in prompt
        assert "Recent Context" not in prompt

    async def test_recent_days_may_take_so_much(self, talk: Talk) -> None:
        await talk.put(f"memory/{day(1)}.md", "\n\n".join(f"Thing {n} happened." for n in range(500)))
        sections = {section.name: section.tokens for section in (await talk.context()).sections}
        assert 850 < sections["recent_context"] <= 1000
        await settings(talk.runtime, recent_max_tokens=0)
        assert "recent_context" not in names(await talk.context())

    async def test_a_day_may_have_several_notes(self, talk: Talk) -> None:
        await talk.put(f"memory/{day(0)}.md", f"# {day(0)}\n\nThe first note.")
        await talk.put(f"memory/{day(0)}-02.md", f"# {day(0)}\n\nThe second note.")
        await talk.put(f"memory/{day(2)}-10.md", "Two days ago.")
        await talk.put(f"memory/{day(0)}-plan.md", "A plan.")
        prompt = (await talk.context()).system_prompt
        assert f"{NOTES}\n\nThe first note.\n\nThe second note." in prompt
        assert f"### {day(2)}\n\nTwo days ago." in prompt
        assert "A plan." not in prompt

    async def test_today_is_the_agents(self, runtime: Runtime) -> None:
        """At no instant it is the same day at both ends of the world."""
        now = datetime.now(UTC)
        for zone, hours in (("Pacific/Kiritimati", 14), ("Etc/GMT+12", -12)):
            await settings(runtime, time_zone=zone)
            talk = Talk(runtime, owner_key=f"user:{hours}")
            today = (now + timedelta(hours=hours)).date().isoformat()
            await talk.put(f"memory/{today}.md", f"Here it is {today}.")
            assert f"{NOTES}\n\nHere it is {today}." in (await talk.context()).system_prompt

    async def test_a_visible_exchange_is_not_in_the_notes_too(self, talk: Talk) -> None:
        await talk.say("Where is the lighthouse?", "On the northern pier.")
        await Talk(talk.runtime, "web:2").say("Who repairs the boat?", "Ben does.")
        turn = await talk.context("Thanks! Where was the lighthouse again?")
        assert "northern pier" not in turn.system_prompt, "neither in the notes nor recalled"
        assert "User: Who repairs the boat? | Assistant: Ben does." in turn.system_prompt
        assert "On the northern pier." in texts(turn)

    async def test_what_comes_before_the_notes_is_the_same_in_every_turn(self, talk: Talk) -> None:
        await talk.put("MEMORY.md", "- Likes tea.")
        found = set()
        for number in range(4):
            turn = await talk.context(f"What about number {number}?", system_prompt="You are Wren.")
            found.add(turn.system_prompt.partition(NOTES)[0].removesuffix("\n</memory-files>").rstrip())
            await Talk(talk.runtime, f"web:{number + 5}").say(f"Number {number} is mine.", "Noted.")
        assert len(found) == 1


class TestInjection:
    @pytest.fixture
    async def lighthouse(self, talk: Talk) -> Talk:
        await talk.put("places/coast.md", "The lighthouse stands on the northern pier.")
        return talk

    async def test_it_stands_last_in_the_system_prompt(self, lighthouse: Talk) -> None:
        await lighthouse.put("AGENTS.md", "Be brief.", scope="team", owner_key=None)
        turn = await lighthouse.context("Where does the lighthouse stand?", system_prompt="You are Wren.")
        assert turn.injection.injected == 1
        assert turn.system_prompt.endswith(f"\n</memory-files>\n\n{turn.injection.section}")
        assert texts(turn) == ["Where does the lighthouse stand?"]
        assert "memory_context" in names(turn)

    async def test_or_beside_the_users_message(self, lighthouse: Talk) -> None:
        await settings(lighthouse.runtime, inject_placement="user", auto_inject_threshold=0.0)
        turn = await lighthouse.context("Where does the lighthouse stand?")
        assert OPEN_FENCE not in turn.system_prompt
        assert texts(turn) == [f"{turn.injection.section}\n\nWhere does the lighthouse stand?"]
        assert texts(turn)[0].startswith(OPEN_FENCE)

    async def test_what_the_prompt_holds_is_not_injected(self, lighthouse: Talk) -> None:
        await lighthouse.put("places/coast.md", "The lighthouse stands on the northern pier.", enabled=True)
        turn = await lighthouse.context("Where does the lighthouse stand?")
        assert turn.injection.injected == 0
        assert turn.system_prompt.count("The lighthouse stands on the northern pier.") == 1

    async def test_there_is_one_pair_of_fences_whatever_memory_and_message_hold(self, lighthouse: Talk) -> None:
        bad = f"The lighthouse {CLOSE_FENCE} is {OPEN_FENCE} red."
        await lighthouse.put("MEMORY.md", f"memory {bad}")
        await lighthouse.put("places/tower.md", bad)
        await lighthouse.put("places/lamp.md", f"The lighthouse {CLOSE_FENCE} has a {OPEN_FENCE} green lamp.")
        await lighthouse.put(f"memory/{day(0)}.md", f"note {bad}")
        turn = await lighthouse.context(f"Where is the {OPEN_FENCE} lighthouse?", system_prompt=f"You {CLOSE_FENCE}")
        whole = "\n".join([turn.system_prompt, *texts(turn)])
        assert turn.injection.injected
        assert [whole.count(mark) for mark in (OPEN_FENCE, CLOSE_FENCE)] == [1, 1]

    async def test_what_is_stored_for_a_turn_comes_in_one_exchange(self, conninfo: str) -> None:
        async with Noting(conninfo) as database:
            runtime = assemble(Settings(embedder="hashing"), database, await filled_slot(database, MoodyEmbedder(64)))
            talk = Talk(runtime)
            await talk.chat(2)
            await talk.put("MEMORY.md", "# Memory\n\n- Ada likes tea.\n")
            for _ in range(3):
                # What is asked for again is held.
                await talk.context("Where does the lighthouse stand?")
            del database.exchanges[:]
            turn = await talk.context("Where does the lighthouse stand?")
        assert "Ada likes tea" in turn.system_prompt
        assert texts(turn)[0] == "asking 1"
        of_turn = [each for each in database.exchanges if any(name.startswith("prompt.") for name in each)]
        assert [each[-4:] for each in of_turn] == [
            (
                "prompt.context_files.prompt_files",
                "nights.digest.card",
                "sessions.lookup.session_of_id",
                "sessions.sessions.live_messages",
            )
        ]
        # Who wrote the line of MEMORY.md that states a fact is asked once for all queries of the turn.
        assert len(database.exchanges) <= 10

    async def test_a_failing_embedder_fails_no_turn(self, database: Database) -> None:
        embedder = MoodyEmbedder(64)
        runtime = assemble(Settings(embedder="hashing"), database, await filled_slot(database, embedder))
        talk = Talk(runtime)
        await talk.chat(1)
        embedder.down = True
        turn = await talk.context("Where does the lighthouse stand?")
        assert texts(turn) == ["asking 1", "answering 1", "Where does the lighthouse stand?"]


async def test_many_turns_of_many_sessions_at_once(runtime: Runtime) -> None:
    await settings(runtime)
    talks = [Talk(runtime, f"web:{number}", f"user:{number}") for number in range(20)]

    async def converse(talk: Talk) -> Turn:
        for number in range(3):
            await talk.context(f"{talk.session_id} asks {number}")
            await talk.say(f"{talk.session_id} asks {number}", f"{talk.session_id} answers {number}")
        return await talk.context("And now?")

    turns = await asyncio.gather(*(converse(talk) for talk in talks))
    for talk, turn in zip(talks, turns, strict=True):
        said = [f"{talk.session_id} {does} {number}" for number in range(3) for does in ("asks", "answers")]
        assert texts(turn) == [*said, "And now?"]
