"""A recall report for people (a table) and for the record (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from reverie_bench.recall.metrics import Difference, Scores
from reverie_bench.recall.relevance import Relevance
from reverie_bench.recall.run import SYSTEM, RecallReport
from reverie_server.search.rank import MIN_RELEVANCE

# What a table has room for; the rest is in the JSON.
_ONLY_IN_JSON = ("any@5", "all@5", "any@20", "all@20")
_LEADS = ("hit@1", "hit@5", "fraction@10", "ndcg@10", "mrr", "within_1000")


def render(report: RecallReport, console: Console) -> None:
    """Print what was measured, every way's figures, the system's by category, its lead over the others."""
    sizes, origin = report.sizes, report.origin
    console.print(
        f"{report.data['file']}: {sizes['questions']} questions on {sizes['units']} units in {sizes['notes']} "
        f"notes, {sizes['chunks']} chunks; {sizes['dropped_without_evidence']} questions dropped (their evidence "
        f"points nowhere), {sizes['left_out_unanswerable']} left out (unanswerable)",
        highlight=False,
    )
    changed = "" if not origin["dirty"] else ", changed since"
    console.print(
        f"model {origin['model']['name']}, language {report.data['language']}, commit {origin['commit']}"
        f"{changed}, overrides {', '.join(report.settings['overrides']) or 'none'}, "
        f"{origin['duration_seconds']} s",
        highlight=False,
    )
    console.print(_table("all questions", {name: way.overall for name, way in report.ways.items()}))
    by_category = report.ways[SYSTEM].by_category
    if by_category:
        console.print(_table(f"{SYSTEM} by category", by_category))
    console.print(_lead_table(report.differences))
    console.print(_relevance_table(report.relevance))
    elsewhere = report.relevance.found_elsewhere
    console.print(
        f"relevance from {MIN_RELEVANCE} on: for {report.relevance.found:.3f} of the questions"
        + ("" if elsewhere is None else f", for {elsewhere:.3f} in another memory, which cannot know"),
        highlight=False,
    )


def _table(title: str, rows: Mapping[str, Scores]) -> Table:
    names = [name for name in next(iter(rows.values())) if name not in _ONLY_IN_JSON]
    table = Table(title=title, title_justify="left")
    table.add_column("", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right")
    for label, scores in rows.items():
        table.add_row(label, *(f"{scores[name]:.3f}" for name in names))
    return table


def _lead_table(differences: Mapping[str, Mapping[str, Difference]]) -> Table:
    table = Table(title=f"{SYSTEM} minus …: mean (95 % interval, paired bootstrap)", title_justify="left")
    table.add_column("", no_wrap=True)
    chosen = [name for name in next(iter(differences.values())) if name in _LEADS]
    for name in chosen:
        table.add_column(name, justify="right")
    for label, by_name in differences.items():
        table.add_row(label, *(_interval(by_name[name]) for name in chosen))
    return table


def _relevance_table(relevance: Relevance) -> Table:
    table = Table(title="P(evidence | relevance)", title_justify="left")
    for name in ("relevance", "results", "evidence"):
        table.add_column(name, justify="right")
    for bucket in relevance.buckets:
        share = bucket.evidence / bucket.results
        table.add_row(f"{bucket.low:.2f}–{bucket.high:.2f}", str(bucket.results), f"{share:.3f}")
    return table


def _interval(difference: Difference) -> str:
    return f"{difference.mean:+.3f} ({difference.low:+.3f} … {difference.high:+.3f})"


def write_result(report: RecallReport, directory: Path) -> Path:
    """Write the report as JSON, named after data and overrides; an older one of the same name is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    parts = ["recall", Path(report.data["file"]).stem, *report.settings["overrides"]]
    name = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", part).strip("-") for part in parts)
    path = directory / f"{name}.json"
    path.write_text(json.dumps(rounded(asdict(report)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def rounded(value: Any) -> Any:
    """Floats to six digits: enough for a share of some thousand questions, and the same on every machine."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value
