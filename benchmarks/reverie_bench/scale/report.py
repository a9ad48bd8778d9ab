"""A scale report for people (tables) and for the record (JSON)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reverie_bench.recall.report import rounded
from reverie_bench.scale.run import ScaleReport

RECALL_GOAL = 0.99


def write_result(report: ScaleReport, directory: Path) -> Path:
    """Write the report as `scale.json`; an older one is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "scale.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def render(report: ScaleReport, console: Console) -> None:
    """Print what each table cost to build and to search, what it finds, and what its size costs a small owner."""
    console.print(_build_table(report.tables))
    for table in report.tables:
        console.print(_latency_table(table))
        console.print(_recall_table(table))
    console.print(_same_table(report.same_slice))


def _build_table(tables: Sequence[Mapping[str, Any]]) -> Table:
    shown = _table("building", "load s", "HNSW s", "vacuum s", "partitions", "chunks/s", "disk MB", "memory MB")
    for table in tables:
        build, memory = table["build"], table["postgresql_memory_mb"]
        shown.add_row(
            f"{table['chunks']} chunks",
            *(f"{build[name]:.0f}" for name in ("load_seconds", "hnsw_seconds", "vacuum_seconds", "hnsw_partitions")),
            f"{build['chunks_per_second']:.0f}",
            f"{table['disk_mb']['database']:.0f}",
            "" if memory is None else f"{memory.get('proportional', memory['resident']):.0f}",
        )
    return shown


def _latency_table(table: Mapping[str, Any]) -> Table:
    title = f"{table['chunks']} chunks: search in process, ms; one round trip {table['round_trip']['p50_ms']:.2f}"
    shown = _table(title, "slice", "plan", "mode", "p50", "p95", "buffers", "rows")
    for cell in table["latency"]:
        shown.add_row(
            cell["why"],
            str(cell["slice_chunks"]),
            cell["plan"],
            cell["mode"],
            f"{cell['p50_ms']:.1f}",
            f"{cell['p95_ms']:.1f}",
            str(cell["buffers"]),
            str(cell["rows"]),
        )
    return shown


def _recall_table(table: Mapping[str, Any]) -> Table:
    shown = _table(f"{table['chunks']} chunks: recall@10", "share %", "plan", "recall", "worst", "too few", "reached")
    for cell in table["recall"]:
        shown.add_row(
            cell["why"],
            f"{100 * cell['share']:.3g}",
            cell["plan"],
            f"{cell['recall_at_10']:.4f}",
            f"{cell['worst']:.1f}",
            str(cell["too_few_results"]),
            "yes" if cell["recall_at_10"] >= RECALL_GOAL else "no",
        )
    return shown


def _same_table(cells: Sequence[Mapping[str, Any]]) -> Table:
    shown = _table("the same owner in larger tables", "table", "p50 ms", "to the smallest table", "buffers", "rows")
    for cell in cells:
        ratio = cell["p50_to_smallest_table"]
        shown.add_row(
            f"{cell['slice_chunks']} chunks",
            str(cell["table_chunks"]),
            f"{cell['p50_ms']:.1f}",
            f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})",
            str(cell["buffers"]),
            str(cell["rows"]),
        )
    return shown


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table
