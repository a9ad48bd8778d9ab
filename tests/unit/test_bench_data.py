"""Data files become notes, units and questions. All texts here are made up."""

import json
from pathlib import Path
from typing import Any

import pytest

from reverie_bench.data import Unit, conversations, load, paragraphs
from reverie_bench.recall.memory import UnitsByLine
from reverie_bench.recall.run import language_of
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.chunk import chunk


def turn(dia_id: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": dia_id, "speaker": speaker, "text": text, **more}


def asked(question: str, category: int, *evidence: str) -> dict[str, Any]:
    return {"question": question, "answer": "-", "category": category, "evidence": list(evidence)}


TALK = {
    "conversation": {
        "speaker_a": "Ito",
        "speaker_b": "Bea",
        "session_2_date_time": "12:05 am on 3 March, 2031",
        "session_2": [turn("D2:1", "Bea", "The kiln\n\n# broke again")],
        "session_1_date_time": "1:30 pm on 28 February, 2031",
        "session_1": [
            turn("D1:1", "Ito", "Hello"),
            turn("D1:2", "Bea", "Look", blip_caption="a photo of a blue vase"),
        ],
        "session_10_date_time": "11:40 am on 3 March, 2031",
        "session_10": [turn("D10:1", "Ito", "I called the electrician")],
        "session_11_date_time": "8:00 am on 9 March, 2031",
        "session_12_date_time": "8:00 am on 10 March, 2031",
        "session_12": [],
    },
    "qa": [
        asked("What broke?", 4, "D2:1"),
        asked("What is on the photo and who was called?", 1, "D1:2; D10:1"),
        asked("When did it break?", 2, "D:2:1", "D"),
        asked("Where is it?", 3),
        asked("Who paid?", 4, "D10:9"),
        asked("What did nobody say?", 5, "D1:1"),
    ],
}


def test_sessions_become_daily_notes_with_one_line_a_turn() -> None:
    [collection] = conversations([TALK]).collections
    assert collection.notes == {
        "memory/2031-02-28.md": "# 2031-02-28\n\nIto: Hello\n\nBea: Look [shares a photo of a blue vase]\n",
        "memory/2031-03-03.md": "# 2031-03-03\n\nBea: The kiln # broke again\n\nIto: I called the electrician\n",
    }


def test_sessions_of_one_day_share_its_note_in_the_order_of_time() -> None:
    [collection] = conversations([TALK]).collections
    assert [(unit.path, unit.start_line) for unit in collection.units] == [
        ("memory/2031-02-28.md", 3),
        ("memory/2031-02-28.md", 5),
        ("memory/2031-03-03.md", 3),
        ("memory/2031-03-03.md", 5),
    ]


def test_a_unit_is_what_its_lines_hold() -> None:
    [collection] = conversations([TALK]).collections
    for unit in collection.units:
        lines = collection.notes[unit.path].split("\n")
        assert unit.text == "\n".join(lines[unit.start_line - 1 : unit.end_line])


def test_evidence_is_split_where_it_is_joined_and_read_where_it_is_misspelt() -> None:
    [collection] = conversations([TALK]).collections
    assert [(q.category, sorted(q.relevant)) for q in collection.questions] == [
        ("4 single-hop", [2]),
        ("1 multi-hop", [1, 3]),
        ("2 temporal", [2]),
    ]


def test_questions_without_evidence_are_dropped_and_counted_apart_from_unanswerable_ones() -> None:
    corpus = conversations([TALK])
    assert (corpus.dropped, corpus.left_out) == (2, 1)


def test_chunks_of_a_note_touch_the_turns_they_hold() -> None:
    [collection] = conversations([TALK]).collections
    by_line = UnitsByLine(collection.units)
    path = "memory/2031-03-03.md"
    touched = [by_line.touched(path, c.start_line, c.end_line) for c in chunk(collection.notes[path])]
    assert touched == [(2,), (3,)]
    assert by_line.touched(path, 1, 9) == (2, 3)
    assert by_line.touched(path, 1, 2) == ()
    assert by_line.touched("AGENTS.md", 1, 99) == ()


def test_a_paragraph_is_a_note_and_a_unit() -> None:
    raw = {
        "data": [
            {"title": "-", "paragraphs": [{"context": "Erste Zeile.\nZweite.", "qas": [{"question": "Eins?"}]}]},
            {
                "title": "-",
                "paragraphs": [{"context": "Anderes.", "qas": [{"question": "Zwei?"}, {"question": "Drei?"}]}],
            },
        ]
    }
    corpus = paragraphs(raw)
    [collection] = corpus.collections
    assert collection.notes == {"notes/000.md": "Erste Zeile.\nZweite.", "notes/001.md": "Anderes."}
    assert collection.units[0] == Unit("notes/000.md", 1, 2, "Erste Zeile.\nZweite.")
    assert [(q.text, q.relevant) for q in collection.questions] == [
        ("Eins?", {0}),
        ("Zwei?", {1}),
        ("Drei?", {1}),
    ]


def test_the_format_is_told_by_its_shape(tmp_path: Path) -> None:
    talk, texts = tmp_path / "a.json", tmp_path / "b.json"
    talk.write_text(json.dumps([TALK]))
    texts.write_text(json.dumps({"data": [{"paragraphs": [{"context": "x", "qas": []}]}], "version": "1"}))
    assert (load(talk).kind, load(texts).kind) == ("conversations", "paragraphs")


@pytest.mark.parametrize("content", ["not json", "[]", '{"rows": []}', "[1]"])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(ValidationFailed):
        load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValidationFailed, match="there is no file"):
        load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("locomo_dev.json", "english"),
        ("xquad.zh.json", "chinese"),
        ("xquad.es.json", "spanish"),
        ("x.vi.json", "simple"),
    ],
)
def test_the_language_is_that_of_the_file_name(name: str, language: str) -> None:
    assert language_of(Path(name)) == language
