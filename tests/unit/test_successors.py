"""Who comes in the place of a boss or a doctor whom the user has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.graph.heuristics import extract
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import SELF, Utterance
from reverie_server.sessions.model import Message

AT = datetime(2026, 11, 3, tzinfo=UTC)


def taken(language: str, said: str, name: str = "Bruno Hart", role: str = "boss") -> list[tuple[str, str]]:
    """Who is what to the user by a sentence, where the one of `name` was it before."""
    found = read_facts([Utterance(said, AT)], language, known_people={name: name, f"role:{role}": name})
    return [(fact.predicate, fact.object) for fact in found if fact.subject == SELF]


@pytest.mark.parametrize(
    ("language", "said", "name"),
    [
        ("english", "Bruno left and his successor is Petra Lindqvist.", "Petra Lindqvist"),
        ("english", "Bruno was replaced by Petra Lindqvist.", "Petra Lindqvist"),
        ("english", "Bruno left. His successor is Petra Lindqvist.", "Petra Lindqvist"),
        ("german", "Bruno hat gekündigt, seine Nachfolgerin ist Petra Lindqvist.", "Petra Lindqvist"),
        ("german", "Brunos Nachfolgerin heißt Petra Lindqvist.", "Petra Lindqvist"),
        ("spanish", "Bruno se jubiló y su sucesora es Petra Lindqvist.", "Petra Lindqvist"),
        ("spanish", "Bruno se jubiló y lo sustituye Petra Lindqvist.", "Petra Lindqvist"),
    ],
)
def test_who_takes_the_place_of_a_boss_is_the_boss(language: str, said: str, name: str) -> None:
    assert taken(language, said) == [("boss", name)]


@pytest.mark.parametrize(
    "said", ["布鲁诺离职了，他的继任者是佩特拉。", "布鲁诺离职了，佩特拉接替了他。", "现在佩特拉接替布鲁诺。"]
)
def test_a_boss_is_followed_in_chinese(said: str) -> None:
    assert taken("chinese", said, "布鲁诺") == [("boss", "佩特拉")]


def test_a_doctor_is_followed_as_a_boss_is() -> None:
    said = "Dr. Lowe retired, his successor is Dr. Siddiqui."
    assert taken("english", said, "Dr. Lowe", "doctor") == [("doctor", "Dr. Siddiqui")]


def test_who_comes_later_is_the_boss_from_then_on() -> None:
    known = {"Bruno Hart": "Bruno Hart", "role:boss": "Bruno Hart"}
    [fact] = read_facts([Utterance("Petra Lindqvist replaces Bruno in January.", AT)], "english", known_people=known)
    assert (fact.predicate, fact.valid_from) == ("boss", datetime(2027, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "Obama left and his successor is Biden."),
        ("english", "Maybe Petra will be his successor."),
        ("english", "Bruno left and his successor will be announced in May."),
        ("english", "Anna's replacement is Carl."),
        ("german", "Bruno geht, seine Nachfolgerin ist Lehrerin."),
    ],
)
def test_whom_nobody_has_and_who_is_not_named_follows_nobody(language: str, said: str) -> None:
    assert taken(language, said) == []


@pytest.mark.parametrize(
    ("had", "said", "boss"),
    [
        ("My boss is Bruno Hart.", "Bruno left and his successor is Petra Lindqvist.", "petra-lindqvist"),
        (
            "Mein Chef ist Bruno Hart.",
            "Bruno hat gekündigt, seine Nachfolgerin ist Petra Lindqvist.",
            "petra-lindqvist",
        ),
        ("Mi jefe es Bruno Hart.", "Bruno se jubiló y su sucesora es Petra Lindqvist.", "petra-lindqvist"),
        # A surname may end as a word for an occupation does.
        ("Ich berichte an Bruno Hart.", "Meine neue Chefin ist Petra Lindqvist.", "petra-lindqvist"),
        ("我的老板是布鲁诺。", "布鲁诺离职了，我的新老板是佩特拉。", "佩特拉"),
        ("我的老板是布鲁诺。", "佩特拉接替了布鲁诺。", "佩特拉"),
    ],
)
def test_the_graph_knows_who_follows(had: str, said: str, boss: str) -> None:
    messages = [Message(number, "user", text, AT, 1) for number, text in enumerate((had, said), 1)]
    _, relations = extract(messages, (), with_speaker=True)
    reports = {each.target for each in relations if each.name == "reports_to" and each.seqs == (2,) and not each.until}
    assert reports == {boss}


def test_the_graph_takes_no_guess_for_a_successor() -> None:
    texts = ("My boss is Bruno Hart.", "Maybe Petra Lindqvist will be his successor.", "Meine Chefin ist Ärztin.")
    _, relations = extract([Message(n, "user", text, AT, 1) for n, text in enumerate(texts, 1)], (), with_speaker=True)
    assert {each.target for each in relations} == {"bruno-hart"}
