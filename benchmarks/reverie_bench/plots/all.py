"""Draws the curves of result files: one PNG or two beside each, for the README and for whoever reruns them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from reverie_bench.plots.dreams import draw_dreams
from reverie_bench.plots.ingest import draw_ingest
from reverie_bench.plots.inject import draw_inject
from reverie_bench.plots.latency import draw_breakdown, draw_latency
from reverie_bench.plots.recall import draw_recall
from reverie_bench.plots.scale import draw_scale
from reverie_indexer.errors import ValidationFailed

Draw = Callable[[Mapping[str, Any]], Figure]
# What is drawn from a result by the beginning of its name: the picture's name in place of it.
DRAWN: Mapping[str, Mapping[str, Draw]] = {
    "recall-": {"recall-": draw_recall},
    "latency-": {"latency-": draw_latency, "breakdown-": draw_breakdown},
    "scale": {"scale": draw_scale},
    "ingest": {"ingest": draw_ingest},
    "inject-": {"inject-": draw_inject},
    "dreams-": {"dreams-": draw_dreams},
}
# These compare tiers, not ways.
_NOT_DRAWN = "recall-sessions-"
_DOTS_PER_INCH = 160


def draw_all(directory: Path) -> list[Path]:
    """Draw every result of a directory that has a picture; the PNGs written, by name. Older ones are replaced.

    ValidationFailed when there is none.
    """
    written = []
    for result in sorted(directory.glob("*.json")):
        for beginning, pictures in DRAWN.items():
            if result.stem.startswith(beginning) and not result.stem.startswith(_NOT_DRAWN):
                report = json.loads(result.read_text(encoding="utf-8"))
                for name, draw in pictures.items():
                    path = result.with_name(f"{name}{result.stem.removeprefix(beginning)}.png")
                    draw(report).savefig(path, dpi=_DOTS_PER_INCH)
                    written.append(path)
    if not written:
        raise ValidationFailed(f"there are no results to draw in {directory}")
    return sorted(written)
