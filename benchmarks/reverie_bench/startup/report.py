"""The start-up benchmark's result for people, and for the record."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reverie_bench.recall.report import rounded
from reverie_bench.startup.run import GOAL_HELP_CPU_SECONDS, HELP, MODEL, PYTHON, StartupReport


def render(report: StartupReport, console: Console) -> None:
    """Print what was measured: medians over the rounds."""
    table = Table(title="start-up, from the start of the process", title_justify="left")
    table.add_column("", no_wrap=True)
    for name in ("s", "CPU s", "s / python", "s / model", "CPU / model"):
        table.add_column(name, justify="right")
    for name, took in report.took.items():
        table.add_row(
            name,
            f"{took['seconds']:.2f}",
            f"{took['cpu_seconds']:.2f}",
            f"{took['seconds_to_python']:.0f}",
            f"{took['seconds_to_model']:.2f}",
            f"{took['cpu_to_model']:.2f}",
        )
    console.print(table)
    console.print(f"python is `{PYTHON}`, model is {MODEL}: loaded, and one text embedded", highlight=False)
    console.print(
        f"{HELP}: {report.took[HELP]['cpu_seconds']:.2f} s of CPU (goal < {GOAL_HELP_CPU_SECONDS})", highlight=False
    )


def write_result(report: StartupReport, directory: Path) -> Path:
    """Write the report as `startup.json`; an older one is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "startup.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
