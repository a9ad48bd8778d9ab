"""What neighbours add to a passage, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.recall.evidence import Evidence, Found, agreement, gather, named_speakers, speaker_of


def gathered(pool: list[Found], position: int, idfs: dict[str, float] | None = None) -> Evidence:
    """What is gathered for one of the pool."""
    [evidence] = gather(pool, [pool[position]], IDFS if idfs is None else idfs)
    return evidence


IDFS = {"lantern": 2.0, "harbour": 1.0, "absent": 1.0}


def found(ordinal: int, *matched: str, cosine: float | None = None, document: int | None = 1) -> Found:
    return Found(document, ordinal, frozenset(matched), cosine)


def test_neighbours_on_both_sides_count_once_each() -> None:
    """(2 + 0.8 x 1) / 4 of the query's weight; the higher cosine is 0.6."""
    pool = [
        found(4, "harbour", cosine=0.2),
        found(5, "lantern", cosine=0.1),
        found(6, "harbour", "lantern", cosine=0.6),
    ]
    assert gathered(pool, 1) == Evidence(pytest.approx(0.7), 0.6)


def test_the_ends_of_a_document_and_other_documents_are_no_neighbours() -> None:
    pool = [found(0, "lantern"), found(1, "harbour", document=2), found(2, "harbour")]
    assert gathered(pool, 0) == Evidence(0.5, None)
    assert gathered(pool, 1) == Evidence(0.25, None)


def test_a_passage_of_no_document_stands_alone() -> None:
    pool = [found(0, "lantern", document=None), found(1, "harbour", document=None)]
    assert gathered(pool, 0).coverage == 0.5


def test_a_neighbour_without_its_vector_yet_says_nothing_of_meaning() -> None:
    pool = [found(0, cosine=0.5), found(1, cosine=None), found(2, cosine=-0.1)]
    assert (gathered(pool, 0).beside_similarity, gathered(pool, 1).beside_similarity) == (None, 0.5)


def test_a_query_without_terms_is_covered_by_nothing() -> None:
    assert gathered([found(0)], 0, {}) == Evidence(0.0, None)


@given(st.lists(st.sets(st.sampled_from(sorted(IDFS))), max_size=8))
def test_coverage_is_a_share_and_never_less_than_the_passages_own(matched: list[set[str]]) -> None:
    pool = [found(ordinal, *terms) for ordinal, terms in enumerate(matched)]
    for evidence, passage in zip(gather(pool, pool, IDFS), pool, strict=True):
        own = sum(IDFS[term] for term in passage.matched) / 4
        assert own <= evidence.coverage + 1e-9 <= 1 + 2e-9


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
    assert speaker_of(text) == speaker


def test_only_names_of_several_passages_that_the_query_holds_in_full_are_meant() -> None:
    speakers = ["ada", "ada", "bob", "bob", "ada lovelace", "ada lovelace", "where", None]
    assert named_speakers("Where did ADA go with Bobby?", speakers) == {"ada"}
    assert named_speakers("Ada Lovelace?", speakers) == {"ada", "ada lovelace"}
    assert named_speakers("", speakers) == set()
    assert [agreement(s, {"ada"}) for s in ("ada", "bob", None)] == [1.0, 0.0, 0.5]
