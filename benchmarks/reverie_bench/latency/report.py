"""A latency report for people (tables) and for the record (JSON)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reverie_bench.latency.run import LatencyReport
from reverie_bench.recall.report import rounded


def write_result(report: LatencyReport, directory: Path) -> Path:
    """Write the report as JSON, named after the number of chunks; an older one of the same name is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"latency-{report.sizes['chunks']}.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def render(report: LatencyReport, console: Console) -> None:
    """Print the floor, every cell, the goals, and where a request's time goes."""
    sizes, origin = report.sizes, report.origin
    changed = "" if not origin["dirty"] else ", changed since"
    console.print(
        f"{sizes['chunks']} chunks of the owner, {sizes['others_chunks']} of others; {origin['model']['name']}, commit "
        f"{origin['commit']}{changed}, {origin['duration_seconds']} s",
        highlight=False,
    )
    console.print(_floor_table(report))
    console.print(_http_table(report.http))
    console.print(_goals_table(report.goals))
    for name in ("cold", "warm"):
        console.print(_tree_table(f"one hybrid search in process, {name}", report.breakdown[name]))


def _floor_table(report: LatencyReport) -> Table:
    table = _table("the floor, ms", "p50", "p95", "p99", "CPU")
    for part, figures in report.floor.items():
        if "p50_ms" in figures:
            table.add_row(part, *_percentiles(figures), f"{sum(figures['cpu_ms_per_call'].values()):.2f}")
    table.add_row("GET /healthz", *_percentiles(report.http_alone), "")
    rate = report.floor["two_core_embeddings_per_second"]
    table.caption = (
        f"two processes embed {rate['median']:.0f} queries a second ({rate['low']:.0f} to {rate['high']:.0f})"
    )
    return table


def _http_table(cells: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("search over HTTP, ms", "clients", "p50", "p95", "p99", "p50/floor", "CPU/floor", "CPU", "a second")
    for cell in cells:
        cpu = sum(used for program, used in cell["cpu_ms_per_request"].items() if program != "client")
        table.add_row(
            " ".join(filter(None, (cell["mode"], cell["cache"]))),
            str(cell["clients"]),
            *_percentiles(cell),
            f"{cell['p50_to_floor']['median']:.2f}",
            f"{cell['cpu_to_floor']['median']:.2f}",
            f"{cpu:.1f}",
            f"{cell['requests_per_second']:.0f}",
        )
    return table


def _goals_table(goals: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("goals: median of the rounds (lowest to highest)", "measured", "goal", "reached")
    table.columns[0].no_wrap = False
    for goal in goals:
        table.add_row(goal["ratio"], _interval(goal), goal["goal"], "yes" if goal["reached"] else "no")
    return table


def _tree_table(title: str, root: Mapping[str, Any]) -> Table:
    table = _table(title, "times", "ms", "ms itself")

    def add(node: Mapping[str, Any], depth: int) -> None:
        table.add_row(
            "  " * depth + node["name"], f"{node['count']:g}", f"{node['total_ms']:.2f}", f"{node['self_ms']:.2f}"
        )
        for child in node["children"]:
            add(child, depth + 1)

    add(root, 0)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _percentiles(figures: Mapping[str, Any]) -> list[str]:
    return ["" if figures[name] is None else f"{figures[name]:.2f}" for name in ("p50_ms", "p95_ms", "p99_ms")]


def _interval(figures: Mapping[str, float]) -> str:
    return f"{figures['median']:.2f} ({figures['low']:.2f} to {figures['high']:.2f})"
