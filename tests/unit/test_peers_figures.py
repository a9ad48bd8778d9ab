"""The arithmetic and the verdicts of `benchmarks/peers`, and what is told of a run."""

from __future__ import annotations

import pytest
from benchmarks.peers.data import users_of
from benchmarks.peers.figures import as_found, foreign, percentile, sample, secrets_of

from reverie_bench.data import Collection, Corpus, Question, Unit
from reverie_bench.recall.metrics import Depths, measure


def test_a_percentile_is_the_nearest_rank() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [percentile(values, share) for share in (0.0, 0.5, 0.8, 0.95, 1.0)] == [1.0, 3.0, 4.0, 5.0, 5.0]


def test_what_is_no_item_of_the_user_keeps_its_place_in_the_list() -> None:
    found = as_found(["", "u0-7", "u1-0", "u0-2"], {"u0-2": 2, "u0-7": 7})
    scores = measure(found, frozenset({2}), Depths(recalls=(3, 4)))
    assert scores["mrr"] == pytest.approx(1 / 4)
    assert (scores["fraction@3"], scores["fraction@4"]) == (0.0, 1.0)


def test_another_users_item_is_foreign_and_the_peers_own_text_is_not() -> None:
    assert foreign(["u0-1", "", "u1-1", "u0-2"], {"u0-1", "u0-2"}) == ["u1-1"]


def test_the_leak_check_has_the_same_texts_for_both_but_for_a_word_of_their_own() -> None:
    ours, theirs = secrets_of("leak-a"), secrets_of("leak-b")
    for one, other in zip(ours, theirs, strict=True):
        assert one.question == other.question
        assert one.canary != other.canary
        assert one.text.replace(one.canary, "") == other.text.replace(other.canary, "")
        assert one.canary in one.text


def test_a_sample_is_spread_evenly_and_never_longer_than_what_there_is() -> None:
    texts = [str(number) for number in range(10)]
    assert sample(texts, 5) == ["0", "2", "4", "6", "8"]
    assert sample(texts, 50) == texts
    assert sample(texts, 3) == ["0", "3", "6"]
    assert sample([], 3) == []


def test_a_conversation_becomes_a_user_whose_items_carry_the_day_of_their_note() -> None:
    units = [Unit("memory/2023-05-08.md", 3, 3, "Ann: hello"), Unit("notes/001.md", 1, 1, "a paragraph")]
    collection = Collection({}, units, [Question("who?", frozenset({0}), "4 single-hop")])
    first, second = users_of(Corpus("conversations", [collection, collection, collection], 0, 0), 3, 2)
    assert (first.name, second.name) == ("u3", "u4")
    assert list(first.items) == [
        {"id": "u3-0", "text": "Ann: hello", "at": "2023-05-08"},
        {"id": "u3-1", "text": "a paragraph", "at": None},
    ]
    assert first.units == {"u3-0": 0, "u3-1": 1}
    assert list(second.questions) == [("who?", frozenset({0}))]
