"""Scores worked by hand, order, thresholds and quotas."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.recall.evidence import Evidence
from reverie_server.recall.rank import (
    FOUND_FROM,
    Candidate,
    Query,
    Ranked,
    Weights,
    effective_weights,
    idf,
    producing_terms,
    relevance,
    score,
    select,
)

NOON = datetime(2026, 4, 3, 12, tzinfo=UTC)


def candidate(chunk_id: int, **given: Any) -> Candidate:
    fields: dict[str, Any] = {
        "tier": "document",
        "path": f"notes/{chunk_id}.md",
        "start_line": 1,
        "end_line": 1,
        "text": f"passage {chunk_id}",
        "document_id": chunk_id,
        "scope": "team",
        "owner_key": None,
        "updated_at": NOON,
        "bm25": 0.0,
        "matched": frozenset(),
        "matched_idf": 0.0,
        "similarity": 0.0,
        "evidence": Evidence(0.0, None),
    }
    return Candidate(chunk_id, **{**fields, **given})


# Of a passage alone: what its neighbours and its file add has tests of its own.
ALONE = Weights(context=0.0)


def ranked(candidates: list[Candidate], *, limit: int = 10, min_score: float = 0.0, **query: Any) -> list[Ranked]:
    asked = Query(query.get("query_idf", 1.0), query.get("owner_key"), query.get("text", ""))
    return select(
        score(candidates, asked, query.get("weights", ALONE)), query.get("exact", ()), min_score=min_score, limit=limit
    )


def ids(results: list[Ranked]) -> list[int]:
    return [r.candidate.chunk_id for r in results]


def test_idf_by_hand() -> None:
    assert idf(1, 10) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert idf(10, 10) == pytest.approx(math.log(1 + 0.5 / 10.5))
    assert idf(0, 0) == pytest.approx(math.log(2))


def test_the_score_by_hand() -> None:
    """BM25 4 of at most 8 and cosine 0.6: 0.3 x 0.5 + 0.7 x 0.6 = 0.57; the owner's own x 1.2 = 0.684."""
    best = candidate(1, bm25=8.0, similarity=0.1)
    own = candidate(2, bm25=4.0, similarity=0.6, scope="personal", owner_key="user:1")
    first, second = ranked([best, own], owner_key="user:1")
    assert (first.candidate.chunk_id, second.candidate.chunk_id) == (2, 1)
    assert (first.text_score, first.vector_score, first.boost) == (0.5, 0.6, 1.2)
    assert first.base_score == pytest.approx(0.57)
    assert first.score == pytest.approx(0.684)
    assert second.score == pytest.approx(0.37)


def test_both_scores_count_for_a_candidate_that_only_one_channel_fetched() -> None:
    """Seen elsewhere: a channel that did not fetch the passage counted 0, which cost 4 to 7 points of recall."""
    [only] = ranked([candidate(1, bm25=2.0, similarity=0.5)])
    assert only.score == pytest.approx(0.3 + 0.35)


def test_the_score_with_context_by_hand() -> None:
    """Text (0.5 + 0.6) / 2 and vector 0.8 x 0.5 + 0.2 x 0.9 sum to 0.571; the best of the file is 0.83."""
    best = candidate(1, bm25=8.0, similarity=0.7571428571428571, document_id=7, evidence=Evidence(1.0, None))
    other = candidate(2, bm25=4.0, similarity=0.5, document_id=7, evidence=Evidence(0.6, 0.9))
    first, second = ranked([best, other], weights=Weights())
    assert first.candidate.chunk_id == 1
    assert first.base_score == pytest.approx(0.83)
    assert second.text_evidence == pytest.approx(0.55)
    assert second.vector_evidence == pytest.approx(0.58)
    assert second.document_evidence == pytest.approx(0.83)
    assert second.base_score == pytest.approx((0.571 + 0.3 * 0.83) / 1.3)


def test_the_best_passage_of_a_file_lifts_the_others_of_it_and_none_elsewhere() -> None:
    strong = candidate(1, similarity=0.9, document_id=7)
    beside = candidate(2, similarity=0.5, document_id=7)
    elsewhere = candidate(3, similarity=0.52, document_id=8)
    assert ids(ranked([strong, beside, elsewhere], weights=Weights())) == [1, 2, 3]
    assert ids(ranked([strong, beside, elsewhere])) == [1, 3, 2]


