"""Which lines that nobody asked for are kept, and which sentences may say who the user is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.heuristics import worth_model
from reverie_server.heuristics.line_worth import (
    LineWorth,
    Passing,
    is_passing,
    maybe_introductions,
    to_weigh,
    weighed,
)
from reverie_server.heuristics.memorable import Heard, memorable_of
from reverie_server.sessions.model import Message, Role

AT = datetime(2026, 4, 3, tzinfo=UTC)


def messages(*said: str, role: Role = "user") -> list[Message]:
    return [Message(number, role, text, AT, 1, str(number), {}) for number, text in enumerate(said, 1)]


def heard(*said: str) -> Heard:
    return memorable_of(messages(*said), "english", "UTC")


def introductions(*said: str, asked: Sequence[str] = (), role: Role = "user") -> list[str]:
    found = maybe_introductions(messages(*said, role=role), heard(*said), "english", "UTC", asked)
    assert all(line.target == "profile" and line.is_introduction for line in found)
    return [line.statement.text for line in found]


@pytest.mark.parametrize(
    ("text", "passing", "is_left_out"),
    [
        ("The bins are green.", "no", False),
        ("The bins are green.", "likely", True),
        ("The bins are emptied at 7.", "likely", False),
        ("The bins are emptied at 7.", "surely", True),
    ],
)
def test_a_number_keeps_a_line_that_is_only_likely_of_no_use(text: str, passing: Passing, is_left_out: bool) -> None:
    assert is_passing(text, passing) == is_left_out


def test_what_a_person_asks_for_is_not_weighed() -> None:
    found = heard(
        "Remember that the stopcock is behind the fridge.",
        "We decided on Kirby for the site because it is simple.",
        "I prefer tea to coffee.",
        "I always trip on that step.",
    )
    asked, *others = [line.statement.text for line in found.lines]
    assert len(others) == 3
    assert to_weigh(found) == others
    likely, surely = (LineWorth(dict.fromkeys(others, passing)) for passing in ("likely", "surely"))
    # What a fact was read of, as a decision, goes only if that is sure.
    assert [line.statement.text for line in weighed(found, [], likely).lines] == [asked, *others[:2]]
    assert [line.statement.text for line in weighed(found, [], surely).lines] == [asked]


BOTH = "Remember two things: the internet man came at last. The Wi-Fi password is reedblock77."


def test_a_remark_beside_what_is_asked_for_is_no_line() -> None:
    found = heard(BOTH)
    remark, password = to_weigh(found)
    assert "internet man" in remark
    assert "reedblock77" in password
    of_no_use = weighed(found, [], LineWorth({remark: "surely"}))
    assert [line.statement.text for line in of_no_use.lines] == [password]
    # What is only likely of no use was asked for, and so was what would leave nothing of a request.
    for passing in (LineWorth({remark: "likely"}), LineWorth({remark: "surely", password: "surely"})):
        assert len(weighed(found, [], passing).lines) == 2


def test_an_instruction_beside_what_is_asked_for_stays() -> None:
    found = heard("Remember two things: from now on always give me lengths in millimetres. My locker is 41.")
    [instruction] = [text for text in to_weigh(found) if "lengths" in text]
    assert len(weighed(found, [], LineWorth({instruction: "surely"})).lines) == 2


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "Remember two things: my locker is 41. The stopcock is behind the fridge."),
        ("english", "Please remember these two things: my locker is 41. The stopcock is behind the fridge."),
        ("spanish", "Apúntame dos cosas: mi taquilla es la 41. La llave del gas está detrás de la nevera."),
    ],
)
def test_so_many_sentences_as_are_announced_are_asked_for(language: str, text: str) -> None:
    lines = [line.statement.text for line in memorable_of(messages(text), language, "UTC").lines]
    assert len(lines) == 2
    assert not any("things" in line or "cosas" in line for line in lines)


def test_a_habit_of_no_use_goes_and_what_a_fact_was_read_of_goes_only_if_that_is_sure() -> None:
    found = heard("I prefer tea to coffee.", "I always trip on that step.")
    likely = LineWorth(dict.fromkeys(to_weigh(found), "likely"))
    assert [line.statement.text for line in weighed(found, [], likely).lines] == ["I prefer tea to coffee."]
    surely = LineWorth(dict.fromkeys(to_weigh(found), "surely"))
    assert weighed(found, [], surely).lines == []


def test_a_sentence_without_a_line_may_introduce_the_user_in_its_own_words() -> None:
    said = "ada here, 41, wife called Mia, two kids, Nora and Jens"
    assert introductions(said) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "ada here, and you, who are you?",
        "She has two kids with her wife.",
        "Remember: my locker is 4711.",
        "When I was little we had two cows.",
        "two operations last year, both on the knee",
        "two kids",
        "My name is Ada.",
        "two kids, Nora and Jens, " + "and so on " * 20,
        "ada here, the password is hunter2 as ever",
        "my mum has surgery on her knee next month",
        "我妈下个月做手术膝盖",
        "我爸今天去医院复查",
        "meine Mutter wird nächste Woche am Knie operiert",
        "mi madre se opera de la rodilla la semana que viene",
    ],
)
def test_no_introduction_is_a_question_a_request_a_secret_of_the_past_or_read_already(said: str) -> None:
    assert introductions(said) == []


@pytest.mark.parametrize(
    "said", ["我妈一直跟我们一起带孩子", "my mum looks after our two kids", "我们下个月要当爸妈啦"]
)
def test_who_the_user_lives_with_and_what_the_user_does_on_a_day_may_introduce(said: str) -> None:
    assert [text.split(" (2026")[0] for text in introductions(said)] == [said]


def test_neither_is_what_the_assistant_says_or_what_was_asked_to_be_kept() -> None:
    said = "coeliac and lactose intolerant, and a vegetarian"
    assert introductions(said) == [said]
    assert introductions(said, role="assistant") == []
    assert introductions(said, asked=[said]) == []


def test_who_is_left_out_in_spanish_is_not_the_user() -> None:
    own = "Soy pastelera y vivo con mi madre en Soria."
    said = (
        own,
        "Trabaja de enfermero en un hospital infantil.",
        "Se llama Vega y tiene tres años.",
        "Nació en Jaca en mayo.",
        "mi paciente de la 304 se llama antonio y es diabético",
    )
    found = maybe_introductions(messages(*said), memorable_of(messages(), "spanish", "UTC"), "spanish", "UTC", ())
    assert [line.statement.text for line in found] == [own]


def test_only_what_the_model_says_is_of_the_person_enters_and_only_some_of_it() -> None:
    said = [f"coeliac and lactose intolerant, and a vegetarian, says number {number}" for number in range(10)]
    found = heard(*said)
    lines = maybe_introductions(messages(*said), found, "english", "UTC", ())
    assert weighed(found, lines, LineWorth({})).lines == []
    assert [line.statement.text for line in weighed(found, lines, LineWorth({}, frozenset(said[:2]))).lines] == said[:2]
    assert len(weighed(found, lines, LineWorth({}, frozenset(said))).lines) == 6


def test_the_model_tells_small_talk_from_a_person_by_words_alone_and_knows_the_built_in_models() -> None:
    model = worth_model.model()
    assert model.by_words("passing", "thanks, you are a star") > 1 > model.by_words("person", "thanks, you are a star")
    person = "coeliac and lactose intolerant, and a vegetarian"
    assert model.by_words("person", person) > 1 > model.by_words("passing", person)
    assert all(model.knows(name) for name in BUILT_IN)
    assert not model.knows("another")
    assert model.by_meaning("person", person, np.zeros(3, np.float32), "another") is None
