"""The tables of a latency run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from reverie_bench.report import Report, spread_of, table

_PERCENTILES = ("p50_ms", "p95_ms", "p99_ms")


def latency_content(report: Report) -> Iterator[RenderableType]:
    """The floor, every cell, the goals, and where a request's time goes."""
    sizes = report.sizes
    yield f"{sizes['chunks']} chunks of the owner, {sizes['others_chunks']} of others"
    yield _floor_table(report)
    yield table(
        "search over HTTP, ms",
        ("clients", "p50", "p95", "p99", "p50/floor", "CPU/floor", "CPU", "a second"),
        (_cell_row(cell) for cell in report["http"]),
    )
    yield table(
        "goals: median of the rounds (lowest to highest)",
        ("measured", "goal", "reached"),
        (
            (goal["ratio"], spread_of(goal), goal["goal"], "yes" if goal["reached"] else "no")
            for goal in report["goals"]
        ),
        long_labels=True,
    )
    for name in ("cold", "warm"):
        rows = _span_rows(report["breakdown"][name])
        yield table(f"one hybrid search in process, {name}", ("times", "ms", "ms itself"), rows)


def _floor_table(report: Report) -> Table:
    parts = {part: figures for part, figures in report["floor"].items() if "p50_ms" in figures}
    rate = report["floor"]["two_core_embeddings_per_second"]
    rows = [[part, *_percentiles(f), f"{sum(f['cpu_ms_per_call'].values()):.2f}"] for part, f in parts.items()]
    return table(
        "the floor, ms",
        ("p50", "p95", "p99", "CPU"),
        [*rows, ["GET /healthz", *_percentiles(report["http_alone"]), ""]],
        caption=f"two processes embed {rate['median']:.0f} queries a second ({rate['low']:.0f} to {rate['high']:.0f})",
    )


def _cell_row(cell: Mapping[str, Any]) -> list[str]:
    cpu = sum(used for program, used in cell["cpu_ms_per_request"].items() if program != "client")
    return [
        " ".join(filter(None, (cell["mode"], cell["cache"]))),
        str(cell["clients"]),
        *_percentiles(cell),
        f"{cell['p50_to_floor']['median']:.2f}",
        f"{cell['cpu_to_floor']['median']:.2f}",
        f"{cpu:.1f}",
        f"{cell['requests_per_second']:.0f}",
    ]


def _span_rows(node: Mapping[str, Any], depth: int = 0) -> Iterator[list[str]]:
    """A tree of spans, each child below its parent and farther in."""
    yield ["  " * depth + node["name"], f"{node['count']:g}", f"{node['total_ms']:.2f}", f"{node['self_ms']:.2f}"]
    for child in node["children"]:
        yield from _span_rows(child, depth + 1)


def _percentiles(figures: Mapping[str, Any]) -> list[str]:
    return ["" if figures[name] is None else f"{figures[name]:.2f}" for name in _PERCENTILES]