def test_who_is_named_is_heard_before_others() -> None:
    said = [
        candidate(n, similarity=0.5, text=f"{name}: I moved.") for n, name in enumerate(("Ada", "Bob", "Ada", "Bob"))
    ]
    told = candidate(9, similarity=0.5, text="They moved.")
    results = ranked([*said, told], weights=Weights(), text="Where did Ada move?")
    assert ids(results) == [0, 2, 9, 1, 3]
    assert results[0].base_score == pytest.approx((0.35 + 0.05) / 1.05)
    # Nobody is named: nobody is put back.
    assert {round(r.base_score, 9) for r in ranked([*said, told], weights=Weights(), text="Who moved?")} == {0.35}


def test_a_score_stays_within_its_range_whatever_speaks_for_the_passage() -> None:
    full = candidate(1, bm25=1.0, similarity=1.0, owner_key="user:1", evidence=Evidence(1.0, 1.0))
    [only] = ranked([full], owner_key="user:1", weights=Weights())
    assert only.score == pytest.approx(1.2)


def test_a_channel_without_a_say_leaves_its_weight_to_the_other() -> None:
    assert effective_weights(Weights(), has_text=True, has_vector=True) == Weights()
    assert effective_weights(Weights(), has_text=True, has_vector=False) == Weights(1.0, 0.0)
    assert effective_weights(Weights(), has_text=False, has_vector=True) == Weights(0.0, 1.0)
    assert effective_weights(Weights(), has_text=False, has_vector=False) == Weights(0.0, 0.0)


def test_a_negative_cosine_counts_as_none() -> None:
    [only] = ranked([candidate(1, similarity=-0.4)])
    assert only.vector_score == 0.0


def test_a_passage_without_its_vector_yet_counts_as_an_average_one() -> None:
    pending = candidate(1, bm25=1.0, similarity=None)
    others = [candidate(2, similarity=0.2), candidate(3, similarity=0.4), candidate(4, similarity=0.9)]
    result = next(r for r in ranked([pending, *others]) if r.candidate.chunk_id == 1)
    assert result.vector_score == 0.4


def test_relevance_by_hand() -> None:
    """3.87 x 0.5 + 4.48 x 0.5 - 4.45 = -0.275, and 1 / (1 + e^0.275) = 0.43168."""
    assert relevance(0.5, 0.5) == pytest.approx(0.43168, abs=1e-5)
    assert relevance(0.6, 0.0) == pytest.approx(1 / (1 + math.exp(2.128)))
    assert relevance(1.0, 1.0) == pytest.approx(1 / (1 + math.exp(-3.9)))


def test_relevance_without_a_vector_by_hand() -> None:
    """5.32 x 0.5 - 3.15 = -0.49, and 1 / (1 + e^0.49) = 0.37989."""
    assert relevance(None, 0.5) == pytest.approx(0.37989, abs=1e-5)
    assert relevance(None, 0.0) == pytest.approx(1 / (1 + math.exp(3.15)))


def test_a_cosine_beyond_its_range_counts_as_its_end() -> None:
    assert relevance(-0.4, 0.5) == relevance(0.0, 0.5)
    assert relevance(1.0000002, 0.5) == relevance(1.0, 0.5)


def test_a_passage_is_found_by_words_and_meaning_together() -> None:
    """Neither half of the words alone nor a fair cosine alone is enough; both together are."""
    assert relevance(0.0, 0.5) < FOUND_FROM
    assert relevance(0.45, 0.0) < FOUND_FROM
    assert relevance(0.45, 0.5) >= FOUND_FROM


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_relevance_grows_with_either_and_stays_between_0_and_1(similarity: float, share: float, more: float) -> None:
    assert 0 < relevance(similarity, share) <= relevance(max(similarity, more), share) < 1
    assert 0 < relevance(similarity, share) <= relevance(similarity, max(share, more)) < 1
    assert 0 < relevance(None, share) <= relevance(None, max(share, more)) < 1


def test_the_idf_share_is_what_the_passage_holds_of_the_querys_idf() -> None:
    [half] = ranked([candidate(1, matched_idf=1.5, similarity=0.5)], query_idf=3.0)
    assert half.idf_share == 0.5
    assert half.relevance == relevance(0.5, 0.5)
    [pending] = ranked([candidate(1, matched_idf=1.5, similarity=None)], query_idf=3.0)
    assert pending.relevance == relevance(None, 0.5)
    [wordless] = ranked([candidate(1, similarity=0.5)], query_idf=0.0)
    assert (wordless.idf_share, wordless.relevance) == (0.0, relevance(0.5, 0.0))


