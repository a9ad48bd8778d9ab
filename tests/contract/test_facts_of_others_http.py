"""Forgetting a fact whose sentence says the same of somebody else: theirs stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.consistency import assert_index_consistent
from tests.contract.test_facts_forgotten_http import AGENT, content, facts, forget
from tests.episodes import complete
from tests.facts import read_facts
from tests.integration.test_facts import write_copy
from tests.talks import Talk, contents

from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import message_source
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

PETRA, INGRID = "Petra is my sister. She lives in Oslo.", "Ingrid is my boss. She lives in Oslo."


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


@pytest.fixture
def other(talk: Talk) -> Talk:
    """Another conversation of the same memory."""
    return replace(talk, session_id="web:2")


@pytest.fixture
async def http(talk: Talk, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=await serve_runtime(talk.runtime), verify=PLAIN, timeout=30) as client:
        yield client


async def log_of(talk: Talk, http: httpx.AsyncClient) -> list[str]:
    """What users said, by the daily log."""
    day = (await talk.everything())[0].at.date().isoformat()
    lines = (await content(http, f"memory/{day}.md")).splitlines()
    return [line.partition("User: ")[2].partition(" |")[0] for line in lines if "User: " in line]


async def test_what_is_said_of_somebody_else_stays(talk: Talk, other: Talk, http: httpx.AsyncClient) -> None:
    await talk.say(PETRA, "She lives in Oslo, I see.")
    await other.say(INGRID, "Good. She lives in Oslo.")
    await read_facts(talk)
    receipt = await forget(http, (await facts(http))["Petra", "Oslo"])
    assert contents(await talk.everything()) == ["Petra is my sister.", ""]
    assert contents(await other.everything()) == [INGRID, "Good. She lives in Oslo."]
    assert await log_of(talk, http) == ["Petra is my sister.", INGRID]
    assert receipt["removed"]["message"] == {"files": 1, "passages": 2, "versions": 2, "backups": 0}
    assert receipt["removed"]["fact"]["files"] == 1
    await read_facts(talk)
    assert ("Ingrid", "Oslo") in await facts(http)
    assert ("Petra", "Oslo") not in await facts(http)


@pytest.mark.parametrize("whose", ["Petra", "Ingrid"])
async def test_what_was_asked_of_somebody_else_stays_in_the_log_of_turns(
    talk: Talk, other: Talk, http: httpx.AsyncClient, whose: str
) -> None:
    await talk.say("Hello.", "Hello.")
    for each, said in ((talk, PETRA), (other, INGRID)):
        body = {"message": said, "owner_key": talk.owner_key, "session_id": each.session_id}
        assert (await http.post(f"{AGENT}/context", json=body)).status_code == 200
        await each.say(said, "Nice.")
    assert await talk.runtime.turn_log.flush()
    await read_facts(talk)
    await forget(http, (await facts(http))[whose, "Oslo"])
    answer = await http.get(f"{AGENT}/turns", params={"owner_key": talk.owner_key})
    kept = {"Petra": ["Petra is my sister.", INGRID], "Ingrid": [PETRA, "Ingrid is my boss."]}
    assert [turn["asked"] for turn in reversed(answer.json()["turns"])] == kept[whose]


@pytest.mark.parametrize("is_last", [False, True])
async def test_what_is_said_of_both_in_one_conversation(talk: Talk, http: httpx.AsyncClient, is_last: bool) -> None:
    await talk.say(PETRA, "Nice.", INGRID, "Good.")
    await read_facts(talk)
    await forget(http, (await facts(http))["Ingrid" if is_last else "Petra", "Oslo"])
    said = [PETRA, "Ingrid is my boss."] if is_last else ["Petra is my sister.", INGRID]
    assert contents(await talk.everything())[::2] == said
    assert await log_of(talk, http) == said


@pytest.mark.parametrize("whose", ["Petra", "Ingrid"])
async def test_a_line_that_the_server_made_goes_with_the_message_behind_it(
    talk: Talk, other: Talk, http: httpx.AsyncClient, whose: str
) -> None:
    await talk.say(PETRA, "Nice.")
    await other.say(INGRID, "Good.")
    await read_facts(talk)
    await write_copy(talk, "- She lives in Oslo.", [message_source("web:2", [(1, None)])])
    await read_facts(talk)
    receipt = await forget(http, (await facts(http))[whose, "Oslo"])
    is_hers = whose == "Ingrid"
    assert (await content(http, "MEMORY.md")).strip() == ("" if is_hers else "- She lives in Oslo.")
    assert receipt["removed"]["document"]["files"] == 1 + is_hers


async def test_a_line_of_a_person_stays_with_whom_it_tells_of(
    talk: Talk, other: Talk, http: httpx.AsyncClient, conninfo: str
) -> None:
    await talk.say(PETRA, "Nice.")
    await talk.put("people/ingrid.md", f"- {INGRID}\n- I like tea.\n")
    await talk.put("people/petra.md", f"- {PETRA}\n- I like tea.\n")
    await talk.put("people/unread.txt", "She lives in Oslo.\n")
    await read_facts(talk)
    await forget(http, (await facts(http))["Petra", "Oslo"])
    assert await content(http, "people/ingrid.md") == f"- {INGRID}\n- I like tea.\n"
    assert await content(http, "people/petra.md") == "- Petra is my sister.\n- I like tea.\n"
    assert (await content(http, "people/unread.txt")).strip() == "", "nobody knows whom it tells of"
    assert_index_consistent(conninfo)


async def test_a_sentence_that_names_whom_it_tells_of_goes_wherever_it_stands(
    talk: Talk, other: Talk, http: httpx.AsyncClient
) -> None:
    await talk.say(PETRA, "Nice.")
    await other.say(INGRID, "Petra is in Norway, too. Petra lives in Oslo.")
    await read_facts(talk)
    await forget(http, (await facts(http))["Petra", "Oslo"])
    assert contents(await other.everything()) == [INGRID, "Petra is in Norway, too."]
    assert ("Ingrid", "Oslo") in await facts(http)


async def test_episodes_lose_what_their_own_messages_lost(
    talk: Talk, other: Talk, http: httpx.AsyncClient, conninfo: str
) -> None:
    await talk.say(PETRA, "Nice.")
    await other.say(INGRID, "Good.")
    for each in (talk, other):
        await complete(each)
    await drain(talk.runtime, until=datetime.now(UTC) + timedelta(hours=1))
    await forget(http, (await facts(http))["Petra", "Oslo"])
    await drain(talk.runtime, until=datetime.now(UTC) + timedelta(hours=1))
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        rows = connection.execute("SELECT session_id, summary FROM episodes ORDER BY session_id").fetchall()
    assert ["Oslo" in summary for _, summary in rows] == [False, True]
    assert_index_consistent(conninfo)


async def test_an_old_transcript_brings_nothing_back_and_takes_nothing_from_others(
    talk: Talk, other: Talk, http: httpx.AsyncClient
) -> None:
    first = [NewMessage("user", PETRA, message_id="m1"), NewMessage("assistant", "Nice.", message_id="m2")]
    await talk.add(first)
    await other.say(INGRID, "Good.")
    await read_facts(talk)
    await forget(http, (await facts(http))["Petra", "Oslo"])
    await talk.add(first)
    old = datetime.now(UTC) - timedelta(days=9)
    sent = replace(talk, session_id="web:3")
    await sent.add([NewMessage("user", PETRA, at=old), NewMessage("user", INGRID, at=old)])
    again = replace(talk, session_id="web:4")
    await again.say(INGRID, "Good.")
    await read_facts(talk)
    assert ("Petra", "Oslo") not in await facts(http)
    assert contents(await talk.everything()) == ["Petra is my sister.", "Nice."]
    assert contents(await sent.everything()) == [INGRID]
    assert contents(await again.everything())[0] == INGRID
    assert await log_of(talk, http) == ["Petra is my sister.", INGRID, INGRID]
