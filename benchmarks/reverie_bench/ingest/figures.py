"""The figures of the ingest benchmark, from its timings. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

GOAL_RATIO = 0.85
GOAL_API_RATIO = 0.9
GOAL_TIMES_FASTER = 50.0


@dataclass(frozen=True, slots=True)
class Indexing:
    """One run of `reverie index`: files and chunks, and the usage. `peak_mb` is the highest resident memory."""

    new: int
    unchanged: int
    chunks: int
    seconds: float
    cpu_seconds: float
    peak_mb: float


def folder_figures(chunks: Sequence[int], whole: Sequence[float], alone: Sequence[float]) -> dict[str, Any]:
    """Indexing beside the model alone, part by part: chunks, seconds of the whole, seconds of the model.

    `ratio` is (chunks a second of the whole) / (chunks a second of the model) = Σ alone / Σ whole: 1 would be a
    pipeline that costs nothing beside the model.
    """
    return {
        "ratio": sum(alone) / sum(whole),
        "ratio_by_part": [model / all_of_it for model, all_of_it in zip(alone, whole, strict=True)],
        "chunks": sum(chunks),
        "chunks_per_second": sum(chunks) / sum(whole),
        "model_chunks_per_second": sum(chunks) / sum(alone),
    }


def appends_figures(seconds: Sequence[float], passages: int, one_by_one: float, together: float) -> dict[str, Any]:
    """Appends beside the model alone on the same passages: called as often, and with all of them at once."""
    return {
        "ratio_to_the_same_calls": one_by_one / sum(seconds),
        "ratio_to_one_batch": together / sum(seconds),
        "appends": len(seconds),
        "passages": passages,
        "append_ms_p50": 1000 * median(seconds),
        "model_ms_per_append": 1000 * one_by_one / len(seconds),
    }


def way_figures(items: int, passages: int, seconds: float, alone: float, own_cpu: float) -> dict[str, Any]:
    """One way over the API beside the model alone on its passages, all at once: `ratio` is alone / seconds.

    `own_cpu_ms_per_item` is what this process took beside the model for a note or a turn, PostgreSQL not counted.
    """
    return {
        "ratio": alone / seconds,
        "items": items,
        "passages": passages,
        "items_per_second": items / seconds,
        "passages_per_second": passages / seconds,
        "own_cpu_ms_per_item": 1000 * own_cpu / items,
    }


def memory_figures(one: tuple[Indexing, Indexing], every: tuple[Indexing, Indexing]) -> dict[str, Any]:
    """`reverie index` of little and of much, each the first time and once more."""
    return {
        "growth": every[0].peak_mb / one[0].peak_mb,
        "chunks_ratio": every[0].chunks / one[0].chunks,
        "peak_mb": {"one part": one[0].peak_mb, "all parts": every[0].peak_mb},
        "chunks": {"one part": one[0].chunks, "all parts": every[0].chunks},
        "command_times_faster_unchanged": {
            "one part": one[0].seconds / one[1].seconds,
            "all parts": every[0].seconds / every[1].seconds,
        },
        "command_cpu_seconds_unchanged": every[1].cpu_seconds,
    }


def resume_figures(before: Mapping[str, Any], after: Mapping[str, Any], second: Indexing) -> dict[str, Any]:
    """The rows when the first run was killed, and what the second run did with them.

    `done_again` counts files that were there and were written once more; 0 is right.
    """
    kept = len(set(before["chunk_ids"]) & set(after["chunk_ids"]))
    return {
        "files_when_killed": before["files"],
        "chunks_when_killed": before["chunks"],
        "passages_embedded_when_killed": before["passages"],
        "files_in_the_end": after["files"],
        "chunks_in_the_end": after["chunks"],
        "written_by_the_second_run": second.new,
        "found_done_by_the_second_run": second.unchanged,
        "done_again": before["files"] - second.unchanged,
        "chunks_made_anew": before["chunks"] - kept,
        "passages_embedded_by_the_second_run": after["passages"] - before["passages"],
        "versions_of_a_file_at_most": after["versions"],
    }
