"""Of two facts that one sentence states with the same value, the one that has ended takes the other with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.facts.resolve import Known, Said, resolve
from reverie_server.facts.twins import with_twins
from reverie_server.llm.generation import Method

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
JUNE = MAY + timedelta(days=30)
OLD, OTHER, NEW = 1, 2, 3


def known(fact_id: int, subject: str, predicate: str, value: str, method: Method = "llm", at: datetime = MAY) -> Known:
    return Known(
        fact_id=fact_id,
        subject=subject,
        predicate=predicate,
        object=value,
        text=f"{subject} {predicate} {value}",
        category="general",
        confidence=0.8,
        is_functional=False,
        is_request=False,
        about_user=True,
        change=None,
        said=(Said(at, at),),
        method=method,
    )


def replacing(old: int) -> Known:
    """A model says that it takes the place of another."""
    return replace(known(NEW, "something", "else", "now", at=JUNE), said=(Said(JUNE, JUNE, None, "replaces", old),))


def states(*facts: Known, pairs: tuple[tuple[int, int], ...] = ((OLD, OTHER),)) -> dict[int, str]:
    found = with_twins(facts, resolve(facts, JUNE), pairs)
    return {fact_id: state.state for fact_id, state in found.states.items()}


@pytest.mark.parametrize(
    ("old", "other"),
    [
        # A model's words and those of a pattern.
        (known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "lives_in", "Malmö", "extractive")),
        (known(OLD, "user", "lives_in", "Malmö", "extractive"), known(OTHER, "user", "residence", "Malmö")),
        (known(OLD, "user", "occupation", "nurse"), known(OTHER, "user", "works_as", "nurse", "extractive")),
        (known(OLD, "user", "married_to", "Ada"), known(OTHER, "user", "wife", "Ada", "extractive")),
        # What was moved, and what it is called in full.
        (
            known(OLD, "Termin beim Hautarzt", "when", "am 19. Februar", "extractive"),
            known(OTHER, "Termin", "when", "am 19. Februar um 10 Uhr", "extractive"),
        ),
    ],
)
def test_a_twin_goes_with_what_has_ended(old: Known, other: Known) -> None:
    facts = (old, other, replacing(OLD))
    assert states(*facts) == {OLD: "superseded", OTHER: "superseded", NEW: "current"}
    closed = with_twins(facts, resolve(facts, JUNE), [(OLD, OTHER)]).states[OTHER]
    assert (closed.superseded_by, closed.closed_by, closed.valid_to) == (NEW, "model", JUNE)


@pytest.mark.parametrize(
    ("old", "other"),
    [
        # "I'm Omar, I live in Malmö"; "I live and work in Malmö"; "my sister and I live in Malmö".
        (known(OLD, "user", "lives_in", "Malmö"), known(OTHER, "user", "is_called", "Omar", "extractive")),
        (known(OLD, "user", "lives_in", "Malmö"), known(OTHER, "user", "works_at", "Malmö")),
        (known(OLD, "user", "lives_in", "Malmö"), known(OTHER, "user's sister", "lives_in", "Malmö", "extractive")),
        (known(OLD, "user", "lives_in", "Malmö"), known(OTHER, "user", "works_at", "the zoo in Malmö", "extractive")),
        (known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "works_in", "Malmö", "extractive")),
        (known(OLD, "user", "dislikes", "coffee"), known(OTHER, "user", "likes", "coffee", "extractive")),
        (known(OLD, "user", "wife", "Ada", "extractive"), known(OTHER, "user", "business_partner", "Ada")),
        (known(OLD, "user", "lives_in", "Malmö", "extractive"), known(OTHER, "user", "work_location", "Malmö")),
        # "The dinner of the team and the lunch are on Monday."
        (known(OLD, "team dinner", "when", "Monday"), known(OTHER, "lunch", "when", "Monday", "extractive")),
    ],
)
def test_what_else_a_sentence_says_stays(old: Known, other: Known) -> None:
    assert states(old, other, replacing(OLD))[OTHER] == "current"


def test_a_fact_of_another_sentence_stays() -> None:
    old, other = known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "lives_in", "Malmö", "extractive")
    assert states(old, other, replacing(OLD), pairs=())[OTHER] == "current"


def test_what_was_said_again_since_stays() -> None:
    old, other = known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "lives_in", "Malmö", "extractive")
    later = JUNE + timedelta(days=1)
    again = replace(other, said=(*other.said, Said(later, later)))
    assert states(old, again, replacing(OLD))[OTHER] == "current"


@pytest.mark.parametrize("who", [{"is_confirmed": True}, {"decided": ("current", None, None)}])
def test_what_a_person_decided_stays(who: dict[str, object]) -> None:
    old, other = known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "lives_in", "Malmö", "extractive")
    assert states(old, replace(other, **who), replacing(OLD))[OTHER] == "current"


def test_what_a_person_retracted_takes_nothing_with_it() -> None:
    old, other = known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "lives_in", "Malmö", "extractive")
    retracted = replace(old, decided=("superseded", JUNE, NEW))
    assert states(retracted, other, known(NEW, "user", "residence", "Oslo", at=JUNE))[OTHER] == "current"


def test_what_may_be_the_twin_of_a_fact_that_holds_stays() -> None:
    """A model reads "I live and work in Malmö" as two: only the home has ended, and a pattern has read the work."""
    home, work = known(OLD, "user", "residence", "Malmö"), known(4, "user", "workplace", "Malmö")
    pattern = known(OTHER, "user", "works_in", "Malmö", "extractive")
    assert states(home, pattern, work, replacing(OLD), pairs=((OLD, OTHER), (OLD, 4)))[OTHER] == "current"


def test_the_fact_that_ends_another_stays() -> None:
    old, other = known(OLD, "user", "residence", "Malmö"), known(OTHER, "user", "lives_in", "Malmö", "extractive")
    closer = replace(other, said=(Said(JUNE, JUNE, None, "replaces", OLD),))
    assert states(old, closer)[OTHER] == "current"
