"""What is said of somebody else is no fact about the user, however the sentence goes on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product

import pytest

from reverie_server.heuristics.fact_grammar.people import role_name
from reverie_server.heuristics.fact_grammar.phrases import all_roles
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Utterance

AT = datetime(2026, 2, 10, 10, tzinfo=UTC)
# Who, what happened to them, and what they do since, without a subject of its own.
OTHERS = {
    "english": (
        (
            "My brother",
            "My sister Ada",
            "Dave",
            "My boss",
            "Mum",
            "My ex",
            "My mate Tom",
            "Our neighbour",
            "My stepdad",
        ),
        (
            "got divorced",
            "quit",
            "lost the job",
            "sold the house",
            "is much better",
            "had surgery",
            "retired",
            "finally got the results",
        ),
        (
            *("moved to Cork", "lives in Cork now", "living in Hull now", "started at Ford", "works at Ford now"),
            *("switched to oat milk", "gave up coffee", "no longer eats meat", "bought a flat", "adopted a dog"),
            *("joined a choir", "is vegan now", "drives a Golf", "goes to yoga on Mondays", "takes metformin"),
            *(
                "not in Oslo any more",
                "plays the cello",
                "left Shell",
                "became a nurse",
                "learning Dutch",
                "quit smoking",
            ),
        ),
        (", ", " and ", ", now "),
    ),
    "german": (
        (
            "Mein Bruder",
            "Meine Schwester Ada",
            "Dave",
            "Mein Chef",
            "Mama",
            "Meine Ex",
            "Mein Kumpel Tom",
            "Unser Nachbar",
        ),
        ("hat gekündigt", "ist geschieden", "hat das Haus verkauft", "ist in Rente", "wurde operiert"),
        (
            *("wohnt jetzt in Cork", "ist nach Cork gezogen", "arbeitet jetzt bei Ford", "trinkt nur noch Tee"),
            *("isst kein Fleisch mehr", "hat jetzt einen Hund", "spielt jetzt Cello", "fährt einen Golf"),
            *("nimmt Metformin", "lernt Dänisch", "ist jetzt vegan", "nicht mehr in Köln", "nur noch Matcha"),
        ),
        (", ", " und "),
    ),
    "spanish": (
        (
            "Mi hermano",
            "Mi hermana Ada",
            "Dave",
            "Mi jefe",
            "Mamá",
            "Mi ex",
            "Mi amigo Tom",
            "El vecino",
            "Mi padrastro",
        ),
        ("se divorció", "dejó el trabajo", "vendió la casa", "se jubiló", "está mucho mejor"),
        (
            *("ahora vive en Cork", "se mudó a Cork", "trabaja en Ford", "ya no come carne", "adoptó un perro"),
            *("toca el chelo", "conduce un Golf", "toma metformina", "aprende danés", "es vegano", "empezó en Ford"),
        ),
        (", ", " y "),
    ),
    "chinese": (
        (
            "我哥",
            "我妹妹",
            "小李",
            "我老板",
            "我妈",
            "我前夫",
            "我发小",
            "我丈母娘",
            "我媳妇儿",
            "隔壁老张",
            "她老公",
            "我外婆",
            "小安的哥哥",
            "我一个同事",
            "孩子们",
            "我二姨",
        ),
        ("离婚了", "辞职了", "退休了", "房子卖了", "手术做完了", "九十了"),
        (
            *("搬到苏州了", "住在苏州", "在福特上班", "改喝茶了", "不吃肉了", "养了条狗", "改游泳了", "下家是腾讯"),
            *("开高尔夫", "有糖尿病", "做外贸的", "学画画", "当护士", "戒烟了", "现在骑电动车"),
        ),
        ("，",),
    ),
}


def _said(language: str) -> Iterator[str]:
    """In one sentence, and in two."""
    who, happened, since, joined = OTHERS[language]
    space, end = ("", "。") if language == "chinese" else (" ", ".")
    for person, first, mark, then in product(who, happened, (*joined, f"{end}{space}"), since):
        goes_on = then[:1].upper() + then[1:] if mark.startswith(end) else then
        yield f"{person}{space}{first}{mark}{goes_on}{end}"


@pytest.mark.parametrize("language", OTHERS)
def test_what_somebody_else_does_since_is_no_fact_about_the_user(language: str) -> None:
    relations = {role_name(role) for role in all_roles()} | all_roles()
    wrong = {
        sentence: (fact.predicate, fact.object)
        for sentence in _said(language)
        for fact in read_facts([Utterance(sentence, AT)], language)
        if fact.subject == "user" and fact.predicate not in relations
    }
    assert wrong == {}


def test_a_name_that_is_known_is_one_in_small_letters_too() -> None:
    def said(*texts: str) -> list[tuple[str, str]]:
        return [(fact.subject, fact.object) for fact in read_facts([Utterance(text, AT) for text in texts])]

    assert said("My girlfriend Hannah is a paramedic.", "I'm up late. hannah works in Wakefield now.") == [
        ("user", "Hannah"),
        ("Hannah", "paramedic"),
        ("Hannah", "Wakefield"),
    ]
    assert said("My dog is called Biscuit.", "I had a biscuit that lives in a tin.") == [("user", "Biscuit")]
    assert said("My daughter is called Grace.", "Well, grace works at times.") == [("user", "Grace")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm Sam, I fix lifts for a living, based in Leeds", [("name", "Sam"), ("lives_in", "Leeds")]),
        ("My name is Tom, software engineer, living in Hackney", [("name", "Tom"), ("lives_in", "Hackney")]),
        ("been at Otway Lifts 9 years now", [("works_at", "Otway Lifts")]),
        ("been at the gym for years", []),
        ("new manager from monday is a guy called Dev Anand", [("boss", "Dev Anand")]),
        ("landlord is a bloke called Mr Pritchard", [("landlord", "Mr Pritchard")]),
        ("new boss is great", []),
    ],
)
def test_people_leave_out_that_it_is_they_of_whom_they_speak(text: str, expected: list[tuple[str, str]]) -> None:
    found = read_facts([Utterance(text, AT)])
    assert {fact.subject for fact in found} <= {"user"}
    assert [(fact.predicate, fact.object) for fact in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mein Freund Mats und ich wohnen in Bremen, im Altbau", "Wir wohnen in Bremen, im Altbau."),
        ("Wir wohnen in Köln und haben einen Hund.", "Wir haben einen Hund."),
        ("Ich wohne in Köln und arbeite bei Bosch.", "Ich arbeite bei Bosch."),
        ("Mi novio Mateo y yo vivimos en Triana", "Nosotros vivimos en Triana."),
    ],
)
def test_what_several_do_is_said_of_them(text: str, expected: str) -> None:
    assert read_facts([Utterance(text, AT)])[-1].text == expected


@pytest.mark.parametrize(
    "text",
    [
        "My wife and I have a dog, he's called Rex",
        "My sister has a new baby, she's called Ada",
        "My brother got a puppy, it's called Max",
        "Meine Frau und ich haben einen Hund, er heißt Rex",
        "Mi mujer y yo tenemos un perro, se llama Rex",
        "Mi hermana tuvo un bebé, se llama Ada",
    ],
)
def test_who_has_somebody_has_not_their_name(text: str) -> None:
    people = ("wife", "sister", "brother")
    assert not [fact for fact in read_facts([Utterance(text, AT)]) if fact.predicate in people]


@pytest.mark.parametrize("text", ["My cat is three, she's called Mia", "Mein Hund ist ein Dackel, er heißt Waldi"])
def test_who_is_something_has_their_name(text: str) -> None:
    assert read_facts([Utterance(text, AT)])[0].object in ("Mia", "Waldi")
