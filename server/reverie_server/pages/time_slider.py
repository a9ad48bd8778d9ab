"""The day as of which a page shows a memory, and the slider that it is chosen by. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from reverie_indexer.errors import ValidationFailed

_YEAR = timedelta(days=365)
_STEPS = (("a month earlier", -30), ("a week earlier", -7), ("a week later", 7), ("a month later", 30))


@dataclass(frozen=True, slots=True)
class TimeSlider:
    """A slider from the day `start` to today. `day` is the one that it stands at; None for today.

    `as_of` is what the address says: a day, a time, or "" for now.
    """

    start: date
    today: date
    day: date | None
    as_of: str

    @property
    def length(self) -> int:
        """The number of days from its left end to its right one."""
        return (self.today - self.start).days

    @property
    def position(self) -> int:
        """How many days from the left it stands."""
        return ((self.day or self.today) - self.start).days

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Other days to go to, each with its name; "" for now."""
        here = self.day or self.today
        most = here.toordinal() - 1
        days = [(label, here + timedelta(days=by)) for label, by in _STEPS if -by <= most]
        steps = [(label, day.isoformat()) for label, day in days if self.start <= day < self.today]
        return [*steps, ("now", "")] if self.day else steps

    @property
    def until(self) -> str | None:
        """The last second that belongs to what is shown, as an RFC 3339 time; None for now."""
        if not self.as_of or "T" in self.as_of:
            return self.as_of or None
        return f"{self.as_of}T23:59:59Z"


def time_slider(params: Mapping[str, str], today: date, start: date | None = None) -> TimeSlider:
    """The slider of an address: at `as_of`, or where a form has left it, `at` days after its `from`.

    It begins at `start`, else a year ago, and earlier where the day is. ValidationFailed for what is no day.
    """
    as_of = params.get("as_of", "")
    try:
        if not as_of and "at" in params:
            as_of = (date.fromisoformat(params.get("from", "")) + timedelta(days=int(params["at"]))).isoformat()
        day = date.fromisoformat(as_of[:10]) if as_of else None
    except (ValueError, OverflowError):
        raise ValidationFailed("as_of: a day is written as yyyy-mm-dd") from None
    if day is not None and day >= today and "T" not in as_of:
        day, as_of = None, ""
    first = min(start or today - _YEAR, day or today, today - timedelta(days=1))
    return TimeSlider(first, today, None if day is None else min(day, today), as_of)
