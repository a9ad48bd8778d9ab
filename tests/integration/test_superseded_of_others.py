"""What one person's move ends is not ended where the same words tell of somebody else who has not moved."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.facts import read_facts
from tests.hot import Both
from tests.integration.test_facts import write_copy
from tests.integration.test_hot_facts import ask
from tests.integration.test_superseded import find, inject
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.jobs.model import message_source
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

PETRA = "Petra is my sister. She lives in Oslo near the harbour."
INGRID = "Ingrid is my boss. She lives in Oslo near the harbour."
MOVED = "Petra moved to Bergen."
QUERY = "Who lives in Oslo near the harbour?"


@pytest.fixture
async def talk(runtime: Runtime) -> Talk:
    """Two who lived in Oslo, of whom one has moved."""
    talk = Talk(runtime)
    for number, text in enumerate((PETRA, INGRID, MOVED), 1):
        at = datetime.now(UTC) - timedelta(days=9 - 3 * number)
        told = replace(talk, session_id=f"web:{number}")
        await told.add([NewMessage("user", text, at=at), NewMessage("assistant", "I see.", at=at)])
    await read_facts(talk)
    return talk


async def test_a_search_marks_the_sentence_of_who_has_moved_alone(talk: Talk) -> None:
    found = {result.text: result for result in await find(talk, QUERY, max_results=20)}
    assert found[PETRA].superseded_by is not None
    assert (found[INGRID].superseded_by, found[INGRID].valid_to) == (None, None)
    texts = list(found)
    assert texts.index(INGRID) < texts.index(PETRA)
    section = (await inject(talk, QUERY)).section
    assert INGRID in section
    assert "(until" not in section.partition("Ingrid")[2].partition("\n")[0]


async def test_a_search_in_memory_tells_the_same(database: Database, models: ModelSlot, talk: Talk) -> None:
    both = Both(database, models)
    await both.warm(ask("lantern"))
    found = {result.text: result for result in (await both.compare(ask(QUERY, max_results=20))).results}
    assert (found[PETRA].superseded_by is None, found[INGRID].superseded_by) == (False, None)
    assert both.hot.counts.hits > 0


async def test_lines_of_files_are_marked_by_whom_they_tell_of(runtime: Runtime) -> None:
    talk = Talk(runtime)
    await talk.put("MEMORY.md", f"# Long-term Memory\n\n- {INGRID}\n- {PETRA}\n")
    await read_facts(talk)
    await talk.say(MOVED, "I see.")
    await read_facts(talk)
    prompt = (await talk.context()).system_prompt
    assert f"- {INGRID}\n" in prompt
    assert f"- {PETRA} (until" in prompt


@pytest.mark.parametrize("of_session", [1, 2])
async def test_a_line_that_the_server_made_stays_in_a_prompt_with_what_it_tells_of(talk: Talk, of_session: int) -> None:
    line = "She lives in Oslo near the harbour."
    await write_copy(talk, f"- {line}", [message_source(f"web:{of_session}", [(1, None)])])
    await read_facts(talk)
    prompt = (await talk.context()).system_prompt
    assert (f"- {line}" in prompt) == (of_session == 2)


async def test_a_line_of_the_daily_log_stays_in_a_prompt_with_the_message_it_repeats(runtime: Runtime) -> None:
    talk = Talk(runtime)
    for number, text in enumerate((PETRA, INGRID, MOVED), 1):
        await replace(talk, session_id=f"web:{number}").say(text, "I see.")
    await read_facts(talk)
    prompt = (await replace(talk, session_id="web:4").context()).system_prompt
    assert f"User: {INGRID} | Assistant" in prompt
    assert PETRA not in prompt