def test_min_score_is_compared_before_the_boost() -> None:
    own = candidate(1, similarity=0.5, scope="personal", owner_key="user:1")
    assert ids(ranked([own], owner_key="user:1", min_score=0.36)) == []
    assert ids(ranked([own], owner_key="user:1", min_score=0.35)) == [1]


def test_a_threshold_never_loses_an_exact_identifier() -> None:
    """Seen elsewhere: a threshold of 0.35 made keyword hits impossible."""
    found = candidate(1, text="deploy PROJ-77 first", bm25=3.0, similarity=0.0)
    other = candidate(2, text="nothing", similarity=0.2)
    assert ids(ranked([found, other], exact=("proj-77",), min_score=0.9)) == [1]


def test_a_personal_copy_replaces_the_shared_one_and_scores_never_add_up() -> None:
    shared = candidate(1, text="Same  text", similarity=0.9)
    own = candidate(2, text="same text", similarity=0.5, scope="personal", owner_key="user:1")
    [only] = ranked([shared, own], owner_key="user:1")
    assert (only.candidate.chunk_id, only.score) == (2, pytest.approx(0.7 * 0.5 * 1.2))


def test_the_personal_passage_at_the_same_path_and_lines_replaces_the_shared_one() -> None:
    shared = candidate(1, path="MEMORY.md", start_line=3, end_line=4, similarity=0.9)
    own = candidate(2, path="MEMORY.md", start_line=3, end_line=4, similarity=0.1, scope="personal", owner_key="user:1")
    assert ids(ranked([shared, own], owner_key="user:1")) == [2]


def test_the_same_text_twice_in_one_scope_stays_twice() -> None:
    twice = [candidate(1, text="again", similarity=0.5), candidate(2, text="again", similarity=0.5)]
    assert ids(ranked(twice)) == [1, 2]


def test_order_is_score_then_newer_then_id() -> None:
    old = candidate(3, similarity=0.5, updated_at=NOON - timedelta(days=1))
    assert ids(ranked([old, candidate(2, similarity=0.5), candidate(1, similarity=0.5)])) == [1, 2, 3]


def test_episodes_and_messages_take_at_most_half_of_the_places_while_files_match() -> None:
    """Seen elsewhere: 550 sessions crowded out the files."""
    said = [candidate(n, tier="message", similarity=0.9) for n in range(10)]
    files = [candidate(100 + n, similarity=0.1) for n in range(10)]
    results = ranked([*said, *files], limit=5)
    assert [r.candidate.tier for r in results] == ["message"] * 3 + ["document"] * 2


def test_other_tiers_fill_the_places_that_files_leave() -> None:
    said = [candidate(n, tier="episodic", similarity=0.9) for n in range(10)]
    results = ranked([*said, candidate(100, similarity=0.1)], limit=5)
    assert [r.candidate.tier for r in results] == ["episodic"] * 4 + ["document"]


def test_frequent_terms_produce_no_candidates_where_rarer_ones_do() -> None:
    assert producing_terms({"flour": 900, "harbour": 3, "ghost": 0}, frequent_from=100) == ["harbour"]
    assert producing_terms({"flour": 900, "bread": 800}, frequent_from=100) == ["bread"]
    assert producing_terms({}, frequent_from=100) == []


scores = st.floats(0, 1)


@given(
    st.lists(
        st.builds(
            lambda n, bm25, similarity, tier, own: candidate(
                n,
                bm25=bm25,
                similarity=similarity,
                tier=tier,
                scope="personal" if own else "team",
                owner_key="user:1" if own else None,
            ),
            st.integers(0, 50),
            st.floats(0, 30),
            st.one_of(st.none(), st.floats(-1, 1)),
            st.sampled_from(["document", "message", "episodic"]),
            st.booleans(),
        ),
        unique_by=lambda c: c.chunk_id,
    ),
    st.integers(1, 20),
    st.randoms(),
)
def test_whatever_the_candidates_the_list_is_bounded_ordered_and_independent_of_their_order(
    candidates: list[Candidate], limit: int, random: Any
) -> None:
    results = ranked(candidates, limit=limit, owner_key="user:1")
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert ids(ranked(shuffled, limit=limit, owner_key="user:1")) == ids(results)
    assert len(results) == min(limit, len(candidates))
    assert all(0 <= r.score <= 1.2 and 0 <= r.relevance <= 1 for r in results)
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
