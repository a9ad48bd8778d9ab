"""The ingest benchmark's result for people, and for the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reverie_bench.ingest.figures import GOAL_RATIO, GOAL_TIMES_FASTER
from reverie_bench.ingest.run import IngestReport
from reverie_bench.recall.report import rounded


def render(report: IngestReport, console: Console) -> None:
    """Print what was measured."""
    sizes, folder, appends = report.sizes, report.folder, report.appends
    console.print(
        f"{sizes['notes']} notes, {sizes['passages']} passages, {report.origin['model']['name']}", highlight=False
    )
    table = Table(title="ingest", title_justify="left")
    table.add_column("", no_wrap=True)
    table.add_column("", justify="right")
    table.add_column("goal", justify="right")
    for row in (
        ("folder: chunks a second / the model's own", f"{folder['ratio']:.2f}", f"≥ {GOAL_RATIO}"),
        ("folder: chunks a second", f"{folder['chunks_per_second']:.0f}", ""),
        ("appends: / the same calls of the model", f"{appends['ratio_to_the_same_calls']:.2f}", ""),
        ("appends: / one batch of the model", f"{appends['ratio_to_one_batch']:.2f}", ""),
        ("unchanged: times faster than first", f"{report.unchanged['times_faster']:.0f}", f"≥ {GOAL_TIMES_FASTER:.0f}"),
        *_of_the_command(report.memory),
        ("killed half way: files written again", f"{report.resume['done_again']}", "0"),
        ("killed half way: chunks made anew", f"{report.resume['chunks_made_anew']}", "0"),
    ):
        table.add_row(*row)
    console.print(table)


def _of_the_command(memory: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    peak = memory["peak_mb"]
    faster = memory["command_times_faster_unchanged"]["all parts"]
    return [
        ("the command, unchanged: times faster than first", f"{faster:.0f}", ""),
        ("the command: peak memory, MB", f"{peak['one part']:.0f} → {peak['all parts']:.0f}", ""),
        (f"the command: peak memory for {memory['chunks_ratio']:.1f} × the chunks", f"× {memory['growth']:.2f}", ""),
    ]


def write_result(report: IngestReport, directory: Path) -> Path:
    """Write the report as `ingest.json`; an older one is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "ingest.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
