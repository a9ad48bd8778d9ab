"""Tests of what the trees that weigh changes in whole lives are made of, and how well they are said to do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from reverie_bench.changes.whole_lives import LifePair, Said, how_well, pairs_of, said_in
from reverie_bench.tree_fit import TreeSizes, fit_trees, trees_file_of
from reverie_bench.truth.life import Life, read_life
from reverie_indexer.embed.built_in import E5
from reverie_server.heuristics.changes.change_pairs import COLUMNS, pair_models, units_of
from reverie_server.heuristics.trees import read_trees

LIFE = """
language = "english"
first_day = 2026-03-02
remembered = []
forgotten = []
profile = {}

[[session]]
day = 0
at = 600
talk = '''
user: ok. {old|i walk the canal} slower than the ducks now. {worth|my dog is called Bess}.

assistant: Good.
'''

[[session]]
day = 9
at = 600
talk = '''
user: no canal any more. {worth|i swim at the baths} instead
'''

[[question]]
ask = "What do I do for exercise?"
current = ["swim"]
old = ["canal"]
kind = "habit"
"""


@pytest.fixture
def life(tmp_path: Path) -> Life:
    path = tmp_path / "en_one.toml"
    path.write_text(LIFE, encoding="utf-8")
    return read_life(path, held=False)


def test_sentences_are_those_of_the_server_with_what_their_tags_say(life: Life) -> None:
    said = said_in(life)
    assert [(each.sentence, each.is_over, each.holds) for each in said] == [
        ("ok.", False, False),
        ("i walk the canal slower than the ducks now.", True, False),
        ("my dog is called Bess.", False, True),
        ("no canal any more.", False, False),
        ("i swim at the baths instead", False, True),
    ]
    assert [sorted(each.over) for each in said] == [[], [0], [], [], []]
    assert [sorted(each.answers) for each in said] == [[], [0], [], [0], [0]]


def test_a_later_sentence_ends_what_answers_the_same_question_and_is_over(life: Life) -> None:
    said = said_in(life)
    texts = {text for each in said for text in (each.sentence, *units_of(each.sentence))}
    # All are alike, so that all are compared.
    vectors = dict.fromkeys(texts, np.full(E5.shape.hidden, E5.shape.hidden**-0.5, np.float32))
    pairs = pairs_of(life, said, vectors, vectors, pair_models()[E5.name])
    ends = {(each.old.sentence, each.new.sentence) for each in pairs if each.ends}
    assert {new for _, new in ends} <= {"no canal any more.", "i swim at the baths instead"}
    assert {old for old, _ in ends} == {"i walk the canal slower than the ducks now."}
    assert {each.row[COLUMNS.index("days")] for each in pairs} == {9}
    assert all(each.old.said_at < each.new.said_at for each in pairs)


def said(number: int, *, is_over: bool = False, holds: bool = False) -> Said:
    at = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=number)
    return Said(f"{number}", number, at, is_over, holds, frozenset({0} if is_over else ()), frozenset({0}))


def test_each_sentence_marks_what_it_likeliest_ends() -> None:
    over, other_over, holding = said(0, is_over=True), said(1, is_over=True), said(2, holds=True)
    row = np.zeros(1, np.float32)

    def pair(old: Said, new: int) -> LifePair:
        return LifePair("en_one", old, said(new), row)

    pairs: Sequence[LifePair] = [pair(over, 7), pair(holding, 7), pair(holding, 8), pair(other_over, 9)]
    told = how_well(pairs, np.array([2.0, 1.0, 0.5, -1.0]))
    assert told.startswith("2 superseded; 0.2 marked, right 1.00 (0 that hold; from 2.0 on)")
    assert "0.6 marked, right 0.67 (1 that hold; from -1.0 on)" in told


def test_trees_are_read_back_as_they_were_fitted() -> None:
    rows = np.random.default_rng(7).random((400, 3)).astype(np.float32)
    is_of_kind = rows[:, 1] > 0.6
    fitted = fit_trees(rows, is_of_kind, TreeSizes(trees=20, depth=2, fewest=5))
    again = read_trees(trees_file_of(fitted))
    assert again.log_odds(rows) == pytest.approx(fitted.log_odds(rows), abs=1e-3)
    assert ((fitted.log_odds(rows) > 0) == is_of_kind).mean() > 0.95
    # What weighs less is less likely.
    lighter = fit_trees(rows, is_of_kind, TreeSizes(trees=20, depth=2, fewest=5), np.where(is_of_kind, 0.2, 1.0))
    assert lighter.log_odds(rows[is_of_kind]).mean() < fitted.log_odds(rows[is_of_kind]).mean()
