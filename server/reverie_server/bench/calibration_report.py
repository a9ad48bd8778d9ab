"""A calibration for people (tables) and for the record (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reverie_server.bench.calibrate import Calibration, CalibrationReport, Formula, Step, Verdict
from reverie_server.bench.report import rounded
from reverie_server.recall.rank import FOUND_FROM


def render(report: CalibrationReport, console: Console) -> None:
    """Print what was measured and, for each formula, its terms, what FOUND_FROM decides by it, and its curve."""
    sizes, origin = report.sizes, report.origin
    changed = "" if not origin["dirty"] else ", changed since"
    console.print(
        f"{report.data['file']}: {sizes['questions']} questions of {sizes['collections']} conversations; model "
        f"{origin['model']['name']}, language {report.data['language']}, commit {origin['commit']}{changed}, "
        f"{origin['duration_seconds']} s",
        highlight=False,
    )
    for name, calibration in report.calibrations.items():
        console.print(f"\n{name}: {_spelt(calibration.formula)}", highlight=False)
        for formula in calibration.left_out:
            console.print(f"  without one conversation: {_spelt(formula)}", highlight=False)
        console.print(
            f"  {calibration.evidence} of {calibration.results} results are evidence ({calibration.base_rate:.4f}); "
            f"AUC {calibration.auc:.3f}, held out {calibration.auc_held_out:.3f}, own memory alone "
            f"{calibration.auc_own:.3f}",
            highlight=False,
        )
        console.print(_verdict_table(calibration))
        console.print(_curve_table(calibration.curve))


def _spelt(formula: Formula) -> str:
    similarity = "" if formula.similarity is None else f"{formula.similarity:.2f}·similarity + "
    sign = "−" if formula.offset < 0 else "+"
    return f"relevance = σ({similarity}{formula.idf_share:.2f}·idf_share {sign} {abs(formula.offset):.2f})"


def _verdict_table(calibration: Calibration) -> Table:
    table = Table(title=f"from {FOUND_FROM} on", title_justify="left")
    for heading in ("", "found, own", "found, elsewhere", "found, names swapped", "evidence kept", "precision"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, verdict in calibration.verdicts.items():
        table.add_row(name, *_figures(verdict))
    return table


def _figures(verdict: Verdict) -> list[str]:
    shares = (verdict.found_own, verdict.found_elsewhere, verdict.found_swapped, verdict.evidence_kept)
    return [f"{share:.3f}" for share in shares] + ["-" if verdict.precision is None else f"{verdict.precision:.3f}"]


def _curve_table(steps: Sequence[Step]) -> Table:
    table = Table(title="P(evidence | relevance), held out", title_justify="left")
    for heading in ("relevance", "results", "evidence", "expected"):
        table.add_column(heading, justify="right")
    for step in steps:
        shares = (f"{count / step.results:.3f}" for count in (step.evidence, step.expected))
        table.add_row(f"{step.low:.2f}–{step.high:.2f}", str(step.results), *shares)
    return table


def write_result(report: CalibrationReport, directory: Path) -> Path:
    """Write the report as JSON, named after the data; an older one of the same name is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^A-Za-z0-9_.]+", "-", Path(report.data["file"]).stem).strip("-")
    path = directory / f"relevance-{stem}.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
