"""The score of a candidate by hand, and each gate."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from reverie_server.nights.emergence.candidates import GATES, WEIGHTS, Evidence, Recall, Rules, score

NOW = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
ZONE = "UTC"
RULES = Rules()
# Noted on two days, the last time four days ago, asked for three times in two ways, the last time yesterday at noon.
EVIDENCE = Evidence(
    days=[date(2026, 4, 5), date(2026, 4, 6)],
    recalls=[
        Recall(b"q1", NOW - timedelta(days=3)),
        Recall(b"q1", NOW - timedelta(days=2)),
        Recall(b"q2", NOW - timedelta(days=1)),
    ],
)


def test_the_weights_are_those_of_the_contract() -> None:
    assert WEIGHTS == {
        "frequency": 0.30,
        "recency": 0.25,
        "diversity": 0.20,
        "freshness": 0.15,
        "consolidation": 0.10,
    }


def test_the_score_of_an_entry_worked_by_hand() -> None:
    """ln 4 / ln 11 = 0.5781; 0.5^(1/7) = 0.9057; 2/5; 1 - 4/30 = 0.8667; noted on two days: (2-1)/6."""
    scored = score(EVIDENCE, RULES, NOW, ZONE)
    assert scored.parts == pytest.approx(
        {
            "frequency": 0.578130,
            "recency": 0.905724,
            "diversity": 0.4,
            "freshness": 0.866667,
            "consolidation": 0.166667,
        },
        abs=1e-6,
    )
    by_hand = 0.30 * 0.578130 + 0.25 * 0.905724 + 0.20 * 0.4 + 0.15 * 0.866667 + 0.10 / 6
    assert scored.score == pytest.approx(by_hand, abs=1e-6)
    assert scored.score == pytest.approx(0.626537, abs=1e-6)
    assert scored.stopped_by is None
    assert tuple(scored.gates) == GATES


def test_the_parts_end_at_one_and_at_zero() -> None:
    recalls = [Recall(bytes([n]), NOW - timedelta(days=n % 9)) for n in range(40)]
    days = [NOW.date() - timedelta(days=n) for n in range(7)]
    best = score(Evidence(days=days, recalls=recalls), RULES, NOW, ZONE)
    assert best.parts == dict.fromkeys(WEIGHTS, 1.0)
    assert best.score == pytest.approx(1.0)
    never = score(Evidence(days=[date(2026, 1, 1)]), RULES, NOW, ZONE)
    assert never.parts == dict.fromkeys(WEIGHTS, 0.0)
    assert never.stopped_by == "age_days"


def test_recency_halves_in_seven_days() -> None:
    def recency(days: float) -> float:
        return score(Evidence([NOW.date()], [Recall(b"q", NOW - timedelta(days=days))]), RULES, NOW, ZONE).parts[
            "recency"
        ]

    assert recency(0) == 1.0
    assert recency(7) == pytest.approx(0.5)
    assert recency(14) == pytest.approx(0.25)
    assert recency(3.5) == pytest.approx(math.sqrt(0.5))


def test_one_search_that_shows_an_entry_twice_is_one_recall() -> None:
    """Its note and its message both hold it."""
    once = score(EVIDENCE, RULES, NOW, ZONE)
    twice = score(replace(EVIDENCE, recalls=[*EVIDENCE.recalls, *EVIDENCE.recalls]), RULES, NOW, ZONE)
    assert twice == once


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"recalls": EVIDENCE.recalls[1:]}, "recalls"),
        ({"recalls": [replace(r, query=b"q1") for r in EVIDENCE.recalls]}, "queries"),
        ({"days": [date(2026, 3, 10)]}, "age_days"),
        ({"is_known": True}, "not_known"),
        ({"is_corrected": True}, "not_corrected"),
        ({"is_contradicted": True}, "not_contradicted"),
    ],
)
def test_each_gate_stops_what_it_is_for(change: dict[str, object], gate: str) -> None:
    scored = score(replace(EVIDENCE, **change), RULES, NOW, ZONE)  # type: ignore[arg-type]
    assert scored.stopped_by == gate
    failed = [name for name, one in scored.gates.items() if not one.passed]
    assert failed[0] == gate


def test_at_its_oldest_an_entry_still_passes() -> None:
    recalls = [Recall(bytes([n]), NOW - timedelta(hours=n)) for n in range(8)]
    oldest = Evidence(days=[NOW.date() - timedelta(days=30)], recalls=recalls, is_noteworthy=True)
    assert score(oldest, RULES, NOW, ZONE).stopped_by is None
    older = replace(oldest, days=[NOW.date() - timedelta(days=31)])
    assert score(older, RULES, NOW, ZONE).stopped_by == "age_days"


def test_a_score_below_the_least_does_not_pass() -> None:
    old = [Recall(query, NOW - timedelta(days=29)) for query in (b"q1", b"q2", b"q3")]
    scored = score(Evidence(days=[NOW.date() - timedelta(days=29)], recalls=old, is_noteworthy=True), RULES, NOW, ZONE)
    assert scored.stopped_by == "score"
    assert scored.gates["score"].needed == 0.4
    assert scored.gates["score"].value == scored.score


def test_what_came_up_on_one_day_is_a_one_off_unless_it_was_stressed() -> None:
    today = [Recall(bytes([n]), NOW - timedelta(minutes=n)) for n in range(4)]
    once = Evidence(days=[NOW.date()], recalls=today)
    assert score(once, RULES, NOW, ZONE).stopped_by == "not_one_off"
    assert score(replace(once, is_noteworthy=True), RULES, NOW, ZONE).stopped_by is None
    other_day = replace(once, recalls=[*today, Recall(b"x", NOW - timedelta(days=1))])
    assert score(other_day, RULES, NOW, ZONE).stopped_by == "not_one_off", "days count from notes, not from recalls"
    noted_twice = replace(once, days=[NOW.date() - timedelta(days=1), NOW.date()])
    assert score(noted_twice, RULES, NOW, ZONE).stopped_by is None


def test_today_is_that_of_the_agents_time_zone() -> None:
    """At 23:30 in UTC the next day has begun in Auckland, and its note counts there."""
    late = datetime(2026, 4, 9, 23, 30, tzinfo=UTC)
    noted = Evidence(days=[date(2026, 4, 9), date(2026, 4, 10)])
    assert score(noted, RULES, late, "Pacific/Auckland").parts["consolidation"] == pytest.approx(1 / 6)
    assert score(noted, RULES, late, "UTC").parts["consolidation"] == 0.0


def test_what_several_days_speak_of_needs_no_recalls() -> None:
    """Nobody searches for what stands in the prompt."""
    days = [NOW.date() - timedelta(days=ago) for ago in (3, 2, 1)]
    recall = Recall(b"q", NOW - timedelta(days=1))
    assert score(Evidence(days=days, recalls=[recall]), RULES, NOW, ZONE).stopped_by is None
    assert score(Evidence(days=days[1:], recalls=[recall]), RULES, NOW, ZONE).stopped_by == "recalls"
    assert score(Evidence(days=days[1:], recalls=[recall], is_noteworthy=True), RULES, NOW, ZONE).stopped_by is None
    assert score(Evidence(days=days, recalls=[recall], is_lasting=False), RULES, NOW, ZONE).stopped_by == "lasting"


def test_a_persons_question_counts_as_a_recall_of_now_and_needs_no_others() -> None:
    """ln 2 / ln 11; recalled now; 1 of 5 queries; fresh; noted yesterday."""
    asked = score(Evidence(days=[NOW.date() - timedelta(days=1)], is_asked=True), RULES, NOW, ZONE)
    by_hand = 0.30 * math.log(2) / math.log(11) + 0.25 * 1 + 0.20 * 0.2 + 0.15 * (1 - 1 / 30)
    assert asked.score == pytest.approx(by_hand)
    assert asked.stopped_by is None
    assert asked.gates["recalls"].needed == 0
    contradicted = Evidence(days=[NOW.date()], is_asked=True, is_contradicted=True)
    assert score(contradicted, RULES, NOW, ZONE).stopped_by == "not_contradicted"


def test_recalls_of_long_ago_and_of_later_do_not_count() -> None:
    recalls = [Recall(b"a", NOW - timedelta(days=31)), Recall(b"b", NOW + timedelta(hours=1))]
    assert score(Evidence(days=[NOW.date()], recalls=recalls), RULES, NOW, ZONE).parts["frequency"] == 0.0
