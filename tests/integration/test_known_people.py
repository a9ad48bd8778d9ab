"""People of earlier conversations: a name or a role in a later one is theirs where that is plain, else nobody's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.facts import read_facts, rows
from tests.talks import Talk

from reverie_server.facts.known_people import Acquaintance, known_at
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


async def says(talk: Talk, *texts: str, owner: str | None = None, apart: bool = True) -> None:
    """Each text is a conversation of its own, a day after the one before."""
    for number, text in enumerate(texts):
        session_id = f"web:{owner or talk.owner_key}-{number}-{len(text)}"
        speaker = Talk(talk.runtime, session_id, owner or talk.owner_key)
        await speaker.add([NewMessage("user", text, at=AT + timedelta(days=number))])
        if apart:
            await read_facts(speaker)
    if not apart:
        await read_facts(talk)


async def homes(talk: Talk) -> dict[str, tuple[str, str]]:
    """By place: who lives or lived there, and whether that holds."""
    found = [row for row in await rows(talk) if row["predicate"] == "lives_in"]
    return {row["object"]: (row["subject"], row["state"]) for row in found}


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(
    ("first", "second", "third", "name"),
    [
        (
            "My boss Petra Lindqvist lives in Oslo.",
            "Petra moved to Malmö.",
            "My boss moved to Rome.",
            "Petra Lindqvist",
        ),
        ("My sister Anna lives in Oslo.", "My sister moved to Malmö.", "Anna moved to Rome.", "Anna"),
        ("My boss is Petra Lindqvist.", "My boss lives in Malmö.", "Petra moved to Rome.", "Petra Lindqvist"),
        ("My boss Petra lives in Oslo.", "Petra moved to Malmö.", "My supervisor moved to Rome.", "Petra"),
        ("My doctor is Wanda Kerr.", "Wanda lives in Malmö.", "Wanda Kerr moved to Rome.", "Wanda Kerr"),
    ],
)
async def test_a_name_and_a_role_are_one_person_in_later_conversations(
    talk: Talk, first: str, second: str, third: str, name: str, apart: bool
) -> None:
    await says(talk, first, second, third, apart=apart)
    found = await homes(talk)
    assert found["Malmö"] == (name, "superseded")
    assert found["Rome"] == (name, "current")
    assert {who for who, _ in found.values()} == {name}


@pytest.mark.parametrize("apart", [True, False])
async def test_of_two_with_one_first_name_the_name_alone_is_nobodys(talk: Talk, apart: bool) -> None:
    texts = ["My sister Anna lives in Bergen.", "My friend Anna lives in Oslo.", "Anna moved to Rome."]
    await says(talk, *texts, apart=apart)
    assert await homes(talk) == {"Bergen": ("Anna", "current"), "Oslo": ("Anna (friend)", "current")}


async def test_of_two_with_one_first_name_the_role_says_who_it_is(talk: Talk) -> None:
    texts = ["My sister Anna lives in Bergen.", "My friend Anna lives in Oslo."]
    await says(talk, *texts, "My friend Anna told me something. Anna moved to Rome.", "My sister Anna moved to Ulm.")
    assert await homes(talk) == {
        "Bergen": ("Anna", "superseded"),
        "Oslo": ("Anna (friend)", "superseded"),
        "Rome": ("Anna (friend)", "current"),
        "Ulm": ("Anna", "current"),
    }


async def test_somebody_of_the_same_first_name_and_another_last_name_is_another(talk: Talk) -> None:
    await says(talk, "My sister Anna lives in Bergen.", "Anna Berg lives in Oslo.", "My sister moved to Rome.")
    found = await homes(talk)
    assert found["Oslo"] == ("Anna Berg", "current")
    assert found["Rome"] == ("Anna", "current")
    await says(talk, "Anna moved to Ulm.")
    assert "Ulm" not in await homes(talk)


async def test_a_role_of_several_is_nobodys(talk: Talk) -> None:
    await says(talk, "My sister Ada lives in Bergen.", "My sister Eva lives in Oslo.", "My sister moved to Rome.")
    found = await homes(talk)
    assert (found["Bergen"], found["Oslo"]) == (("Ada", "current"), ("Eva", "current"))
    assert found.get("Rome", ("user's sister", ""))[0] == "user's sister"


async def test_a_role_is_that_of_the_person_who_has_it_then(talk: Talk) -> None:
    await says(talk, "My boss is Petra Lindqvist.", "My new boss is Karin Holm.", "My boss moved to Rome.")
    assert (await homes(talk))["Rome"][0] == "Karin Holm"


async def test_what_was_said_before_is_of_the_person_of_that_time(talk: Talk) -> None:
    await says(talk, "My boss is Petra Lindqvist.", "I see.", "I see.", "My new boss is Karin Holm.")
    imported = Talk(talk.runtime, "web:import")
    await imported.add([NewMessage("user", "My boss lives in Rome.", at=AT + timedelta(days=1))])
    await read_facts(imported)
    assert (await homes(talk))["Rome"][0] == "Petra Lindqvist"


async def test_people_of_another_owner_are_not_known(talk: Talk) -> None:
    await says(talk, "My boss is Petra Lindqvist.")
    await says(talk, "My boss lives in Rome.", "Petra lives in Ulm.", owner="user:bob")
    assert {who for who, _ in (await homes(talk)).values()} == {"user's boss", "Petra"}


def person(name: str, role: str | None = "boss", day: int = 0, until: int | None = None, **others: Any) -> Acquaintance:
    end = None if until is None else AT + timedelta(days=until)
    return Acquaintance(name, role, AT + timedelta(days=day), end, **others)


@pytest.mark.parametrize(
    ("people", "known"),
    [
        ([person("Petra")], {"Petra": "Petra", "role:boss": "Petra"}),
        ([person("Petra", day=9)], {}),
        ([person("Petra", until=3)], {}),
        ([person("Petra"), person("Petra", day=2, until=2)], {}),
        ([person("Ada", "sister"), person("Eva", "sister")], {"Ada": "Ada", "Eva": "Eva"}),
        (
            [person("Petra"), person("Petra Lindqvist", day=1)],
            {"Petra Lindqvist": "Petra Lindqvist", "role:boss": "Petra Lindqvist"},
        ),
        ([person("Petra"), person("Karin", day=1, is_single=True)], {"Karin": "Karin", "role:boss": "Karin"}),
        ([person("Petra"), person("Rome", None)], {"Petra": "Petra", "role:boss": "Petra"}),
        (
            [person("Petra"), person("Petra Berg", None)],
            {"Petra": "Petra", "role:boss": "Petra", "Petra Berg": "Petra Berg"},
        ),
    ],
)
def test_who_is_known_at_a_time(people: list[Acquaintance], known: dict[str, str]) -> None:
    assert known_at(people, AT + timedelta(days=5)) == known
