"""Which base backup and which timeline lead to a time, by times and places alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie_indexer.postgres.archive import Restored
from reverie_server.app.backups.backup_file import LogMark
from reverie_server.app.backups.timelines import Base, Route, place_of, route_to, segment_name, timeline_at

START = datetime(2026, 4, 3, tzinfo=UTC)
SIZE = 16 << 20


def hour(number: float) -> datetime:
    return START + timedelta(hours=number)


def base(at: float, timeline: int, end: int) -> Base:
    mark = LogMark(log_id="a", entries=0)
    return Base(at=hour(at), timeline=timeline, begin=end - 1, end=end, segment_bytes=SIZE, forgotten=mark)


def restored(at: float, timeline: int) -> Restored:
    return Restored(timeline=timeline, at=hour(at), to=hour(0))


def test_places_and_segments_are_as_postgresql_names_them() -> None:
    assert place_of("0/2000028") == 0x2000028
    assert place_of("16/B374D848") == 0x16B374D848
    # The example of PostgreSQL's documentation of pg_walfile_name: 0/1 is in the first segment of a timeline.
    assert segment_name(1, place_of("0/1") // SIZE, SIZE) == "000000010000000000000000"
    assert segment_name(3, place_of("16/B374D848") // SIZE, SIZE) == "0000000300000016000000B3"
    assert segment_name(3, place_of("16/B374D848") // (1 << 20), 1 << 20) == "000000030000001600000B37"


@pytest.mark.parametrize(("at", "timeline"), [(0.5, None), (1, 1), (4.9, 1), (5, 2), (6.9, 2), (7, 3), (99, 3)])
def test_a_time_is_on_the_timeline_that_was_served_from_then(at: float, timeline: int | None) -> None:
    restores = [restored(5, 2), restored(7, 3)]
    assert timeline_at(restores, [base(1, 1, 10), base(6, 2, 30)], hour(at)) == timeline


def test_a_base_of_a_way_that_was_left_leads_nowhere_else() -> None:
    # 1 was left at 100 for 2, and at 200 for 3.
    third = route_to(3, "1\t0/C8\tbefore 2026-04-03 04:00:00+00\n\n")
    assert third == Route({1: 200}, 3)
    assert [third.has(each) for each in (base(1, 1, 200), base(2, 1, 201), base(6, 2, 120), base(8, 3, 300))] == [
        True, False, False, True,
    ]  # fmt: skip
    assert route_to(1, "").has(base(1, 1, 10**9))


def test_a_segment_in_which_a_timeline_begins_is_its_own() -> None:
    route = Route({1: 2 * SIZE + 5, 2: 4 * SIZE}, 3)
    names = [route.segment(number, SIZE)[:8] for number in range(6)]
    assert names == ["00000001", "00000001", "00000002", "00000002", "00000003", "00000003"]


def test_segments_are_missing_only_before_the_last_one() -> None:
    route = Route({1: 2 * SIZE + 5}, 2)
    all_names = [route.segment(number, SIZE) for number in range(6)]
    assert list(route.missing(all_names, 0, SIZE)) == []
    assert list(route.missing(all_names[:3], 0, SIZE)) == []
    assert list(route.missing([all_names[0], *all_names[2:4], all_names[5]], 0, SIZE)) == [all_names[1], all_names[4]]
    assert list(route.missing([all_names[0], *all_names[2:4], all_names[5]], 2, SIZE)) == [all_names[4]]
    # What is later on a way that was left does not count.
    assert list(route.missing([*all_names[:3], segment_name(1, 4, SIZE)], 0, SIZE)) == []
