"""The style of all pictures: their width, their colours, and sparse axes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# A README is about 830 pixels wide: at this width, half of what is drawn, 12 points are still read with ease.
WIDTH_INCHES = 10.0
OWN, OTHER, GOAL, TEXT, FAINT = "#1f5fa8", "#9aa5b1", "#c2410c", "#1f2933", "#d9dee4"
SERIES = ("#1f5fa8", "#e08a1e", "#2e8b6f", "#8a4fa3", "#6b7280")
_LABEL_SIZE, _TITLE_SIZE = 12, 13.5


def figure(height_inches: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure of the common width, and its axes row by row."""
    drawn = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained", facecolor="white")
    axes = drawn.subplots(rows, columns, squeeze=False, **options)
    return drawn, [plain(each) for each in axes.flat]


def plain(axes: Axes) -> Axes:
    """Axes with two spines and a faint grid."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(OTHER)
    axes.tick_params(labelsize=_LABEL_SIZE, colors=TEXT, length=3)
    axes.grid(visible=True, color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def title(axes: Axes, text: str) -> None:
    """Write the title above the left edge."""
    axes.set_title(text, loc="left", fontsize=_TITLE_SIZE, color=TEXT)


def name_axes(axes: Axes, x: str | None = None, y: str | None = None) -> None:
    """Write the names of the axes."""
    if x:
        axes.set_xlabel(x, fontsize=_LABEL_SIZE, color=TEXT)
    if y:
        axes.set_ylabel(y, fontsize=_LABEL_SIZE, color=TEXT)


def legend(axes: Axes, **options: Any) -> None:
    """The names of the series, without a box."""
    axes.legend(fontsize=_LABEL_SIZE - 1.5, frameon=False, labelcolor=TEXT, **options)


def thousands(number: float) -> str:
    """1000 as 1k, 1,000,000 as 1M."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def log_ms(axes: Axes) -> None:
    """A logarithmic height with plain numbers, at 1, 2 and 5 times the powers of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
    axes.tick_params(which="minor", labelsize=_LABEL_SIZE - 1, colors=TEXT)
