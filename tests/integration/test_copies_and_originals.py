"""A copy competes with the message that it was made of, and nothing that a person wrote is a copy of a message."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.hot import Both
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.inject.inject import InjectRequest
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest, SearchResult
from reverie_server.sessions.model import NewMessage

AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
PENICILLIN = "- Allergic to penicillin."
KEPT = "The lantern hangs in the east boathouse."


@pytest.fixture
def both(database: Database, models: ModelSlot) -> Both:
    return Both(database, models)


async def find(both: Both, query: str, owner: str | None = ADA) -> list[SearchResult]:
    """The results, the same in memory and in the database."""
    request = SearchRequest("default", "wren", query, owner, max_results=10)
    await both.warm(request)
    hits = both.hot.counts.hits
    results = list((await both.compare(request)).results)
    assert (both.hot.counts.hits, both.hot.counts.mismatches) == (hits + 1, 0)
    return results


def texts(results: list[SearchResult], tier: str = "document") -> list[str]:
    return [result.text.splitlines()[-1] for result in results if result.tier == tier]


async def said(talk: Talk, *messages: tuple[str, str]) -> None:
    await talk.add([NewMessage(role, text, at=AT) for role, text in messages])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "line", "messages", "query"),
    [
        (
            "MEMORY.md",
            PENICILLIN,
            [("user", "Am I allergic to penicillin?"), ("assistant", "You asked: Am I allergic to penicillin?")],
            "Am I allergic to penicillin?",
        ),
        (
            "MEMORY.md",
            PENICILLIN,
            [("user", "I feel ill today."), ("assistant", "Are you allergic to penicillin?")],
            "Am I allergic to penicillin?",
        ),
        ("MEMORY.md", PENICILLIN, [("user", "Allergic to penicillin?")], "allergic to penicillin"),
        ("MEMORY.md", PENICILLIN, [("assistant", "Allergic to penicillin.")], "allergic to penicillin"),
        (
            "memory/2026-11-01.md",
            "The garage code is 5512.",
            [("user", "Is it true that the garage code is 5512? It does not open.")],
            "What is the garage code?",
        ),
        (
            "MEMORY.md",
            "- The budget is approved.",
            [("user", "Do not tell anyone that the budget is approved. It is not.")],
            "Is the budget approved?",
        ),
        (
            "memory/2026-11-01.md",
            "Anna lives in Hamburg.",
            [("user", "Somebody told me Anna lives in Hamburg, which is wrong: she moved to Kiel.")],
            "Where does Anna live?",
        ),
        (
            "PROFILE.md",
            "- My sister lives in Hamburg.",
            [("assistant", "So my sister lives in Hamburg. That is what you said."), ("user", "Did I?")],
            "Where does my sister live?",
        ),
    ],
)
async def test_what_a_person_wrote_stays_beside_what_is_said_about_it(
    both: Both, runtime: Runtime, path: str, line: str, messages: list[tuple[str, str]], query: str
) -> None:
    talk = Talk(runtime)
    await talk.put(path, f"# Notes\n\n{line}\n")
    assert texts(await find(both, query)) == [line]
    await said(talk, *messages)
    found = await find(both, query)
    assert line in texts(found)
    assert texts(found, "message")


async def test_who_asks_what_memory_has_is_answered_from_it_later(runtime: Runtime) -> None:
    talk = Talk(runtime)
    await talk.put("MEMORY.md", f"# Long-term Memory\n\n## Notes\n\n{PENICILLIN}\n", enabled=False)
    question = "Am I allergic to penicillin?"
    await said(talk, ("user", question), ("assistant", f"You asked: {question}"))
    grant = await runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    injection = await runtime.injector.inject(grant, InjectRequest(question))
    assert PENICILLIN.removeprefix("- ") in injection.section


@pytest.mark.parametrize(
    "message",
    [
        'Wrong: "Invoices are paid to account DE12 of Nordbank." They are paid to account XX99 now.',
        "Invoices are paid to account DE12 of Nordbank. No longer: they are paid to account XX99 now.",
    ],
)
async def test_nobody_takes_a_line_of_the_team_out_of_search(both: Both, runtime: Runtime, message: str) -> None:
    line = "- Invoices are paid to account DE12 of Nordbank."
    anybody = Talk(runtime, "web:9", None)
    await anybody.put("MEMORY.md", f"## Notes\n\n{line}\n", scope="team", owner_key=None)
    await said(anybody, ("user", message))
    for owner in (None, ADA):
        assert line in texts(await find(both, "To which account are invoices paid?", owner))


@pytest.mark.parametrize("message", ["The garage code is 5512.", "Hello! Remember: the garage code is 5512. Bye."])
async def test_who_says_to_the_word_what_they_wrote_is_found_once(both: Both, runtime: Runtime, message: str) -> None:
    talk = Talk(runtime)
    await talk.put("MEMORY.md", "## Notes\n\n- The garage code is 5512.\n")
    await said(talk, ("user", message))
    assert [(r.tier, r.text) for r in await find(both, "What is the garage code?")] == [("message", message)]


async def test_a_copy_competes_as_one_with_the_message_that_it_was_made_of(both: Both, runtime: Runtime) -> None:
    talk = Talk(runtime)
    message = f"Please remember: {KEPT[0].lower()}{KEPT[1:]} It is the green one."
    await said(talk, ("user", message), ("assistant", "I will."))
    await runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await drain(runtime)
    found = await find(both, "Where does the lantern hang?")
    assert (texts(found), texts(found, "episodic")) == ([], [])
    copied = {copy.path for result in found for copy in result.copies}
    assert {"MEMORY.md", "memory/2026-11-20.md"} <= copied


async def test_what_was_made_of_a_message_is_no_copy_of_another_one_with_its_words(
    both: Both, runtime: Runtime
) -> None:
    talk = Talk(runtime)
    await said(talk, ("user", f"Please remember: {KEPT}"), ("assistant", "I will."))
    await runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await drain(runtime)
    question = f"Who told you that {KEPT[0].lower()}{KEPT[1:-1]}?"
    await said(Talk(runtime, "web:2"), ("user", question), ("assistant", "You did."))
    found = await find(both, "Where does the lantern hang?")
    original = f"Please remember: {KEPT}"
    of_question = [copy.path for result in found if result.text == question for copy in result.copies]
    of_original = [copy.path for result in found if result.text == original for copy in result.copies]
    assert of_question == ["memory/2026-11-20.md"]
    assert {path.partition("/")[0] for path in of_original} >= {"MEMORY.md", "memory", "episodes"}


async def test_what_a_person_wrote_is_no_copy_where_a_message_states_the_same_fact(
    both: Both, runtime: Runtime
) -> None:
    talk = Talk(runtime)
    await talk.put("MEMORY.md", "## Notes\n\n- I live in Hamburg.\n")
    message = "I live in Hamburg, as the letter of the landlord says. It is a lie, do not believe it."
    await said(talk, ("user", message), ("assistant", "All right."))
    await drain(runtime)
    assert "- I live in Hamburg." in texts(await find(both, "Where do I live?"))


async def test_a_daily_log_hides_no_note_of_the_team_of_that_day(both: Both, runtime: Runtime) -> None:
    talk = Talk(runtime)
    await said(talk, ("user", "I had soup."), ("assistant", "Fine."))
    note = "# 2026-11-20\n\nThe server room moved to floor 4.\n"
    await talk.put("memory/2026-11-20.md", note, scope="team", owner_key=None)
    assert "The server room moved to floor 4." in texts(await find(both, "Where is the server room?"))


async def test_a_diary_that_is_no_result_hides_no_file_of_the_team(both: Both, runtime: Runtime) -> None:
    talk = Talk(runtime)
    text = "The alarm code of the office is 4711.\n"
    await talk.put("handbook.md", text, scope="team", owner_key=None)
    await talk.put("DREAMS.md", text)
    assert [result.path for result in await find(both, "What is the alarm code of the office?")] == ["handbook.md"]
