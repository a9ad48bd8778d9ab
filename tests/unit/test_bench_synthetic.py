"""Made memories: sentence pairs, their terms, Zipf's sizes, queries, vectors in clusters."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from reverie_bench.data import Collection, Corpus, Question, Unit
from reverie_bench.scale.explain import Read, read_by
from reverie_bench.scale.layout import FIXED, OTHERS, layout
from reverie_bench.scale.measure import by_relation
from reverie_bench.synthetic.text import (
    Pairing,
    made_up_sentences,
    merged_postings,
    pool_of,
    queries,
    questions_of,
    sentences_of,
    zipf_sizes,
)
from reverie_bench.synthetic.vectors import Mixture
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import analyse


def test_zipf_gives_everything_out_and_more_to_the_first() -> None:
    # Of the 8 beyond one each, rounded on the way: 4.4, then 6.5, then 8.
    assert zipf_sizes(11, 3) == [5, 4, 2]
    sizes = zipf_sizes(100_000, 200)
    assert sum(sizes) == 100_000
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] / sizes[9] == pytest.approx(10, rel=0.01)
    assert zipf_sizes(3, 3) == [1, 1, 1]
    with pytest.raises(ValidationFailed):
        zipf_sizes(2, 3)


def test_no_pair_of_sentences_comes_twice_and_a_seed_decides_the_order() -> None:
    left, right = Pairing(7, seed=1).pairs(0, 49)
    assert len(set(zip(left.tolist(), right.tolist(), strict=True))) == 49
    later, _ = Pairing(7, seed=1).pairs(10, 5)
    assert later.tolist() == left[10:15].tolist()
    assert Pairing(7, seed=2).pairs(0, 49)[0].tolist() != left.tolist()
    with pytest.raises(ValidationFailed):
        Pairing(7, seed=1).pairs(40, 10)


def test_the_postings_of_pairs_are_those_of_their_text() -> None:
    sentences = [*made_up_sentences(3, 20), 'He said "stop" to don\'t_know.txt at 9.', "It was the and of what?"]
    pool = pool_of(sentences, [])
    # Stop words alone are no sentence: what they add depends on what stands beside them.
    assert len(pool.sentences) == 21
    left, right = Pairing(21, seed=1).pairs(0, 60)
    terms, passages, tfs = merged_postings(pool, left, right)
    found: dict[int, Counter[str]] = {passage: Counter() for passage in range(60)}
    for term, passage, tf in zip(terms.tolist(), passages.tolist(), tfs.tolist(), strict=True):
        found[passage][pool.terms[term]] = tf
    texts = [f"{pool.sentences[a]} {pool.sentences[b]}" for a, b in zip(left, right, strict=True)]
    assert list(found.values()) == [Counter(analyse(text)) for text in texts]
    order = list(zip(terms.tolist(), passages.tolist(), strict=True))
    assert order == sorted(order)
    assert list(pool.terms) == sorted(pool.terms, key=str.encode)


def test_a_pool_takes_real_texts_apart_and_leaves_markdown_out() -> None:
    texts = [
        "First sentence of it. Second sentence  here!",
        "# Not this one, it is a heading",
        "Nor `this` one, please.",
    ]
    units = [Unit("a.md", 1, 1, text) for text in texts]
    corpus = Corpus("paragraphs", [Collection({}, units, [Question("What?", frozenset({0}), None)])], 0, 0)
    assert sentences_of([corpus]) == ["First sentence of it.", "Second sentence here!"]
    assert questions_of([corpus]) == ["What?"]
    with pytest.raises(ValidationFailed, match="two sentences"):
        pool_of(["Only one sentence."], [])


@pytest.mark.parametrize("questions", [[], ["Who moved the review?", "When was the kettle repaired?"] * 5])
def test_queries_never_repeat_and_a_seed_decides_them(questions: list[str]) -> None:
    pool = pool_of(made_up_sentences(3, 200), questions)
    # Two questions are soon spliced in every way there is.
    first = list(islice(queries(pool, 5), 50))
    assert len(set(first)) == len(first)
    assert first == list(islice(queries(pool, 5), len(first)))
    assert set(first) >= set(questions)


def test_vectors_are_of_unit_length_and_lie_in_an_owners_clusters() -> None:
    mixture = Mixture(1, 96)
    points = mixture.points(owner=4, stream=0, chunks=200, number=200)
    assert points.shape == (200, 96)
    assert np.linalg.norm(points.astype(np.float32), axis=1) == pytest.approx(np.ones(200), abs=2e-3)
    assert (mixture.points(4, 0, 200, 200) == points).all()

    def nearest(of: np.ndarray) -> float:
        return float((of.astype(np.float32) @ points.astype(np.float32).T).max(axis=1).mean())

    # Other points of the same owner are near, another owner's are not.
    assert nearest(mixture.points(4, 1000, 200, 50)) > nearest(mixture.points(5, 1000, 200, 50)) + 0.15


def test_the_owners_of_a_table_are_all_of_it_and_the_fixed_ones_the_same_in_each() -> None:
    small, large = layout(20_000), layout(1_000_000)
    for chunks, each in ((20_000, small), (1_000_000, large)):
        assert sum(owner.chunks for owner in each.owners) == chunks
        assert len({owner.number for owner in each.owners}) == len(each.owners)
        assert len({owner.owner_key for owner in each.owners}) == len(each.owners)
        assert len(each.owners) >= OTHERS
        assert each.owners[: len(FIXED)] == tuple(asker.owner for asker in each.fixed)
    assert small.fixed == large.fixed
    assert [asker.owner.chunks for asker in large.others[:4]] == [100_000, 10_000, 1000, 100]
    assert large.others[0].prefixes == (("part-10", 0.1), ("part-1", 0.01))
    # What would be most of a small table is left out of it.
    assert [asker.owner.chunks for asker in layout(1000).fixed] == [100]
    with pytest.raises(ValidationFailed):
        layout(999)


def test_what_a_plan_read_is_counted_once_for_buffers_and_by_loops_for_rows() -> None:
    scan = {
        "Node Type": "Index Only Scan", "Relation Name": "postings", "Actual Rows": 3.0, "Actual Loops": 2,
        "Rows Removed by Filter": 1, "Shared Hit Blocks": 5,
    }  # fmt: skip
    cte = {"Node Type": "CTE Scan", "Actual Rows": 100, "Actual Loops": 1}
    plan = {"Node Type": "Nested Loop", "Shared Hit Blocks": 9, "Shared Read Blocks": 2, "Plans": [scan, cte]}
    assert read_by(plan) == Read(buffers=11, rows=8)
    assert Read(1, 2) + Read(3, 4) == Read(4, 6)


def test_the_partitions_of_single_slices_are_told_together() -> None:
    sizes = by_relation(
        [
            ("vectors_0", "vectors_0", False, 2_000_000),
            ("vectors_0_covering", "vectors_0", True, 3_000_000),
            ("vectors_12", "vectors_12", False, 1_000_000),
            ("vectors_7", "vectors_7", False, 500_000),
            ("vectors_7_embedding_1", "vectors_7", True, 700_000),
            ("vectors_7_pkey", "vectors_7", True, 200_000),
            ("keys", "keys", False, 8192),
        ]
    )
    assert sizes == {
        "vectors_0": 2.0,
        "vectors_0_covering": 3.0,
        "own partitions, tables": 1.5,
        "own partitions, hnsw indexes": 0.7,
        "own partitions, other indexes": 0.2,
    }
