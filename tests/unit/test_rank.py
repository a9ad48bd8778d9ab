"""Scores worked by hand, order, thresholds and quotas."""

import math
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search_candidates import candidates_of

from reverie_server.search.rank import (
    Query,
    Weights,
    effective_weights,
    holds_exact,
    idf,
    producing_terms,
    score,
    select,
)
from reverie_server.search.relevance import MIN_RELEVANCE, MINILM, relevance, usual_similarity

NOON = datetime(2026, 4, 3, 12, tzinfo=UTC)
Passage = dict[str, Any]


def candidate(chunk_id: int, **fields: Any) -> Passage:
    """A passage that shares no word with the query and has no neighbours, but for the given fields."""
    return {
        "chunk_id": chunk_id,
        "tier": "document",
        "path": f"notes/{chunk_id}.md",
        "start_line": 1,
        "end_line": 1,
        "text": f"passage {chunk_id}",
        "document_id": chunk_id,
        "ordinal": 0,
        "scope": "team",
        "owner_key": None,
        "updated_at": NOON,
        "bm25": 0.0,
        "terms": (),
        "similarity": 0.0,
        **fields,
    }


# Of a passage alone: what its neighbours and its file add has tests of its own.
ALONE = Weights(context=0.0)
TERMS = {"quagga": 2.0, "okapi": 1.0, "lantern": 1.0}


def ranked(
    proposed: list[Passage],
    *,
    limit: int = 10,
    min_score: float = 0.0,
    neighbours: list[Passage] | None = None,
    **query: Any,
) -> list[SimpleNamespace]:
    """The results for the proposed passages and their neighbours, through score and select."""
    candidates = candidates_of(proposed, neighbours or [], TERMS, query.get("owner_key"))
    idfs = np.array(list(TERMS.values()))
    query_idf = query.get("query_idf", float(idfs.sum()))
    meaning_idfs = query.get("meaning_idfs", idfs)
    name_idfs = query.get("name_idfs", np.zeros(len(idfs)))
    scoring_query = Query(
        query.get("text", ""),
        idfs,
        query_idf,
        meaning_idfs=meaning_idfs,
        name_idfs=name_idfs,
        meaning_idf=query.get("meaning_idf", query_idf),
        plane=query.get("plane", MINILM),
        usual_similarity=0.1,
        personal=query.get("personal", 0.0),
        has_unknown_name=query.get("has_unknown_name", False),
    )
    scores = score(candidates, scoring_query, query.get("weights", ALONE))
    exact = query.get("exact", ())
    is_exact = np.array([holds_exact(c["path"], c["text"], exact) for c in proposed], np.bool_)
    excluded = query.get("excluded", ())
    best = select(candidates, scores, is_exact, min_score=min_score, limit=limit, excluded=excluded)
    return [
        SimpleNamespace(chunk_id=int(candidates.chunk_id[row]), tier=candidates.tier[row], **scores.of(row))
        for row in best
    ]


def ids(results: list[SimpleNamespace]) -> list[int]:
    return [r.chunk_id for r in results]


def test_idf_by_hand() -> None:
    assert idf(1, 10) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert idf(10, 10) == pytest.approx(math.log(1 + 0.5 / 10.5))
    assert idf(0, 0) == pytest.approx(math.log(2))


def test_the_score_by_hand() -> None:
    """BM25 4 of at most 8 and cosine 0.6: 0.3 x 0.5 + 0.7 x 0.6 = 0.57; the owner's own x 1.2 = 0.684."""
    best = candidate(1, bm25=8.0, similarity=0.1)
    own = candidate(2, bm25=4.0, similarity=0.6, scope="personal", owner_key="user:1")
    first, second = ranked([best, own], owner_key="user:1")
    assert (first.chunk_id, second.chunk_id) == (2, 1)
    assert (first.text_score, first.vector_score, first.boost) == (0.5, 0.6, 1.2)
    assert first.base_score == pytest.approx(0.57)
    assert first.score == pytest.approx(0.684)
    assert second.score == pytest.approx(0.37)


def test_both_scores_count_for_a_candidate_that_only_one_channel_fetched() -> None:
    """Seen elsewhere: a channel that did not fetch the passage counted 0, which cost 4 to 7 points of recall."""
    [only] = ranked([candidate(1, bm25=2.0, similarity=0.5)])
    assert only.score == pytest.approx(0.3 + 0.35)


