"""The figures of a latency run, from its samples. Pure.

A round measures everything once, floor and HTTP side by side; a ratio is taken within each round, so that what slows
the whole machine for a while slows both sides of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import numpy as np

from reverie_server.search.request import Mode

Cache = Literal["cold", "warm"]
EMBED, ROUND_TRIP, EXACT_SCAN, RAW_SQL = "embed", "round_trip", "exact_scan", "raw_sql"
# Fewer samples say nothing about one in a hundred.
_ENOUGH_FOR_P99 = 100


@dataclass(frozen=True, slots=True)
class Cell:
    """One way of asking: `cache` says whether the query's embedding is known; by words alone it never matters."""

    mode: Mode
    cache: Cache | None
    clients: int


@dataclass(frozen=True, slots=True)
class Run:
    """A cell, or a part of the floor, in one round: the seconds of each request or call, the whole, and the CPU seconds
    of each program that took part (`client`, `floor`: this benchmark's own).
    """

    seconds: Sequence[float]
    wall_seconds: float
    cpu_seconds: Mapping[str, float]

    @property
    def per_second(self) -> float:
        """Requests answered a second."""
        return len(self.seconds) / self.wall_seconds

    @property
    def cpu_each(self) -> float:
        """CPU seconds a request or call, of all programs but the load client."""
        return sum(used for program, used in self.cpu_seconds.items() if program != "client") / len(self.seconds)


@dataclass(frozen=True, slots=True)
class Round:
    """Everything, measured once. `floor` is by part; raw SQL is `raw_sql hybrid` and so on.

    `embeddings_per_second` is what two processes of one thread each embed together, one query a call.
    """

    floor: Mapping[str, Run]
    embeddings_per_second: float
    http_alone: Sequence[float]
    cells: Mapping[Cell, Run]


def spread(seconds: Iterable[float]) -> dict[str, float | int | None]:
    """Percentiles (linear between samples) and mean in ms; `p99_ms` is None for fewer than 100 samples."""
    samples = np.array(list(seconds)) * 1000
    p50, p95, p99 = (float(value) for value in np.percentile(samples, [50, 95, 99]))
    return {
        "samples": len(samples),
        "p50_ms": p50,
        "p95_ms": p95,
        "p99_ms": p99 if len(samples) >= _ENOUGH_FOR_P99 else None,
        "mean_ms": float(samples.mean()),
    }


def over_rounds(rounds: Sequence[Round], figure: Callable[[Round], float]) -> dict[str, float]:
    """A figure of each round: their median, and the lowest and highest."""
    values = [figure(each) for each in rounds]
    return {"median": median(values), "low": min(values), "high": max(values)}


def of_floor(each: Round, mode: Mode, cache: Cache | None, figure: Callable[[Run], float]) -> float:
    """The floor of a search: its SQL, and one embedding where the query is new."""
    embedding = figure(each.floor[EMBED]) if cache == "cold" else 0.0
    return figure(each.floor[f"{RAW_SQL} {mode}"]) + embedding


def p50(run: Run) -> float:
    """The median of a run in seconds."""
    return median(run.seconds)


def cpu(run: Run) -> float:
    """The CPU seconds a request of a run: they hardly change with what else the machine does."""
    return run.cpu_each


def cell_figures(rounds: Sequence[Round], cell: Cell) -> dict[str, Any]:
    """A cell over all rounds: latency, its ratio to the floor of one client, throughput, CPU a request by program."""
    runs = [each.cells[cell] for each in rounds]
    requests = sum(len(run.seconds) for run in runs)

    def to_floor(figure: Callable[[Run], float]) -> dict[str, float]:
        return over_rounds(
            rounds, lambda each: figure(each.cells[cell]) / of_floor(each, cell.mode, cell.cache, figure)
        )

    return {
        "mode": cell.mode,
        "cache": cell.cache,
        "clients": cell.clients,
        **spread(second for run in runs for second in run.seconds),
        "requests_per_second": requests / sum(run.wall_seconds for run in runs),
        "p50_to_floor": to_floor(p50),
        "cpu_to_floor": to_floor(cpu),
        "cpu_ms_per_request": _cpu_ms(runs),
    }


def _cpu_ms(runs: Sequence[Run]) -> dict[str, float]:
    calls = sum(len(run.seconds) for run in runs)
    return {program: 1000 * sum(run.cpu_seconds[program] for run in runs) / calls for program in runs[0].cpu_seconds}


def floor_figures(rounds: Sequence[Round]) -> dict[str, Any]:
    """Every part of the floor over all rounds."""
    parts: dict[str, Any] = {}
    for part in rounds[0].floor:
        runs = [each.floor[part] for each in rounds]
        parts[part] = {**spread(second for run in runs for second in run.seconds), "cpu_ms_per_call": _cpu_ms(runs)}
    rate = over_rounds(rounds, lambda each: each.embeddings_per_second)
    return {**parts, "two_core_embeddings_per_second": rate}


def goals(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """The goals and whether they are reached: ratios that must stay below a bound, or above it.

    Of 8 clients, or of the number of clients next to it. Empty for a run that did not ask with one client.
    """
    cells = list(rounds[0].cells)
    if Cell("hybrid", "cold", 1) not in cells:
        return []
    many = min((cell.clients for cell in cells), key=lambda clients: (abs(clients - 8), clients))

    def to_floor(cache: Cache) -> Callable[[Round], float]:
        cell = Cell("hybrid", cache, 1)
        return lambda each: p50(each.cells[cell]) / of_floor(each, "hybrid", cache, p50)

    def throughput(each: Round) -> float:
        return each.cells[Cell("hybrid", "cold", many)].per_second / each.embeddings_per_second

    found = [
        ("p50 of a hybrid search over HTTP / (embedding + raw SQL)", to_floor("cold"), "at most", 1.5),
        ("p50 with the query's embedding cached / raw SQL", to_floor("warm"), "at most", 2.0),
        (f"throughput, {many} clients / what two cores embed", throughput, "at least", 0.8),
    ]
    goals = []
    for name, figure, kind, bound in found:
        value = over_rounds(rounds, figure)
        reached = value["median"] <= bound if kind == "at most" else value["median"] >= bound
        goals.append({"ratio": name, **value, "goal": f"{kind} {bound}", "reached": reached})
    return goals
