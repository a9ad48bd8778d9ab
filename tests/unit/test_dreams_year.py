"""A made-up year is the same for the same seed, and knows itself what stands on each night."""

from __future__ import annotations

from reverie_bench.dreams.year import simulate


def test_the_same_seed_makes_the_same_year() -> None:
    assert simulate(7, 40, 2) == simulate(7, 40, 2)
    assert simulate(7, 40, 2) != simulate(8, 40, 2)


def test_every_value_stands_for_one_fact_of_one_owner() -> None:
    year = simulate(3, 365, 3)
    facts = {(s.value, s.owner, s.subject) for s in year.statements}
    assert len(facts) == len({value for value, *_ in facts})
    assert all(s.value in s.text and s.value not in question for s in year.statements for question in s.questions)


def test_what_stands_is_the_latest_of_each_subject_that_was_not_forgotten() -> None:
    year = simulate(3, 365, 3)
    returning = [s for s in year.statements if any(t.value == s.value and t.day < s.day for t in year.statements)]
    assert returning
    for night in (30, 200, 364):
        valid = year.valid(night)
        assert len({(s.owner, s.subject) for s in valid}) == len(valid)
        assert not {s.value for s in valid} & {s.value for s in year.superseded(night)}
        assert not {s.value for s in valid} & {s.value for s in year.forgotten(night)}
    assert year.superseded(364)
    assert year.forgotten(364)


def test_everything_is_said_in_a_conversation_of_its_day() -> None:
    year = simulate(5, 120, 2)
    said = {(talk.owner, talk.day, text) for talk in year.talks for text, _ in talk.exchanges}
    assert all((s.owner, s.day, s.text) in said for s in year.statements)
    # Nobody asks for, or says again, what they had forgotten.
    for at, statement in year.forgets:
        later = [t for t in year.talks if t.owner == statement.owner and t.day >= at]
        assert not any(statement.value in text for talk in later for text, _ in talk.exchanges)
