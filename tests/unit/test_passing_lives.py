"""The lives told in passing: what should be known of them is said in them, and nothing both holds and is over."""

from __future__ import annotations

import pytest

from reverie_bench.passing import PassingLife, passing_lives

LIVES = passing_lives()


def test_there_are_three_in_each_language() -> None:
    assert sorted(life.language for life in LIVES) == sorted(["chinese", "english", "german", "spanish"] * 3)


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.name)
def test_all_that_should_be_known_is_said(life: PassingLife) -> None:
    said = "\n".join(text.lower() for session in life.sessions for text, _ in session.messages)
    answers = [value for question in life.questions for value in (*question.current, *question.superseded)]
    values = [*life.facts, *life.over, *life.others, *life.profile, *answers]
    assert [value for value in values if value not in said] == []
    assert set(life.facts).isdisjoint(life.over)
    assert all(question.current for question in life.questions)


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.name)
def test_time_goes_on_in_a_life(life: PassingLife) -> None:
    times = [session.at for session in life.sessions]
    assert times == sorted(times)
    assert all(at.tzinfo is not None for at in times)
