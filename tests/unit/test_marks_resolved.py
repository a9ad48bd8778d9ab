"""What marks say holds as long as what a model judges of the sentence that they stand in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reverie_server.facts.resolve import Known, Said, resolve
from reverie_server.heuristics.changes.changed_facts import LIKELY
from reverie_server.heuristics.marked_facts import CONFIDENCE, UNSURE
from reverie_server.heuristics.stated_fact import Change

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)
NOW = MARCH + timedelta(days=100)
OLD, NEW = "Abends jobbe ich im Zapfhahn.", "Ich stehe jetzt in der Linde."
STATEMENT = Known(1, OLD, "is", OLD.strip("."), OLD, "general", 0.5, True, False, True, None, (Said(MARCH, MARCH),))
END = replace(
    STATEMENT,
    fact_id=2,
    object=NEW.strip("."),
    text=NEW,
    change=Change("replaces", LIKELY),
    said=(Said(MARCH + timedelta(days=9), MARCH + timedelta(days=9)),),
)
JOB = replace(
    STATEMENT,
    fact_id=3,
    subject="user",
    predicate="works_at",
    object="Zapfhahn",
    category="profile",
    confidence=UNSURE,
    model="e5",
)


def states(*known: Known) -> dict[int, str]:
    return {fact_id: state.state for fact_id, state in resolve(known, NOW).states.items()}


def test_a_mark_ends_with_its_statement() -> None:
    assert states(STATEMENT, JOB) == {1: "current", 3: "current"}
    assert states(STATEMENT, END, JOB) == {1: "superseded", 2: "current", 3: "superseded"}
    assert states(STATEMENT, END, replace(JOB, confidence=CONFIDENCE))[3] == "superseded"


def test_a_mark_of_another_time_holds() -> None:
    again = replace(JOB, said=(*JOB.said, Said(MARCH + timedelta(days=20), MARCH + timedelta(days=20))))
    assert states(STATEMENT, END, again)[3] == "current"


def test_a_mark_holds_while_something_else_of_its_sentence_does() -> None:
    habit = replace(JOB, fact_id=4, predicate="habit", object="abends jobben", confidence=0.8, model=None)
    assert states(STATEMENT, END, JOB, habit)[3] == "current"
