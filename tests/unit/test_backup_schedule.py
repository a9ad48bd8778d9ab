"""When a backup by the clock is due, and how the backups stand, by times alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.jobs.scheduled_backups import (
    ArchiverState,
    BackupHealth,
    BackupState,
    BackupStates,
    ScheduledBackups,
    Standing,
    next_after,
)
from reverie_server.settings.server import Settings

NIGHTLY = "0 3 * * *"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-04-{text}+00:00")


def backups_at(now: str, schedule: str | None = NIGHTLY, began: str = "01T00:00") -> ScheduledBackups:
    """As they are looked at at a time, by a program that began before."""
    times = iter([at(began)])
    return ScheduledBackups(None, schedule, now=lambda: next(times, at(now)))  # type: ignore[arg-type]  # not asked


def test_the_next_time_of_a_schedule_is_after_the_instant_in_utc() -> None:
    assert next_after(NIGHTLY, at("03T02:59")) == at("03T03:00")
    assert next_after(NIGHTLY, at("03T03:00")) == at("04T03:00")
    assert next_after("30 22 * * 0", datetime.fromisoformat("2026-04-03T12:00+02:00")) == at("05T22:30")


@pytest.mark.parametrize(
    ("now", "state", "due", "overdue_hours", "standing"),
    [
        ("01T00:00", BackupState(), True, 0, "none"),
        ("01T07:00", BackupState(), True, 7, "late"),
        ("03T02:59", BackupState(ended_at=at("02T03:10")), False, 0, "ok"),
        ("03T04:00", BackupState(ended_at=at("02T03:10")), True, 1, "ok"),
        ("03T10:00", BackupState(ended_at=at("02T03:10")), True, 7, "late"),
        # A failure is tried again after a while, and earlier if the next is due before that.
        ("03T03:20", BackupState(ended_at=at("02T03:10"), failed_at=at("03T03:06")), False, 1 / 3, "failed"),
        ("03T03:21", BackupState(ended_at=at("02T03:10"), failed_at=at("03T03:06")), True, 0.35, "failed"),
        ("03T03:00", BackupState(ended_at=at("01T03:10"), failed_at=at("03T02:59")), True, 24, "failed"),
        ("01T00:10", BackupState(failed_at=at("01T00:00")), False, 1 / 6, "failed"),
    ],
)
def test_it_is_due_overdue_and_told(
    now: str, state: BackupState, due: bool, overdue_hours: float, standing: Standing
) -> None:
    backups = backups_at(now)
    assert backups.is_due(state) is due
    assert backups.overdue(state) == timedelta(hours=overdue_hours)
    assert backups.standing(state) == standing


def test_without_a_schedule_nothing_is_due_or_told() -> None:
    backups = backups_at("09T00:00", schedule=None)
    state = BackupState(ended_at=at("01T00:00"), failed_at=at("02T00:00"))
    assert (backups.is_due(state), backups.overdue(state), backups.standing(state)) == (False, timedelta(), None)


WELL = BackupState(ended_at=at("02T03:10"))
ARCHIVED = ArchiverState(True, at("02T03:10"), None, 0)


@pytest.mark.parametrize(
    ("states", "standing", "reasons"),
    [
        (BackupStates(WELL, WELL, ARCHIVED), "ok", []),
        (BackupStates(WELL, BackupState(), ARCHIVED), "late", ["the next base backup is late"]),
        (
            BackupStates(BackupState(failed_at=at("02T03:00")), BackupState(failed_at=at("02T03:00")), ARCHIVED),
            "failed",
            ["the last backup failed", "the last base backup failed"],
        ),
        (BackupStates(WELL, WELL, replace(ARCHIVED, is_on=False)), "failed", ["PostgreSQL runs without its archive"]),
        # PostgreSQL tries again by itself, and what succeeds makes the failure good.
        (BackupStates(WELL, WELL, replace(ARCHIVED, failed_at=at("02T03:09"))), "ok", []),
        (
            BackupStates(WELL, WELL, replace(ARCHIVED, failed_at=at("02T03:11"), waiting_seconds=61.4)),
            "failed",
            ["the log (WAL) has not been archived for 61 s"],
        ),
        # One that lags fails nowhere.
        (BackupStates(WELL, WELL, replace(ARCHIVED, waiting_seconds=600)), "ok", []),
        (
            BackupStates(WELL, WELL, replace(ARCHIVED, waiting_seconds=601)),
            "late",
            ["the log (WAL) has not been archived for 601 s"],
        ),
    ],
)
def test_each_thing_that_is_wrong_is_told(states: BackupStates, standing: Standing, reasons: list[str]) -> None:
    health = BackupHealth(None, backups_at("03T02:00"), backups_at("03T02:00"))  # type: ignore[arg-type]  # not asked
    assert health.standing(states) == standing
    told = health.reasons(states)
    assert [reason.partition(":")[0] for reason in told] == reasons


@pytest.mark.parametrize("schedule", ["", "daily", "0 3 * *", "61 3 * * *", "* * * * * *", "@daily"])
def test_a_schedule_that_is_none_is_refused(schedule: str) -> None:
    with pytest.raises(ValueError, match="five fields of cron"):
        Settings(backup_schedule=schedule)


def test_times_have_the_zone_of_utc() -> None:
    assert next_after("*/5 * * * *", datetime(2026, 4, 3, 1, 2, tzinfo=UTC)).utcoffset() == timedelta()
