"""Which sentences of an answer repeat what was said, and say nothing else."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.echoes import echoes_of, retold_in
from reverie_server.heuristics.spoken_sentences import spoken_sentences

FLIGHT = "Please remember that my flight is on the 13th of March."
FLUG = "Mein Flug nach Porto ist am 13. März."
CITA = "La cita del veterinario es el 13 de marzo."
YUYUE = "请记住，兽医预约是3月13号。"


@pytest.mark.parametrize(
    ("value", "said", "answer", "echoes"),
    [
        ("on the 13th of March", FLIGHT, "Got it, 13 March.", ["Got it, 13 March."]),
        ("on the 13th of March", FLIGHT, "13 March, then. A taxi on 13 March?", ["13 March, then."]),
        ("on the 13th of March", FLIGHT, "The flight on the 13th, noted.", ["The flight on the 13th, noted."]),
        ("am 13. März", FLUG, "Am 13. März also.", ["Am 13. März also."]),
        ("am 13. März", FLUG, "Alles klar, der 13. März ist notiert.", ["Alles klar, der 13. März ist notiert."]),
        ("el 13 de marzo", CITA, "Anotado, 13 de marzo.", ["Anotado, 13 de marzo."]),
        ("3月13号", YUYUE, "好的，3月13号。", ["好的，3月13号。"]),
        ("3月13号", YUYUE, "记住了，兽医预约3月13号。", ["记住了，兽医预约3月13号。"]),
        ("Oslo", "I live in Oslo.", "Oslo, nice!", ["Oslo, nice!"]),
        ("Bosch", "Ich arbeite bei Bosch.", "Bei Bosch, prima.", ["Bei Bosch, prima."]),
        ("4411", "我的柜子密码是4411", "好的，记住了，4411。", ["好的，记住了，4411。"]),
    ],
)
def test_the_value_again_with_a_word_or_two(value: str, said: str, answer: str, echoes: list[str]) -> None:
    assert echoes_of(value, said, answer) == echoes


@pytest.mark.parametrize(
    ("value", "said", "answer"),
    [
        ("on the 13th of March", FLIGHT, "Then book the hotel from 13 to 15 March."),
        ("on the 13th of March", FLIGHT, "The 13th is a public holiday in Porto, so check the opening hours."),
        ("on the 13th of March", FLIGHT, "Got it."),
        ("am 13. März", FLUG, "Am 13. März streikt die Bahn in Bayern."),
        ("el 13 de marzo", CITA, "¿El 13 de marzo a qué hora?"),
        ("3月13号", YUYUE, "3月13号那天有马拉松，路上可能会堵车。"),
        ("Oslo", "I live in Oslo.", "Oslo is a beautiful city."),
        ("4411", "My locker code is 4411", "Never write 4411 on paper, and change it every month."),
        ("", "I live in Oslo.", "Nice."),
    ],
)
def test_what_asks_or_says_something_else_is_none(value: str, said: str, answer: str) -> None:
    assert echoes_of(value, said, answer) == []


VET = "I'm Nora Whitcombe, I work as a vet at Teme Animal Clinic in Hereford. It's bucketing down here."
DEPOT = "Keith Rowlands runs our depot and he wants it in writing by tonight."
KOCH = "Ich bin Koch in der Kantine von Bosch."


@pytest.mark.parametrize(
    ("value", "said", "summary", "retold"),
    [
        ("Teme Animal Clinic", VET, "Nora works as a vet at Teme Animal Clinic in Hereford. She has a sister.", 0),
        ("Teme Animal Clinic", VET, "The user introduced herself: Nora, vet at the Teme Animal Clinic.", 0),
        ("on the 13th of March", FLIGHT, "Asked about taxis. The user flies on 13 March.", 1),
        (DEPOT.rstrip("."), DEPOT, "Keith Rowlands runs our depot. They have buses.", 0),
        ("Bosch", KOCH, "Die Nutzerin arbeitet als Koch in der Kantine bei Bosch.", 0),
        ("3月13号", YUYUE, "用户的兽医预约是3月13号。", 0),
    ],
)
def test_a_summary_tells_a_value_in_other_words(value: str, said: str, summary: str, retold: int) -> None:
    assert [summary.index(each) for each in retold_in(value, said, summary)] == [
        [span.start for span in spoken_sentences(summary)][retold]
    ]


@pytest.mark.parametrize(
    ("value", "said", "summary"),
    [
        ("Teme Animal Clinic", VET, "Nora has left for Corve Veterinary Group in Ludlow."),
        ("Hereford", VET, "They compared prices of garden sheds, fences and gravel delivered around Hereford."),
        ("on the 13th of March", FLIGHT, "The user flies on 14 March."),
        ("on the 13th of March", FLIGHT, "The user stays from 13 to 15 March."),
        ("vet", VET, "Nora asked for advice to vet students."),
        ("", VET, "Nora works as a vet."),
        (DEPOT.rstrip("."), DEPOT, "Keith Rowlands has a brother. A depot burned down in Leeds."),
    ],
)
def test_a_summary_of_something_else_tells_nothing_again(value: str, said: str, summary: str) -> None:
    assert retold_in(value, said, summary) == []
