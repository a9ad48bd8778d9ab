"""Dreaming and emergence with a language model: one that does as it is asked, and others."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.nights import TEA, Nights, lines, nights
from tests.scripted_model import ScriptedModel, fails, says, says_json, scripted_model

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot

MEMORY = "# Long-term Memory\n\n## Notes\n\n- I never work on Fridays.\n"
FILE = "_system/dreaming/20260403-consolidated.md"


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def ada(database: Database, models: ModelSlot, model: ScriptedModel) -> AsyncIterator[Nights]:
    ada = await nights(database, models, llm_base_url=model.base_url, llm_model="scripted", llm_max_retries=0)
    yield ada
    assert ada.runtime.llm is not None
    await ada.runtime.llm.aclose()


def update(content: str) -> dict[str, object]:
    return {"should_update": True, "reason": "It was asked for.", "memory_content": content}


async def test_a_model_words_the_memory_and_is_named(ada: Nights, model: ScriptedModel) -> None:
    await ada.memory(MEMORY)
    await ada.ready()
    await ada.note(1, "Looked at a screenshot of the dashboard.")
    model.plan(says_json(update(f"{MEMORY}\n## Preferences\n\n- Prefers tea to coffee in the morning\n")))
    outcome = await ada.emerge()
    assert (outcome.status, outcome.method, outcome.fallback) == ("completed", "llm", None)
    assert lines(await ada.text("MEMORY.md")) == ["I never work on Fridays.", TEA[:-1]]
    [report] = await ada.reports()
    assert (report.method, report.prompt, report.prompt_version, report.model) == ("llm", "emergence", "1", "scripted")
    [asked] = model.requests
    assert f"- (2026-04-01; recalled 3 times) {TEA}" in asked.texts("user")
    assert "screenshot" not in asked.texts("user"), "only what passed is asked about"


async def test_whatever_a_model_does_wrong_the_memory_is_not_harmed_and_the_entry_enters_anyway(
    ada: Nights, model: ScriptedModel
) -> None:
    await ada.memory(MEMORY)
    others = "".join(f"- Line {n} of what there is to remember.\n" for n in range(8))
    await ada.memory(MEMORY + others)
    wrong = {
        "unusable": [says("I am sorry, but"), says("{]")],
        "server": [fails(500)],
        "refused": [says_json(update(f"{MEMORY}{others}- {TEA}\n- Owns a sailing boat named Kestrel.\n"))],
        "loses": [says_json(update(f"# Long-term Memory\n\n## Preferences\n\n- {TEA}\n- {TEA} Again.\n"))],
        "blank": [says_json(update("  "))],
    }
    for number, (name, replies) in enumerate(wrong.items()):
        line = f"Prefers {name} tea of kind {number} to coffee."
        await ada.ready(line)
        model.plan(*(r for r in replies))
        outcome = await ada.emerge("api")
        assert (outcome.status, outcome.method) == ("completed", "extractive"), name
        assert outcome.fallback is not None, name
        held = lines(await ada.text("MEMORY.md"))
        assert line in held, name
        assert "I never work on Fridays." in held, name
        assert not any("Kestrel" in one for one in held), name
        assert sum("of what there is to remember" in one for one in held) == 8, name


async def test_a_model_that_wants_nothing_leaves_the_memory_and_a_report(ada: Nights, model: ScriptedModel) -> None:
    await ada.ready()
    model.plan(says_json({"should_update": False, "reason": "Not lasting.", "memory_content": ""}))
    outcome = await ada.emerge()
    assert (outcome.status, outcome.method) == ("skipped", "llm")
    assert await ada.text("MEMORY.md") is None
    [report] = await ada.reports()
    assert [(one["text"], one["gate"]) for one in report.rejected] == [(TEA, "model")]


async def test_without_candidates_no_model_is_asked(ada: Nights, model: ScriptedModel) -> None:
    await ada.note(1, TEA)
    assert (await ada.emerge()).status == "skipped"
    for number in range(4):
        await ada.episode(f"web:{number}", "They spoke of tea.")
    assert (await ada.dream()).status == "skipped"
    assert model.requests == []


async def test_a_model_consolidates_and_what_it_invents_is_thrown_away(ada: Nights, model: ScriptedModel) -> None:
    for number in range(5):
        await ada.episode(f"web:{number}", f"Ada prefers window seats. She spoke of Ghent {number} times.")
    kept = {"kind": "preference", "text": "Ada prefers window seats.", "episodes": [1, 3]}
    invented = {"kind": "fact", "text": "Ada owns a boat named Kestrel.", "episodes": [1, 2]}
    model.plan(says_json({"lines": [kept, invented]}))
    outcome = await ada.dream()
    assert (outcome.method, outcome.fallback, outcome.reason) == ("llm", None, "1 lines of 5 episodes")
    assert lines(await ada.text(FILE)) == ["Ada prefers window seats. (2026-04-03)"]
    [asked] = model.requests
    assert "[5] 2026-04-03 web:4\nAda prefers window seats." in asked.texts("user")


async def test_what_the_system_wrote_is_never_a_source_of_dreaming(ada: Nights, model: ScriptedModel) -> None:
    for number in range(5):
        await ada.episode(f"web:{number}", "Ada prefers window seats.")
    model.plan(says_json({"lines": [{"kind": "preference", "text": "Ada prefers window seats.", "episodes": [1, 2]}]}))
    await ada.dream()
    for number, topic in enumerate(("weather", "bread", "trains", "dogs", "lamps"), start=5):
        await ada.episode(f"web:{number}", f"They spoke of {topic}.")
    model.plan(says_json({"lines": [{"kind": "preference", "text": "Ada prefers window seats.", "episodes": [1, 2]}]}))
    outcome = await ada.dream()
    assert "window seats" not in model.requests[-1].texts("user")
    assert (outcome.method, outcome.fallback, outcome.reason) == ("extractive", "refused", "0 lines of 5 episodes")
    assert len(await ada.unpromoted()) == 5, "a refused answer promotes no episode"


async def test_an_answer_that_is_true_and_worth_no_line_is_no_refused_one(ada: Nights, model: ScriptedModel) -> None:
    """What one conversation mentions in passing follows from it: its episodes are taken, and none waits behind them."""
    for number, text in enumerate(("Anna works at Siemens in Erlangen as a welder.", *(f"Tea {n}." for n in range(4)))):
        await ada.episode(f"web:{number}", f"- User: {text}")
    passing = {"kind": "fact", "text": "Anna works at Siemens in Erlangen as a welder.", "episodes": [1]}
    model.plan(says_json({"lines": [passing]}))
    outcome = await ada.dream()
    assert (outcome.method, outcome.fallback, outcome.reason) == ("llm", None, "0 lines of 5 episodes")
    assert await ada.unpromoted() == []


async def test_a_model_that_invents_all_is_asked_twice_and_holds_nobody_up(ada: Nights, model: ScriptedModel) -> None:
    """The ten oldest were read again and again until they expired, and newer ones were never dreamed of."""
    for number in range(12):
        await ada.episode(f"web:{number}", "Ada prefers window seats.", days_ago=12 - number)
    invented = says_json({"lines": [{"kind": "fact", "text": "Ada owns a boat named Kestrel.", "episodes": [1, 2]}]})
    model.plan(invented, invented)
    assert (await ada.dream()).fallback == "refused"
    assert len(await ada.unpromoted()) == 12
    outcome = await ada.dream()
    assert (outcome.method, outcome.fallback) == ("extractive", "refused")
    assert len(await ada.unpromoted()) == 2
    assert lines(await ada.text(FILE)) == [
        "Ada prefers window seats. (2026-03-22, 2026-03-23, 2026-03-24, 2026-03-25,"
        " 2026-03-26, 2026-03-27, 2026-03-28, 2026-03-29, 2026-03-30, 2026-03-31)"
    ]
    assert "Kestrel" not in str(await ada.reports())