def test_the_score_with_context_by_hand() -> None:
    """Text (0.5 + 0.65) / 2 and vector 0.7 x 0.5 + 0.3 x 0.9 sum to 0.6065.

    Coverage makes that (0.6065 + 0.2 x 0.65) / 1.2 and the statement (… + 0.05) / 1.05 = 0.63214; of the best 0.83 the
    same makes (0.83 + 0.2) / 1.2 and 0.86508.
    """
    best = candidate(1, bm25=8.0, similarity=0.7571428571428571, document_id=7, terms=tuple(TERMS))
    # Of IDF 4 it holds 1, and a neighbour 2 more, of which 0.8 count: 2.6 / 4 = 0.65.
    other = candidate(2, bm25=4.0, similarity=0.5, document_id=7, ordinal=9, terms=("okapi",))
    neighbour = candidate(3, document_id=7, ordinal=10, terms=("quagga", "okapi"), similarity=0.9)
    first, second = ranked([best, other], neighbours=[neighbour], weights=Weights())
    assert first.chunk_id == 1
    assert first.base_score == pytest.approx(0.86508, abs=1e-5)
    assert second.text_evidence == pytest.approx(0.575)
    assert second.vector_evidence == pytest.approx(0.62)
    assert second.document_evidence == first.document_evidence == first.base_score
    assert second.coverage == pytest.approx(0.65)
    assert second.base_score == pytest.approx((0.63214 + 0.3 * 0.86508) / 1.3, abs=1e-5)


def test_the_best_passage_of_a_file_lifts_the_others_of_it_and_none_elsewhere() -> None:
    strong = candidate(1, similarity=0.9, document_id=7)
    neighbour = candidate(2, similarity=0.5, document_id=7)
    elsewhere = candidate(3, similarity=0.52, document_id=8)
    assert ids(ranked([strong, neighbour, elsewhere], weights=Weights())) == [1, 2, 3]
    assert ids(ranked([strong, neighbour, elsewhere])) == [1, 3, 2]


def test_who_is_named_is_heard_before_others() -> None:
    by_speakers = [
        candidate(n, similarity=0.5, text=f"{name}: I moved.") for n, name in enumerate(("Ada", "Bob", "Ada", "Bob"))
    ]
    unlabelled = candidate(9, similarity=0.5, text="They moved.")
    results = ranked([*by_speakers, unlabelled], weights=Weights(), text="Where did Ada move?")
    assert ids(results) == [0, 2, 9, 1, 3]
    # Of the sum 0.35 coverage, 0, makes 0.35 / 1.2; then the speaker and the statement add 0.05 each.
    assert results[0].base_score == pytest.approx(((0.35 / 1.2 + 0.05) / 1.05 + 0.05) / 1.05)
    # Nobody is named: nobody is put back.
    unnamed = ranked([*by_speakers, unlabelled], weights=Weights(), text="Who moved?")
    assert [r.base_score for r in unnamed] == pytest.approx([(0.35 / 1.2 + 0.05) / 1.05] * 5)


def test_what_only_asks_comes_after_what_tells() -> None:
    asks = candidate(1, similarity=0.52, text="What is your favourite dish?")
    tells = candidate(2, similarity=0.5, text="Coconut ice cream!")
    assert ids(ranked([asks, tells], weights=Weights())) == [2, 1]
    assert ids(ranked([asks, tells])) == [1, 2]


def test_a_score_stays_within_its_range_whatever_speaks_for_the_passage() -> None:
    full = candidate(1, bm25=1.0, similarity=1.0, owner_key="user:1", terms=tuple(TERMS))
    neighbour = candidate(2, document_id=1, ordinal=1, terms=tuple(TERMS), similarity=1.0)
    [only] = ranked([full], owner_key="user:1", neighbours=[neighbour], weights=Weights())
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
    result = next(r for r in ranked([pending, *others]) if r.chunk_id == 1)
    assert result.vector_score == 0.4


def of(contrast: float | None, idf_share: float, named: float = 0.0) -> float:
    """The relevance of one passage."""
    columns = [np.array([np.nan if value is None else value]) for value in (contrast, idf_share, named)]
    return float(relevance(*columns, MINILM)[0])


def test_relevance_by_hand() -> None:
    """6.30 x 0.3 + 3.82 x 0.5 + 0.67 x 0.2 - 3.03 = 0.904, and 1 / (1 + e^-0.904) = 0.71177."""
    assert of(0.3, 0.5, 0.2) == pytest.approx(0.71177, abs=1e-5)
    assert of(0.0, 0.0) == pytest.approx(1 / (1 + math.exp(3.03)))


def test_relevance_without_a_vector_by_hand() -> None:
    """5.89 x 0.5 + 2.17 x 0.2 - 3.67 = -0.291, and 1 / (1 + e^0.291) = 0.42776."""
    assert of(None, 0.5, 0.2) == pytest.approx(0.42776, abs=1e-5)


