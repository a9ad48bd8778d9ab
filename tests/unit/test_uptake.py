"""Which exchanges of later days count as recalls of what the notes of their prompt held."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from reverie_server.heuristics.statements import terms_of
from reverie_server.nights.emergence.uptake import Exchange, Noted, exchanges_of, taken_up

DAY = date(2026, 4, 3)
BISCUIT = "Our dog Biscuit is diabetic and gets insulin at 7 in the morning."


def noted(text: str) -> Noted:
    return Noted(terms_of(text, "english"), DAY)


def exchange(days_later: int, text: str) -> Exchange:
    return Exchange(DAY + timedelta(days=days_later), "09:30", terms_of(text, "english"))


def days_of(*exchanges: Exchange) -> list[date]:
    return sorted(taken_up([noted(BISCUIT)], exchanges).get(0, {}))


def test_a_later_day_that_speaks_of_it_takes_it_up_once() -> None:
    said = "What does Biscuit need for the walk? His insulin at 7 in the morning."
    assert days_of(exchange(2, said), exchange(2, f"{said} Really?")) == [DAY + timedelta(days=2)]


def test_the_day_of_the_note_itself_and_other_talk_do_not() -> None:
    assert days_of(exchange(0, BISCUIT), exchange(1, "A walk with the dog in the morning.")) == []


def test_what_prompts_held_no_longer_is_not_taken_up_from_them() -> None:
    again = "Biscuit, insulin, diabetic, morning."
    assert days_of(exchange(8, again)) == []
    assert days_of(exchange(5, again), exchange(10, again)) == [DAY + timedelta(days=5), DAY + timedelta(days=10)]


def test_words_that_many_exchanges_have_hardly_count() -> None:
    dogs = [exchange(1, f"The dog in the morning at 7, number {number * 11}.") for number in range(30)]
    assert days_of(*dogs) == []


def test_an_exchange_is_a_recall_at_its_time_where_the_agent_is() -> None:
    [found] = exchanges_of("# 2026-04-03\n\n[09:30] User: Tea? | Assistant: Green tea.\n", DAY, "english")
    assert found.recall("Europe/Berlin").at == datetime(2026, 4, 3, 7, 30, tzinfo=UTC)
    assert list(exchanges_of("[99:99] User: a | Assistant: b\n\n- no log\n", DAY, "english")) == []
