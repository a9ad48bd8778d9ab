"""Forgetting while a stage's model is answering: what the answer brings too late is nowhere afterwards."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.canary.parrot import parrot
from tests.consistency import assert_index_consistent
from tests.episodes import complete
from tests.forgetting import forget_all
from tests.rows import leftovers
from tests.scripted_model import Asked, Reply, ScriptedModel
from tests.talks import Talk

from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import Stage, Work
from reverie_server.runtime import Runtime

SECRET = "cnryvaultquincepear"
KEPT = "cnryharbourlanternx"
SAID = f"My vault is called {SECRET}, I like it."
ALSO = f"My boat is called {KEPT}, I like it."
# What each form of answer is asked for by, besides what completed conversations bring about.
STAGES: dict[str, Stage | None] = {
    "Facts": None,
    "Episodic": None,
    "Semantic": None,
    "Extraction": None,
    "Dreaming": "dreaming",
    "Emergence": "emergence",
    "Compaction": "compaction",
    "Soul": "soul",
    "Flush": None,
}


def form_of(asked: Asked) -> str | None:
    name = asked.body.get("response_format", {}).get("json_schema", {}).get("name")
    return name if name is None else str(name)


@pytest.mark.parametrize("form", STAGES)
async def test_an_answer_that_comes_after_forgetting_brings_nothing_back(
    talking: Runtime, scripted: ScriptedModel, conninfo: str, form: str
) -> None:
    waits = asyncio.Event()

    def script(asked: Asked) -> Reply:
        is_it = form_of(asked) == form and SECRET in asked.texts() and not waits.is_set()
        if is_it:
            waits.set()
        return replace(parrot(asked), hangs=is_it)

    scripted.script = script
    talk = Talk(talking)
    for number in range(5):
        one = Talk(talking, f"web:{number}")
        await one.say(SAID, "I see.", ALSO, "I see.", f"Part {number} is done.", "Good.")
        if form == "Flush":
            break
        await complete(one)
    working = asyncio.create_task(work(talk, form))
    await asyncio.wait([working, waiting := asyncio.create_task(waits.wait())], return_when=asyncio.FIRST_COMPLETED)
    assert waiting.done(), f"the model was not asked for {form}"
    grant, place = await talk.grant()
    await forget_all(talking, grant, place, text=SAID)
    scripted.release()
    await working
    assert leftovers(conninfo, SECRET) == []
    await drain(talking, until=datetime.now(UTC) + timedelta(days=1))
    assert leftovers(conninfo, SECRET) == []
    assert "messages" in leftovers(conninfo, KEPT)
    assert_index_consistent(conninfo)


async def work(talk: Talk, form: str) -> None:
    if form == "Flush":
        await Talk(talk.runtime, "web:0").compact()
        return
    await drain(talk.runtime, until=datetime.now(UTC) + timedelta(days=1))
    stage = STAGES[form]
    if stage is not None:
        topic = SAID if stage == "emergence" else None
        again = Work(stage, "default", "wren", talk.owner_key, trigger="api", topic=topic)
        await talk.runtime.consolidation.stages[stage].run(again)
