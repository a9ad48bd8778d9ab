"""What neighbours add to a passage, worked by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search_candidates import candidates_of

from reverie_server.search.evidence import context_evidence, named_speakers, speaker_match, speakers_of

IDFS = {"lantern": 2.0, "harbour": 1.0}
# A third term, of weight 1, stands nowhere.
QUERY_IDF = 4.0
Passage = dict[str, Any]


def found(ordinal: int, *terms: str, cosine: float | None = None, document: int | None = 1) -> Passage:
    return {
        "chunk_id": ordinal,
        "document_id": document,
        "ordinal": ordinal,
        "bm25": 0.0,
        "terms": terms,
        "similarity": cosine,
        "tier": "document",
        "path": "a.md",
        "start_line": 1,
        "end_line": 1,
        "text": "",
        "scope": "team",
        "owner_key": None,
        "updated_at": datetime(2026, 4, 3, tzinfo=UTC),
    }


def gathered(proposed: list[Passage], neighbours: list[Passage] | None = None) -> list[tuple[float, float | None]]:
    """(coverage, similarity of the neighbours) of each proposed passage."""
    evidence = context_evidence(
        candidates_of(proposed, neighbours or [], IDFS), np.array(list(IDFS.values())), QUERY_IDF
    )
    similarities = [None if np.isnan(cosine) else float(cosine) for cosine in evidence.neighbour_similarity]
    return list(zip(evidence.coverage.tolist(), similarities, strict=True))


def test_neighbours_on_both_sides_count_once_each() -> None:
    """(2 + 0.8 x 1) / 4 of the query's weight; the higher cosine is 0.6."""
    before = found(4, "harbour", cosine=0.2)
    after = found(6, "harbour", "lantern", cosine=0.6)
    passage = found(5, "lantern", cosine=0.1)
    assert gathered([passage], [before, after]) == [(pytest.approx(0.7), 0.6)]
    # A neighbour may be a candidate itself.
    assert gathered([after, passage, before])[1] == (pytest.approx(0.7), 0.6)


def test_the_ends_of_a_document_and_other_documents_are_no_neighbours() -> None:
    candidates = [found(0, "lantern"), found(1, "harbour", document=2), found(3, "harbour"), found(0, document=2**62)]
    assert gathered(candidates) == [(0.5, None), (0.25, None), (0.25, None), (0.0, None)]


def test_a_passage_two_away_counts_less() -> None:
    """(1 + 0.5 x 2) / 4 of the query's weight, and 0.9 x 0.8; nearer ones come before it."""
    passage, far = found(5, "harbour", cosine=0.1), found(7, "lantern", cosine=0.8)
    assert gathered([passage], [far]) == [(pytest.approx(0.5), pytest.approx(0.72))]
    near = found(6, "lantern", cosine=0.75)
    assert gathered([passage], [far, near]) == [(pytest.approx((1 + 0.8 * 2) / 4), 0.75)]


def test_the_end_of_one_document_and_the_beginning_of_the_next_are_no_neighbours() -> None:
    candidates = [found(7, "lantern", document=1), found(0, "harbour", document=2), found(0, document=3)]
    assert gathered(candidates) == [(0.5, None), (0.25, None), (0.0, None)]


def test_a_passage_of_no_document_stands_alone() -> None:
    candidates = [found(0, "lantern", document=None), found(1, "harbour", document=None)]
    assert gathered(candidates) == [(0.5, None), (0.25, None)]


def test_a_neighbour_without_its_vector_yet_says_nothing_of_meaning() -> None:
    candidates = [found(0, cosine=0.5), found(1, cosine=None), found(4, cosine=0.2)]
    assert [similarity for _, similarity in gathered(candidates)] == [None, 0.5, None]


def test_a_query_without_terms_is_covered_by_nothing() -> None:
    evidence = context_evidence(candidates_of([found(0)], [], {}), np.array([]), 0.0)
    assert (evidence.coverage.tolist(), np.isnan(evidence.neighbour_similarity).tolist()) == ([0.0], [True])


def test_of_nothing_there_is_no_evidence() -> None:
    assert gathered([]) == []


@given(st.lists(st.sets(st.sampled_from(sorted(IDFS))), max_size=8), st.randoms())
def test_coverage_is_what_a_passage_and_those_around_it_hold(matched: list[set[str]], random: Random) -> None:
    passages = [found(ordinal, *sorted(terms)) for ordinal, terms in enumerate(matched)]
    shuffled = random.sample(passages, len(passages))
    for passage, (coverage, _) in zip(shuffled, gathered(shuffled), strict=True):
        n = passage["ordinal"]
        counts = dict.fromkeys(IDFS, 0.0)
        for away, share in ((0, 1.0), (1, 0.8), (2, 0.5)):
            for row in (n - away, n + away):
                for term in matched[row] if 0 <= row < len(matched) else ():
                    counts[term] = max(counts[term], share)
        assert coverage == pytest.approx(sum(IDFS[term] * counts[term] for term in IDFS) / QUERY_IDF)


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Ada: I moved to Leeds.", "ada"),
        ("- **Ada Lovelace**: I moved.", None),
        ("- Ada Lovelace: I moved.", "ada lovelace"),
        ("[09:30] User: hello | Assistant: hi", "user"),
        ("李明: 我住在北京", "李明"),
        ("I moved to Leeds: it rains.", None),
        ("https://example.org is down", None),
        ("09:30: breakfast", None),
        ("", None),
        (":", None),
    ],
)
def test_a_label_before_a_colon_says_who_speaks(text: str, speaker: str | None) -> None:
    assert speakers_of([text]) == [speaker]


def test_only_names_of_several_passages_that_the_query_holds_in_full_are_meant() -> None:
    speakers = ["ada", "ada", "bob", "bob", "ada lovelace", "ada lovelace", "where", None]
    assert named_speakers("Where did ADA go with Bobby?", speakers) == {"ada"}
    assert named_speakers("Ada Lovelace?", speakers) == {"ada", "ada lovelace"}
    assert named_speakers("", speakers) == set()
    assert [speaker_match(s, {"ada"}) for s in ("ada", "bob", None)] == [1.0, 0.0, 0.5]
