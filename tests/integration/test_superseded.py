"""What no longer holds: marked in results and after what replaced it, in no injection, and in no prompt unmarked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.episodes import summarised
from tests.facts import read_facts
from tests.scripted_model import ScriptedModel, says_json
from tests.talks import Talk

from reverie_indexer.index.slices import lock_slice
from reverie_server.access.keys import OPERATOR
from reverie_server.app.wiring import assemble
from reverie_server.inject.inject import Injection, InjectRequest
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchResult, request_for
from reverie_server.sessions.model import NewMessage

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)
OCTOBER = datetime(2026, 10, 3, 9, tzinfo=UTC)
OLD, NEW = "I live in Oslo near the harbour.", "I moved to Bergen last week."


@pytest.fixture
async def talk(runtime: Runtime) -> Talk:
    """A person who lived in Oslo and lives in Bergen, in two sessions."""
    talk = Talk(runtime)
    for session_id, text, at in (("web:1", OLD, MARCH), ("web:2", NEW, OCTOBER)):
        told = Talk(runtime, session_id)
        await told.add(
            [NewMessage("user", text, at=at), NewMessage("assistant", "Nice.", at=at + timedelta(minutes=1))]
        )
    await read_facts(talk)
    return talk


async def find(talk: Talk, query: str, **options: object) -> list[SearchResult]:
    grant = await talk.runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    return list((await talk.runtime.search.search(request_for(grant, query, **options))).results)


async def inject(talk: Talk, message: str) -> Injection:
    grant = await talk.runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    return await talk.runtime.injector.inject(grant, InjectRequest(message, threshold=0.01))


async def test_a_superseded_message_names_its_successor_and_comes_after_it(talk: Talk) -> None:
    found = await find(talk, "Where do I live near the harbour, in Oslo?")
    texts = [result.text for result in found]
    assert texts.index(NEW) < texts.index(OLD)
    by_text = {result.text: result for result in found}
    assert (by_text[NEW].superseded_by, by_text[NEW].valid_to) == (None, None)
    assert (by_text[OLD].superseded_by or "").startswith("fact-")
    assert by_text[OLD].valid_to is not None
    assert [result.score for result in found] == sorted((result.score for result in found), reverse=True)


async def test_what_replaced_a_result_enters_a_list_of_one(talk: Talk) -> None:
    assert [result.text for result in await find(talk, "Oslo harbour", max_results=1)] == [NEW]


async def test_a_fact_and_its_message_take_one_place(talk: Talk) -> None:
    found = await find(talk, "Where do I live?", max_results=20)
    assert sum("Bergen" in result.text for result in found) == 1
    facts = await find(talk, "Bergen", tiers=("fact",))
    assert [result.tier for result in facts] == ["fact"]
    assert facts[0].path.startswith("facts/fact-")


async def test_as_of_then_it_held(talk: Talk) -> None:
    found = await find(talk, "Where do I live?", as_of=MARCH + timedelta(days=30))
    assert {result.superseded_by for result in found} == {None}
    assert any(
        "Oslo" in result.text for result in await find(talk, "Oslo", as_of=MARCH + timedelta(1), tiers=("fact",))
    )


async def test_it_is_injected_only_where_the_past_is_asked_for_and_says_until_when(talk: Talk) -> None:
    now = await inject(talk, "Where do I live, near the harbour in Oslo?")
    assert "near the harbour" not in now.section
    assert "Bergen" in now.section
    before = await inject(talk, "Where did I live near the harbour before?")
    assert "near the harbour. (until 2026-" in before.section


async def test_what_a_model_guessed_is_injected_with_what_it_took_for_the_new_state(talk: Talk) -> None:
    await _update_new(talk, """change = '{"cue": "guessed"}'""")
    found = await inject(talk, "Where do I live, near the harbour in Oslo?")
    assert "near the harbour. (until 2026-10-03?) [then: I moved to Bergen" in found.section, found.section
    await _update_new(talk, "valid_to = said_at + interval '1 day'")
    later = await inject(talk, "Where do I live, near the harbour in Oslo?")
    assert "near the harbour. (until 2026-10-03?)" in later.section
    assert "[then:" not in later.section


@pytest.mark.parametrize(("confidence", "doubt"), [(0.65, "?"), (0.7, "")])
async def test_what_a_mark_of_a_model_ended_likely_holds_no_more(talk: Talk, confidence: float, doubt: str) -> None:
    await _update_new(talk, f"model = 'e5', confidence = {confidence}")
    found = await inject(talk, "Where do I live, near the harbour in Oslo?")
    assert f"near the harbour. (until 2026-10-03{doubt}) [then: I moved to Bergen" in found.section, found.section


async def _update_new(talk: Talk, change: str) -> None:
    _, place = await talk.grant()
    async with talk.runtime.database.tenant(place.tenant_id) as connection:
        await lock_slice(connection, place)
        await connection.execute(f"UPDATE facts SET {change} WHERE text LIKE '%Bergen%'")


async def test_what_ends_on_a_day_is_over_on_that_day_before_anything_is_settled(runtime: Runtime) -> None:
    clock = [datetime(2026, 2, 10, 9, tzinfo=UTC)]
    begins = datetime(2026, 6, 1, tzinfo=UTC)
    talk = Talk(assemble(runtime.settings, runtime.database, runtime.models, now=lambda: clock[0]))
    await talk.add([NewMessage("user", "I work at Klotz.", at=clock[0])])
    clock[0] = datetime(2026, 4, 10, 9, tzinfo=UTC)
    await talk.add([NewMessage("user", "From 1 June I work at Nordlys.", at=clock[0])])
    await read_facts(talk)
    await talk.put("MEMORY.md", "## Notes\n\n- I work at Klotz.\n")
    for at, is_over in ((begins - timedelta(minutes=1), False), (begins, True)):
        clock[0] = at
        # The second and third search are answered from memory, of what was read before that day.
        for _ in range(3):
            found = await find(talk, "Do I work at Klotz?", max_results=20)
            old = [result for result in found if "Klotz" in result.text]
            assert old
            assert [result.superseded_by is not None for result in old] == [is_over] * len(old)
        assert ("Klotz" in (await inject(talk, "Do I work at Klotz?")).section) != is_over
        prompt = (await Talk(talk.runtime, "web:3").context("And now?")).system_prompt
        assert ("- I work at Klotz. (until 2026-06-01)" in prompt) == is_over
    before = await find(talk, "Do I work at Klotz?", as_of=begins - timedelta(days=1))
    assert {result.superseded_by for result in before} == {None}
    then = await find(talk, "Do I work at Klotz?", as_of=begins)
    assert any(result.superseded_by for result in then if "Klotz" in result.text)


async def test_small_talk_that_stood_beside_it_is_not_injected(runtime: Runtime) -> None:
    talk = Talk(runtime)
    for number, text in enumerate(("True. My boss is Gareth Pugh.", "My new boss is Sunniva Dahl.")):
        await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=number))])
    await read_facts(talk)
    injection = await inject(talk, "Who is my boss, Gareth Pugh?")
    assert "Sunniva" in injection.section
    assert "True." not in injection.section


async def test_files_in_the_prompt_mark_what_a_person_wrote_and_leave_out_what_the_server_wrote(talk: Talk) -> None:
    await talk.put("MEMORY.md", f"## Notes\n\n- {OLD}\n- The boat is called Alma.\n")
    prompt = (await Talk(talk.runtime, "web:3").context("And now?")).system_prompt
    assert f"- {OLD} (until 2026-" in prompt
    assert prompt.count(OLD.removesuffix(".")) == 1
    assert "- The boat is called Alma.\n" in f"{prompt}\n"


async def test_an_entry_of_the_memory_stands_once_in_a_prompt(talk: Talk) -> None:
    await talk.put("MEMORY.md", "## Notes\n\n- The boat is called Alma.\n")
    await talk.put("PROFILE.md", "- The boat is called Alma.\n", enabled=True)
    prompt = (await Talk(talk.runtime, "web:3").context("And now?")).system_prompt
    assert prompt.count("The boat is called Alma.") == 1


@pytest.mark.parametrize(
    "message",
    [
        "What was my town before Bergen?",
        "Which town did I live in before Bergen?",
        "Wo habe ich vor Bergen gewohnt?",
        "¿En qué ciudad vivía antes de Bergen?",
        "搬到Bergen之前我住哪儿？",
    ],
)
async def test_who_asks_what_was_before_gets_what_was_replaced(talk: Talk, message: str) -> None:
    assert "near the harbour. (until 2026-" in (await inject(talk, message)).section


@pytest.mark.parametrize(
    "message", ["Do I live in Bergen?", "Wohne ich in Bergen?", "¿Vivo en Bergen?", "我住在Bergen吗？"]
)
async def test_who_asks_what_is_gets_nothing_that_was_replaced(talk: Talk, message: str) -> None:
    section = (await inject(talk, message)).section
    assert "Bergen" in section
    assert "Oslo" not in section


@pytest.mark.parametrize(
    ("first", "then", "question", "holds", "is_over"),
    [
        (
            "Ruby is nine, and she plays the cello in the school orchestra.",
            "Ruby turned ten yesterday.",
            "What does Ruby play in the orchestra?",
            "Ruby plays the cello in the school orchestra.",
            "nine",
        ),
        (
            "I work as a vet at Teme Animal Clinic in Hereford.",
            "From today I work at Corve Veterinary Group in Ludlow.",
            "Do I work as a vet?",
            "I work as a vet.",
            "Teme",
        ),
        (
            "Ich arbeite als Tierärztin bei der Praxis Auetal in Rinteln.",
            "Seit heute arbeite ich bei der Praxis Weserblick in Hameln.",
            "Arbeite ich als Tierärztin?",
            "Ich arbeite als Tierärztin.",
            "Auetal",
        ),
    ],
)
async def test_what_else_a_sentence_says_and_still_holds_is_injected(
    runtime: Runtime, first: str, then: str, question: str, holds: str, is_over: str
) -> None:
    talk = Talk(runtime)
    for number, text in enumerate((first, then)):
        await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=number))])
    await read_facts(talk)
    section = (await inject(talk, question)).section
    assert holds in section
    assert f"{holds}." not in section
    assert is_over not in section


async def test_the_diary_of_the_nights_is_found_where_its_path_is_asked_for_alone(talk: Talk) -> None:
    diary = "# Dreams\n\n## 2026-04-01 03:00 emergence\n\nConcluded: The otter of the harbour is called Bruno.\n"
    await talk.put("DREAMS.md", diary)
    assert not any("otter" in result.text for result in await find(talk, "What is the otter called?"))
    assert any("otter" in result.text for result in await find(talk, "the otter", path_prefix="DREAMS.md"))


@pytest.mark.parametrize(
    ("language", "said", "answer", "echo", "moved"),
    [
        (
            "english",
            "My flight to Porto is on the 13th of March.",
            "Got it, 13 March. Do you want a window seat?",
            "Got it, 13 March.",
            "My flight to Porto is now on the 20th of March.",
        ),
        (
            "german",
            "Mein Flug nach Porto ist am 13. März.",
            "Alles klar, der 13. März ist notiert.",
            "Alles klar, der 13. März ist notiert.",
            "Mein Flug nach Porto ist jetzt am 20. März.",
        ),
        (
            "spanish",
            "Mi vuelo a Oporto es el 13 de marzo.",
            "Anotado, 13 de marzo.",
            "Anotado, 13 de marzo.",
            "Mi vuelo a Oporto ahora es el 20 de marzo.",
        ),
        ("chinese", "我的航班是3月13号。", "好的，3月13号。", "好的，3月13号。", "我的航班改到3月20号了。"),
    ],
)
async def test_an_answer_that_only_repeats_what_is_over_is_over_with_it(
    runtime: Runtime, language: str, said: str, answer: str, echo: str, moved: str
) -> None:
    talk = Talk(runtime)
    settings = {"language": language}
    await runtime.agents.put("default", talk.agent_id, name="Wren", leader_agent_id=None, settings=settings)
    await talk.say(said, answer)
    await read_facts(talk)
    # As long as it holds nothing is marked.
    assert {result.superseded_by for result in await find(talk, echo)} == {None}
    await Talk(runtime, "web:2").say(moved, "OK.")
    await read_facts(talk)
    [repeated] = [result for result in await find(talk, echo, tiers=("message",)) if result.text == answer]
    assert repeated.superseded_by is not None
    assert echo.rstrip(".。") not in (await inject(talk, echo)).section
    prompt = (await Talk(runtime, "web:3").context("And now?")).system_prompt
    assert echo.rstrip(".。") not in prompt
    assert "20" in prompt


async def test_an_answer_that_says_more_than_what_is_over_stays(runtime: Runtime) -> None:
    talk = Talk(runtime)
    answer = "On the 13th of March the metro to the airport does not run."
    await talk.say("My flight to Porto is on the 13th of March.", answer)
    await Talk(runtime, "web:2").say("My flight to Porto is now on the 20th of March.", "OK.")
    await read_facts(talk)
    [result] = [result for result in await find(talk, answer, tiers=("message",)) if result.text == answer]
    assert result.superseded_by is None


async def test_what_was_over_before_its_conversation_was_summarised_is_over_in_the_summary(
    talking: Runtime, scripted: ScriptedModel
) -> None:
    told = "On Thursday is the interview with the bakers."
    scripted.script = lambda _: says_json({"summary": f"{told} She asked for questions.", "key_topics": []})
    talk = Talk(talking)
    texts = ("The interview with the bakers is on Thursday.", "The interview with the bakers was moved to Friday.")
    await talk.say(texts[0], "Good luck.", texts[1], "Noted.")
    await read_facts(talk)
    await summarised(talk, "Which questions does one ask?")
    [found] = [result for result in await find(talk, "interview", tiers=("episodic",)) if told in result.text]
    assert found.superseded_by is not None
    assert told not in (await inject(talk, "When is the interview?")).section


async def test_what_a_summary_tells_of_what_is_over_is_over_with_it(talking: Runtime, scripted: ScriptedModel) -> None:
    told = "Nora works as a vet at Teme Animal Clinic in Hereford."
    scripted.script = lambda _: says_json({"summary": f"{told} She asked for words that rhyme.", "key_topics": []})
    talk = Talk(talking)
    await summarised(talk, "I'm Nora, and I work as a vet at Teme Animal Clinic in Hereford.", "Good morning!")
    await read_facts(talk)
    [before] = [result for result in await find(talk, "What does Nora do?", tiers=("episodic",)) if told in result.text]
    assert before.superseded_by is None
    await Talk(talking, "web:2").say("From today I work at Corve Veterinary Group in Ludlow.", "Congratulations!")
    await read_facts(talk)
    [after] = [result for result in await find(talk, "What does Nora do?", tiers=("episodic",)) if told in result.text]
    assert after.superseded_by is not None
    section = (await inject(talk, "What does Nora do at Teme Animal Clinic?")).section
    assert "Corve" in section
    assert told not in section
