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


@pytest.mark.parametrize(
    ("value", "said", "answer"),
    [
        ("7715", "The alarm code of the shed is 7715.", "The alarm code of the shed is 7715, just ask me in the rain."),
        (
            "580213",
            "Der Türcode vom Keller ist 580213.",
            "Der Türcode vom Keller ist 580213, den behalte ich für dich.",
        ),
        ("3815", "La clave del portón es 3815.", "La clave del portón es 3815, la tengo anotada para cuando la pida."),
        ("580213", "车库门锁密码是580213", "车库门锁密码是580213，下次站在门口问我就行。"),
    ],
)
def test_a_code_that_is_said_again_of_its_thing_may_have_more_beside_it(value: str, said: str, answer: str) -> None:
    assert echoes_of(value, said, answer) == [answer]


@pytest.mark.parametrize(
    ("value", "said", "answer"),
    [
        ("7715", "The alarm code of the shed is 7715.", "Alarm codes like 7715 are guessed after 300 attempts."),
        ("2019", "We bought the old mill in 2019.", "The old mill of 2019 was cheap compared with today's prices."),
        ("7715", "The alarm code of the shed is 7715.", "Is the alarm code of the shed still 7715?"),
    ],
)
def test_another_number_a_year_or_a_question_is_no_code_said_again(value: str, said: str, answer: str) -> None:
    assert echoes_of(value, said, answer) == []


TEME = "I work as a vet at Teme Animal Clinic in Hereford."
VET = f"I'm Nora Whitcombe. {TEME} It's bucketing down here."
DEPOT = "Keith Rowlands runs our depot and he wants it in writing by tonight."
KOCH = "Ich arbeite als Koch in der Kantine von Bosch."
HOME = "I live in Hamburg. My daughter Mia is allergic to peanuts."


@pytest.mark.parametrize(
    ("value", "stated", "said", "summary", "retold"),
    [
        (
            "Teme Animal Clinic",
            TEME,
            VET,
            "Nora works as a vet at Teme Animal Clinic in Hereford. She has a sister.",
            0,
        ),
        ("Teme Animal Clinic", TEME, VET, "It rains. The user is a vet at the Teme Animal Clinic.", 1),
        (DEPOT.rstrip("."), DEPOT, DEPOT, "Keith Rowlands runs our depot. They have buses.", 0),
        ("Bosch", KOCH, KOCH, "Die Nutzerin arbeitet als Koch in der Kantine bei Bosch.", 0),
        ("Hamburg", "I live in Hamburg.", HOME, "The user lives in Hamburg. Mia is allergic to peanuts.", 0),
        ("3月13号", YUYUE, YUYUE, "用户的兽医预约是3月13号。", 0),
        # Behind a thousand characters, too.
        ("Hamburg", "I live in Hamburg.", f"{'Well. ' * 300}I live in Hamburg.", "The user lives in Hamburg.", 0),
    ],
)
def test_a_summary_tells_a_value_in_the_third_person(
    value: str, stated: str, said: str, summary: str, retold: int
) -> None:
    starts = [span.start for span in spoken_sentences(summary)]
    assert [summary.index(each) for each in retold_in(value, stated, said, summary)] == [starts[retold]]


@pytest.mark.parametrize(
    ("value", "stated", "said", "summary"),
    [
        ("Teme Animal Clinic", TEME, VET, "Nora has left for Corve Veterinary Group in Ludlow."),
        ("Hereford", TEME, VET, "They compared prices of garden sheds, fences and gravel delivered around Hereford."),
        ("on the 13th of March", FLIGHT, FLIGHT, "The user flies on 14 March."),
        ("on the 13th of March", FLIGHT, FLIGHT, "The birthday of the user's sister is on 13 March."),
        ("", TEME, VET, "Nora works as a vet."),
        ("vet", TEME, VET, "Nora's son Tom wants to be a vet."),
        (DEPOT.rstrip("."), DEPOT, DEPOT, "Keith Rowlands has a brother. A depot burned down in Leeds."),
        (
            "Hamburg",
            "I live in Hamburg.",
            HOME,
            "The user lives in Hamburg with daughter Mia, who is allergic to peanuts.",
        ),
        ("Hamburg", "I live in Hamburg.", HOME, "The user's parents live in Hamburg."),
        ("Hamburg", "I live in Hamburg.", HOME, "The user does not live in Hamburg any longer."),
        ("Hamburg", "I live in Hamburg.", HOME, "Does the user live in Hamburg?"),
        ("Oslo", "I live in Oslo.", "I live in Oslo.", "The user, who lived in Oslo, moved to Bergen."),
        ("上海", "我住在上海。", "我住在上海。我妹妹在北京当医生。", "用户住在上海，妹妹在北京当医生。"),
    ],
)
def test_a_summary_of_something_else_tells_nothing_again(value: str, stated: str, said: str, summary: str) -> None:
    assert retold_in(value, stated, said, summary) == []
