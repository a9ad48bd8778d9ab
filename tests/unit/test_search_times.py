"""Times of searches are counted by part and by bucket, and shown as Prometheus has histograms."""

from __future__ import annotations

import pytest

from reverie_server.http.job_metrics import cumulated
from reverie_server.search.search_times import BOUNDS, PARTS, SearchTimes


def test_a_time_is_counted_in_the_first_bucket_that_holds_it() -> None:
    times = SearchTimes()
    times.add(embed=0.005, score=0.0051, rerank=0.0, total=11.0)
    counts = {part: times.parts[part].buckets for part in PARTS}
    assert {part: each.index(1) for part, each in counts.items()} == {
        "embed": 1,  # a bound belongs to its bucket
        "database": 12,  # 11 - 0.005 - 0.0051 is above all bounds
        "score": 2,
        "rerank": 0,
        "all": 12,
    }
    assert all(sum(each) == 1 and len(each) == len(BOUNDS) + 1 for each in counts.values())
    assert times.parts["database"].seconds == pytest.approx(10.9899)


def test_parts_that_ran_beside_each_other_leave_the_database_no_negative_time() -> None:
    times = SearchTimes()
    times.add(embed=1.0, score=1.0, rerank=0.0, total=1.5)
    assert times.parts["database"].seconds == 0.0


def test_a_bucket_of_prometheus_has_all_before_it() -> None:
    assert cumulated((0.1, 1.0), [3, 0, 2]) == [("0.1", 3), ("1.0", 3), ("+Inf", 5)]
