"""Thanks, and what an assistant says beside the point, come after what people say, and are not injected."""

from __future__ import annotations

import pytest
from tests.talks import Talk

from reverie_server.access.keys import OPERATOR
from reverie_server.inject.inject import InjectRequest
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchResult, request_for
from reverie_server.sessions.model import NewMessage


@pytest.fixture
async def talk(runtime: Runtime) -> Talk:
    talk = Talk(runtime)
    said = [
        ("user", "Zum Frühstück nehme ich Rührei."),
        ("assistant", "Gern geschehen."),
        ("user", "We moved to a new home in Leeds."),
        ("assistant", "Happy new home!"),
        ("assistant", "The kettle should be descaled with vinegar."),
    ]
    await talk.add([NewMessage(role, text) for role, text in said])  # type: ignore[arg-type]
    return talk


async def find(talk: Talk, query: str, **options: object) -> list[SearchResult]:
    grant = await talk.runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    return list((await talk.runtime.search.search(request_for(grant, query, max_results=20, **options))).results)


async def test_thanks_come_last_and_are_relevant_to_nothing(talk: Talk) -> None:
    found = await find(talk, "Was nehme ich gern zum Frühstück?")
    assert found[0].text == "Zum Frühstück nehme ich Rührei."
    thanks = next(result for result in found if result.text == "Gern geschehen.")
    assert thanks.relevance == 0
    assert thanks.score < min(result.score for result in found if result.tier == "message" and "ich" in result.text)


async def test_thanks_are_never_injected(talk: Talk) -> None:
    grant = await talk.runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    injection = await talk.runtime.injector.inject(grant, InjectRequest("Was nehme ich gern?", threshold=0.01))
    assert "Rührei" in injection.section
    assert "geschehen" not in injection.section


async def test_advice_is_found_by_its_words_and_where_the_assistant_is_asked(talk: Talk) -> None:
    by_words = await find(talk, "How is the kettle descaled?")
    assert by_words[0].text.startswith("The kettle")
    beside = {result.text: result.score for result in await find(talk, "Where is my home?")}
    asked = {result.text: result.score for result in await find(talk, "What did you say about home?")}
    advice = "The kettle should be descaled with vinegar."
    assert beside.get(advice, 0) < beside["We moved to a new home in Leeds."]
    assert asked.get(advice, 0) >= beside.get(advice, 0)


async def test_by_meaning_alone_nothing_is_lowered(talk: Talk) -> None:
    found = {result.text: result for result in await find(talk, "Gern geschehen.", mode="vector")}
    assert found["Gern geschehen."].score == max(result.score for result in found.values())


async def test_an_archived_entry_takes_no_place_beside_the_message_that_said_it(runtime: Runtime) -> None:
    talk = Talk(runtime)
    await talk.add([NewMessage("user", "The lantern hangs in the boathouse by the pier.")])
    entry = "# Left the memory in 2026-04\n\n## 2026-04-03\n\n- The lantern hangs in the boathouse by the pier.\n"
    await talk.put("memory/archive/2026-04.md", entry)
    found = await find(talk, "Where does the lantern hang?")
    assert [result.tier for result in found if "lantern" in result.text] == ["message"]
