"""Where an index of its own begins to pay, worked by hand."""

from __future__ import annotations

import pytest

from reverie_bench.tune.figures import Crossover, Measured, crossover, is_decided


def measured(*rows: tuple[int, float, float]) -> list[Measured]:
    return [Measured(chunks, exact, hnsw, 1.0) for chunks, exact, hnsw in rows]


def test_between_two_sizes_the_difference_is_linear_in_the_logarithm() -> None:
    # HNSW costs 1 ms more at 1,000 and 1 ms less at 4,000: equal in the middle of the logarithms.
    assert crossover(measured((1000, 2, 3), (4000, 5, 4))) == Crossover(2000, "between")
    # A lag of 3 and a lead of 1: three quarters of the way from 1,000 to 10,000, 10^3.75 = 5,623.
    assert crossover(measured((1000, 1, 4), (10_000, 5, 4))) == Crossover(5600, "between")


def test_hnsw_at_no_size_and_at_every_size() -> None:
    assert crossover(measured((1000, 1, 2), (2000, 2, 3))) == Crossover(2000, "above")
    assert crossover(measured((1000, 3, 2), (2000, 5, 2))) == Crossover(1000, "below")


def test_only_the_last_change_counts() -> None:
    found = crossover(measured((1000, 3, 2), (2000, 3, 4), (8000, 9, 8)))
    assert found == Crossover(4000, "between")


def test_what_finds_too_little_does_not_pay_however_cheap() -> None:
    rows = [Measured(1000, 3, 1, 0.95), Measured(2000, 5, 1, 0.995)]
    assert crossover(rows) == Crossover(2000, "between")
    assert crossover(rows[:1]) == Crossover(1000, "above")


@pytest.mark.parametrize(
    ("rows", "decided"),
    [
        (((1000, 1, 2),), False),
        (((1000, 9, 1),), False),
        (((1000, 9, 1), (2000, 9, 1)), True),
        (((1000, 9, 1), (2000, 9, 8)), False),
        (((1000, 1, 2), (2000, 9, 1), (3000, 9, 1)), True),
    ],
)
def test_two_clear_sizes_decide(rows: tuple[tuple[int, float, float], ...], decided: bool) -> None:
    assert is_decided(measured(*rows)) is decided
