"""A name, an age and a trade without a verb say who speaks, where the answer calls them so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.fact_grammar.introduced import introduced
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import SELF, Utterance

AT = datetime(2026, 4, 3, tzinfo=UTC)


def told(said: str, answer: str, language: str) -> dict[str, str]:
    talk = [Utterance(said, AT, "user"), Utterance(answer, AT, "assistant")]
    return {fact.predicate: fact.object for fact in read_facts(talk, language) if fact.subject == SELF}


@pytest.mark.parametrize(
    ("language", "said", "answer", "name", "age"),
    [
        (
            "german",
            "Moin. Jens 47 Dachdecker aus Husum. Brauche eine Mail.",
            "Moin Jens! Gern.",
            "Jens",
            "47",
        ),
        ("english", "Hi. Petra, 44, nurse from Leeds. Need a letter.", "Hello Petra, of course.", "Petra", "44"),
        ("spanish", "Hola. Marta 41 enfermera de Lima. Necesito una carta.", "¡Hola, Marta! Claro.", "Marta", "41"),
    ],
)
def test_who_is_called_so_by_the_answer_has_that_name(
    language: str, said: str, answer: str, name: str, age: str
) -> None:
    found = told(said, answer, language)
    assert (found["name"], found["age"]) == (name, age)


def test_who_types_without_capitals_or_is_called_by_the_last_name_has_it_too() -> None:
    typed = told("petra voss, 44, i teach in leeds. need a letter", "Hello, Petra. Of course.", "english")
    titled = told("Ernst Holm, 71 Jahre, Küster. Ein Brief, bitte.", "Guten Tag, Herr Holm.", "german")
    assert (typed["name"], titled["name"]) == ("Petra Voss", "Ernst Holm")


@pytest.mark.parametrize(
    ("language", "said", "answer"),
    [
        ("english", "Petra, 44, nurse from Leeds. Is that a good profile?", "It is a fine profile."),
        ("english", "petra, 44, nurse. who is that?", "That is petra, from the ward."),
        ("german", "Ernst Holm, 71 Jahre, Küster. Wer ist das?", "Ein Herr Holm war hier Küster."),
        ("english", "Flight 52 from Leeds. When does it land?", "Flight 52 lands at nine."),
        ("german", "Seite 12 Kapitel drei. Was steht da?", "Auf Seite 12 steht ein Gedicht."),
        ("german", "Jens 47 Dachdecker. So heißt die Figur.", "Eine gute Figur."),
    ],
)
def test_nobody_else_is_meant(language: str, said: str, answer: str) -> None:
    assert "name" not in told(said, answer, language)


def test_a_language_that_is_not_read_says_nothing() -> None:
    assert introduced("Ada, 40", "Ada!", "polish") is None
    assert introduced("Ada, 40", "Hello Ada!", "english") == "I'm Ada, 40 years old."


def test_what_opens_an_introduction_is_no_part_of_it() -> None:
    said = "Darf ich mich kurz vorstellen: Ernst Holm, 68 Jahre, Küster im Ruhestand, wohnhaft in Brühl."
    found = told(said, "Guten Tag, Herr Holm.", "german")
    assert (found["name"], found["age"], found["works_as"]) == ("Ernst Holm", "68", "Küster")
    assert "works_at" not in found
