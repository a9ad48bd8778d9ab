"""Which statement of another day is meant, by its words, its theme and whether it was told in confidence."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from reverie_server.forgetting.earlier_mentions import MOST_EMBEDDED, _spans, candidates_of
from reverie_server.heuristics.requests.forget_requests import ForgetRequest
from reverie_server.heuristics.requests.secrecy import is_private, only_confides
from reverie_server.heuristics.requests.themes import shares_theme
from reverie_server.search.asked.earlier_statements import meant_of, weighed
from reverie_server.search.asked.heard import NearStatement

AT = datetime(2026, 3, 1, tzinfo=UTC)
BARN, GOAT = "The barn was set on fire by Rolf.", "The goat eats out of the bucket."


def _meant(
    *statements: NearStatement, request: str = "what I told you", topic: str = "", odds: float = 0.0
) -> list[str]:
    of_all = {each.text: odds for each in statements}
    found = weighed(statements, request, [topic], "english", of_all, of_all)
    return meant_of(found, is_day_known=False)


def _said(text: str, previous: str = "", following: str = "") -> NearStatement:
    return NearStatement(text, AT, previous, following)


def test_what_has_more_of_the_words_is_meant() -> None:
    other = _said("Rolf came by for coffee.")
    assert _meant(_said(BARN), other, topic="Rolf and the barn fire") == [BARN]
    assert _meant(_said("Rolf sold his car."), other, topic="Rolf") == []


def test_what_was_told_in_confidence_is_meant_with_the_word_for_it() -> None:
    secret = "I have never told anyone."
    assert _meant(_said(BARN, following=secret), _said(GOAT)) == [BARN, secret]
    assert _meant(_said(BARN, following=secret), _said("I took the money, between us."), _said(GOAT)) == []


def test_without_a_word_or_a_confidence_nothing_is_meant_however_likely() -> None:
    found = weighed([_said(BARN), _said(GOAT)], "", [""], "english", {BARN: 4.0, GOAT: -4.0}, {BARN: 4.0, GOAT: -4.0})
    assert meant_of(found, is_day_known=False) == []
    assert meant_of(found, is_day_known=True) == [BARN]
    assert meant_of([], is_day_known=True) == []


@pytest.mark.parametrize(
    ("sentence", "is_secret", "is_all"),
    [
        ("I have told no one, not even my twin.", True, True),
        ("Told nobody, not even my twin.", True, True),
        ("Das habe ich noch nie jemandem erzählt.", True, True),
        ("No lo sabe nadie, ni mi vecina.", True, True),
        ("我没跟任何人说，连我妹都没说", True, True),
        ("He drinks, and nobody knows.", True, False),
        ("Wenn das rauskommt, fliegt der Lehrling.", True, False),
        ("The goat eats out of the bucket.", False, False),
    ],
)
def test_what_says_that_it_is_secret_may_say_no_more(sentence: str, is_secret: bool, is_all: bool) -> None:
    assert (is_private(sentence), only_confides(sentence)) == (is_secret, is_all)


@pytest.mark.parametrize(
    ("request_", "statement", "is_shared"),
    [
        ("that family stuff i told you", "my aunt hid the will", True),
        ("that family stuff i told you", "the goat hid the bucket", False),
        ("die Sache mit dem Geld", "Ich schulde dem Müller noch alles", True),
        ("lo de la plata", "perdí dos millones", True),
        ("那个体检结果", "肺上有个结节", True),
        ("the thing i told you", "my aunt hid the will", False),
    ],
)
def test_a_theme_names_what_is_told_without_a_word_of_it(request_: str, statement: str, is_shared: bool) -> None:
    assert shares_theme(request_, statement) is is_shared


def test_days_that_follow_on_each_other_are_one_span_with_the_night() -> None:
    zone = ZoneInfo("Europe/Berlin")
    days = [date(2026, 3, 3), date(2026, 3, 4), date(2026, 3, 10)]
    assert _spans(days, zone) == [
        (datetime(2026, 3, 3, tzinfo=zone), datetime(2026, 3, 5, 5, tzinfo=zone)),
        (datetime(2026, 3, 10, tzinfo=zone), datetime(2026, 3, 11, 5, tzinfo=zone)),
    ]


def test_of_a_day_of_many_statements_those_with_a_word_of_the_request_come_first() -> None:
    request = ForgetRequest("told", "What I told you yesterday about Rolf, wipe it.", "", (), ())
    others = [_said(f"The goat has eaten bucket number {number}.") for number in range(2 * MOST_EMBEDDED)]
    found = candidates_of(request, [*others, _said(BARN)], "english", date(2026, 3, 2))
    assert (len(found), found[0].text) == (MOST_EMBEDDED, BARN)
