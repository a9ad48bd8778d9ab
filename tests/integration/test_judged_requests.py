"""A language model says what a request to forget means, where its words decide nothing by themselves."""

from __future__ import annotations

import asyncio
import re

import pytest
from tests.rows import leftovers
from tests.scripted_model import Asked, Reply, ScriptedModel, fails, refused, says, says_json
from tests.talks import ADA, Talk

from reverie_server.forgetting.judged import MAX_FORGOTTEN
from reverie_server.forgetting.unmet import UnmetRequest
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime

SAID = ("I like green tea. My nephew owes quince to a bookmaker.", "That sounds hard.")
ASKED = ("Can the thing with my nephew sort of evaporate on your side?", "Poof.")
NOTHING = {"should_update": False, "reason": "", "daily_entry": "", "memory_update": "", "profile_update": ""}
NUMBERED = re.compile(r"\[(\d+)\] ([^\[\n]+)")


def is_judging(asked: Asked) -> bool:
    return asked.texts("system").startswith("You decide what somebody asks a memory to forget.")


def judging(scripted: ScriptedModel) -> list[Asked]:
    return [asked for asked in scripted.requests if is_judging(asked)]


def answer(scripted: ScriptedModel, reply: Reply) -> None:
    """All other questions of stages are answered with nothing."""
    scripted.script = lambda asked: reply if is_judging(asked) else says_json(NOTHING)


def choose(scripted: ScriptedModel, *words: str) -> None:
    """Name the sentences that have one of the words."""

    def script(asked: Asked) -> Reply:
        if not is_judging(asked):
            return says_json(NOTHING)
        found = [int(n) for n, text in NUMBERED.findall(asked.texts("user")) if any(word in text for word in words)]
        return says_json({"asks": True, "forget": found})

    scripted.script = script


async def unmet(talk: Talk) -> list[UnmetRequest]:
    return await talk.runtime.unmet_requests.page(talk.principal, before=None, limit=100)


async def waiting(talk: Talk) -> int:
    """How many requests wait for a model to say whether they are any."""
    async with talk.runtime.database.maintenance() as connection:
        query = "SELECT count(*) AS count FROM unmet_requests WHERE for_model AND judged_at IS NULL"
        return int((await (await connection.execute(query)).fetchone() or {})["count"])


async def extract(runtime: Runtime, owner_key: str | None = ADA) -> None:
    await runtime.consolidation.stages["extraction"].run(Work("extraction", "default", "wren", owner_key))


@pytest.fixture
async def talk(talking: Runtime) -> Talk:
    talk = Talk(talking)
    await talk.say(*SAID)
    await talk.say(*ASKED)
    # By words alone nothing is decided, and whether it asks for anything is not known: nobody is shown it.
    assert await waiting(talk) == 1
    assert await unmet(talk) == []
    return talk


async def test_what_it_names_is_forgotten_before_anything_is_made_of_it(
    talk: Talk, scripted: ScriptedModel, conninfo: str
) -> None:
    choose(scripted, "nephew owes", "evaporate")
    await talk.runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await extract(talk.runtime)
    assert leftovers(conninfo, "quince") == []
    assert leftovers(conninfo, "nephew") == []
    assert {"messages", "chunks"} <= set(leftovers(conninfo, "green tea"))
    assert await unmet(talk) == []
    [receipt] = await talk.runtime.receipts.page(talk.principal, before=None, limit=10)
    assert receipt.kind == "said"
    # It was asked first, and what it was shown is the talk and the request, every sentence of the user with a number.
    [asked] = judging(scripted)
    assert scripted.requests[0] is asked
    assert "user: [1] I like green tea. [2] My nephew owes quince to a bookmaker." in asked.texts("user")
    assert "assistant: That sounds hard." in asked.texts("user")
    assert "<request>\nuser: [3] Can the thing" in asked.texts("user")
    assert all("quince" not in each.texts() for each in scripted.requests[1:])


async def test_an_answer_that_repeats_it_goes_along(talking: Runtime, scripted: ScriptedModel, conninfo: str) -> None:
    talk = Talk(talking)
    await talk.say("My nephew owes quince4711 to a bookmaker.", "So quince4711 is the sum. Tea?")
    await talk.say(*ASKED)
    choose(scripted, "nephew owes")
    await extract(talking)
    assert leftovers(conninfo, "quince4711") == []
    assert "messages" in leftovers(conninfo, "tea?")


async def test_what_is_relevant_on_another_day_can_be_named(
    talking: Runtime, scripted: ScriptedModel, conninfo: str
) -> None:
    await Talk(talking, "web:0").say(*SAID)
    talk = Talk(talking)
    await talk.say("Good morning.", "Good morning!", *ASKED)
    choose(scripted, "nephew owes")
    await extract(talking)
    [asked] = judging(scripted)
    assert re.search(r"<memory>\n(?:.*\n)*\[\d+\] My nephew owes quince", asked.texts("user"))
    assert leftovers(conninfo, "quince") == []


async def test_what_was_said_the_day_before_can_be_named_without_a_word_of_it(
    talking: Runtime, scripted: ScriptedModel, conninfo: str
) -> None:
    await Talk(talking, "web:0").say("The PIN is quince.", "Noted.")
    await Talk(talking, "web:2", owner_key="user:bob").say("Mine is damson.", "Noted.")
    talk = Talk(talking)
    await talk.say("What slipped out yesterday, can it sort of evaporate on your side?", "Poof.")
    choose(scripted, "PIN")
    await extract(talking)
    [asked] = judging(scripted)
    assert "damson" not in asked.texts()
    assert leftovers(conninfo, "quince") == []


