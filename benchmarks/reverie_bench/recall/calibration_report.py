"""A calibration for people (tables) and for the record (JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reverie_bench.recall.calibrate import CalibrationReport
from reverie_bench.recall.relevance_fit import Calibration, Formula, Step
from reverie_bench.recall.report import rounded
from reverie_server.search.rank import MIN_RELEVANCE


def render(report: CalibrationReport, console: Console) -> None:
    """Print what was measured and, for each formula, its terms, what MIN_RELEVANCE decides by it, and its curve."""
    sizes, origin = report.sizes, report.origin
    changed = "" if not origin["dirty"] else ", changed since"
    console.print(
        f"{report.data['file']}: {sizes['questions']} questions of {sizes['collections']} conversations, and "
        f"{sizes['turns']} turns; model {origin['model']['name']}, language {report.data['language']}, "
        f"commit {origin['commit']}{changed}, {origin['duration_seconds']} s",
        highlight=False,
    )
    for name, calibration in report.calibrations.items():
        console.print(f"\n{name}: {_spelt(calibration.formula)}", highlight=False)
        for formula in calibration.left_out:
            console.print(f"  without one of them: {_spelt(formula)}", highlight=False)
        console.print(f"  AUC {calibration.auc:.3f}, held out {calibration.auc_held_out:.3f}", highlight=False)
        console.print(_verdict_table(calibration))
        console.print(_curve_table(calibration.curve))


def _spelt(formula: Formula) -> str:
    contrast = "" if formula.contrast is None else f"{formula.contrast:.2f}·contrast + "
    sign = "−" if formula.offset < 0 else "+"
    words = f"{formula.idf_share:.2f}·idf_share + {formula.named:.2f}·named"
    return f"relevance = σ({contrast}{words} {sign} {abs(formula.offset):.2f})"


def _verdict_table(calibration: Calibration) -> Table:
    table = Table(
        title=f"messages that find something from {MIN_RELEVANCE} on (and the right thing)", title_justify="left"
    )
    table.add_column("")
    groups = list(next(iter(calibration.verdicts.values())).found)
    for group in groups:
        table.add_column(group, justify="right", no_wrap=True)
    for name, verdict in calibration.verdicts.items():
        right = {group: f" ({share:.3f})" for group, share in verdict.right.items()}
        table.add_row(name, *(f"{verdict.found[group]:.3f}{right.get(group, '')}" for group in groups))
    return table


def _curve_table(steps: Sequence[Step]) -> Table:
    table = Table(title="P(evidence | relevance), held out", title_justify="left")
    for heading in ("relevance", "passages", "evidence"):
        table.add_column(heading, justify="right")
    for step in steps:
        table.add_row(f"{step.low:.2f}–{step.high:.2f}", str(step.results), f"{step.evidence / step.results:.3f}")
    return table


def write_result(report: CalibrationReport, directory: Path) -> Path:
    """Write the report as JSON, `relevance.json`; an older one is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "relevance.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
