"""Latency and throughput by clients beside the floor, and where a request's time goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from reverie_bench.plots.style import (
    GOAL,
    SERIES,
    TEXT,
    WIDTH_INCHES,
    figure,
    log_ms,
    name_axes,
    thousands,
    title,
)

_SHOWN = (
    ("hybrid", "cold", "hybrid, new query"),
    ("hybrid", "warm", "hybrid, query known"),
    ("vector", "cold", "by meaning, new query"),
    ("text", None, "by words"),
)
_GOAL_SHARE = 0.8
# Inches that one character of a label takes.
_CHARACTER_INCHES = 0.1


def draw_latency(report: Mapping[str, Any]) -> Figure:
    """Left, p50 (points) up to p95 (bars) by clients; right, searches a second; each with the floor."""
    drawn, [left, right] = figure(4.9, columns=2)
    clients = sorted({cell["clients"] for cell in report["http"]})
    for number, (mode, cache, name) in enumerate(_SHOWN):
        cells = [c for c in report["http"] if (c["mode"], c["cache"]) == (mode, cache)]
        cells.sort(key=lambda cell: cell["clients"])
        # Side by side, so that the bars do not hide each other.
        places = [clients.index(cell["clients"]) + 0.07 * (number - 1.5) for cell in cells]
        p50 = [cell["p50_ms"] for cell in cells]
        above = [max(0.0, cell["p95_ms"] - cell["p50_ms"]) for cell in cells]
        left.errorbar(
            places, p50, yerr=[[0.0] * len(p50), above], fmt="o-", color=SERIES[number], lw=1.6, capsize=3, label=name
        )
        right.plot(
            range(len(cells)), [c["requests_per_second"] for c in cells], "o-", color=SERIES[number], lw=1.6, label=name
        )
    floor = report["floor"]
    sql = floor["raw_sql hybrid"]["p50_ms"]
    _level(left, sql + floor["embed"]["p50_ms"], "embedding + raw SQL: {:.1f} ms")
    _level(left, sql, "raw SQL: {:.1f} ms")
    rate = floor["two_core_embeddings_per_second"]["median"]
    _level(right, rate, "two cores embed {:.0f} a second")
    _level(right, _GOAL_SHARE * rate, "goal: {:.0f}")
    for axes in (left, right):
        axes.set_xticks(range(len(clients)), [str(number) for number in clients])
        axes.set_xlim(-0.35, len(clients) - 0.5)
        name_axes(axes, x="clients")
    log_ms(left)
    right.set_ylim(0, 1.12 * max(rate, *(cell["requests_per_second"] for cell in report["http"])))
    drawn.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=11.5)
    title(left, f"Search over HTTP, {thousands(report['sizes']['chunks'])} chunks: p50 to p95, ms")
    title(right, "Searches a second")
    return drawn


def _level(axes: Axes, value: float, name: str) -> None:
    """A line across, with its name over its right end."""
    axes.axhline(value, color=GOAL, lw=1.3, ls="--", zorder=1)
    label = axes.annotate(name.format(value), (1, value), (-2, 3), xycoords=("axes fraction", "data"),
                          textcoords="offset points", ha="right", fontsize=10.5, color=GOAL)  # fmt: skip
    label.set_bbox({"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.5})


@dataclass(frozen=True, slots=True)
class Box:
    """A span in the picture: from `start` to `start + width` in ms, `depth` rows below the top."""

    name: str
    depth: int
    start: float
    width: float


def boxes(node: Mapping[str, Any], start: float = 0.0, depth: int = 0) -> Iterator[Box]:
    """A tree of spans as boxes, each child under its parent, side by side in the order they began."""
    yield Box(node["name"], depth, start, node["total_ms"])
    for child in node["children"]:
        yield from boxes(child, start, depth + 1)
        start += child["total_ms"]


def draw_breakdown(report: Mapping[str, Any]) -> Figure:
    """An icicle each for a new query and a known one: the white below a box is its own time."""
    trees = [("a new query", report["breakdown"]["cold"]), ("a known query", report["breakdown"]["warm"])]
    all_boxes = [list(boxes(tree)) for _, tree in trees]
    depths = [1 + max(box.depth for box in each) for each in all_boxes]
    widest = max(tree["total_ms"] for _, tree in trees)
    drawn, both = figure(1.7 + 0.5 * sum(depths), rows=2, height_ratios=depths)
    # In the order they are met: neighbours have different colours, and a name has one in both pictures.
    names = list(dict.fromkeys(box.name for each in all_boxes for box in each))
    for axes, (query, tree), each, depth in zip(both, trees, all_boxes, depths, strict=True):
        unnamed = _icicle(axes, each, names, WIDTH_INCHES / widest)
        name_axes(axes, x="ms; too narrow for their names: " + ", ".join(unnamed) if unnamed else "ms")
        axes.set_xlim(0, widest)
        axes.set_ylim(depth, 0)
        axes.set_yticks([])
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        title(axes, f"One hybrid search inside the server, {query}: {tree['total_ms']:.1f} ms")
    return drawn


def _icicle(axes: Axes, all_boxes: Sequence[Box], names: Sequence[str], inches_per_ms: float) -> list[str]:
    """Draw boxes; what could not be written into them, from left to right, of those from a hundredth of all on."""
    unnamed = []
    for box in all_boxes:
        color = SERIES[names.index(box.name) % len(SERIES)]
        axes.barh(box.depth + 0.5, box.width, 0.94, box.start, color=_paler(color), edgecolor="white", linewidth=1.2)
        room = int(box.width * inches_per_ms / _CHARACTER_INCHES)
        label = f"{box.name} {box.width:.1f}"
        if room < len(label):
            label = box.name
        if room >= len(label):
            axes.text(
                box.start + box.width / 2, box.depth + 0.5, label, ha="center", va="center", fontsize=11, color=TEXT
            )
        elif box.width >= all_boxes[0].width / 100:
            unnamed.append((box.start, f"{box.name} {box.width:.1f}"))
    return [name for _, name in sorted(unnamed)]


def _paler(color: str) -> tuple[float, float, float]:
    red, green, blue = (1 - 0.5 * (1 - part) for part in to_rgb(color))
    return red, green, blue
