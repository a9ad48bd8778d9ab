"""The scale of relevance, by values worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.search.candidates import Floats
from reverie_server.search.labelled_messages import Direction
from reverie_server.search.relevance import (
    MIN_RELEVANCE,
    SCALES,
    UNKNOWN,
    WORDS,
    Plane,
    built_in_directions,
    log_odds,
    named_score,
    personal_score,
    relevance,
    scale_of,
)

PLANE = Plane(contrast=4.0, idf_share=2.0, named=1.0, offset=-2.0, personal=1.5, unknown_name=-3.0)


def one(value: float) -> Floats:
    return np.array([value])


def sigma(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def test_relevance_is_the_logistic_of_a_plane() -> None:
    """4 · 0.25 + 2 · 0.4 + 1 · 0.2 − 2 = 0: one half. Without the contrast 1 less: σ(−1) = 0.2689."""
    found = relevance(np.array([0.25, 0.0]), np.array([0.4, 0.4]), np.array([0.2, 0.2]), PLANE)
    assert found == pytest.approx([0.5, 0.2689], abs=5e-5)


def test_without_a_vector_words_alone_decide_and_the_prior_counts_all_the_same() -> None:
    words = WORDS.idf_share * 0.5 + WORDS.named * 0.2 + WORDS.offset
    found = [relevance(one(math.nan), one(0.5), one(0.2), PLANE, prior)[0] for prior in (0.0, 1.2)]
    assert found == pytest.approx([sigma(words), sigma(words + 1.2)])


@pytest.mark.parametrize(
    ("personal", "has_unknown_name", "prior"), [(2.0, False, 3.0), (2.0, True, 0.0), (-1.0, True, -4.5), (0, False, 0)]
)
def test_a_message_adds_how_personal_it_is_and_that_it_names_what_memory_never_says(
    personal: float, has_unknown_name: bool, prior: float
) -> None:
    """1.5 · 2 = 3; a name takes 3 away."""
    assert PLANE.prior(personal, has_unknown_name=has_unknown_name) == pytest.approx(prior)
    found = relevance(one(0.5), one(0.0), one(0.0), PLANE, prior)
    assert found == pytest.approx([sigma(prior)]), "4 · 0.5 − 2 = 0, and the prior"


def test_a_prior_may_differ_by_passage() -> None:
    found = relevance(np.array([0.5, 0.5]), np.zeros(2), np.zeros(2), PLANE, np.array([0.0, 1.2]))
    assert found == pytest.approx([0.5, sigma(1.2)])


def test_a_query_put_to_memory_counts_nothing_for_being_personal() -> None:
    assert [scale.asked.personal for scale in SCALES.values()] == [0.0] * len(SCALES)
    assert all(scale.unasked.personal > 0 for scale in SCALES.values())


@pytest.mark.parametrize(("odds", "score"), [(-50.0, -3.0), (-2.5, -2.5), (0.0, 0.0), (3.0, 3.0), (7.5, 3.0)])
def test_a_message_is_personal_from_minus_3_to_3(odds: float, score: float) -> None:
    direction = Direction(np.array([1.0, 0.0], np.float32), offset=0.5)
    assert personal_score(direction, np.array([odds - 0.5, 9.0], np.float32)) == pytest.approx(score)


def test_without_a_direction_no_message_is_personal() -> None:
    assert personal_score(None, np.ones(2, np.float32)) == 0.0


def test_the_scale_is_the_model_s_and_another_model_has_that_of_an_unknown_one() -> None:
    assert scale_of("multilingual-e5-small") is SCALES["multilingual-e5-small"]
    assert scale_of("some-other-model") is scale_of(None) is UNKNOWN


def test_each_built_in_model_has_a_scale_and_a_direction_of_its_dimension() -> None:
    assert set(SCALES) == set(built_in_directions()) == set(BUILT_IN)
    for name, direction in built_in_directions().items():
        assert direction.weights.shape == (BUILT_IN[name].identity.dimension,)
        assert np.isfinite(direction.weights).all()


def test_a_name_counts_by_its_idf() -> None:
    """1 − 1/e at 3 nats."""
    assert named_score(np.array([0.0, 3.0, 6.0])) == pytest.approx([0, 0.6321, 0.8647], abs=5e-5)


def test_log_odds_of_the_threshold() -> None:
    assert log_odds(MIN_RELEVANCE) == pytest.approx(-0.8473, abs=5e-5)
    assert sigma(log_odds(MIN_RELEVANCE)) == pytest.approx(MIN_RELEVANCE)
