"""How often and when a failing job is tried again, what a job says of its work, and how its runs are counted."""

from __future__ import annotations

import pytest

from reverie_server.jobs.model import STAGES, Work
from reverie_server.jobs.queue import Job, JobRules
from reverie_server.jobs.runner import work_of
from reverie_server.jobs.stage_runs import BUCKETS, bucket_of


def test_a_job_waits_twice_as_long_each_time_but_no_longer_than_a_day() -> None:
    rules = JobRules(max_attempts=4, retry_seconds=15)
    assert [rules.wait_seconds(attempts) for attempts in range(4)] == [15, 30, 60, 120]
    assert [rules.is_last(attempts) for attempts in range(5)] == [False, False, False, True, True]
    assert rules.wait_seconds(10_000) == 86_400
    assert JobRules(retry_seconds=0).wait_seconds(3) == 0


@pytest.mark.parametrize(
    "work",
    [
        *(Work(stage, "acme", "wren", None) for stage in STAGES),
        Work("episodic", "acme", "wren", "user:1", session_key=7, trigger="api"),
        Work("semantic", "acme", "wren", "user:1", episode_id=9, trigger="retry"),
    ],
)
def test_a_job_says_all_of_its_work(work: Work) -> None:
    assert work_of(Job(1, work.stage, work.args, 0, None, 1), is_last_attempt=False) == work


@pytest.mark.parametrize("args", [{}, {"tenant_id": "acme"}, {"tenant_id": 1, "agent_id": "wren"}])
def test_a_job_of_another_version_is_not_guessed_at(args: dict[str, object]) -> None:
    assert work_of(Job(1, "dedup", args, 0, None, 1), is_last_attempt=True) is None
    whole = {"tenant_id": "acme", "agent_id": "wren"}
    assert work_of(Job(1, "dedup", {**whole, "unheard_of": 1}, 0, None, 1), is_last_attempt=True) is None
    assert work_of(Job(1, "sleep", whole, 0, None, 1), is_last_attempt=True) is None
    assert work_of(Job(1, "dedup", whole, 0, None, 1), is_last_attempt=True) == Work(
        "dedup", "acme", "wren", None, is_last_attempt=True
    )


def test_runs_are_counted_by_how_long_they_took() -> None:
    found = [bucket_of(seconds).index(1) for seconds in (0.0, 0.1, 0.11, 599.0, 600.0, 1e9)]
    assert found == [0, 0, 1, len(BUCKETS) - 1, len(BUCKETS) - 1, len(BUCKETS)]
    assert len(bucket_of(1e9)) == len(BUCKETS) + 1
    assert sum(bucket_of(1.0)) == 1
