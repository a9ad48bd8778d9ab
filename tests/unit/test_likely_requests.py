"""Requests in words that no pattern has: which sentences may ask, what they ask for, and what is fitted for that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.forgetting.relevant import having
from reverie_server.heuristics import sentence_model
from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.requests import request_model
from reverie_server.heuristics.requests.fact_requests import split_request
from reverie_server.heuristics.requests.likely_requests import (
    forgetting_asked,
    likely_requests,
    parts_of,
    points_back,
    remembering_asked,
    speaks_of_forgetting,
    topic_of,
)
from reverie_server.text.statement_spans import statements


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("tuck this away for me, the boiler pressure is 1.6", "the boiler pressure is 1.6"),
        ("boiler pressure is 1.6, tuck that away for me", "boiler pressure is 1.6"),
        ("you're my memory for this: the boiler man is called Horvath", "the boiler man is called Horvath"),
        ("nur damit dus weißt fürs nächste mal, ich ess kein schwein", "ich ess kein schwein"),
        ("te dejo un dato pa tu archivo: calzo 42 y medio, pie ancho", "calzo 42 y medio, pie ancho"),
        ("幫我筆記一下,狗狗的疫苗下次是11月8號", "狗狗的疫苗下次是11月8號"),
        (
            "next time i ask for recipes assume i only have a microwave and one pan",
            "next time i ask for recipes assume i only have a microwave and one pan",
        ),
    ],
)
def test_what_is_asked_to_be_kept_stands_beside_the_request(sentence: str, kept: str) -> None:
    request = remembering_asked(sentence)
    assert request.kind == "inside"
    assert sentence[request.start : request.end] == kept


def test_a_request_that_says_nothing_is_about_what_was_said_before() -> None:
    assert remembering_asked("keep that for me please").kind == "before"


@pytest.mark.parametrize(
    "sentence",
    [
        "That's why I keep you.",
        "If you've read it, keep quiet.",
        "I need a short note to my plumber",
        "I've got to fill in a form for the school, can you help",
        "Can you say that in two sentences?",
        "Can you make this neater?",
        "Ich brauche eine Mail an den Vermieter",
        "Sag das bitte in zwei Sätzen",
        "Necesito una carta para el casero",
    ],
)
def test_praise_and_wishes_for_a_text_ask_to_keep_nothing(sentence: str) -> None:
    asking = likely_requests("remember", [sentence])
    assert not asking or sentence not in asking[0].parts


def test_what_follows_a_word_for_it_is_told_and_no_reason() -> None:
    sentence = "Si sigue la fiebre la llevo, y tenme esto guardado siempre, que Iris es alérgica al látex"
    request = remembering_asked(sentence)
    assert "alérgica al látex" in sentence[request.start : request.end]


@pytest.mark.parametrize(
    ("message", "topic", "has_content"),
    [
        ("can you delete everything you have on my divorce", "divorce", False),
        ("i want the surprise party gone from your memory before she borrows my phone", "surprise party", False),
        ("my sister was in hospital in 2015, wipe that out of your notes", "", True),
    ],
)
def test_a_request_to_forget_says_what_it_is_about(message: str, topic: str, has_content: bool) -> None:
    said = statements(message)
    [likely] = likely_requests("forget", said)
    request = forgetting_asked(said, likely, "english")
    assert request.kind == "told"
    assert topic in request.topic
    assert request.has_content == has_content


@pytest.mark.parametrize(
    ("message", "language", "topic"),
    [
        ("lösch alles was du zu meiner scheidung hast", "german", "scheidung"),
        ("Everything I've ever come out with about Raymond, I'd like it gone from here.", "english", "raymond"),
    ],
)
def test_everything_about_somebody_is_looked_for_in_the_whole_memory(message: str, language: str, topic: str) -> None:
    said = statements(message)
    [likely] = likely_requests("forget", said)
    request = forgetting_asked(said, likely, language)
    assert (request.kind, request.topic) == ("topic", topic)


def test_what_is_put_in_the_place_of_another_is_not_forgotten() -> None:
    assert likely_requests("forget", ["报名编号改成CD-58213了，把你原来存的那个换掉。"]) == []
    assert likely_requests("forget", ["The number is 12 now, replace the one you had."]) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't let me forget that",
        "don't lose that one",
        "Forget it, let's move on.",
        "Vergiss nicht, Ada anzurufen.",
        "vergiss mir das ja nich",
    ],
)
def test_what_asks_for_the_contrary_is_not_looked_at(sentence: str) -> None:
    assert likely_requests("forget", [sentence]) == []


def test_words_of_a_request_are_no_topic() -> None:
    assert topic_of("please delete all of that", "english") == ""
    assert points_back("please delete all of that")
    assert not points_back("delete my address")


def test_both_built_in_models_have_directions_for_both_requests() -> None:
    for name in BUILT_IN:
        assert request_model.knows(name)
        for kind in request_model.KINDS:
            vector = np.zeros(384, np.float32)
            assert request_model.by_meaning(kind, "keep that for me", vector, name) is not None
    assert request_model.by_meaning("forget", "forget that", np.zeros(3, np.float32), "another") is None


@given(st.text(max_size=400))
def test_any_text_has_features_and_parts(text: str) -> None:
    found = sentence_model.features(text)
    assert 0 < len(found) <= 20_000
    assert found.min() >= 0
    assert found.max() < sentence_model.BUCKETS
    assert all(part in text for part in parts_of(text))
    for kind in request_model.KINDS:
        for likely in likely_requests(kind, statements(text)):
            assert likely.parts


def test_a_topic_with_a_name_need_not_be_told_in_all_its_words() -> None:
    sesame = "Orla can't have sesame."
    others = ["Orla has a red bike.", "I put sesame on the bread.", "Rosa can't have sesame, it's an allergy."]
    assert having("Orla's allergy to sesame", [sesame, *others], "english") == [sesame]
    whole = "Orla has an allergy to sesame."
    assert having("Orla's allergy to sesame", [sesame, whole], "english") == [whole]


def test_a_topic_without_a_name_is_told_in_all_its_words() -> None:
    assert having("the credit card debt", ["I lost my credit card."], "english") == []
    assert having("Orla's allergy", ["Orla has a red bike."], "english") == []


@pytest.mark.parametrize(
    ("sentence", "speaks"),
    [
        ("Aus Bremen wird leider nichts, weil Ole die Windpocken hat.", False),
        ("Lisbon's off, we cancelled the flights.", False),
        ("The concert fell through.", False),
        ("婚礼不办了。", False),
        ("che lo q te dije de cami el otro día, volalo", True),
        ("scrub whatever you've got about my locker", True),
        ("lösch alles was du zu meinem Spind hast", True),
        ("歡送會取消了 那個地點時間都不用留了，丟掉就好", True),
    ],
)
def test_a_plan_that_fell_through_speaks_of_no_forgetting(sentence: str, speaks: bool) -> None:
    assert speaks_of_forgetting(sentence) is speaks


def test_who_would_rather_not_talk_of_it_asks_for_nothing() -> None:
    said = ["I don't really want to talk about it.", "Ich will nicht darüber reden.", "No quiero hablar de eso."]
    assert likely_requests("forget", said) == []
    assert likely_requests("forget", ["I don't want to talk about it, erase it."]) != []


@pytest.mark.parametrize(
    ("sentence", "may_ask"),
    [
        ("Remove the appointment at the abortion clinic.", True),
        ("记事本里“买彩票”那条划了吧，不买了。", False),
        ("第六章里“知青点的狗”那一段，删了重写，写得太酸。", False),
        ("表哥那件事你给我删了吧。", True),
        ("Borra lo de mi hermana.", True),
    ],
)
def test_a_thing_of_its_own_that_is_deleted_is_nothing_that_was_told(sentence: str, may_ask: bool) -> None:
    assert bool(likely_requests("forget", [sentence])) is may_ask


@pytest.mark.parametrize(
    "sentence",
    [
        "keep it dry",
        "Keep it short, please.",
        "keep it under 100 words",
        "and make it a bit more formal",
        "halt es kurz",
        "Mantenlo breve.",
        "简短一点",
    ],
)
def test_how_an_answer_is_to_be_asks_to_remember_nothing(sentence: str) -> None:
    assert likely_requests("remember", [sentence]) == []
    assert split_request(sentence).kind == "none"


@pytest.mark.parametrize("sentence", ["keep it in mind", "keep that safe for me", "Keep my answers short."])
def test_what_is_to_be_kept_is(sentence: str) -> None:
    assert split_request(sentence).kind != "none" or likely_requests("remember", [sentence])


@pytest.mark.parametrize(
    "sentence",
    [
        "i cant remember my pin",
        "I don't really remember his name",
        "remember that time i fell lol",
        "remember that movie with the shark",
        "Remember when we went to Rome",
        "你记得吗",
        "ich kann mir die pin nicht merken",
    ],
)
def test_who_only_recalls_asks_nothing(sentence: str) -> None:
    assert split_request(sentence).kind == "none"
    assert not asks_to_remember(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Remember that my PIN is 4711",
        "remember the trip is on Friday",
        "remember the day: 14 March",
        "I can't remember it, please remember that my PIN is 4711",
    ],
)
def test_who_names_it_asks_to_remember_it(sentence: str) -> None:
    assert asks_to_remember(sentence)
