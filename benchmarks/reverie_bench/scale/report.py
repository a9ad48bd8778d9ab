"""The tables of a scale run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from reverie_bench.report import Report, spread_of, table

RECALL_GOAL = 0.99


def scale_content(report: Report) -> Iterator[RenderableType]:
    """The cost of building and searching each table, its recall, and the cost of its size to a small owner."""
    yield table(
        "building",
        ("load s", "HNSW s", "vacuum s", "partitions", "chunks/s", "disk MB", "memory MB"),
        (_build_row(each) for each in report["tables"]),
    )
    for each in report["tables"]:
        yield table(
            f"{each['chunks']} chunks: search in process, ms; one round trip {each['round_trip']['p50_ms']:.2f}",
            ("slice", "plan", "mode", "p50", "p95", "buffers", "rows"),
            (
                (c["why"], str(c["slice_chunks"]), c["plan"], c["mode"], *_times(c), str(c["buffers"]), str(c["rows"]))
                for c in each["latency"]
            ),
            long_labels=True,
        )
        yield table(
            f"{each['chunks']} chunks: recall@10",
            ("share %", "plan", "recall", "worst", "too few", "reached"),
            (_recall_row(cell) for cell in each["recall"]),
            long_labels=True,
        )
    yield table(
        "the same owner in larger tables",
        ("table", "p50 ms", "to the smallest table", "buffers", "rows"),
        (
            (
                f"{c['slice_chunks']} chunks",
                str(c["table_chunks"]),
                f"{c['p50_ms']:.1f}",
                spread_of(c["p50_to_smallest_table"]),
                *(str(c["buffers"]), str(c["rows"])),
            )
            for c in report["same_slice"]
        ),
    )


def _build_row(each: Mapping[str, Any]) -> list[str]:
    build, memory = each["build"], each["postgresql_memory_mb"]
    seconds = ("load_seconds", "hnsw_seconds", "vacuum_seconds", "hnsw_partitions", "chunks_per_second")
    return [
        f"{each['chunks']} chunks",
        *(f"{build[name]:.0f}" for name in seconds),
        f"{each['disk_mb']['database']:.0f}",
        "" if memory is None else f"{memory.get('proportional', memory['resident']):.0f}",
    ]


def _recall_row(cell: Mapping[str, Any]) -> list[str]:
    return [
        cell["why"],
        f"{100 * cell['share']:.3g}",
        cell["plan"],
        f"{cell['recall_at_10']:.4f}",
        f"{cell['worst']:.1f}",
        str(cell["too_few_results"]),
        "yes" if cell["recall_at_10"] >= RECALL_GOAL else "no",
    ]


def _times(cell: Mapping[str, Any]) -> list[str]:
    return [f"{cell[name]:.1f}" for name in ("p50_ms", "p95_ms")]
