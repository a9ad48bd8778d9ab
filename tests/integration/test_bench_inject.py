"""The injection benchmark runs through the real pipeline and injector on a real PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie_bench.inject.report import inject_content
from reverie_bench.inject.run import InjectOptions, run_inject
from reverie_bench.report import write_result
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import ValidationFailed

from .bench_reports import shown_text
from .test_bench_calibrate import TALKS, TURNS, talk

NAMED: list[dict[str, Any]] = [
    {
        "category": "direct",
        "message": "How many strings does the harp need?",
        "evidence": ["new strings"],
        "names": {"harp": "cello"},
        "depends_on_names": depends,
    }
    for depends in (False, True)
]


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


@pytest.fixture
def options(tmp_path: Path, server_conninfo: str) -> InjectOptions:
    turns = tmp_path / "turns"
    turns.mkdir()
    greeting = {"category": "greeting", "message": "hello there"}
    (turns / "english.json").write_text(json.dumps({**TURNS, "turns": [*TURNS["turns"], *NAMED, greeting]}))
    data = tmp_path / "made_up.json"
    data.write_text(json.dumps([talk(speaker) for speaker in ("Xanthe", "Yorick")]))
    return InjectOptions(turns=turns, embedder=load_hashing, data=(data,), database_url=server_conninfo, name="made up")


async def test_what_is_injected_for_turns_and_questions_is_counted(options: InjectOptions, tmp_path: Path) -> None:
    report = await run_inject(options)
    assert report.sizes["turns"] == 9
    assert report.sizes["conversation_questions"] == {"own": 6, "elsewhere": 6, "names swapped": 6}
    overall = report["overall"]
    assert (overall.recall.count, overall.recall.of) == (4, 4)
    assert (overall.unrelated.count, overall.unrelated.of) == (0, 3)
    assert overall.evidence == 1
    assert report["trivial"]["unrelated"].count == 2
    assert report["conversations"].recall.share == 1
    # At threshold 1 nothing is injected, whatever it is.
    assert (report["curve"][-1].recall, report["curve"][-1].unrelated) == (0, 0)
    names = report["names"]
    assert (names["evidence remains"].recall.count, names["evidence remains, swapped"].recall.of) == (1, 1)
    assert (names["evidence gone"].recall.count, names["evidence gone, swapped"].near_miss.of) == (1, 1)
    shown = shown_text(report, inject_content(report))
    path = write_result(report, tmp_path / "results")
    assert path.name == "inject-made-up.json"
    for secret in (*TALKS, "parrot", "kiln", "conv-secret"):
        assert secret not in path.read_text()
        assert secret not in shown


async def test_a_folder_without_turns_is_refused(options: InjectOptions, tmp_path: Path) -> None:
    with pytest.raises(ValidationFailed, match="no turns"):
        await run_inject(replace(options, turns=tmp_path / "none"))
