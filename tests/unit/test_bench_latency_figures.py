"""What the samples of a latency run come to."""

from __future__ import annotations

import pytest

from reverie_bench.latency.figures import (
    Cell,
    Round,
    Run,
    cell_figures,
    cpu,
    floor_figures,
    goals,
    of_floor,
    over_rounds,
    p50,
    spread,
)

COLD, WARM, MANY = Cell("hybrid", "cold", 1), Cell("hybrid", "warm", 1), Cell("hybrid", "cold", 8)


def run(seconds: float, cpu_seconds: float = 0.0, count: int = 4, wall_seconds: float | None = None) -> Run:
    wall = count * seconds if wall_seconds is None else wall_seconds
    return Run([seconds] * count, wall, {"server": cpu_seconds * count, "client": 9.0})


def one_round(cold: float, *, slow: float = 1.0) -> Round:
    """Embedding 6 ms, raw SQL 4 ms, warm search 6 ms; all of it `slow` times slower."""
    floor = {"embed": run(0.006 * slow, 0.005), "raw_sql hybrid": run(0.004 * slow, 0.003)}
    cells = {COLD: run(cold * slow, 0.012), WARM: run(0.006 * slow, 0.006), MANY: run(0.05 * slow, wall_seconds=0.05)}
    return Round(floor, 100.0, [0.001], cells)


def test_percentiles_are_linear_between_samples_and_in_ms() -> None:
    figures = spread(number / 1000 for number in range(101))
    assert figures == {"samples": 101, "p50_ms": 50, "p95_ms": 95, "p99_ms": 99, "mean_ms": 50}
    assert spread([0.001, 0.002])["p50_ms"] == pytest.approx(1.5)


def test_a_hundredth_of_few_samples_is_not_told() -> None:
    assert spread([0.001] * 99)["p99_ms"] is None
    assert spread([0.001] * 100)["p99_ms"] == pytest.approx(1)


def test_the_floor_has_an_embedding_for_a_new_query_only() -> None:
    each = one_round(0.015)
    assert of_floor(each, "hybrid", "cold", p50) == pytest.approx(0.010)
    assert of_floor(each, "hybrid", "warm", p50) == pytest.approx(0.004)
    assert of_floor(each, "hybrid", "cold", cpu) == pytest.approx(0.008)


def test_ratios_are_taken_within_a_round_and_a_slow_machine_does_not_change_them() -> None:
    figures = cell_figures([one_round(0.015), one_round(0.015, slow=3), one_round(0.020)], COLD)
    assert figures["p50_to_floor"] == pytest.approx({"median": 1.5, "low": 1.5, "high": 2.0})
    assert figures["cpu_to_floor"]["median"] == pytest.approx(1.5)
    assert figures["samples"] == 12
    # The client's own CPU is told, and is no part of what a search costs.
    assert figures["cpu_ms_per_request"]["client"] == pytest.approx(2250)
    assert figures["cpu_ms_per_request"]["server"] == pytest.approx(12)


def test_throughput_is_requests_over_wall_time() -> None:
    assert cell_figures([one_round(0.015), one_round(0.015)], MANY)["requests_per_second"] == pytest.approx(80)


def test_over_rounds_gives_median_and_extremes() -> None:
    rounds = [one_round(cold) for cold in (0.03, 0.01, 0.02)]
    assert over_rounds(rounds, lambda each: p50(each.cells[COLD])) == pytest.approx(
        {"median": 0.02, "low": 0.01, "high": 0.03}
    )


@pytest.mark.parametrize(("cold", "reached"), [(0.0149, True), (0.0151, False)])
def test_a_goal_is_reached_by_the_median_of_the_rounds(cold: float, reached: bool) -> None:
    found = goals([one_round(cold), one_round(cold), one_round(1.0)])
    assert [goal["reached"] for goal in found] == [reached, True, True]
    assert [goal["goal"] for goal in found] == ["at most 1.5", "at most 2.0", "at least 0.8"]
    assert found[2]["median"] == pytest.approx(80 / 100)


def test_the_goal_of_many_clients_is_of_the_number_next_to_eight() -> None:
    each = one_round(0.01)
    cells = {COLD: each.cells[COLD], WARM: each.cells[WARM]}
    [*_, throughput] = goals([Round(each.floor, 100.0, [0.001], cells)])
    assert throughput["ratio"].startswith("throughput, 1 clients")
    assert goals([Round(each.floor, 100.0, [0.001], {MANY: each.cells[MANY]})]) == []


def test_the_floor_is_told_part_by_part() -> None:
    figures = floor_figures([one_round(0.01), one_round(0.01, slow=2)])
    assert figures["embed"]["p50_ms"] == pytest.approx(9)
    assert figures["embed"]["cpu_ms_per_call"]["server"] == pytest.approx(5)
    assert figures["two_core_embeddings_per_second"] == {"median": 100, "low": 100, "high": 100}
