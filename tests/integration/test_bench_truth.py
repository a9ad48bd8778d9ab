"""The benchmark of truth on a very small life, end to end, without a model and with one that errs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie_bench.report import write_result
from reverie_bench.truth.life import Life, read_life
from reverie_bench.truth.report import shown_lines, truth_content
from reverie_bench.truth.run import ModelKind, TruthOptions, run_truth
from reverie_bench.truth.scripted import INVENTED, Faults
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_server.settings.server import Settings

from .bench_reports import shown_text

LIFE = """
language = "english"
first_day = 2025-03-03
remembered = [["plum-12"]]
forgotten = ["zebra-77"]
[profile]
name = ["Ida"]
[[session]]
day = 0
talk = '''
user: {worth|My name is Ida Lund.} {old|I live in Bergen.} {remember|Remember that the gate code is plum-12.}
assistant: I will.
'''
[[session]]
day = 1
talk = '''
user: {forget|The code of the safe is zebra-77.} Forget that, please.
assistant: Of course.
user: {worth|I moved to Oslo.} Nice weather, is it not?
assistant: Very.
'''
[[question]]
kind = "home"
ask = "Where do I live?"
current = ["Oslo"]
old = ["Bergen"]
[[question]]
kind = "past"
ask = "Where did I live before?"
current = ["Bergen"]
past = true
"""


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


@pytest.fixture
def life(tmp_path: Path) -> Life:
    path = tmp_path / "small.toml"
    path.write_text(LIFE, encoding="utf-8")
    return read_life(path, held=False)


def options(life: Life, server_conninfo: str, model: ModelKind) -> TruthOptions:
    return TruthOptions(
        settings=Settings(embedder="hashing"),
        embedder=load_hashing,
        database_url=server_conninfo,
        lives=[life],
        model=model,
        faults=Faults(loses=0.3, invents=0.5, confuses=0.3, garbles=0.2),
    )


async def test_a_small_life_without_a_model(tmp_path: Path, server_conninfo: str, life: Life) -> None:
    report, lived = await run_truth(options(life, server_conninfo, "none"))
    overall = report["overall"]
    assert overall.current_in_prompt == 1.0
    assert overall.kinds["home"].questions == overall.kinds["past"].questions == 1
    assert overall.remembered == (1, 1)
    assert overall.forgotten_rows == overall.forgotten_found == 0
    assert "small" in shown_text(report, truth_content(report))
    assert "----- facts" in list(shown_lines(lived[0]))
    written = json.loads(write_result(report, tmp_path).read_text())
    assert written["sizes"] == {"lives": 1, "sessions": 2, "messages": 6, "questions": 2}
    assert written["settings"]["seed"] == 20261122
    assert {"commit", "versions", "model"} <= written["origin"].keys()


async def test_a_small_life_with_a_model_that_errs(server_conninfo: str, life: Life) -> None:
    report, lived = await run_truth(options(life, server_conninfo, "scripted"))
    overall = report["overall"]
    assert {"facts", "extraction", "episodic", "semantic"} <= overall.model["asked"].keys()
    assert "unknown" not in overall.model["asked"]
    assert overall.model["faults"]["invents"] > 0
    assert overall.invented_rows == sum(found.rows for found in lived[0].invented)
    assert INVENTED not in "".join(lived[0].files.values())
    assert "the scripted model" in shown_text(report, truth_content(report))
