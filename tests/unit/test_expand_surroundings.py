"""How many neighbours of a passage are shown: nearest first, by turns, one stretch, within the budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.browse.expand import surroundings

LENGTHS = st.lists(st.integers(0, 50), max_size=3)


@pytest.mark.parametrize(
    ("before", "after", "budget", "taken"),
    [
        ([], [], 100, (0, 0)),
        ([10, 10, 10], [10, 10, 10], 60, (3, 3)),
        ([10, 10, 10], [10, 10, 10], 59, (3, 2)),
        ([10, 10, 10], [10, 10, 10], 30, (2, 1)),
        ([10, 10, 10], [], 25, (2, 0)),
        # The nearest one before does not fit, so that side ends; what is left goes to the other.
        ([1, 1, 90], [40, 40], 80, (0, 2)),
        ([10], [10], 0, (0, 0)),
        ([10], [10], -5, (0, 0)),
    ],
)
def test_neighbours_are_taken_nearest_first_and_by_turns(
    before: list[int], after: list[int], budget: int, taken: tuple[int, int]
) -> None:
    assert surroundings(before, after, budget) == taken


@given(LENGTHS, LENGTHS, st.integers(-10, 200))
def test_what_is_taken_fits_and_nothing_more_would(before: list[int], after: list[int], budget: int) -> None:
    left, right = surroundings(before, after, budget)
    assert 0 <= left <= len(before)
    assert 0 <= right <= len(after)
    used = sum(before[len(before) - left :]) + sum(after[:right])
    if left or right:
        assert used <= budget
    for rest in ([before[-left - 1]] if left < len(before) else []) + ([after[right]] if right < len(after) else []):
        assert used + rest > budget
