"""The baselines rank as their names say, overrides change the rules they name."""

import json

import numpy as np
import pytest

from reverie_bench.recall.baselines import Bm25, Grep, best, by_chance, by_vector
from reverie_bench.recall.metrics import Bucket, bucketed
from reverie_bench.recall.variant import default_variant, with_overrides
from reverie_indexer.errors import ValidationFailed

TEXTS = ["The otter swam", "A heron and an otter", "Otters, herons, otters", "Nothing of the kind"]


def test_grep_counts_distinct_words_found_anywhere_and_prefers_the_newer() -> None:
    assert Grep(TEXTS).search("otter OTTER heron?") == [2, 1, 0]


def test_grep_finds_nothing_where_no_word_occurs() -> None:
    assert Grep(TEXTS).search("zebra") == []


def test_bm25_takes_whole_words_only_and_leaves_out_what_shares_none() -> None:
    assert Bm25([*TEXTS, "More", "And more", "Still more"]).search("heron otter") == [1, 0]


def test_vectors_rank_by_cosine() -> None:
    units = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
    assert by_vector(np.array([0, 1], np.float32), units) == [2, 1, 0]


def test_equal_scores_go_to_the_newer_unit() -> None:
    assert best([0.5, 1.0, 0.5]) == [1, 2, 0]


def test_chance_follows_its_seed() -> None:
    first, again, other = (by_chance(500, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 100


def test_an_override_of_one_weight_sets_the_other() -> None:
    weights = with_overrides(default_variant("english"), ["text_weight=0.45"]).search.weights
    assert (weights.text, weights.vector) == (0.45, 0.55)


def test_overrides_reach_search_and_index_rules() -> None:
    default = default_variant("english")
    variant = with_overrides(default, ["hnsw_ef_search=40", "chunk_max_chars = 300", "frequent_share=0.2"])
    assert (variant.search.hnsw_ef_search, variant.index.chunk_max_chars) == (40, 300)
    assert variant.search.frequent_share == 0.2
    assert with_overrides(default, []) == default


@pytest.mark.parametrize("override", ["nonsense=1", "text_weight", "hnsw_ef_search=many", "language=dutch"])
def test_an_override_that_cannot_be_is_refused(override: str) -> None:
    with pytest.raises(ValidationFailed):
        with_overrides(default_variant("english"), [override])


def test_rules_of_a_result_can_be_written_down() -> None:
    rules = json.loads(json.dumps(default_variant("english").as_dict()))
    assert rules["search"]["weights"]["text"] == 0.3
    assert rules["index"]["chunk_max_chars"] == 1000


def test_relevance_is_counted_in_steps_and_1_belongs_to_the_last() -> None:
    judged = [(0.0, False), (0.04, True), (0.3, True), (0.34, False), (0.35, True), (1.0, True)]
    assert bucketed(judged) == [
        Bucket(0.0, 0.05, 2, 1),
        Bucket(0.3, 0.35, 2, 1),
        Bucket(0.35, 0.4, 1, 1),
        Bucket(0.95, 1.0, 1, 1),
    ]
