"""The benchmark's figures are those worked out by hand."""

import math

import pytest

from reverie_bench.recall.metrics import (
    Depths,
    Found,
    estimate_tokens,
    mean,
    measure,
    ndcg,
    paired_bootstrap,
    reciprocal_rank,
    unit_ranking,
)


def found(*units: int, tokens: int = 10) -> list[Found]:
    return [Found((unit,), tokens) for unit in units]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("漢字かな한", 5),
        ("привет", 4),
        ("né", 2),
        ("ab漢字", 3),
        ("ยา", 2),
    ],
)
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_recall_counts_any_all_and_the_fraction_of_evidence() -> None:
    scores = measure(found(7, 3, 9, 5), frozenset({3, 5, 8}), Depths(recalls=(1, 2, 4)))
    assert [scores[f"any@{k}"] for k in (1, 2, 4)] == [0, 1, 1]
    assert [scores[f"fraction@{k}"] for k in (1, 2, 4)] == pytest.approx([0, 1 / 3, 2 / 3])
    assert [scores[f"all@{k}"] for k in (1, 2, 4)] == [0, 0, 0]
    assert measure(found(5, 3, 8), frozenset({3, 5, 8}), Depths(recalls=(3,)))["all@3"] == 1


def test_a_hit_is_counted_from_its_rank_on() -> None:
    scores = measure(found(4, 2), frozenset({2}), Depths(hits=(1, 5)))
    assert (scores["hit@1"], scores["hit@5"], scores["mrr"]) == (0, 1, 0.5)


def test_ndcg_is_the_discounted_gain_over_that_of_the_ideal_list() -> None:
    # Relevant at ranks 2 and 4: 1/log2(3) + 1/log2(5) over 1/log2(2) + 1/log2(3) + 1/log2(4).
    expected = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 0.5)
    assert ndcg([9, 1, 8, 2], frozenset({1, 2, 3}), 10) == pytest.approx(expected)
    assert expected == pytest.approx(0.498_189, abs=1e-6)


def test_ndcg_can_be_1_when_more_is_relevant_than_is_looked_at() -> None:
    assert ndcg([1, 2], frozenset({1, 2, 3}), 2) == 1


def test_the_reciprocal_rank_is_of_the_first_relevant_unit() -> None:
    assert reciprocal_rank([5, None, 3, 1], frozenset({1, 3})) == pytest.approx(1 / 3)
    assert reciprocal_rank([5], frozenset({1})) == 0
    assert reciprocal_rank([], frozenset({1})) == 0


def test_a_unit_found_twice_takes_one_place_and_a_foreign_passage_takes_one_too() -> None:
    passages = [Found((4,), 1), Found((), 1), Found((4, 6), 1), Found((), 1), Found((1,), 1)]
    assert unit_ranking(passages) == [4, None, 6, None, 1]


def test_the_budget_ends_before_the_first_passage_that_does_not_fit() -> None:
    passages = [Found((1,), 60), Found((2, 3), 40), Found((4,), 50), Found((5,), 1)]
    relevant = frozenset({1, 3, 4, 5})
    scores = measure(passages, relevant, Depths(budgets=(59, 100, 149, 151)))
    assert [scores[f"within_{n}"] for n in (59, 100, 149, 151)] == [0, 0.5, 0.5, 1]


def test_nothing_found_scores_nothing() -> None:
    scores = measure([], frozenset({1}), Depths(hits=(1,), recalls=(5,), budgets=(500,)))
    assert set(scores.values()) == {0}


def test_the_mean_is_over_questions() -> None:
    assert mean([{"mrr": 1.0, "hit@1": 1.0}, {"mrr": 0.25, "hit@1": 0.0}]) == {"mrr": 0.625, "hit@1": 0.5}


def test_a_constant_lead_has_no_width() -> None:
    ours = [{"mrr": 0.75}, {"mrr": 0.5}, {"mrr": 1.0}]
    theirs = [{"mrr": 0.5}, {"mrr": 0.25}, {"mrr": 0.75}]
    lead = paired_bootstrap(ours, theirs, seed=1, resamples=200)["mrr"]
    assert (lead.mean, lead.low, lead.high) == (0.25, 0.25, 0.25)


def test_the_interval_of_a_lead_is_that_of_its_standard_error() -> None:
    # Differences 1 and 0, half each, of 400 questions: 0.5 ± 1.96 · 0.5 / √400.
    ours = [{"mrr": float(i % 2)} for i in range(400)]
    theirs = [{"mrr": 0.0}] * 400
    lead = paired_bootstrap(ours, theirs, seed=7, resamples=20_000)["mrr"]
    assert lead.mean == 0.5
    assert lead.low == pytest.approx(0.451, abs=0.004)
    assert lead.high == pytest.approx(0.549, abs=0.004)


def test_the_same_seed_gives_the_same_interval() -> None:
    ours = [{"mrr": 1 / (1 + i % 5)} for i in range(50)]
    theirs = [{"mrr": 1 / (1 + i % 3)} for i in range(50)]
    first, again, other = (paired_bootstrap(ours, theirs, seed=seed, resamples=300) for seed in (3, 3, 4))
    assert first == again
    assert first != other
