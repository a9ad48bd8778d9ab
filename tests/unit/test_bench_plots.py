"""Every result is drawn; a tree of spans becomes boxes under each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie_bench.plots.all import draw_all
from reverie_bench.plots.latency import Box, boxes
from reverie_bench.plots.style import thousands
from reverie_indexer.errors import ValidationFailed


def span(name: str, total: float, *children: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "count": 1, "total_ms": total, "self_ms": 0, "children": list(children)}


TREE = span("request", 10.0, span("embed", 6.0), span("search", 3.0, span("rank", 1.0)))
BETWEEN = {"median": 1.5, "low": 1.2, "high": 1.9}
TIMES = {"p50_ms": 4.0, "p95_ms": 9.0, "p99_ms": None, "mean_ms": 5.0, "samples": 8}

RECALL = {
    "data": {"file": "made_up.json"},
    "sizes": {"questions": 4, "units": 9},
    "ways": {
        "reverie": {"overall": {"fraction@10": 0.8, "ndcg@10": 0.6}},
        "grep": {"overall": {"fraction@10": 0.4, "ndcg@10": 0.3}},
    },
}
LATENCY = {
    "sizes": {"chunks": 2000},
    "floor": {"embed": TIMES, "raw_sql hybrid": TIMES, "two_core_embeddings_per_second": BETWEEN},
    "http": [
        {"mode": mode, "cache": cache, "clients": clients, **TIMES, "requests_per_second": 40.0}
        for mode, cache in (("hybrid", "cold"), ("hybrid", "warm"), ("vector", "cold"), ("text", None))
        for clients in (1, 8)
    ],
    "breakdown": {"cold": TREE, "warm": span("request", 4.0)},
}
SCALE = {
    "tables": [
        {
            "chunks": chunks,
            "latency": [
                {"slice_chunks": size, "mode": "hybrid", "plan": plan, **TIMES}
                for size, plan in ((10, "exact"), (6000, "hnsw"))
            ],
            "recall": [{"share": 0.1, "recall_at_10": 1.0}, {"share": 0.01, "recall_at_10": 0.9}],
            "build": {"seconds": 9.0, "hnsw_seconds": 0.0},
            "disk_mb": {"database": 30.0},
            "postgresql_memory_mb": None if chunks == 10_000 else {"resident": 20.0},
        }
        for chunks in (10_000, 100_000)
    ],
    "same_slice": [
        {"slice_chunks": 100, "table_chunks": chunks, "p50_ms": 4.0, "p50_to_smallest_table": BETWEEN, "buffers": 90}
        for chunks in (10_000, 100_000)
    ],
}
INGEST = {
    "folder": {"ratio": 0.9, "ratio_by_part": [0.8, 1.0]},
    "appends": {"ratio_to_the_same_calls": 0.4},
    "unchanged": {"times_faster": 80.0},
    "memory": {"peak_mb": {"one part": 300.0, "all parts": 310.0}, "chunks": {"one part": 10, "all parts": 40}},
}

_SHARE = {"count": 8, "of": 10, "share": 0.8, "low": 0.49, "high": 0.94}
_POINTS = [
    {"threshold": step / 10, "recall": 1 - step / 10, "unrelated": 0.1, "near_miss": near_miss}
    for near_miss in (0.2, None)
    for step in range(11)
]
INJECT = {
    "settings": {"threshold": 0.3},
    "curve": _POINTS[:11],
    "conversations_curve": _POINTS[11:],
    "by_language": {"english": {"recall": _SHARE, "unrelated": _SHARE, "near_miss": None}},
}


def test_each_result_becomes_pictures_beside_it(tmp_path: Path) -> None:
    results = {
        "recall-a": RECALL, "latency-2000": LATENCY, "scale": SCALE, "ingest": INGEST, "inject-a": INJECT,
        "relevance": {}, "recall-sessions-a": {},
    }  # fmt: skip
    for name, report in results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    written = draw_all(tmp_path)
    assert [path.name for path in written] == [
        "breakdown-2000.png", "ingest.png", "inject-a.png", "latency-2000.png", "recall-a.png", "scale.png"
    ]  # fmt: skip
    for path in written:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        # Wide enough for a README at twice its pixels, and more than an empty page.
        assert int.from_bytes(data[16:20]) == 1600
        assert len(data) > 10_000


def test_results_that_cannot_be_drawn_are_an_expected_error(tmp_path: Path) -> None:
    with pytest.raises(ValidationFailed, match="no results"):
        draw_all(tmp_path)


def test_children_lie_under_their_parent_side_by_side() -> None:
    assert list(boxes(TREE)) == [
        Box("request", 0, 0.0, 10.0),
        Box("embed", 1, 0.0, 6.0),
        Box("search", 1, 6.0, 3.0),
        Box("rank", 2, 6.0, 1.0),
    ]


def test_large_numbers_are_short() -> None:
    assert [thousands(n) for n in (7, 1000, 2500, 1_000_000)] == ["7", "1k", "2.5k", "1M"]
