"""When a request says that a thing was told, and which days that may be."""

from __future__ import annotations

from datetime import date

import pytest

from reverie_server.forgetting.earlier_mentions import mentioned_on, whole_request
from reverie_server.heuristics.requests.confidences import is_told_just_now
from reverie_server.heuristics.requests.forget_requests import ForgetRequest
from reverie_server.heuristics.requests.mention_dates import is_of_mention, mention_date, without_dates

# A Wednesday.
TODAY = date(2026, 3, 25)


@pytest.mark.parametrize(
    ("said", "is_then", "is_now"),
    [
        ("The thing I told you the other day about the divorce, don't hang on to that.", True, False),
        ("Forget what I said about yesterday's party.", False, False),
        ("Was ich dir neulich von der Untersuchung geschrieben hab, soll nirgends stehen.", True, False),
        ("Vergiss, was ich über den Montag gesagt habe.", False, False),
        ("Lo que te conté la otra noche de la tarjeta, bórralo.", True, False),
        ("Eso que te acabo de soltar, tíralo.", False, True),
        ("前阵子跟你提过表哥找我拿钱的事，抹掉吧。", True, False),
        ("刚才说的那句删了吧。", False, True),
        ("I just want you to forget what I told you about my mother's drinking.", False, False),
        ("Please forget what the doctor said yesterday.", False, False),
        ("Vergiss bitte, dass ich gestern beim Psychiater war.", False, False),
        ("Ayer dije a mi jefe que renuncio, olvida eso.", False, False),
        ("昨天问了律师离婚的事，刚才这句删掉吧。", False, False),
    ],
)
def test_a_request_says_whether_it_was_told_on_another_day(said: str, is_then: bool, is_now: bool) -> None:
    assert (mentioned_on(said, TODAY) is not None, is_told_just_now(said)) == (is_then, is_now)


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("what i said to you yesterday about the barn, bin it", ["03-24"]),
        ("that thing with the goat i unloaded on you last friday", ["03-13", "03-20"]),
        ("What I confided on the 9th, please erase it.", ["03-09"]),
        ("I told you the day before yesterday about the will, lose it.", ["03-23"]),
        ("Was ich Ihnen am Montag über den Notar anvertraut habe, bitte löschen.", ["03-23"]),
        ("Was ich dir an dem Dienstag, dem Dritten, gebeichtet habe, weg damit.", ["03-03"]),
        ("Vorgestern hab ich dir vom Prozess erzählt, vergiss das.", ["03-23"]),
        ("lo que le confié ayer, bórrelo", ["03-24"]),
        ("El lunes te conté una cosa del taller, quítala.", ["03-23"]),
        ("前天我跟你说过的账号，删了吧", ["03-23"]),
        ("上周五跟您讲的那件事别留着", ["03-20"]),
        ("15号我告诉你的数字抹掉", ["03-15"]),
    ],
)
def test_the_day_of_telling_is_named(said: str, days: list[str]) -> None:
    found = mention_date(said, TODAY)
    assert found is not None
    assert found.days is not None
    assert sorted(f"{day:%m-%d}" for day in found.days) == days


def test_a_number_of_days_or_weeks_is_taken_roughly() -> None:
    exact, rough = (
        mention_date(f"I told you {many} about the barn", TODAY) for many in ("2 days ago", "two weeks ago")
    )
    assert exact is not None
    assert rough is not None
    assert exact.days == {date(2026, 3, 23)}
    assert rough.days is not None
    assert {date(2026, 3, 9), date(2026, 3, 11), date(2026, 3, 14)} < rough.days


@pytest.mark.parametrize(
    "said",
    [
        "the thing i let slip the other night, forget it",
        "The night I had the fever I told you about the barn, drop it.",
        "Was ich Ihnen unlängst berichtet habe, mögen Sie vergessen.",
        "In jener Nacht habe ich dir vom Brand erzählt, lösch es.",
        "la noche de la fiesta te solté lo del coche, bórralo",
        "有一晚跟你聊过的那些，抹了吧",
        "前几天我告诉你的地址删掉",
    ],
)
def test_of_some_day_none_is_known(said: str) -> None:
    found = mention_date(said, TODAY)
    assert found is not None
    assert found.days is None


@pytest.mark.parametrize(
    "said",
    [
        "Forget what I told you about Friday's dinner.",
        "What I told my landlord yesterday, forget it.",
        "I told you that last night she fell, forget it.",
        "Was ich gestern meiner Chefin gesagt hab, vergiss.",
        "Vergiss, was ich dir über gestern gesagt habe.",
        "Ayer le dije a mi tía que no, olvídalo.",
        "律师昨天说的那些删掉",
    ],
)
def test_the_day_of_what_happened_is_not_that_of_telling(said: str) -> None:
    assert mention_date(said, TODAY) is None


def test_the_day_names_nothing_that_was_told() -> None:
    assert without_dates("What I told you last Friday night about the barn", TODAY) == "What I told you about the barn"


@pytest.mark.parametrize(
    ("said", "is_it"),
    [
        ("was ich Ihnen von der Scheune berichtet habe", True),
        ("the thing i told you about the barn", True),
        ("mein Nachbar hat die Scheune angezündet", False),
    ],
)
def test_what_speaks_of_what_was_told(said: str, is_it: bool) -> None:
    assert is_of_mention(said) is is_it


def _request(sentence: str, *before: str) -> ForgetRequest:
    return ForgetRequest("told", sentence, "", before, ())


def test_a_request_is_one_with_the_sentence_that_names_what_was_told() -> None:
    told = "that barn thing i unloaded on you last friday."
    request = _request("let it go, will you", "hm.", told, "its settled.")
    assert whole_request(request, TODAY).sentence == f"{told} let it go, will you"
    assert whole_request(request, TODAY).before == ("hm.",)


@pytest.mark.parametrize(
    "before", ["The barn burnt down last friday.", "Forget what I told you last friday.", "Did I tell you?"]
)
def test_a_request_stands_alone_behind_what_states_or_asks_something(before: str) -> None:
    request = _request("let it go, will you", before)
    assert whole_request(request, TODAY) is request
