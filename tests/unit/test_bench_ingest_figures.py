"""The figures of the ingest and start-up benchmarks, and the parts of a folder, worked by hand."""

from __future__ import annotations

import pytest

from reverie_bench.ingest.figures import (
    Indexing,
    appends_figures,
    folder_figures,
    memory_figures,
    resume_figures,
    way_figures,
)
from reverie_bench.ingest.folder import made_up_notes, notes_of, parts_of, texts_of
from reverie_bench.load.command import Usage
from reverie_bench.startup.run import MODEL, PYTHON, figures
from reverie_indexer.text.passages import Rules, passages_of


def test_the_ratio_is_of_sums_and_not_a_mean_of_ratios() -> None:
    found = folder_figures([10, 30], whole=[2.0, 6.0], alone=[1.0, 6.0])
    assert (found["ratio"], found["ratio_by_part"]) == (7 / 8, [0.5, 1.0])
    assert (found["chunks_per_second"], found["model_chunks_per_second"]) == (5.0, 40 / 7)


def test_appends_are_compared_with_the_same_calls_and_with_one_batch() -> None:
    found = appends_figures([0.01, 0.02, 0.05], 4, one_by_one=0.04, together=0.02)
    assert (found["ratio_to_the_same_calls"], found["ratio_to_one_batch"]) == pytest.approx((0.5, 0.25))
    assert (found["append_ms_p50"], found["passages"]) == (20.0, 4)


def test_a_way_over_the_api_is_compared_with_one_batch_of_the_model() -> None:
    found = way_figures(20, 60, 4.0, 3.0, 0.5)
    assert (found["ratio"], found["items_per_second"], found["passages_per_second"]) == (0.75, 5.0, 15.0)
    assert found["own_cpu_ms_per_item"] == 25.0


def test_memory_is_bounded_when_growth_is_one() -> None:
    def run(chunks: int, seconds: float, peak: float) -> Indexing:
        return Indexing(5, 0, chunks, seconds, 1.0, peak)

    found = memory_figures((run(100, 9.0, 300.0), run(0, 1.0, 90.0)), (run(400, 30.0, 330.0), run(0, 2.0, 90.0)))
    assert (found["growth"], found["chunks_ratio"]) == (1.1, 4.0)
    assert found["command_times_faster_unchanged"] == {"one part": 9.0, "all parts": 15.0}


def test_what_is_done_twice_after_a_kill_is_counted() -> None:
    before = {"files": 4, "chunks": 3, "chunk_ids": [1, 2, 3], "passages": 5, "versions": 1}
    after = {"files": 9, "chunks": 8, "chunk_ids": [2, 3, 4, 5, 6, 7, 8, 9], "passages": 11, "versions": 2}
    found = resume_figures(before, after, Indexing(6, 3, 5, 1.0, 1.0, 1.0))
    assert (found["done_again"], found["chunks_made_anew"]) == (1, 1)
    assert found["passages_embedded_by_the_second_run"] == 6


def test_parts_hold_every_note_once_and_about_as_many_passages() -> None:
    notes, rules = made_up_notes(7), Rules()
    parts = parts_of(notes, 4, 7, rules)
    assert parts == parts_of(made_up_notes(7), 4, 7, rules)
    assert sorted(path for part in parts for path in part) == sorted(notes)
    counts = [sum(len(passages_of(path, text, rules)) for path, text in part.items()) for part in parts]
    largest = max(len(passages_of(path, text, rules)) for path, text in notes.items())
    assert max(counts) - min(counts) <= largest
    assert notes_of([]) == {}


def test_a_passage_that_two_notes_share_is_embedded_once() -> None:
    assert len(texts_of({"a.md": "the same\n\nof a", "b.md": "the same\n\nof b"}, Rules())) == 3


def test_start_up_is_told_in_medians_and_ratios() -> None:
    usages = {
        PYTHON: [Usage(0.01, 0.01), Usage(0.02, 0.02), Usage(0.3, 0.3)],
        MODEL: [Usage(1.0, 0.5)],
        "serve": [Usage(2.0, 1.5)],
    }
    found = figures(usages)["serve"]
    assert (found["seconds_to_python"], found["seconds_to_model"]) == (100.0, 2.0)
    assert (found["cpu_to_python"], found["cpu_to_model"]) == (75.0, 3.0)
