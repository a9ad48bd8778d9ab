"""Injection by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reverie_bench.plots.style import FAINT, GOAL, OTHER, OWN, SERIES, TEXT, figure, name_axes, title

_GOALS = {"recall": 0.8, "unrelated": 0.05}
_LINES = {
    "recall": ("the right thing, where memory has it", OWN),
    "near_miss": ("anything, for a near miss", SERIES[1]),
    "unrelated": ("anything, for what it has nothing to do with", GOAL),
}


def draw_inject(report: Mapping[str, Any]) -> Figure:
    """The messages that pass each threshold, of the turns and of LoCoMo; then the default threshold by language."""
    panels = [("turns", report["curve"])]
    if report["conversations_curve"]:
        panels.append(("LoCoMo", report["conversations_curve"]))
    drawn, axes = figure(5.0, 1, len(panels) + 1, gridspec_kw={"width_ratios": [1.0] * len(panels) + [0.85]})
    for each, (name, points) in zip(axes, panels, strict=False):
        _draw_curve(each, points, report["settings"]["threshold"])
        title(each, name)
        name_axes(each, x="threshold")
    name_axes(axes[0], y="messages with an injection")
    _draw_languages(axes[-1], report["by_language"], report["settings"]["threshold"])
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=10.5, frameon=False, labelcolor=TEXT)
    return drawn


def _draw_curve(axes: Axes, points: Sequence[Mapping[str, Any]], threshold: float) -> None:
    thresholds = [point["threshold"] for point in points]
    for name, (label, colour) in _LINES.items():
        values = [point[name] for point in points]
        if all(value is not None for value in values):
            axes.plot(thresholds, values, color=colour, linewidth=2.2, label=label)
    for goal in _GOALS.values():
        axes.axhline(goal, color=OTHER, linewidth=0.9, linestyle=":")
    axes.axvline(threshold, color=TEXT, linewidth=1.1, linestyle="--")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)


def _draw_languages(axes: Axes, by_language: Mapping[str, Any], threshold: float) -> None:
    names = sorted(by_language, reverse=True)
    for place, name in enumerate(names):
        for offset, (figure_name, (_, colour)) in zip((0.25, 0.0, -0.25), _LINES.items(), strict=True):
            share = by_language[name][figure_name]
            if share is None:
                continue
            axes.barh(place + offset, share["share"], height=0.22, color=colour)
            axes.plot([share["low"], share["high"]], [place + offset] * 2, color=TEXT, linewidth=1.0)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(0, 1)
    axes.grid(visible=True, axis="x", color=FAINT)
    axes.grid(visible=False, axis="y")
    title(axes, f"turns, at {threshold:g}")
    name_axes(axes, x="with 95 % intervals")
