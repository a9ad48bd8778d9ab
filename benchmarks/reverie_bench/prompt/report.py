"""The prompt benchmark's result for people, and for the record."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reverie_bench.prompt.run import PromptReport
from reverie_bench.recall.report import rounded


def render(report: PromptReport, console: Console) -> None:
    """Print what was measured."""
    what = report.data.get("file", report.data["kind"])
    table = Table(title=f"{report.settings['turns']} turns, {what}: repeated prefix", title_justify="left")
    table.add_column("memory placed in", no_wrap=True)
    for name in ("of the prompts", "mean of a prompt", "of the system prompts", "tokens", "injected", "compacted"):
        table.add_column(name, justify="right")
    for placement, found in report.placements.items():
        table.add_row(
            placement,
            *(f"{found[name]:.3f}" for name in ("share", "mean_share", "system_prompt_share")),
            *(f"{found[name]:.0f}" for name in ("mean_tokens", "injected_turns", "compactions")),
        )
    console.print(table)


def write_result(report: PromptReport, directory: Path) -> Path:
    """Write the report as JSON, named after the data; an older one of the same name is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    name = Path(report.data["file"]).stem if "file" in report.data else "made-up"
    path = directory / f"prompt-{name}.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
