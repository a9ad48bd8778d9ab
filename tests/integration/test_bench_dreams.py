"""Nothing that people stated is destroyed, however long it is dreamt over and whatever a model makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie_bench.dreams.model import Faults
from reverie_bench.dreams.run import DreamsOptions, ModelKind, dreams_content, run_dreams
from reverie_bench.plots.all import draw_all
from reverie_bench.report import Report, write_result
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_server.settings.server import Settings

from .bench_reports import shown_text

MEMORY_CAP_CHARS = 8000


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


async def lived(server_conninfo: str, nights: int, owners: int, model: ModelKind) -> Report:
    faults = Faults(loses=0.15, invents=0.15, garbles=0.15)
    return await run_dreams(
        DreamsOptions(
            settings=Settings(embedder="hashing"),
            embedder=load_hashing,
            database_url=server_conninfo,
            nights=nights,
            owners=owners,
            model=model,
            faults=faults,
        )
    )


def check_nothing_is_lost(report: Report) -> None:
    assert report["lost"] == []
    end = report["at_end"]
    assert end.standing > 0
    assert end.in_files == end.standing
    assert end.leaked == end.forgotten_left == 0
    assert end.memory_chars <= MEMORY_CAP_CHARS
    assert report["failed_jobs"] == 0
    assert report["unexplained_nights"] == 0
    assert report["most_calls_a_day"] <= report.settings["calls_per_day"]


async def test_some_nights_with_a_model_that_errs(tmp_path: Path, server_conninfo: str) -> None:
    report = await lived(server_conninfo, 8, 2, "scripted")
    check_nothing_is_lost(report)
    assert {"episodic", "extraction", "semantic"} <= report["model"]["asked"].keys()
    assert "8 nights of 2 owners" in shown_text(report, dreams_content(report))
    written = json.loads(write_result(report, tmp_path).read_text())
    assert written["at_end"]["standing"] == report["at_end"].standing
    assert [path.name for path in draw_all(tmp_path)] == ["dreams-scripted.png"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["scripted", "none"])
async def test_a_year_of_three_owners(server_conninfo: str, model: ModelKind) -> None:
    report = await lived(server_conninfo, 365, 3, model)
    check_nothing_is_lost(report)
    assert report["at_end"].promoted > 0
    assert report["at_end"].found >= 0.95 * report["at_end"].standing
