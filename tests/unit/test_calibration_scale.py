"""The scale of a memory by a model without constants."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from reverie_indexer.model import ModelIdentity
from reverie_server.search.calibration.scale import has_constants, nearness_of, scale_at, usual_between
from reverie_server.search.relevance import MIN_RELEVANCE, SCALES, relevance


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def in_a_cone(rows: NDArray[np.float32], height: float) -> NDArray[np.float32]:
    """The same vectors and a dimension in which all point the same way: cosines c become (c + h²) / (1 + h²)."""
    return unit(np.column_stack([rows, np.full(len(rows), height)]).astype(np.float64))


@pytest.fixture
def neutral() -> NDArray[np.float32]:
    return unit(np.abs(np.random.default_rng(1).normal(size=(240, 16))))


@pytest.fixture
def passages() -> NDArray[np.float32]:
    return unit(np.abs(np.random.default_rng(2).normal(size=(60, 16))))


def of(contrast: float, idf_share: float, nearness: float) -> float:
    plane = scale_at(nearness, 0.1).asked
    return float(relevance(np.array([contrast]), np.array([idf_share]), np.zeros(1), plane)[0])


def test_nearness_by_hand() -> None:
    neutral = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    passages = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]], np.float32)
    # Cosines of 1, 0.8, 0.6 and 0, 0.6, 0.8; the usual ones are (10 × 0.1 + 3 × 0.8) / 13, (10 × 0.1 + 3 × 0.6) / 13.
    contrasts = [1 - 3.4 / 13, 0.8 - 2.8 / 13]
    expected = contrasts[1] + 0.98 * (contrasts[0] - contrasts[1])
    assert nearness_of(neutral, passages, 0.1, 200) == pytest.approx(expected, abs=1e-6)
    # Of two candidates each: 1, 0.8 and 0.8, 0.6.
    contrasts = [1 - (1 + 2 * 0.9) / 12, 0.8 - (1 + 2 * 0.7) / 12]
    expected = contrasts[1] + 0.98 * (contrasts[0] - contrasts[1])
    assert nearness_of(neutral, passages, 0.1, 2) == pytest.approx(expected, abs=1e-6)


def test_a_passage_alone_helps_from_a_little_more_than_the_nearness_on_and_earlier_with_words() -> None:
    for nearness in (0.02, 0.2, 0.5):
        assert of(nearness, 0.0, nearness) < MIN_RELEVANCE
        assert of(1.3 * nearness, 0.0, nearness) == pytest.approx(MIN_RELEVANCE)
        assert of(nearness, 0.2, nearness) > MIN_RELEVANCE
        assert of(0.0, 0.3, nearness) < MIN_RELEVANCE


def test_a_model_whose_vectors_all_point_the_same_way_gets_the_same_relevance(
    neutral: NDArray[np.float32], passages: NDArray[np.float32]
) -> None:
    """Cosines from 0.8 to 1 are as good as those from 0 to 1."""
    narrow_neutral, narrow_passages = in_a_cone(neutral, 2.0), in_a_cone(passages, 2.0)
    usual, narrow_usual = usual_between(neutral, passages), usual_between(narrow_neutral, narrow_passages)
    wide = nearness_of(neutral, passages, usual, 200)
    narrow = nearness_of(narrow_neutral, narrow_passages, narrow_usual, 200)
    assert narrow == pytest.approx(wide / 5, rel=1e-3)
    for contrast in (-0.1, 0.0, 0.1, 0.3):
        assert of(contrast / 5, 0.1, narrow) == pytest.approx(of(contrast, 0.1, wide), rel=1e-2)


def test_nearness_of_nothing_but_equal_passages_is_not_zero(neutral: NDArray[np.float32]) -> None:
    same = np.repeat(neutral[:1], 5, axis=0)
    assert 0 < nearness_of(same, same, 1.0, 200) < 0.05
    assert 0 < of(1.0, 0.0, 0.0) <= 1


def test_constants_are_of_the_built_in_models_and_not_of_others_with_their_names() -> None:
    for name in SCALES:
        assert has_constants(ModelIdentity("local", name, "1", 384, True))
        assert not has_constants(ModelIdentity("endpoint", name, "1", 384, True))
    assert not has_constants(ModelIdentity("local", "another", "1", 384, True))
