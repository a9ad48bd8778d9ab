"""A report of a made-up year for people (a table) and for the record (JSON)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reverie_bench.dreams.run import DreamsReport
from reverie_bench.recall.report import rounded

_COLUMNS = {
    "night": "night",
    "standing": "stands",
    "in_files": "in files",
    "found": "found",
    "promoted": "promoted",
    "stale": "stale",
    "leaked": "leaked",
    "forgotten_left": "not forgotten",
    "memory_chars": "MEMORY.md",
    "diary_chars": "diaries",
    "reports": "reports",
}
_LEGEND = (
    "what people stated and nobody contradicted or forgot; how much of it their files hold, search finds within ten "
    "results, MEMORY.md holds; what MEMORY.md holds that is contradicted, what is in another owner's memory, what was "
    "forgotten and is there; characters of the largest MEMORY.md and of all diaries; reports of the nights"
)


def render(report: DreamsReport, console: Console) -> None:
    """Print what was lived through, what there was at intervals, and what the model did."""
    settings, origin, said = report.settings, report.origin, report.said
    changed = "" if not origin["dirty"] else ", changed since"
    console.print(
        f"{settings['nights']} nights of {settings['owners']} owners, model {settings['model']}: "
        f"{said['conversations']} conversations, {said['statements']} statements, {said['superseded']} contradicted "
        f"for good, {said['forgotten']} forgotten; embedder {origin['model']}, commit {origin['commit']}{changed}, "
        f"{origin['duration_seconds']} s",
        highlight=False,
    )
    console.print(_LEGEND, highlight=False)
    table = Table(title="what becomes of it", title_justify="left")
    for heading in _COLUMNS.values():
        table.add_column(heading, justify="right")
    for findings in [*report.nights, report.at_end]:
        values = asdict(findings)
        table.add_row(*(str(values[name] + (name == "night")) for name in _COLUMNS))
    console.print(table)
    console.print(
        f"jobs that failed for good: {report.failed_jobs}; nights that no diary speaks of: "
        f"{report.unexplained_nights}; model calls on the day with the most: {report.most_calls_a_day} of "
        f"{settings['calls_per_day']}",
        highlight=False,
    )
    for name, counts in report.model.items():
        listed = ", ".join(f"{key} {count}" for key, count in counts.items())
        console.print(f"the model, {name}: {listed or 'nothing'}", highlight=False)
    for text in report.lost:
        console.print(f"lost: {text}", highlight=False)


def write_result(report: DreamsReport, directory: Path) -> Path:
    """Write the report as JSON, `dreams-MODEL.json`; an older one is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"dreams-{report.settings['model']}.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
