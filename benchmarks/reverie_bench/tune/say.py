"""`reverie doctor --tune` for people: what was measured, and the line to configure."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from reverie_server.settings.server import Settings


async def say_tuned(settings: Settings, results: Path | None) -> None:
    """Measure from which size on a slice should have an index of its own; print a table and the line to configure.

    Nothing of the program's own is changed. With `results`, also a file there. Raises what `tune` raises.
    """
    from rich.table import Table

    from reverie_bench.tune.figures import LEAST_RECALL
    from reverie_bench.tune.tune import TuneOptions, tune, write_result

    console = Console(highlight=False, soft_wrap=True)
    tuned = await tune(TuneOptions(settings=settings, progress=lambda doing: print(doing, file=sys.stderr)))
    table = Table(title="candidates by meaning, ms (median of queries, best of rounds)", title_justify="left")
    for name in ("chunks", "exact scan", "HNSW", "HNSW / exact", "recall@10 of HNSW", "cheaper"):
        table.add_column(name, justify="right")
    for each in tuned.measured:
        cheaper = (
            "HNSW" if each.hnsw_pays else "exact" if each.recall >= LEAST_RECALL else "exact (HNSW finds too little)"
        )
        ratio = each.hnsw_ms / each.exact_ms
        row = (f"{each.exact_ms:.2f}", f"{each.hnsw_ms:.2f}", f"{ratio:.2f}", f"{each.recall:.3f}", cheaper)
        table.add_row(str(each.chunks), *row)
    console.print(table)
    limit = tuned.crossover.exact_max_chunks
    console.print(
        {
            "between": f"Above about {limit} chunks an index of its own costs less than a scan.",
            "below": f"An index of its own costs less at every size measured, from {limit} chunks on.",
            "above": f"Up to {limit} chunks, the most that was measured, a scan costs less.",
        }[tuned.crossover.found]
    )
    console.print(f"Now in force: {settings.exact_max_chunks}. For reverie.toml, or as REVERIE_EXACT_MAX_CHUNKS:\n")
    console.print(f"exact_max_chunks = {limit}", markup=False)
    if results is not None:
        console.print(f"\nwritten to {write_result(tuned, results)}", markup=False)
