"""`reverie doctor --tune` for people: the measurements, and the line to configure."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, RenderableType

from reverie_bench.report import Report, table, write_result
from reverie_bench.tune.figures import LEAST_RECALL, Measured
from reverie_bench.tune.tune import TuneOptions, tune
from reverie_server.settings.server import Settings


async def say_tuned(settings: Settings, results: Path | None) -> None:
    """Measure from which size on a slice should have an index of its own; print a table and the line to configure.

    Nothing of the program's own is changed. With `results`, also a file there. Raises what `tune` raises.
    """
    console = Console(highlight=False, soft_wrap=True)
    report = await tune(TuneOptions(settings=settings, progress=lambda step: print(step, file=sys.stderr)))
    for each in tune_content(report):
        console.print(each)
    console.print(f"Now in force: {settings.exact_max_chunks}. For reverie.toml, or as REVERIE_EXACT_MAX_CHUNKS:\n")
    console.print(f"exact_max_chunks = {report['crossover'].exact_max_chunks}", markup=False)
    if results is not None:
        console.print(f"\nwritten to {write_result(report, results)}", markup=False)


def tune_content(report: Report) -> Iterator[RenderableType]:
    """The cost of both ways by size, and where they cross."""
    yield table(
        "candidates by meaning, ms (median of queries, best of rounds)",
        ("exact scan", "HNSW", "HNSW / exact", "recall@10 of HNSW", "cheaper"),
        (
            (
                str(each.chunks),
                *(f"{value:.2f}" for value in (each.exact_ms, each.hnsw_ms, each.hnsw_ms / each.exact_ms)),
                f"{each.recall:.3f}",
                _cheaper(each),
            )
            for each in report["measured"]
        ),
        label="chunks",
    )
    limit = report["crossover"].exact_max_chunks
    yield {
        "between": f"Above about {limit} chunks an index of its own costs less than a scan.",
        "below": f"An index of its own costs less at every size measured, from {limit} chunks on.",
        "above": f"Up to {limit} chunks, the most that was measured, a scan costs less.",
    }[report["crossover"].found]


def _cheaper(each: Measured) -> str:
    if each.hnsw_pays:
        return "HNSW"
    return "exact" if each.recall >= LEAST_RECALL else "exact (HNSW finds too little)"
