"""The tables of an injection run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table

from reverie_bench.inject.figures import Figures, Share
from reverie_bench.report import Report, number, table

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
    "misses, and for those set apart (no answer in memory; in LoCoMo names swapped)"
)


def inject_content(report: Report) -> Iterator[RenderableType]:
    """The figures at the default threshold, by language and by category, and some of the curve."""
    settings = report.settings
    yield (
        f"{report.sizes['turns']} turns; threshold {settings['threshold']}, {settings['max_tokens']} tokens, agents' "
        f"language {settings['agent_language']}"
    )
    rows = {"all turns": report["overall"], **report["by_language"]}
    if report["conversations"] is not None:
        rows["LoCoMo"] = report["conversations"]
    yield _LEGEND
    yield _figures_table("at the default threshold (intervals are in the JSON)", rows)
    yield _figures_table("by category", report["by_category"])
    if report["names"] is not None:
        yield _figures_table("by what remains when other names stand in for those of the memory", report["names"])
    kept = ", ".join(f"{kind} {_share(share)}" for kind, share in report["trivial"].items())
    yield f"not even looked up, as trivial: {kept}"
    tenths = [point for point in report["curve"] if round(point.threshold * 100) % 10 == 0]
    yield table(
        "by threshold, all turns",
        ("right", "unrelated", "near miss", "precision"),
        (
            (f"{p.threshold:.1f}", *(number(v, 3) for v in (p.recall, p.unrelated, p.near_miss, p.precision)))
            for p in tenths
        ),
        label="threshold",
    )


def _figures_table(title: str, rows: Mapping[str, Figures]) -> Table:
    return table(
        title,
        list(_COLUMNS.values()),
        ([name, *(_share(getattr(figures, column)) for column in _COLUMNS)] for name, figures in rows.items()),
    )


def _share(value: Share | float | None) -> str:
    return number(value.share if isinstance(value, Share) else value, 3)
