"""Recall by way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from reverie_bench.plots.style import OTHER, OWN, TEXT, figure, legend, name_axes, title

_MEASURES = {
    "fraction@10": "evidence in the top 10",
    "hit@5": "paragraph in the top 5",
}
_SECOND = "ndcg@10"


def draw_recall(report: Mapping[str, Any]) -> Figure:
    """A bar a way, the best on top, and nDCG@10 as a point."""
    ways = {name: way["overall"] for name, way in report["ways"].items()}
    measure = next(name for name in _MEASURES if name in next(iter(ways.values())))
    names = sorted(ways, key=lambda name: ways[name][measure])
    drawn, [axes] = figure(0.9 + 0.42 * len(names))
    values = [ways[name][measure] for name in names]
    bars = axes.barh(names, values, height=0.68, color=[OWN if name.startswith("reverie") else OTHER for name in names])
    axes.bar_label(bars, [f"{value:.3f}" for value in values], padding=5, fontsize=12, color=TEXT)
    axes.plot([ways[name][_SECOND] for name in names], names, "D", color="white", mec=TEXT, ms=6, label="nDCG@10")
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, 1.08)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    legend(axes, loc="lower right")
    sizes = report["sizes"]
    title(
        axes,
        f"{_MEASURES[measure].capitalize()}: {sizes['questions']} questions, {sizes['units']} units "
        f"({report['data']['file'].removesuffix('.json')})",
    )
    name_axes(axes, x=measure)
    return drawn
