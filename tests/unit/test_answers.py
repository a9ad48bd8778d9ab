"""A short answer to what an assistant asks its user about themselves is a statement."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.answers import asked_by
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import StatedFact, Utterance

AT = datetime(2026, 3, 2, tzinfo=UTC)


def read(*texts: str) -> list[StatedFact]:
    """The facts of a conversation that the user begins."""
    return read_facts([Utterance(text, AT, "assistant" if number % 2 else "user") for number, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("question", "answer", "predicate", "value", "text"),
    [
        ("Hi! What's your name?", "Sam", "name", "Sam", "My name is Sam"),
        ("What should I call you?", "priya", "name", "Priya", "My name is Priya"),
        ("Nice to meet you, Sam! Where do you live?", "in Leeds", "lives_in", "Leeds", "I live in Leeds"),
        ("And where are you from?", "originally Cork", "from", "Cork", "I'm from Cork"),
        ("What do you do for a living?", "nurse", "works_as", "nurse", "I work as a nurse"),
        ("What do you do for a living?", "An electrician.", "works_as", "electrician", "I work as an electrician."),
        ("Where do you work?", "Otway Lifts", "works_at", "Otway Lifts", "I work at Otway Lifts"),
        ("How old are you?", "34, nearly 35", "age", "34", "I'm 34 years old"),
        ("Do you have any allergies?", "yes, penicillin", "allergic_to", "penicillin", "I'm allergic to penicillin"),
        ("What's your dog's name?", "Rex", "dog", "Rex", "My dog is called Rex"),
        ("¿Cómo te llamas?", "Lucía", "name", "Lucía", "Me llamo Lucía"),
        ("¿Dónde vives?", "pues en Lugo", "lives_in", "Lugo", "Vivo en Lugo"),
        ("¿Y a qué te dedicas?", "enfermera", "works_as", "enfermera", "Trabajo de enfermera"),
        ("Wie heißt du denn?", "Jana", "name", "Jana", "Ich heiße Jana"),
        ("¿Cómo te llamas?", "marta", "name", "Marta", "Me llamo Marta"),
        ("Wie heißt du?", "jana", "name", "Jana", "Ich heiße Jana"),
        ("¿Y dónde vives?", "en getafe con mi novio", "lives_in", "getafe", "Vivo en getafe con mi novio"),
        ("Wo wohnst du?", "Bremen", "lives_in", "Bremen", "Ich wohne in Bremen"),
        ("Wie heißt deine Katze?", "Mimi", "cat", "Mimi", "Meine Katze heißt Mimi"),
        ("怎么称呼您？", "李小雨", "name", "李小雨", "我叫李小雨"),
        ("你住在哪里？", "杭州", "lives_in", "杭州", "我住在杭州"),
        ("你是做什么工作的？", "护士", "works_as", "护士", "我是护士"),
        ("你对什么过敏？", "花生", "allergic_to", "花生", "我对花生过敏"),
    ],
)
def test_an_answer_says_what_was_asked(question: str, answer: str, predicate: str, value: str, text: str) -> None:
    [fact] = read("hi", question, answer)
    assert (fact.subject, fact.predicate, fact.object, fact.text) == ("user", predicate, value, text)
    # Where it was said is what was said.
    assert (fact.utterance, fact.sentence) == (2, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What should I call you?", "whatever you like"),
        ("What's your name?", "why do you ask"),
        ("What's your name?", "guess"),
        ("Where do you live?", "not telling"),
        ("Where do you live?", "And you?"),
        ("Where do you work?", "from home mostly"),
        ("Where do you live?", "with my parents"),
        ("¿Dónde vives?", "con mis padres"),
        ("Wo wohnst du?", "noch bei meinen Eltern"),
        ("What's your name?", "marta but everyone calls me tata"),
        ("What do you do?", "well it's complicated i sort of do a bit of consulting"),
        ("What do you do?", "a bit of everything really, this and that, it depends on the week"),
        ("Do you have any allergies?", "no"),
        ("Do you have any allergies?", "none that I know of"),
        ("What's your name, and where do you live? And how old are you?", "thanks for asking"),
        ("Where does Ada live?", "Oslo"),
        ("Which of these towns would you like to visit?", "Leeds"),
        ("¿Cómo te llamas?", "adivina"),
        ("Wie heißt du?", "rate mal"),
        ("怎么称呼您？", "不告诉你"),
        ("你的狗叫什么名字？", "你猜"),
        # Nothing was asked.
        ("I asked where you live.", "Leeds"),
    ],
)
def test_what_answers_nothing_states_nothing(question: str, answer: str) -> None:
    assert [(f.subject, f.predicate, f.object) for f in read("hi", question, answer)] == []


def test_a_statement_of_its_own_is_read_as_it_stands() -> None:
    [fact] = read("hi", "Where do you live?", "Ada lives in Oslo.")
    assert (fact.subject, fact.object, fact.text) == ("Ada", "Oslo", "Ada lives in Oslo.")


def test_only_the_first_sentence_behind_the_question_answers_it() -> None:
    facts = read("hi", "Where do you live?", "Leeds. Bradford.", "I see.", "York")
    assert [fact.object for fact in facts] == ["Leeds"]


def test_two_questions_are_none() -> None:
    assert asked_by("What's your name? Where do you live?") is None
    assert asked_by("What's your name? " * 10_000) is None
