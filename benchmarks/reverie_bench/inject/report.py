"""An injection report for people (tables) and for the record (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reverie_bench.inject.figures import Figures, Share
from reverie_bench.inject.run import InjectReport
from reverie_bench.recall.report import rounded

_COLUMNS: Mapping[str, str] = {
    "recall": "right",
    "fired": "any",
    "evidence": "evidence",
    "precision": "precision",
    "unrelated": "unrelated",
    "near_miss": "near miss",
    "apart": "apart",
}
_LEGEND = (
    "where memory has something: the right thing is injected, anything is, share of the evidence that is; of all "
    "sections, those with evidence; where it has nothing: anything is injected, for unrelated messages, for near "
    "misses, and for those told apart (no answer in memory; in LoCoMo names swapped)"
)


def render(report: InjectReport, console: Console) -> None:
    """Print what was measured, the figures at the default threshold, and some of the curve."""
    sizes, origin, settings = report.sizes, report.origin, report.settings
    changed = "" if not origin["dirty"] else ", changed since"
    console.print(
        f"{sizes['turns']} turns; threshold {settings['threshold']}, {settings['max_tokens']} tokens, agents' language "
        f"{settings['agent_language']}; model {origin['model']['name']}, commit {origin['commit']}{changed}, "
        f"{origin['duration_seconds']} s",
        highlight=False,
    )
    rows = {"all turns": report.overall, **report.by_language}
    if report.conversations is not None:
        rows["LoCoMo"] = report.conversations
    console.print(_LEGEND, highlight=False)
    console.print(_table("at the default threshold (intervals are in the JSON)", rows))
    console.print(_table("by category", report.by_category))
    kept = ", ".join(f"{kind} {_spelt(share)}" for kind, share in report.trivial.items())
    console.print(f"not even looked up, as trivial: {kept}", highlight=False)
    curve = Table(title="by threshold, all turns", title_justify="left")
    for heading in ("threshold", "right", "unrelated", "near miss", "precision"):
        curve.add_column(heading, justify="right")
    for point in report.curve:
        if round(point.threshold * 100) % 10 == 0:
            values = (point.recall, point.unrelated, point.near_miss, point.precision)
            curve.add_row(f"{point.threshold:.1f}", *("-" if v is None else f"{v:.3f}" for v in values))
    console.print(curve)


def _table(title: str, rows: Mapping[str, Figures]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in _COLUMNS.values():
        table.add_column(heading, justify="right")
    for name, figures in rows.items():
        table.add_row(name, *(_spelt(getattr(figures, column)) for column in _COLUMNS))
    return table


def _spelt(value: Share | float | None) -> str:
    if value is None:
        return "-"
    return f"{value.share if isinstance(value, Share) else value:.3f}"


def write_result(report: InjectReport, directory: Path, name: str) -> Path:
    """Write the report as JSON, `inject-NAME.json`; an older one of the same name is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"inject-{re.sub(r'[^A-Za-z0-9_.]+', '-', name).strip('-')}.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
