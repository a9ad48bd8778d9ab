"""The injection benchmark runs through the real pipeline and injector on a real PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from reverie_bench.inject.report import render, write_result
from reverie_bench.inject.run import InjectOptions, run_inject
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import ValidationFailed

from .test_bench_calibrate import TALKS, TURNS, talk


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


@pytest.fixture
def options(tmp_path: Path, server_conninfo: str) -> InjectOptions:
    turns = tmp_path / "turns"
    turns.mkdir()
    greeting = {"category": "greeting", "message": "hello there"}
    (turns / "english.json").write_text(json.dumps({**TURNS, "turns": [*TURNS["turns"], greeting]}))
    data = tmp_path / "made_up.json"
    data.write_text(json.dumps([talk(speaker) for speaker in ("Xanthe", "Yorick")]))
    return InjectOptions(turns, load_hashing, data=data, database_url=server_conninfo)


async def test_what_is_injected_for_turns_and_questions_is_counted(options: InjectOptions, tmp_path: Path) -> None:
    report = await run_inject(options)
    assert report.sizes["turns"] == 6
    assert report.sizes["conversation_questions"] == {"own": 6, "elsewhere": 6, "names swapped": 6}
    overall = report.overall
    assert overall.recall is not None
    assert (overall.recall.count, overall.recall.of) == (2, 2)
    assert overall.unrelated is not None
    assert (overall.unrelated.count, overall.unrelated.of) == (0, 2)
    assert overall.evidence == 1
    assert report.trivial["unrelated"] is not None
    assert report.trivial["unrelated"].count == 1
    assert report.conversations is not None
    assert report.conversations.recall is not None
    assert report.conversations.recall.share == 1
    # At threshold 1 nothing is injected, whatever it is.
    assert (report.curve[-1].recall, report.curve[-1].unrelated) == (0, 0)
    with (tmp_path / "out.txt").open("w") as file:
        console = Console(record=True, width=160, file=file)
        render(report, console)
    shown = console.export_text()
    path = write_result(report, tmp_path / "results", "made up")
    assert path.name == "inject-made-up.json"
    for secret in (*TALKS, "parrot", "kiln", "conv-secret"):
        assert secret not in path.read_text()
        assert secret not in shown


async def test_a_folder_without_turns_is_refused(options: InjectOptions, tmp_path: Path) -> None:
    with pytest.raises(ValidationFailed, match="no turns"):
        await run_inject(InjectOptions(tmp_path / "none", load_hashing))
