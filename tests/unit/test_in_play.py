"""What users say in play, or as the "I" of a story, is not said of themselves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.requests.in_play import played
from reverie_server.heuristics.stated_fact import Utterance


@pytest.mark.parametrize(
    "text",
    [
        "Write a short story in the first person. My name is Captain Hook and I live in Neverland.",
        "Imagine you're a detective and I'm the suspect. My name is Victor and I live in Chicago.",
        "Interview me as if I were a rock star. My name is Ziggy.",
        "Let's play a game. My name is Zorg and I live in Oslo.",
        "write a poem from the view of a cat. my name is whiskers and i hate dogs",
        "pretend i am a doctor. i work at st thomas hospital",
        "can we do a roleplay? i am a knight and i live in camelot",
        "I want you to pretend I'm a pilot. I live in Dubai.",
        "Roleplay: I'm a vampire and I live in Bran.",
        "Play along: my name is James Bond and I live in London.",
        "Schreib eine Geschichte in der Ich-Form. Ich heiße Nemo und ich wohne in Atlantis",
        "Stell dir vor, ich wäre ein Pirat. Ich heiße Hook und wohne auf Tortuga.",
        "Lass uns ein Rollenspiel machen. Ich heiße Zorg und wohne in Berlin.",
        "Haz como si yo fuera médico. Trabajo en La Paz y vivo en Madrid.",
        "Imagina que soy un detective. Me llamo Víctor y vivo en Chicago.",
        "Escribe un cuento en primera persona. Me llamo Ana y vivo en Marte.",
        "Juguemos a un juego. Me llamo Zorg y vivo en Madrid.",
        "我们来玩角色扮演。我叫孙悟空，我住在花果山。",
        "假装我是医生。我在协和医院工作。",
        "用第一人称写一个故事。我叫小红，我住在北京。",
    ],
)
def test_what_is_said_in_play_is_no_fact(text: str) -> None:
    facts = read_facts([Utterance(text, datetime(2026, 3, 1, tzinfo=UTC))])
    assert [fact.object for fact in facts if fact.about_user] == []


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("Let's play a game. My name is Zorg. Actually, I live in Leeds.", "Leeds"),
        ("Pretend I'm a pirate. My name is Hook. In reality I live in Leeds.", "Leeds"),
        ("Lass uns ein Spiel spielen. Ich heiße Zorg. Im Ernst, ich wohne in Ulm.", "Ulm"),
        ("Imagina que soy un pirata. Me llamo Garfio. En realidad vivo en Vigo.", "Vigo"),
        ("假装我是医生。我在协和医院工作。其实我住在上海。", "上海"),
    ],
)
def test_who_comes_back_from_the_play_speaks_of_themselves(text: str, home: str) -> None:
    facts = read_facts([Utterance(text, datetime(2026, 3, 1, tzinfo=UTC))])
    assert [(fact.predicate, fact.object) for fact in facts if fact.about_user] == [("lives_in", home)]


@pytest.mark.parametrize(
    "message",
    [
        # The assistant plays, its user does not.
        "Act as a nutritionist. I'm vegan and I live in Leeds.",
        "Imagine you're a travel agent. I live in Leeds, where should I go?",
        "Explain it as if I were five. I'm a nurse and I live in Leeds.",
        "Talk to me like a friend. I live in Leeds.",
        # What is only told of, or wondered at.
        "Imagine my surprise! I live in Leeds now.",
        "Imagine, I'm a nurse now!",
        "I can't imagine life without tea. I live in Leeds.",
        "It felt as if I were flying. I live in Leeds now.",
        "My kids love to pretend. I live in Leeds.",
        "I love role play. I live in Leeds.",
        "Let's play chess. I'm a beginner and I live in Leeds.",
        "I'm writing a novel in the first person. I live in Leeds.",
        "Tell me a bedtime story. I live in Leeds and I'm a nurse.",
        "Write a story for my daughter. She's called Mia and I live in Leeds.",
        "Stell dir vor, ich wohne jetzt in Ulm!",
        "Imagínate, vivo en Vigo",
        "周末我们去玩游戏。我叫小明。",
        "想象一下，我现在住在上海了",
    ],
)
def test_what_is_no_play_of_the_user_stays_theirs(message: str) -> None:
    assert played(message) is None
