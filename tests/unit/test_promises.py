"""An assistant that says at once that it will remember something is held to it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.requests.promises import promises_to_remember
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.sessions.model import Message

AT = datetime(2026, 3, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "answer",
    [
        "I've noted that.",
        "Got it, I've made a note of that.",
        "Sure. I'll keep that safe for you.",
        "It's saved.",
        "I won't lose it.",
        "Hab ich mir notiert.",
        "Klar, das merke ich mir.",
        "Hab ich mir aufgeschrieben.",
        "Listo, queda guardado.",
        "Claro, lo apunto.",
        "好的，记住了。",
        "没问题，帮你存好了。",
    ],
)
def test_a_promise(answer: str) -> None:
    assert promises_to_remember(answer, "The boiler is old.")


@pytest.mark.parametrize(
    "answer",
    [
        "Noted.",
        "Okay, notiert!",
        "Anotado.",
        "Shall I make a note of that?",
        "Congratulations! I'll remember to be brief.",
        "I'll keep looking for a recipe.",
        "You saved 40 euros, well done.",
        "That is a lot. Did you write it down?",
        "Merk dir die Nummer lieber selbst.",
        "Soll ich mir das merken?",
        "¿Lo apunto?",
        "Guarda la receta en la nevera.",
        "要我记住吗？",
        "记住钥匙放哪儿很重要。",
        # Read in one way only: it took 2^24 steps.
        "okay " * 24 + "x",
        "",
    ],
)
def test_no_promise(answer: str) -> None:
    assert not promises_to_remember(answer, "The boiler is old.")


@pytest.mark.parametrize(
    ("said", "answer", "is_promised"),
    [
        ("They've changed the alarm code at the depot, it's 9026 now.", "Thanks, I have it: 9026 for the depot.", True),
        ("Der Türcode ist geändert worden, er lautet jetzt 8830.", "Danke, notiert: 8830.", True),
        ("The alarm code at the office is 9026 now.", "Got it, I have replaced the code.", True),
        ("El número bueno es ES-4492-R, cámbialo por el que tenías.", "Cambiado.", True),
        ("报名编号改成CD-58213了，把你原来存的那个换掉。", "换好了。", True),
        ("The alarm code at the office is 9026 now.", "Noted.", False),
        ("The alarm code at the office is 9026 now.", "9026? I had it as 4411, have you replaced it?", False),
        ("The alarm code at the office is 9026 now.", "Has anybody replaced the battery?", False),
        ("The draft is too long.", "I have replaced the first paragraph.", False),
    ],
)
def test_a_value_that_is_noted_or_replaced(said: str, answer: str, is_promised: bool) -> None:
    assert promises_to_remember(answer, said) == is_promised


def test_what_is_promised_is_remembered_and_nothing_before_it() -> None:
    said = [
        ("user", "My cellar is damp."),
        ("assistant", "Air it well."),
        ("user", "The boiler has the serial number HX-20417."),
        ("assistant", "I've made a note of that. How old is it?"),
        ("user", "It was put in by my uncle."),
        ("assistant", "I see."),
    ]
    facts = read_facts([Utterance(text, AT, "user" if who == "user" else "assistant") for who, text in said])
    assert ["HX-20417" in f"{fact.text} {fact.object}" for fact in facts if fact.is_request] == [True]
    messages = [
        Message(seq=n, role=who, content=text, at=AT, tokens=1, message_id=None, extra={})
        for n, (who, text) in enumerate(said, 1)
    ]
    lines = [line.statement.text for line in memorable_of(messages, "english", "UTC", []).lines if line.is_request]
    assert len(lines) == 1
    assert "HX-20417" in lines[0]
