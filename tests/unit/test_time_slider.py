"""The time slider: where it stands, which other days it leads to, and what an address may say."""

from __future__ import annotations

from datetime import date

import pytest

from reverie_indexer.errors import ValidationFailed
from reverie_server.pages.time_slider import time_slider

TODAY = date(2026, 4, 3)


def test_without_a_day_it_stands_at_now() -> None:
    slider = time_slider({}, TODAY)
    assert (slider.start, slider.length, slider.position) == (date(2025, 4, 3), 365, 365)
    assert (slider.day, slider.as_of, slider.until) == (None, "", None)
    assert slider.steps == [("a month earlier", "2026-03-04"), ("a week earlier", "2026-03-27")]


def test_a_form_says_how_far_it_is_from_its_left_end() -> None:
    slider = time_slider({"from": "2026-03-01", "at": "3"}, TODAY, date(2026, 3, 1))
    assert (slider.day, slider.position, slider.length) == (date(2026, 3, 4), 3, 33)
    assert slider.until == "2026-03-04T23:59:59Z"
    assert slider.steps == [("a week later", "2026-03-11"), ("now", "")]


def test_a_day_of_the_address_goes_before_where_the_slider_was() -> None:
    assert time_slider({"as_of": "2026-03-02", "from": "2026-01-01", "at": "1"}, TODAY).day == date(2026, 3, 2)


def test_it_begins_earlier_where_the_day_is() -> None:
    slider = time_slider({"as_of": "2020-02-29"}, TODAY)
    assert (slider.start, slider.position) == (date(2020, 2, 29), 0)


def test_a_time_is_kept_and_today_is_now() -> None:
    assert time_slider({"as_of": "2026-03-02T10:00:00Z"}, TODAY).until == "2026-03-02T10:00:00Z"
    assert time_slider({"as_of": "2026-04-03"}, TODAY).until is None
    assert time_slider({"as_of": "2027-01-01"}, TODAY).day is None


@pytest.mark.parametrize(
    "params",
    [
        {"as_of": "soon"},
        {"at": "1"},
        {"at": "many", "from": "2026-01-01"},
        {"at": "9" * 30, "from": "2026-01-01"},
        {"at": "9" * 5000, "from": "2026-01-01"},
    ],
)
def test_what_is_no_day_is_refused(params: dict[str, str]) -> None:
    with pytest.raises(ValidationFailed, match="a day is written as"):
        time_slider(params, TODAY)


def test_no_day_before_the_first_one_is_offered() -> None:
    slider = time_slider({"as_of": "0001-01-05"}, date(2026, 3, 1))
    assert slider.steps[-1] == ("now", "")
