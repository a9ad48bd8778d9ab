"""Cost and recall by the size of a slice and of the table around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reverie_bench.plots.style import GOAL, SERIES, figure, legend, log_ms, name_axes, thousands, title

_RECALL_GOAL = 0.99


def draw_scale(report: Mapping[str, Any]) -> Figure:
    """Latency by slice, recall by share, the cost of a larger table to the same owner, and the cost of the table."""
    drawn, [latency, recall, same, cost] = figure(8.4, rows=2, columns=2)
    tables = report["tables"]
    for number, table in enumerate(tables):
        name, color = f"{thousands(table['chunks'])} in all", SERIES[number % len(SERIES)]
        hybrid = sorted((c["slice_chunks"], c["p50_ms"], c["plan"]) for c in table["latency"] if c["mode"] == "hybrid")
        latency.plot([c[0] for c in hybrid], [c[1] for c in hybrid], "-", color=color, lw=1.4, label=name)
        for plan, marker in (("exact", "o"), ("hnsw", "s")):
            latency.plot(
                [c[0] for c in hybrid if c[2] == plan],
                [c[1] for c in hybrid if c[2] == plan],
                marker,
                color=color,
                ms=5,
            )
        found = [(100 * cell["share"], cell["recall_at_10"]) for cell in table["recall"]]
        # Larger under smaller, since most of them lie on each other.
        recall.plot(
            [x for x, _ in found],
            [y for _, y in found],
            "o",
            color=color,
            ms=5 + 3 * (len(tables) - number),
            label=name,
        )
    _log(latency, "chunks that the owner has")
    log_ms(latency)
    title(latency, "Hybrid search, p50 in ms (■ own HNSW index)")
    legend(latency, loc="upper left")
    recall.axhline(_RECALL_GOAL, color=GOAL, lw=1.3, ls="--", label=f"goal {_RECALL_GOAL}")
    recall.set_xscale("log")
    recall.set_ylim(min(0.95, *(c["recall_at_10"] - 0.01 for t in tables for c in t["recall"])), 1.004)
    recall.xaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    name_axes(recall, x="share of the table that is searched")
    title(recall, "Recall@10 against exact order")
    legend(recall, loc="lower right")
    _same(same, report)
    _cost(cost, report)
    return drawn


def _same(axes: Axes, report: Mapping[str, Any]) -> None:
    cells = report["same_slice"]
    for number, size in enumerate(sorted({cell["slice_chunks"] for cell in cells})):
        own = [cell for cell in cells if cell["slice_chunks"] == size]
        places = [cell["table_chunks"] for cell in own]
        color = SERIES[number % len(SERIES)]
        ratios = [cell["p50_to_smallest_table"] for cell in own]
        spread = [[r["median"] - r["low"] for r in ratios], [r["high"] - r["median"] for r in ratios]]
        axes.errorbar(
            places, [r["median"] for r in ratios], yerr=spread, fmt="o-", color=color, lw=1.4, capsize=3,
            label=f"{thousands(size)} chunks: time",
        )  # fmt: skip
        pages = [cell["buffers"] / own[0]["buffers"] for cell in own]
        axes.plot(places, pages, "x--", color=color, lw=1, label=f"{thousands(size)} chunks: pages read")
    _log(axes, "chunks in the table")
    axes.set_ylim(bottom=-0.4)
    axes.set_yticks([tick for tick in axes.get_yticks() if tick >= 0])
    title(axes, "The same owner's search / in the smallest table")
    if cells:
        legend(axes, loc="lower right", ncols=2)


def _cost(axes: Axes, report: Mapping[str, Any]) -> None:
    tables = report["tables"]
    sizes = [table["chunks"] for table in tables]
    axes.plot(sizes, [t["build"]["seconds"] for t in tables], "o-", color=SERIES[0], lw=1.6, label="to build it, s")
    axes.plot(
        sizes, [t["build"]["hnsw_seconds"] for t in tables], "s--", color=SERIES[0], lw=1.2, label="of it HNSW, s"
    )
    axes.plot(sizes, [t["disk_mb"]["database"] for t in tables], "o-", color=SERIES[1], lw=1.6, label="on disk, MB")
    memory = [(t["chunks"], t["postgresql_memory_mb"]) for t in tables if t["postgresql_memory_mb"]]
    if memory:
        axes.plot(
            [size for size, _ in memory], [used.get("proportional", used["resident"]) for _, used in memory], "o-",
            color=SERIES[2], lw=1.6, label="PostgreSQL in memory, MB",
        )  # fmt: skip
    _log(axes, "chunks in the table")
    # HNSW takes no time where no slice is large; above, there is room for the names.
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 100 * max(t["disk_mb"]["database"] for t in tables))
    axes.yaxis.set_major_formatter(lambda value, _: thousands(value))
    title(axes, "What the table costs")
    legend(axes, loc="upper left")


def _log(axes: Axes, name: str) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: thousands(value))
    axes.xaxis.set_minor_formatter(lambda *_: "")
    name_axes(axes, x=name)
