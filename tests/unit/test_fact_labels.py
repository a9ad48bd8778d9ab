"""Tests that a fact is labelled with the words of questions about it."""

import tomllib
from pathlib import Path

import pytest

from reverie_server.heuristics import fact_labels
from reverie_server.heuristics.fact_labels import label_of, said_once, statement_without


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [
        ("english", "We found a flat in Bergen and moved last week.", "I live in Bergen, my home, my town"),
        ("german", "Wir sind letzte Woche nach Bergen gezogen.", "Ich wohne in Bergen, mein Zuhause, meine Stadt"),
        ("spanish", "El mes pasado nos mudamos a Bergen.", "Vivo en Bergen, mi casa, mi ciudad"),
        ("chinese", "我上个月搬到Bergen了。", "我住在Bergen，我的家，现在住哪儿"),
        ("english", "我上个月搬到Bergen了。", "我住在Bergen，我的家，现在住哪儿"),
        (
            "english",
            "Wir sind nach Bergen gezogen, das ist für uns nicht so weit.",
            "Ich wohne in Bergen, mein Zuhause, meine Stadt",
        ),
    ],
)
def test_a_label_is_in_the_language_of_the_text(language: str, text: str, label: str) -> None:
    assert label_of("user", "lives_in", "Bergen", text, language) == label


def test_another_person_is_named() -> None:
    assert (
        label_of("Ada {x}", "lives_in", "{o}", "Ada lives there and she is well.", "english") == "Ada {x} lives in {o}"
    )


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [
        ("german", "Mein Bruder wohnt in Dublin und ist Pfleger.", "Mein Bruder wohnt in Dublin"),
        ("spanish", "Mi hermano vive en Dublin y es enfermero.", "Mi hermano vive en Dublin"),
        ("chinese", "我弟弟住在Dublin。", "我弟弟住在Dublin"),
        ("english", "My brother lives in Dublin, he is a nurse.", "My brother lives in Dublin"),
    ],
)
def test_somebody_without_a_name_is_called_as_the_text_does(language: str, text: str, label: str) -> None:
    assert label_of("user's brother", "lives_in", "Dublin", text, language).startswith(label)


def test_a_predicate_without_a_label_has_none() -> None:
    assert label_of("user", "planned", "a trip", "I planned a trip.", "english") == ""


def test_every_language_labels_the_same_predicates() -> None:
    source = Path(fact_labels.__file__).with_name("fact_labels.toml").read_text(encoding="utf-8")
    predicates = [set(labels) for labels in tomllib.loads(source).values()]
    assert all(of_language == predicates[0] for of_language in predicates)


def test_what_is_over_is_not_said_to_be_so() -> None:
    text = "Dani y yo lo hemos dejado."
    fields = ("user", "partner", "Dani", text)
    assert label_of(*fields, "spanish") == "Mi pareja es Dani"
    assert label_of(*fields, "spanish", is_end=True) == ""
    assert statement_without(*fields, ended=["Dani y yo lo hemos dejado"], is_end=True) == ""


@pytest.mark.parametrize(
    ("predicate", "object_", "text", "ended", "statement"),
    [
        ("works_as", "vet", "I work as a vet at Teme Clinic in Wem.", ["Teme Clinic", "Wem"], "I work as a vet."),
        ("works_at", "Harlan", "I work as a buyer for Harlan.", ["buyer"], "I work at Harlan."),
        ("works_at", "麦穗科技", "我在麦穗科技做前端。", ["前端"], "我在麦穗科技工作."),
        ("plays", "cello", "I play the cello in the orchestra.", ["nine"], "I play the cello in the orchestra."),
        ("planned", "trip to Rome", "In May we planned a trip to Rome.", ["May"], ""),
        ("commute", "by bike", "I go by bike to Rome these days.", ["Rome"], "I go by bike."),
        ("age", "nine", "I am nine and in a nineteen-piece band.", ["nineteen"], "I am nine."),
    ],
)
def test_a_statement_is_left_without_what_has_ended(
    predicate: str, object_: str, text: str, ended: list[str], statement: str
) -> None:
    assert statement_without("user", predicate, object_, text, ended=ended) == statement


def test_what_another_statement_begins_with_is_not_said_twice() -> None:
    parts = ["Hello, I'm Tobi.", "Hello, I'm Tobi, 31.", "I live in Wem.", "Hello, I'm Tobi, 31, a technician.", ""]
    assert said_once(parts) == ["I live in Wem.", "Hello, I'm Tobi, 31, a technician."]
    # A word is no beginning of a longer one.
    assert said_once(["I live in Bath.", "I live in Bathford.", "I live in Bath."]) == [
        "I live in Bath.",
        "I live in Bathford.",
    ]
    assert said_once(["我在麦穗。", "我在麦穗科技工作。", "我姓吴。"]) == ["我在麦穗科技工作。", "我姓吴。"]