def test_a_passage_is_found_by_words_and_meaning_together() -> None:
    """Neither a third of the words alone nor a fair contrast alone is enough; both together are."""
    assert of(0.0, 0.35) < MIN_RELEVANCE
    assert of(0.3, 0.0) < MIN_RELEVANCE
    assert of(0.3, 0.35) >= MIN_RELEVANCE


def test_a_rare_name_in_a_long_message_is_enough_with_a_little_meaning() -> None:
    assert of(0.2, 0.2) < MIN_RELEVANCE
    assert of(0.2, 0.2, 0.75) >= MIN_RELEVANCE


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_relevance_grows_with_each_and_stays_between_0_and_1(
    contrast: float, share: float, named: float, more: float
) -> None:
    least = of(contrast, share, named)
    assert 0 < least <= of(max(contrast, more), share, named) < 1
    assert least <= of(contrast, max(share, more), named) < 1
    assert least <= of(contrast, share, max(named, more)) < 1
    assert 0 < of(None, share, named) <= of(None, max(share, more), named) < 1


def test_what_similarity_is_usual_by_hand() -> None:
    """Median 0.4 of 5, and 0.1 of 10 more: (2 + 1) / 15 = 0.2. Nothing known: 0.1. A vector that is missing is none."""
    assert usual_similarity(np.array([0.3, 0.4, 0.9, np.nan, 0.4, 0.1]), 0.1) == pytest.approx(0.2)
    assert usual_similarity(np.array([np.nan]), 0.1) == usual_similarity(np.array([]), 0.1) == 0.1


def test_a_passage_that_is_as_near_as_all_the_others_does_not_stand_out() -> None:
    """To a model that hardly knows a language, all of its texts are near."""
    crowd = [candidate(i, similarity=0.6) for i in range(2, 60)]
    same = next(r for r in ranked([candidate(1, similarity=0.62), *crowd], limit=99) if r.chunk_id == 1)
    apart = [candidate(i, similarity=0.1) for i in range(2, 60)]
    alone = next(r for r in ranked([candidate(1, similarity=0.62), *apart], limit=99) if r.chunk_id == 1)
    assert same.relevance < 0.1
    assert alone.contrast == pytest.approx(0.52)
    assert alone.relevance > 2 * same.relevance


def test_in_a_memory_of_one_passage_it_can_still_stand_out() -> None:
    [only] = ranked([candidate(1, similarity=0.7)])
    assert only.contrast == pytest.approx(0.7 - (10 * 0.1 + 0.7) / 11)


def test_a_cosine_beyond_its_range_counts_as_its_end() -> None:
    [opposite] = ranked([candidate(1, similarity=-0.4)])
    assert opposite.contrast == pytest.approx(0.0 - (10 * 0.1 - 0.4) / 11)


def test_the_idf_share_is_what_the_passage_holds_of_the_meaning_of_the_query() -> None:
    [half] = ranked([candidate(1, terms=("okapi", "lantern"), similarity=None)])
    assert half.idf_share == 0.5
    assert half.relevance == of(None, 0.5)
    # Of okapi 1 and an unknown term of IDF 1 that carry a meaning it holds one; the others carry none.
    meaning_idfs = np.array([0.0, 1.0, 0.0])
    [one] = ranked(
        [candidate(1, terms=("quagga", "okapi"), similarity=None)], meaning_idfs=meaning_idfs, meaning_idf=2.0
    )
    assert one.idf_share == 0.5
    [wordless] = ranked(
        [candidate(1, terms=("okapi",), similarity=None)], meaning_idfs=meaning_idfs * 0, meaning_idf=0.0
    )
    assert (wordless.idf_share, wordless.relevance) == (0.0, of(None, 0.0))


def test_a_name_that_is_held_counts_by_what_it_tells() -> None:
    """A name of IDF 2: 1 - e^(-2/3)."""
    name_idfs = np.array([2.0, 0.0, 0.0])
    holding, other = ranked(
        [candidate(1, terms=("quagga",), similarity=None), candidate(2, terms=("okapi",), similarity=None)],
        name_idfs=name_idfs,
    )
    assert (holding.chunk_id, other.named) == (1, 0.0)
    assert holding.named == pytest.approx(1 - math.exp(-2 / 3))
    assert holding.relevance == of(None, 0.5, holding.named)


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
    shared = candidate(1, text="same text", similarity=0.9)
    own = candidate(2, text="same text", similarity=0.5, scope="personal", owner_key="user:1")
    [only] = ranked([shared, own], owner_key="user:1")
    assert (only.chunk_id, only.score) == (2, pytest.approx(0.7 * 0.5 * 1.2))


