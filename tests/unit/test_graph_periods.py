"""From what was said, and when, to when it held: whatever the order in which it arrived."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.graph.periods import DatedStatement, periods
from reverie_server.graph.vocabulary import relation_name, unique_end
from reverie_server.text.graph_terms import ENTITY_TYPES, RELATION_NAMES

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def on(day: int) -> datetime:
    return DAY + timedelta(days=day)


def said(number: int, other: str, since: int | None, until: int | None = None) -> DatedStatement[str]:
    return DatedStatement(number, other, None if since is None else on(since), None if until is None else on(until))


def held(statements: list[DatedStatement[str]], *, one: bool = True) -> list[tuple[str, int, int | None]]:
    found = periods(statements, one_at_a_time=one)
    return [
        (p.other, (p.valid_from - DAY).days, None if p.valid_to is None else (p.valid_to - DAY).days) for p in found
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_the_order_of_arrival_makes_no_difference(order: tuple[int, ...]) -> None:
    every = [said(1, "Bo", 1), said(2, "Cy", 10), said(3, "Bo", 20), said(4, "Bo", 25)]
    found = periods([every[place] for place in order], one_at_a_time=True)
    assert [(p.other, (p.valid_from - DAY).days) for p in found] == [("Bo", 1), ("Cy", 10), ("Bo", 20)]
    assert [p.valid_to for p in found] == [on(10), on(20), None]
    assert [p.statement_ids for p in found] == [[1], [2], [3, 4]]


def test_a_late_statement_splits_the_period_that_went_across_it() -> None:
    assert held([said(1, "Bo", 1), said(2, "Bo", 20)]) == [("Bo", 1, None)]
    assert held([said(1, "Bo", 1), said(2, "Bo", 20), said(3, "Cy", 10)]) == [
        ("Bo", 1, 10),
        ("Cy", 10, 20),
        ("Bo", 20, None),
    ]


def test_an_older_statement_of_the_same_lengthens_the_period_to_the_front() -> None:
    assert held([said(1, "Bo", 10), said(2, "Bo", 3)]) == [("Bo", 3, None)]


def test_what_is_said_at_the_same_instant_or_lies_within_each_other_stands_side_by_side() -> None:
    assert held([said(1, "Lisbon", 1), said(2, "Portugal", 1)]) == [("Lisbon", 1, None), ("Portugal", 1, None)]
    nested = periods(
        [said(1, "Lisbon", 1), said(2, "Portugal", 5), said(3, "Rome", 9)],
        one_at_a_time=True,
        may_coexist=lambda a, b: (a, b) == ("Lisbon", "Portugal"),
    )
    assert [(p.other, p.valid_to) for p in nested] == [("Lisbon", on(9)), ("Portugal", on(9)), ("Rome", None)]


def test_others_hold_side_by_side_where_there_may_be_many() -> None:
    assert held([said(1, "Atlas", 1), said(2, "Reverie", 5)], one=False) == [("Atlas", 1, None), ("Reverie", 5, None)]


def test_an_end_ends_what_holds_and_says_nothing_else() -> None:
    assert held([said(1, "Acme", 1), said(2, "Acme", None, 9)], one=False) == [("Acme", 1, 9)]
    assert held([said(1, "Acme", None, 9)]) == []
    assert held([said(1, "Acme", 10), said(2, "Acme", None, 9)]) == [("Acme", 10, None)]
    # Over, and again at the same instant: two periods that touch.
    assert held([said(1, "Acme", 1), said(2, "Acme", None, 9), said(3, "Acme", 9)]) == [
        ("Acme", 1, 9),
        ("Acme", 9, None),
    ]


def test_a_span_is_taken_as_it_was_said() -> None:
    assert held([said(1, "Acme", 1, 5), said(2, "Globex", 9)]) == [("Acme", 1, 5), ("Globex", 9, None)]
    assert held([said(1, "Acme", 1, 5), said(2, "Globex", 3)]) == [("Acme", 1, 3), ("Globex", 3, None)]


def test_only_relations_that_one_has_one_of_contradict_each_other() -> None:
    unique = {
        name: {kind: unique_end(name, kind) for kind in ENTITY_TYPES if unique_end(name, kind)}
        for name in RELATION_NAMES
    }
    everything = dict.fromkeys(ENTITY_TYPES, "source")
    but = {kind: {k: v for k, v in everything.items() if k != kind} for kind in ("person", "location")}
    assert {name: found for name, found in unique.items() if found} == {
        "manages": dict.fromkeys(ENTITY_TYPES, "target"),
        "reports_to": everything,
        "scheduled_for": everything,
        "located_in": but["location"],
        "based_at": but["location"],
        "assigned_to": but["person"],
        "belongs_to": but["person"],
    }
    assert (relation_name("Works On"), relation_name("works-at")) == ("works_on", None)
