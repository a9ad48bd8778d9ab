"""Size and survival over a made-up year."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from reverie_bench.plots.style import GOAL, OTHER, OWN, SERIES, figure, legend, name_axes, title

_CAP_CHARS = 8000


def draw_dreams(report: Mapping[str, Any]) -> Figure:
    """Of what stands: how much files hold, search finds and MEMORY.md has; then the size of MEMORY.md under its cap."""
    nights = report["nights"]
    at = [findings["night"] + 1 for findings in nights]
    drawn, (survival, size) = figure(4.4, 1, 2)
    for name, label, colour in (
        ("in_files", "in the owner's files", OWN),
        ("found", "found within ten results", SERIES[2]),
        ("promoted", "in MEMORY.md", SERIES[1]),
        ("stale", "contradicted, yet in MEMORY.md", OTHER),
    ):
        shares = [findings[name] / max(1, findings["standing"]) for findings in nights]
        survival.plot(at, shares, color=colour, linewidth=2.2, label=label)
    survival.set_ylim(0, 1.02)
    title(survival, "statements that stand")
    name_axes(survival, x="night", y="share")
    legend(survival, loc=(0.02, 0.22))
    size.plot(
        at, [findings["memory_chars"] for findings in nights], color=OWN, linewidth=2.2, label="largest MEMORY.md"
    )
    size.axhline(_CAP_CHARS, color=GOAL, linewidth=1.2, linestyle="--", label="its cap")
    size.set_ylim(0, _CAP_CHARS * 1.15)
    title(size, "MEMORY.md")
    name_axes(size, x="night", y="characters")
    legend(size, loc="center left")
    return drawn
