"""What says nothing without the sentence before it, and what states nothing at all."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.needs_context import is_no_statement, needs_context, says_why
from reverie_server.heuristics.transient import is_of_body, is_transient


@pytest.mark.parametrize(
    "text",
    [
        "My uncle sold him a bike",
        "Priya phoned them on Sunday",
        "Meine Tante hat ihm das Rad geschenkt",
        "Später soll ich ihnen beim Umzug helfen",
        "Der Hund liegt immer davor und knurrt",
        "Ich lache dann immer",
        "And then I always laugh",
        "Y entonces siempre me río",
        "Ich vergesse es nämlich jedes Mal",
        "I always pick the wrong ones.",
        "I take one every evening.",
        "Ich nehme eine jeden Abend.",
        "Me tomo uno cada noche.",
    ],
)
def test_without_a_name_or_a_thing_a_sentence_needs_the_one_before(text: str) -> None:
    assert needs_context(text)


@pytest.mark.parametrize(
    "text",
    [
        "My sister is ill, I visit her daily",
        "I have two sons: I call them Max and Leo",
        "My dog is old so I give him soft food",
        "I have one brother.",
        "I take one sugar in my tea.",
        "I use one of those folding bikes",
        "Mein Vater ist alt, ich helfe ihm jeden Tag",
        "Ich trinke eine Tasse Kaffee am Morgen.",
        "Meine Nachbarn haben nämlich zwei Hunde",
        "Es que fumo un paquete diario",
        "Ich freue mich darauf, dass wir umziehen",
        "Tomo un café cada mañana",
        "我每周三打麻将",
        "My name is Ana",
    ],
)
def test_what_names_whom_and_what_stands_alone(text: str) -> None:
    assert not needs_context(text)


@pytest.mark.parametrize(
    "text",
    [
        "Good.",
        "Passt.",
        "Bueno.",
        "好的。",
        "Help me with this sentence:",
        "Hilf mir bei dem Satz:",
        "If you have any.",
        "Wenn du einen hast",
        "Si quieres.",
        "如果你有的话",
        "你怎么知道的。",
        "刚吃完饭，阳历咋个换算嘛",
        "保险柜密码是什么",
        "Please remember what I told you about the dog",
        "Das mit dem Hund, was ich vorhin gesagt hab, behalt das",
        "Acuérdese de lo que le dije de la perra",
    ],
)
def test_what_states_nothing(text: str) -> None:
    assert is_no_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "The code for the shed is 4471.",
        "If it rains, I take the bus.",
        "Wenn ich arbeite, esse ich nichts.",
        "What I told you about the shed: the code is 4471",
        "Siempre tomo té.",
        "我对花生过敏",
        "我什么都吃",
        "我知道怎么去机场",
        "我不怎么喝酒",
        "他叫什么我忘了",
        "我们老板啥子都要先看一遍",
        "我老婆想吃什么我就做什么",
        "My address: 12 Mill Lane",
    ],
)
def test_what_states_something(text: str) -> None:
    assert not is_no_statement(text)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("i'm eating a pear", True),
        ("i'm eating vegan now", False),
        ("i've swum twice", True),
        ("i've swum twice a week for years", False),
        ("ich ess heut vegan", True),
        ("estoy comiendo una pera", True),
        ("estoy comiendo menos carne", False),
        ("我正在吃面", True),
        ("ich wohne hier in kassel", False),
    ],
)
def test_what_is_of_the_moment_is_transient(text: str, is_so: bool) -> None:
    assert is_transient(text) == is_so


def test_a_part_of_the_body_is_known() -> None:
    assert all(map(is_of_body, ("Feet", "Rücken", "espalda")))
    assert not is_of_body("Boat")


def test_why_one_asks_is_not_what_is_asked_for() -> None:
    assert says_why("Ich vergesse das nämlich immer")
    assert not says_why("Ich esse nämlich keine Nüsse")


@pytest.mark.parametrize(
    "text",
    [
        'Put this into plain words: "Dear Mr Holm, the roof is done.',
        "Spoons?",
        "雨伞？",
        '帮我看下，"Cher monsieur, je pars.',
    ],
)
def test_the_beginning_of_a_quotation_and_a_word_that_is_asked_back_state_nothing(text: str) -> None:
    assert is_no_statement(text)


@pytest.mark.parametrize(
    "text", ['We call it "the barn" at home', 'My shelf is 30" wide', "Could you always give me inches?"]
)
def test_a_quotation_that_ends_is_a_part_of_what_is_said(text: str) -> None:
    assert not is_no_statement(text)


def test_what_explains_a_thing_that_was_named_needs_it() -> None:
    assert needs_context("The ladder is because the attic has no stairs")
    assert needs_context("Das Seil ist wegen der Katze")
