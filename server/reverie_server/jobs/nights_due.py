"""When a night is due. Pure: the time is passed in.

A night belongs to the local day on which its hour comes. Where the clock skips that hour the night begins when it has
been skipped; where the hour comes twice, the first time counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# The hour of the night unless the settings have another.
NIGHTLY_HOUR = 2


def nightly_at(day: date, zone: str, hour: int = NIGHTLY_HOUR) -> datetime:
    """The instant, in UTC, at which the night of a local day begins; `zone` is a name of the IANA database."""
    # For a skipped hour, `fold=0` takes the clock's offset of before the skip: the instant of the skip or later.
    return datetime.combine(day, time(hour), ZoneInfo(zone)).astimezone(UTC)


def nightly_day(now: datetime, zone: str, hour: int = NIGHTLY_HOUR) -> date:
    """The last local day whose night has begun by `now`, which has a zone."""
    day = now.astimezone(ZoneInfo(zone)).date()
    return day if nightly_at(day, zone, hour) <= now else day - timedelta(days=1)


def next_nightly(now: datetime, zone: str, hour: int = NIGHTLY_HOUR) -> datetime:
    """When the next night after `now` begins, in UTC."""
    return nightly_at(nightly_day(now, zone, hour) + timedelta(days=1), zone, hour)


def nightly_days(now: datetime, zones: Iterable[str], hour: int = NIGHTLY_HOUR) -> dict[str, date]:
    """`nightly_day` of several zones; a zone that the IANA database lacks counts as UTC."""
    return {zone: nightly_day(now, zone if _is_known(zone) else "UTC", hour) for zone in zones}


def nightly_start(day: date, zone: str, hour: int = NIGHTLY_HOUR) -> datetime:
    """`nightly_at` of a zone of `nightly_days`: one that the IANA database lacks counts as UTC."""
    return nightly_at(day, zone if _is_known(zone) else "UTC", hour)


def _is_known(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        return False
    return True
