"""The latency benchmark measures a real server in a process of its own, beside the floor under its searches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie_bench.latency.report import latency_content
from reverie_bench.latency.run import LatencyOptions, run_latency
from reverie_bench.report import write_result
from reverie_server.settings.server import Settings

from .bench_reports import shown_text

HASHING = Settings(embedder="hashing", embedder_dimension=64)
SAID = [
    "The pottery kiln broke during the glaze firing. Marek brought the spare part on Tuesday morning.",
    "We planted tomatoes behind the shed. The choir rehearses there when the weather is fine.",
    "My cousin repairs bicycles in Zwolle. His daughter plays the violin in a quartet there.",
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "made_up.json"
    questions = [{"question": "What broke during the firing?"}, {"question": "Who brought the spare part?"}]
    paragraphs = [{"context": text, "qas": questions} for text in SAID]
    path.write_text(json.dumps({"data": [{"title": "-", "paragraphs": paragraphs}]}))
    return path


async def test_a_run_measures_the_floor_and_every_way_of_asking(
    data: Path, server_conninfo: str, tmp_path: Path
) -> None:
    options = LatencyOptions(
        settings=HASHING,
        chunks=6,
        clients=(1, 2),
        data=(data,),
        database_url=server_conninfo,
        rounds=1,
        requests=2,
        known_queries=2,
        rate_seconds=0.1,
    )
    report = await run_latency(options)
    assert report.sizes["chunks"] == 6
    assert {(cell["mode"], cell["cache"], cell["clients"]) for cell in report["http"]} == {
        (mode, cache, clients)
        for mode, cache in (
            ("hybrid", "cold"), ("hybrid", "warm"), ("vector", "cold"), ("vector", "warm"), ("text", None)
        )
        for clients in (1, 2)
    }  # fmt: skip
    assert set(report["floor"]) == {
        "embed", "round_trip", "exact_scan", "raw_sql hybrid", "raw_sql text", "raw_sql vector",
        "two_core_embeddings_per_second",
    }  # fmt: skip
    # PostgreSQL runs on this machine, so its CPU is told too.
    assert set(report["floor"]["raw_sql hybrid"]["cpu_ms_per_call"]) == {"floor", "postgresql"}
    assert [goal["goal"] for goal in report["goals"]] == ["at most 1.5", "at most 2.0", "at least 0.8"]
    assert set(report["client"]) == {"this", "httpx"}
    assert report["breakdown"]["cold"]["name"] == "request"
    assert report["breakdown"]["cold"]["count"] == 1
    assert "two processes embed" in shown_text(report, latency_content(report))
    written = write_result(report, tmp_path / "results")
    assert written.name == "latency-6.json"
    result = written.read_text()
    for secret in ("kiln", "Marek", "firing", "rv_", str(tmp_path)):
        assert secret not in result
