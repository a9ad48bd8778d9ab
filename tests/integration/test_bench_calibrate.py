"""The calibration runs through the real pipeline and search on a real PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie_bench.recall.calibrate import CalibrationOptions, run_calibration
from reverie_bench.recall.report import relevance_content
from reverie_bench.report import write_result
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import ValidationFailed

from .bench_reports import shown_text

# Who speaks, what was said, what is asked of it. No word but the speaker's is in two of the conversations.
TALKS = {
    "Xanthe": {
        "The pottery kiln broke during the glaze firing": "What broke during the firing for Xanthe?",
        "Cousin Marek repairs bicycles": "Which cousin of Xanthe repairs bicycles?",
        "Tomatoes grow behind the shed": "What does Xanthe grow behind the shed?",
    },
    "Yorick": {
        "A comet passed over the observatory": "Which comet passed over the observatory of Yorick?",
        "Aunt Ludmila sells antique clocks": "Who sells antique clocks to Yorick?",
        "Snow closed the mountain road": "Did snow block the mountain road of Yorick?",
    },
    "Zelda": {
        "An otter lives under our bridge": "Which otter lives under the bridge near Zelda?",
        "Grandpa Piet carves chess figures": "Who carves chess figures for Zelda?",
        "Rain spoiled every picnic basket": "What spoiled the picnic of Zelda?",
    },
}


TURNS: dict[str, Any] = {
    "language": "english",
    "memory": {"notes.md": ["- The parrot whistles at noon.", "- The harp needs new strings."]},
    "turns": [
        {"category": "direct", "message": "When does the parrot whistle?", "evidence": ["parrot whistles"]},
        {"category": "direct", "message": "Which strings does the harp need?", "evidence": ["new strings"]},
        {"category": "general", "message": "How tall is a giraffe?"},
        {"category": "near miss", "message": "Which parrot speaks Latin and Greek in novels?"},
        {"category": "unanswered", "message": "What is the parrot's name?"},
    ],
}


def talk(speaker: str) -> dict[str, Any]:
    turns = [{"dia_id": f"D1:{i}", "speaker": speaker, "text": text} for i, text in enumerate(TALKS[speaker], 1)]
    return {
        "sample_id": "conv-secret",
        "conversation": {"session_1_date_time": "1:30 pm on 28 February, 2031", "session_1": turns},
        "qa": [
            {"question": question, "answer": "-", "category": 4, "evidence": [f"D1:{i}"]}
            for i, question in enumerate(TALKS[speaker].values(), 1)
        ],
    }


@pytest.fixture
def options(tmp_path: Path, server_conninfo: str) -> CalibrationOptions:
    path = tmp_path / "made_up.json"
    path.write_text(json.dumps([talk(speaker) for speaker in TALKS]))
    turns = tmp_path / "turns"
    turns.mkdir()
    (turns / "english.json").write_text(json.dumps(TURNS))
    return CalibrationOptions(data=(path,), embedder=load_hashing, turns=turns, database_url=server_conninfo)


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


async def test_both_formulas_are_fitted_on_what_search_gives(options: CalibrationOptions) -> None:
    report = await run_calibration(options)
    assert (report.sizes["collections"], report.sizes["questions"], report.sizes["turns"]) == (3, 9, 5)
    with_vector, without = report["calibrations"].values()
    assert with_vector.formula.contrast is not None
    assert without.formula.contrast is None
    assert without.formula.idf_share > 0
    # Nine questions asked in three ways, and four turns: the fifth has no answer, and neither a right one nor a wrong.
    assert with_vector.messages == without.messages == 3 * 9 + 4
    assert len(with_vector.left_out) == len(without.left_out) == 4
    verdict = without.verdicts["fitted"]
    assert set(verdict.found) == {"own", "elsewhere", "swapped", "should", "unrelated", "near miss"}
    assert (verdict.found["own"], verdict.right["own"], verdict.found["elsewhere"]) == (1, 1, 0)
    assert verdict.right["should"] == 1
    assert verdict.found["unrelated"] == 0


async def test_the_same_run_gives_the_same_fit(options: CalibrationOptions) -> None:
    first, again = [await run_calibration(options) for _ in range(2)]
    assert first["calibrations"] == again["calibrations"]


async def test_a_calibration_holds_figures_and_no_text_of_the_data(options: CalibrationOptions, tmp_path: Path) -> None:
    report = await run_calibration(options)
    shown = shown_text(report, relevance_content(report))
    path = write_result(report, tmp_path / "results")
    written = path.read_text()
    for secret in (*TALKS, "Marek", "kiln", "comet", "parrot", "conv-secret", "D1:1", str(tmp_path)):
        assert secret not in written
        assert secret not in shown
    assert path.name == "relevance.json"
    result = json.loads(written)
    assert len(result["data"]["sha256"]) == 64
    assert set(result["origin"]) == {"commit", "dirty", "versions", "machine", "model", "duration_seconds"}
    fitted = result["calibrations"]["with_vector"]["formula"]
    assert f"σ({fitted['contrast']:.2f}·contrast + {fitted['idf_share']:.2f}·idf_share" in shown
    assert "P(evidence | relevance)" in shown


async def test_two_conversations_or_paragraphs_are_too_little_to_fit_on(
    options: CalibrationOptions, tmp_path: Path
) -> None:
    two = [talk("Xanthe"), talk("Yorick")]
    paragraphs = {"data": [{"title": "-", "paragraphs": [{"context": "a b", "qas": [{"question": "a?"}]}]}]}
    for number, raw in enumerate((two, paragraphs)):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(raw))
        with pytest.raises(ValidationFailed, match="3 LoCoMo conversations"):
            await run_calibration(replace(options, data=(path,)))
