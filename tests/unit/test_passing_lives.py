"""The lives told in passing: what should be known of them is said in them, and nothing both holds and is over."""

from __future__ import annotations

import pytest

from reverie_bench.passing import PassingLife, Question, passing_lives
from reverie_bench.passing.count import holding, of_answer, of_knowledge

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


def test_what_is_known_is_counted_by_the_values_of_facts_that_hold() -> None:
    def fact(predicate: str, object_: str, state: str = "current") -> dict[str, str]:
        return {"subject": "user", "predicate": predicate, "object": object_, "state": state}

    facts = [
        fact("lives_in", "Leeds"),
        fact("works_at", "Tesco", "superseded"),
        fact("no_longer_drives", "Astra"),
        fact("is", "a long sentence that states a thing or two about the world as it is"),
    ]
    assert holding(facts) == ["user lives_in leeds"]
    life = PassingLife("a", "english", (), (), ("leeds", "astra"), ("tesco",), ("leeds", "ada"), ("lagos",))
    counts = of_knowledge(life, holding(facts), "- home: leeds")
    assert {name: counts[name] for name in ("facts", "over", "others", "profile")} == {
        "facts": 1,
        "over": 0,
        "others": 0,
        "profile": 1,
    }
    assert (counts["facts of"], counts["profile of"], counts["current facts"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("section", "injected", "superseded"),
    [
        ("- (2026-03-01) I live in York.", 1, 0),
        ("- (2026-03-01) I live in Leeds.", 0, 1),
        ("- (2026-03-01) I live in Leeds. (until 2026-04-01)\n- (2026-04-01) York it is.", 1, 0),
        ("- (2026-04-01) From Leeds to York.", 1, 0),
        ("Leeds is what you asked about.", 0, 0),
    ],
)
def test_an_answer_is_superseded_in_a_line_that_has_no_other(section: str, injected: int, superseded: int) -> None:
    counts = of_answer(Question("Where do I live?", ("york",), ("leeds",)), section)
    assert (counts["injected"], counts["superseded"], counts["superseded of"]) == (injected, superseded, 1)
