"""Who comes in the place of a boss or a doctor whom the user has, and whose name is another than was said."""

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


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "Sorry, the dog isn't called Balu, it's Bruno."),
        ("english", "The dog is not Balu but Bruno."),
        ("english", "Our dog's name is Bruno, not Balu."),
        ("german", "Ach, der Hund heißt nicht Balu, sondern Bruno."),
        ("german", "Sorry, der Hund heißt Bruno, nicht Balu."),
        ("spanish", "El perro no se llama Balu, sino Bruno."),
        ("spanish", "Perdón, el perro se llama Bruno, no Balu."),
    ],
)
def test_the_animal_of_which_one_told_has_the_name_that_is_not_taken_back(language: str, said: str) -> None:
    known = {"Balu": "Balu", "role:dog": "Balu"}
    [fact] = read_facts([Utterance(said, AT)], language, known_people=known)
    assert fact.change is not None
    assert (fact.subject, fact.predicate, fact.object, fact.change.old_object) == (SELF, "dog", "Bruno", "Balu")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "My dog is not Labrador, it's Poodle."),
        ("english", "The cat isn't called Balu, it's Bruno."),
        ("english", "The movie isn't called Alien, it's Aliens."),
        ("german", "Meine Frau ist nicht Lehrerin, sondern Ärztin."),
    ],
)
def test_what_is_no_name_and_whose_nobody_told_is_no_other_name(language: str, said: str) -> None:
    known = {"Balu": "Balu", "role:dog": "Balu"}
    found = read_facts([Utterance(said, AT)], language, known_people=known)
    assert not [fact for fact in found if fact.subject == SELF]


@pytest.mark.parametrize(
    ("language", "said", "name"),
    [
        ("english", "I go to Dr. Brandt now.", "Dr. Brandt"),
        ("english", "Dr. Ahn retired, so we see Dr. Brandt these days.", "Dr. Brandt"),
        ("german", "Ich gehe jetzt zu Frau Dr. Brandt.", "Frau Dr. Brandt"),
        ("german", "Jetzt bin ich bei Dr. Brandt.", "Dr. Brandt"),
        ("german", "Ich habe den Zahnarzt gewechselt, jetzt ist es Dr. Brandt.", "Dr. Brandt"),
        ("spanish", "Ahora voy con la Dra. Ruiz.", "Dra. Ruiz"),
        ("english", "I've changed dentists, it's Dr. Brandt now.", "Dr. Brandt"),
    ],
)
def test_whom_one_goes_to_now_by_a_title_is_what_the_one_before_was(language: str, said: str, name: str) -> None:
    assert taken(language, said, "Dr. Ahn", "dentist") == [("dentist", name)]


@pytest.mark.parametrize(
    "said", ["I go to Dr. Brandt now for my knee.", "I'm seeing Anna now.", "I saw Dr. Brandt at the market."]
)
def test_whom_one_goes_to_besides_takes_no_place(said: str) -> None:
    assert ("dentist", "Dr. Brandt") not in taken("english", said, "Dr. Ahn", "dentist")


def test_of_two_doctors_nobody_knows_which_one_is_left() -> None:
    known = {"Dr. Ahn": "Dr. Ahn", "role:dentist": "Dr. Ahn", "Dr. Lowe": "Dr. Lowe", "role:doctor": "Dr. Lowe"}
    assert not read_facts([Utterance("I go to Dr. Brandt now.", AT)], "english", known_people=known)


def test_the_last_day_at_a_place_and_the_first_at_the_next() -> None:
    found = taken("english", "My last day at Acme was Friday; on Monday I start at Boreal as a test lead.")
    assert found == [("quit", "Acme"), ("works_at", "Boreal")]
