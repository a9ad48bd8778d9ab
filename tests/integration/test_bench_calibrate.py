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
        {"category": "greeting", "message": "Good morning!"},
    ],
}
GERMAN_TURNS: dict[str, Any] = {
    "language": "german",
    "memory": {"notizen.md": ["- Der Kaktus blüht im August.", "- Die Fähre legt um sieben ab."]},
    "turns": [
        {"category": "direct", "message": "Wann blüht der Kaktus?", "evidence": ["Kaktus blüht"]},
        {
            "category": "follow-up",
            "message": "Und um wie viel Uhr?",
            "recent": ["Fährt die Fähre noch?"],
            "evidence": ["legt um sieben"],
        },
        {"category": "general", "message": "Wie schwer wird ein Elefant?"},
        {"category": "near miss", "message": "Welche Fähre fuhr in der Antike nach Zypern?"},
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
    (turns / "more").mkdir()
    (turns / "more" / "german.json").write_text(json.dumps(GERMAN_TURNS))
    folders = (turns, turns / "more")
    return CalibrationOptions(data=(path,), embedder=load_hashing, turns=folders, database_url=server_conninfo)


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(256)


async def test_three_formulas_are_fitted_on_what_search_gives(options: CalibrationOptions) -> None:
    report = await run_calibration(options)
    assert (report.sizes["collections"], report.sizes["questions"], report.sizes["turns"]) == (3, 9, 10)
    assert {name: list(each.formula.slopes) for name, each in report["calibrations"].items()} == {
        "asked": ["contrast", "idf_share", "named", "unknown_name"],
        "unasked": ["contrast", "idf_share", "named", "unknown_name", "personal"],
        "words": ["idf_share", "named"],
    }
    for name, calibration in report["calibrations"].items():
        # Nine questions asked in three ways, and nine turns; one more has no answer. A greeting counts for words alone.
        assert calibration.messages == 3 * 9 + (9 if name == "words" else 8)
        assert len(calibration.left_out) == 5
        assert {group: list(each) for group, each in calibration.by_category.items()} == {
            "should": ["direct", "follow-up"],
            "unrelated": ["general", "greeting"] if name == "words" else ["general"],
            "near miss": ["near miss"],
        }
    words = report["calibrations"]["words"]
    assert words.formula.slopes["idf_share"] > 0
    verdict = words.verdicts["fitted"]
    assert set(verdict.found) == {"own", "elsewhere", "swapped", "should", "unrelated", "near miss"}
    assert (verdict.found["own"], verdict.right["own"], verdict.found["elsewhere"]) == (1, 1, 0)
    assert verdict.found["unrelated"] == 0
    # No word of the follow-up is in its memory; the messages before it are embedded with it, and only there.
    assert verdict.right["should"] == 0.75


async def test_the_same_run_gives_the_same_fit(options: CalibrationOptions) -> None:
    first, again = [await run_calibration(options) for _ in range(2)]
    assert first["calibrations"] == again["calibrations"]


async def test_a_calibration_holds_figures_and_no_text_of_the_data(options: CalibrationOptions, tmp_path: Path) -> None:
    report = await run_calibration(options)
    shown = shown_text(report, relevance_content(report))
    path = write_result(report, tmp_path / "results")
    written = path.read_text()
    for secret in (*TALKS, "Marek", "kiln", "comet", "parrot", "Kaktus", "conv-secret", "D1:1", str(tmp_path)):
        assert secret not in written
        assert secret not in shown
    assert path.name == "relevance-words-pairs-trigrams.json"
    result = json.loads(written)
    assert len(result["data"]["sha256"]) == 64
    assert set(result["origin"]) == {"commit", "dirty", "versions", "machine", "model", "duration_seconds"}
    fitted = result["calibrations"]["words"]["formula"]
    assert f"σ({fitted['slopes']['idf_share']:.2f}·idf_share " in shown
    assert f" − {-fitted['offset']:.2f})" in shown
    assert "should: follow-up" in shown
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


async def test_one_set_of_turns_is_too_little_to_leave_one_out(options: CalibrationOptions) -> None:
    with pytest.raises(ValidationFailed, match="2 sets of turns"):
        await run_calibration(replace(options, turns=options.turns[:1]))
