"""When a night is due: at two in the morning of the agent's own clock, once a local day, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.jobs.nights_due import next_nightly, nightly_at, nightly_day, nightly_days

# Half and quarter hours off, the ends of the day, leaps of half an hour, and leaps of an hour at or about two.
ZONES = (
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "America/Havana",
    "Asia/Beirut",
    "Antarctica/Troll",
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "now", "day"),
    [
        ("UTC", "2026-04-03 01:59:59", "2026-04-02"),
        ("UTC", "2026-04-03 02:00:00", "2026-04-03"),
        ("Asia/Kathmandu", "2026-04-02 20:14:59", "2026-04-02"),
        ("Asia/Kathmandu", "2026-04-02 20:15:00", "2026-04-03"),
        # Sixteen hours after Kiritimati's night comes the same local day's in Pago Pago, a day later by its calendar.
        ("Pacific/Kiritimati", "2026-04-02 12:00:00", "2026-04-03"),
        ("Pacific/Pago_Pago", "2026-04-03 12:59:59", "2026-04-02"),
        # New York, 8 March 2026: there is no two o'clock. 1:59:59 is followed by 3:00:00.
        ("America/New_York", "2026-03-08 06:59:59", "2026-03-07"),
        ("America/New_York", "2026-03-08 07:00:00", "2026-03-08"),
        # Berlin, 25 October 2026: two o'clock comes twice, at 0:00 and 1:00 UTC. The first counts, and the day once.
        ("Europe/Berlin", "2026-10-24 23:59:59", "2026-10-24"),
        ("Europe/Berlin", "2026-10-25 00:00:00", "2026-10-25"),
        ("Europe/Berlin", "2026-10-25 01:30:00", "2026-10-25"),
        # Samoa had no 30 December 2011 at all.
        ("Pacific/Apia", "2011-12-30 09:59:59", "2011-12-29"),
        ("Pacific/Apia", "2011-12-30 12:00:00", "2011-12-31"),
    ],
)
def test_the_day_whose_night_has_begun(zone: str, now: str, day: str) -> None:
    assert nightly_day(utc(now), zone) == date.fromisoformat(day)


def test_a_zone_that_nobody_knows_any_more_counts_as_utc() -> None:
    now = utc("2026-04-02 20:15:00")
    assert nightly_days(now, ["Asia/Kathmandu", "Mars/Olympus", "../etc"]) == {
        "Asia/Kathmandu": date(2026, 4, 3),
        "Mars/Olympus": date(2026, 4, 2),
        "../etc": date(2026, 4, 2),
    }


@given(st.sampled_from(ZONES), st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1)))
def test_each_local_day_has_one_night_and_the_next_one_is_about_a_day_away(zone: str, at: datetime) -> None:
    now = at.replace(tzinfo=UTC)
    day = nightly_day(now, zone)
    assert nightly_at(day, zone) <= now < nightly_at(day + timedelta(days=1), zone)
    following = next_nightly(now, zone)
    assert now < following <= now + timedelta(hours=26)
    assert nightly_day(following, zone) == day + timedelta(days=1)
    assert nightly_day(following - timedelta(seconds=1), zone) == day