async def test_what_asks_for_nothing_leaves_the_list_and_nothing_is_forgotten(
    talk: Talk, scripted: ScriptedModel, conninfo: str
) -> None:
    answer(scripted, says_json({"asks": False, "forget": [2]}))
    await extract(talk.runtime)
    assert await unmet(talk) == []
    assert await waiting(talk) == 0
    assert {"messages", "chunks"} <= set(leftovers(conninfo, "quince"))


@pytest.mark.parametrize(
    "reply",
    [
        says_json({"asks": True, "forget": []}),
        says_json({"asks": True, "forget": [2, 99]}),
        says_json({"asks": True, "forget": [0]}),
        says_json({"asks": True, "forget": [-1]}),
    ],
)
async def test_what_it_does_not_know_waits_for_a_person_and_is_not_asked_again(
    talk: Talk, scripted: ScriptedModel, conninfo: str, reply: Reply
) -> None:
    answer(scripted, reply)
    await extract(talk.runtime)
    count = len(judging(scripted))
    assert count in (1, 2)
    await extract(talk.runtime)
    assert len(judging(scripted)) == count
    assert len(await unmet(talk)) == 1
    assert {"messages", "chunks"} <= set(leftovers(conninfo, "quince"))


async def test_one_that_names_very_much_decides_nothing(
    talking: Runtime, scripted: ScriptedModel, conninfo: str
) -> None:
    talk = Talk(talking)
    names = ["nephew", "niece", "aunt", "uncle", "cousin", "sister", "brother", "mother", "father", "boss", "friend"]
    names += ["neighbour", "doctor"]
    assert len(names) == MAX_FORGOTTEN + 1
    await talk.say(" ".join(f"My {name} owes quince to a bookmaker." for name in names), "Oh.", *ASKED)
    choose(scripted, "quince")
    await extract(talking)
    assert "messages" in leftovers(conninfo, "my doctor owes quince")
    assert len(await unmet(talk)) == 1


@pytest.mark.parametrize("reply", [says("I am sorry, but"), says_json({"forget": "all"}), refused()])
async def test_one_that_answers_what_nobody_can_use_is_not_asked_about_it_again_and_goes_on(
    talk: Talk, scripted: ScriptedModel, conninfo: str, reply: Reply
) -> None:
    await talk.say(
        "I owe damson pounds to my aunt.", "Oh.", "Can the thing with my aunt sort of evaporate, too?", "Poof."
    )
    answer(scripted, reply)
    await extract(talk.runtime)
    assert {"messages", "chunks"} <= set(leftovers(conninfo, "quince"))
    assert await waiting(talk) == 0
    assert await unmet(talk) == []
    asked = {each.texts("user").partition("<request>")[2].partition("</request>")[0] for each in judging(scripted)}
    assert len(asked) == 2
    choose(scripted, "nephew owes", "aunt")
    scripted.requests.clear()
    await extract(talk.runtime)
    assert judging(scripted) == []
    assert "messages" in leftovers(conninfo, "quince")


async def test_one_that_cannot_be_reached_decides_nothing(talk: Talk, scripted: ScriptedModel, conninfo: str) -> None:
    answer(scripted, fails(500))
    await extract(talk.runtime)
    assert await waiting(talk) == 1
    assert "messages" in leftovers(conninfo, "quince")


async def test_two_runs_at_once_forget_once(talk: Talk, scripted: ScriptedModel, conninfo: str) -> None:
    """The second one would choose among what the first has left."""
    choose(scripted, "nephew owes")
    await asyncio.gather(extract(talk.runtime), extract(talk.runtime))
    assert leftovers(conninfo, "quince") == []
    assert len(await talk.runtime.receipts.page(talk.principal, before=None, limit=10)) == 1


async def test_a_run_that_died_before_it_forgot_leaves_it_to_a_person(
    talk: Talk, scripted: ScriptedModel, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(scripted, "nephew owes")

    async def dies(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(talk.runtime.forgetting, "forget_statements", dies)
        with pytest.raises(RuntimeError):
            await extract(talk.runtime)
    await extract(talk.runtime)
    assert len(judging(scripted)) == 1
    assert len(await unmet(talk)) == 1
    assert "messages" in leftovers(conninfo, "quince")


async def test_requests_of_others_are_theirs(talk: Talk, scripted: ScriptedModel, conninfo: str) -> None:
    choose(scripted, "nephew owes")
    await extract(talk.runtime, "user:bob")
    await extract(talk.runtime, None)
    assert judging(scripted) == []
    assert await waiting(talk) == 1
    assert "messages" in leftovers(conninfo, "quince")


async def test_in_a_memory_that_is_one_for_all_each_ones_request_is_judged(
    talking: Runtime, scripted: ScriptedModel, conninfo: str
) -> None:
    settings = {"memory_isolation": False}
    await talking.agents.put("default", "wren", name="wren", leader_agent_id=None, settings=settings)
    talk = Talk(talking)
    await talk.say(*SAID)
    await talk.say(*ASKED)
    assert await waiting(talk) == 1
    choose(scripted, "nephew owes")
    await extract(talking, None)
    assert leftovers(conninfo, "quince") == []
    assert await waiting(talk) == 0


async def test_without_a_model_they_wait(runtime: Runtime, conninfo: str) -> None:
    talk = Talk(runtime)
    await talk.say("Forget what I said about the zeppelin.", "Which?")
    await extract(runtime)
    assert len(await unmet(talk)) == 1