def test_a_personal_passage_replaces_no_other_text_at_the_same_path_and_lines() -> None:
    """Somebody's daily log hid the note of the team of that day."""
    shared = candidate(1, path="memory/2026-11-20.md", start_line=1, end_line=3, similarity=0.9)
    place = {"path": "memory/2026-11-20.md", "start_line": 1, "end_line": 3}
    own = candidate(2, **place, similarity=0.1, scope="personal", owner_key="user:1")
    assert ids(ranked([shared, own], owner_key="user:1")) == [1, 2]


def test_a_message_replaces_no_file_with_the_same_text() -> None:
    shared = candidate(1, text="same text", similarity=0.9)
    own = candidate(2, text="same text", tier="message", similarity=0.5, scope="personal", owner_key="user:1")
    assert ids(ranked([shared, own], owner_key="user:1")) == [1, 2]


def test_what_is_no_result_itself_replaces_nothing() -> None:
    shared = candidate(1, text="same text", similarity=0.9)
    own = candidate(2, text="same text", similarity=0.4, scope="personal", owner_key="user:1")
    assert ids(ranked([shared, own], owner_key="user:1")) == [2]
    assert ids(ranked([shared, own], owner_key="user:1", excluded={1})) == [1]
    assert ids(ranked([shared, own], owner_key="user:1", min_score=0.5)) == [1]


def test_the_same_text_twice_in_one_scope_stays_twice() -> None:
    twice = [candidate(1, text="again", similarity=0.5), candidate(2, text="again", similarity=0.5)]
    assert ids(ranked(twice)) == [1, 2]


def test_order_is_score_then_newer_then_id() -> None:
    old = candidate(3, similarity=0.5, updated_at=NOON - timedelta(days=1))
    assert ids(ranked([old, candidate(2, similarity=0.5), candidate(1, similarity=0.5)])) == [1, 2, 3]


def test_episodes_and_messages_take_at_most_half_of_the_places_while_files_match() -> None:
    """Seen elsewhere: 550 sessions crowded out the files."""
    messages = [candidate(n, tier="message", similarity=0.9) for n in range(10)]
    files = [candidate(100 + n, similarity=0.1, terms=("quagga", "okapi", "lantern")) for n in range(10)]
    results = ranked([*messages, *files], limit=5)
    assert [r.tier for r in results] == ["message"] * 3 + ["document"] * 2


def test_files_that_are_beside_the_point_take_no_place_from_what_was_said() -> None:
    messages = [candidate(n, tier="message", similarity=0.9) for n in range(10)]
    files = [candidate(100 + n, similarity=0.1) for n in range(10)]
    assert [r.tier for r in ranked([*messages, *files], limit=5)] == ["message"] * 5


def test_files_that_are_beside_the_point_share_no_word_with_the_query_and_take_the_places_of_their_scores() -> None:
    """By meaning alone no file is limited by the files that have a word of the query."""
    near = [candidate(n, similarity=0.9) for n in range(10)]
    worded = [candidate(100 + n, similarity=0.1, terms=("okapi",)) for n in range(10)]
    assert ids(ranked([*near, *worded], limit=5)) == [0, 1, 2, 3, 4]


def test_derived_files_are_files_where_nothing_was_said() -> None:
    """Found in the demo: an entry of a long-term memory that a person wrote gave way to a file beside the point."""
    memory = [candidate(n, path="MEMORY.md", similarity=0.9, terms=("quagga",)) for n in range(4)]
    beside = [candidate(100 + n, path="notes/any.md", similarity=0.1, terms=("okapi",)) for n in range(4)]
    assert ids(ranked([*memory, *beside], limit=4)) == [0, 1, 2, 3]
    said = candidate(200, tier="message", similarity=0.0)
    assert ids(ranked([*memory, *beside, said], limit=4)) == [0, 1, 100, 101]


def test_other_tiers_fill_the_places_that_files_leave() -> None:
    episodes = [candidate(n, tier="episodic", similarity=0.9) for n in range(10)]
    results = ranked([*episodes, candidate(100, similarity=0.1, terms=("quagga", "okapi", "lantern"))], limit=5)
    assert [r.tier for r in results] == ["episodic"] * 4 + ["document"]


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
        unique_by=lambda c: c["chunk_id"],
    ),
    st.integers(1, 20),
    st.randoms(),
)
def test_whatever_the_candidates_the_list_is_bounded_ordered_and_independent_of_their_order(
    candidates: list[Passage], limit: int, random: Any
) -> None:
    results = ranked(candidates, limit=limit, owner_key="user:1")
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert ids(ranked(shuffled, limit=limit, owner_key="user:1")) == ids(results)
    assert len(results) == min(limit, len(candidates))
    assert all(0 <= r.score <= 1.2 and 0 <= r.relevance <= 1 for r in results)
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
