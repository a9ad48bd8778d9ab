"""The prompt benchmark runs through the real turn on a real PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie_bench.prompt.run import PromptOptions, prompt_content, run_prompt
from reverie_bench.report import write_result
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import ValidationFailed
from reverie_server.settings.server import Settings

from .bench_reports import shown_text


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


async def test_both_placements_are_measured_and_written_down(tmp_path: Path, server_conninfo: str) -> None:
    options = PromptOptions(
        settings=Settings(embedder="hashing"), embedder=load_hashing, database_url=server_conninfo, turns=6
    )
    report = await run_prompt(options)
    system, user = report["placements"]["system"], report["placements"]["user"]
    assert 0 < system["share"] < user["share"] < 1
    assert system["injected_turns"] == user["injected_turns"] > 0
    assert "6 turns, made up" in shown_text(report, prompt_content(report))
    written = json.loads(write_result(report, tmp_path).read_text())
    assert written["placements"]["user"]["share"] == pytest.approx(user["share"], abs=1e-6)
    assert written["origin"]["model"]
    assert (tmp_path / "prompt-made-up.json").exists()


async def test_data_that_is_no_conversation_is_refused(tmp_path: Path, server_conninfo: str) -> None:
    path = tmp_path / "paragraphs.json"
    path.write_text('{"data": [{"paragraphs": [{"context": "A tower.", "qas": [{"question": "What?"}]}]}]}')
    settings = Settings(embedder="hashing")
    with pytest.raises(ValidationFailed):
        await run_prompt(
            PromptOptions(settings=settings, embedder=load_hashing, data=(path,), database_url=server_conninfo)
        )
