"""Indexing beside the model alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from reverie_bench.ingest.figures import GOAL_RATIO, GOAL_TIMES_FASTER
from reverie_bench.plots.style import GOAL, OTHER, OWN, SERIES, TEXT, figure, legend, title


def draw_ingest(report: Mapping[str, Any]) -> Figure:
    """Chunks a second to the model's own, how much faster nothing new is, and memory."""
    drawn, [ratio, again, memory] = figure(3.6, columns=3, width_ratios=(5, 3, 4))
    folder, appends = report["folder"], report["appends"]
    parts = folder["ratio_by_part"]
    bars = ratio.bar(["a folder", "appends"], [folder["ratio"], appends["ratio_to_the_same_calls"]], 0.6, color=OWN)
    ratio.bar_label(bars, fmt="%.2f", fontsize=12, color="white", label_type="center")
    ratio.plot([0.38] * len(parts), parts, "o", color=SERIES[1], ms=5, label="its parts")
    ratio.axhline(GOAL_RATIO, color=GOAL, ls="--", lw=1.3, label=f"goal {GOAL_RATIO}")
    ratio.set_ylim(0, 1.25 * max(1.0, *parts, appends["ratio_to_the_same_calls"]))
    title(ratio, "Chunks a second / the model's own")
    legend(ratio, loc="upper right", ncols=2)
    faster = report["unchanged"]["times_faster"]
    bars = again.bar(["unchanged"], [faster], 0.5, color=OWN)
    again.bar_label(bars, fmt="%.0f ×", fontsize=12, color=TEXT, padding=3)
    again.axhline(GOAL_TIMES_FASTER, color=GOAL, ls="--", lw=1.3, label=f"goal {GOAL_TIMES_FASTER:.0f}")
    again.set_ylim(0, 1.35 * max(faster, GOAL_TIMES_FASTER))
    again.set_xlim(-0.6, 0.6)
    title(again, "Once more / first")
    legend(again, loc="upper right")
    peak, chunks = report["memory"]["peak_mb"], report["memory"]["chunks"]
    names = [f"{chunks[part]}\nchunks" for part in peak]
    bars = memory.bar(names, list(peak.values()), 0.55, color=OTHER)
    memory.bar_label(bars, fmt="%.0f MB", fontsize=12, color=TEXT, padding=3)
    memory.set_ylim(0, 1.25 * max(peak.values()))
    title(memory, "Peak memory")
    for axes in (ratio, again, memory):
        axes.grid(visible=False, axis="x")
    return drawn
