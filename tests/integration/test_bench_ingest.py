"""The ingest and start-up benchmarks run the product's own commands and leave no text of the data in their results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie_bench.frame import Options
from reverie_bench.ingest.run import ingest_content, run_ingest
from reverie_bench.report import write_result
from reverie_bench.startup.run import HELP, StartupOptions, run_startup, startup_content
from reverie_indexer.embed import Embedder
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import ValidationFailed
from reverie_server.settings.server import Settings

from .bench_reports import shown_text


@pytest.mark.slow
async def test_a_run_tells_ratios_memory_and_what_a_kill_cost(conninfo: str, tmp_path: Path) -> None:
    words = ["Xanthe painted the fence", "Yorick sold the kettle", "Zelda borrowed the piano"]
    contexts = [f"{words[n % 3]} in week {n}. " * 4 + f"Nobody saw it {n} times." for n in range(160)]
    data = tmp_path / "made_up.json"
    paragraphs = [{"context": context, "qas": []} for context in contexts]
    data.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))

    async def load() -> Embedder:
        return HashingEmbedder(384)

    settings = Settings(embedder="hashing", data_dir=tmp_path)
    report = await run_ingest(Options(settings=settings, embedder=load, data=(data,), database_url=conninfo))
    assert report.sizes["notes"] == 160
    assert len(report["folder"]["ratio_by_part"]) == 4
    assert report["folder"]["ratio"] > 0
    ways = report["api"]
    assert list(ways) == ["notes", "import", "messages", "single turns", "completed sessions"]
    assert ways["notes"]["passages"] == ways["import"]["passages"] == 40
    assert all(way["ratio"] > 0 and way["passages"] >= way["items"] for way in ways.values())
    assert report["memory"]["chunks"] == {"one part": 40, "all parts": 160}
    resume = report["resume"]
    assert resume["done_again"] == resume["chunks_made_anew"] == 0
    assert resume["files_when_killed"] + resume["written_by_the_second_run"] == resume["files_in_the_end"] == 80
    assert 0 < resume["files_when_killed"] < 80
    assert resume["versions_of_a_file_at_most"] == 1
    text = write_result(report, tmp_path).read_text()
    assert json.loads(text)["resume"]["done_again"] == 0
    assert not any(name in text for name in ("Xanthe", "fence", "kettle"))
    assert "killed half way" in shown_text(report, ingest_content(report))


@pytest.mark.slow
def test_start_up_is_measured_from_nothing_and_from_what_is_there(tmp_path: Path) -> None:
    report = run_startup(StartupOptions(settings=Settings(), rounds=1))
    assert report["took"][HELP]["cpu_to_python"] > 1
    for name in ("serve", "serve from nothing"):
        words, meaning = (report["took"][f"{name}: first answer by {way}"] for way in ("words", "meaning"))
        assert meaning["seconds"] >= words["seconds"] > report["took"][f"{name}: listening"]["seconds"]
        assert meaning["cpu_seconds"] > 0
    assert "reverie --help" in shown_text(report, startup_content(report))
    assert "serve: listening" in json.loads(write_result(report, tmp_path).read_text())["took"]


def test_start_up_of_another_database_or_model_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="embedded PostgreSQL and the default model"):
        run_startup(StartupOptions(settings=Settings(embedder="hashing")))
