"""Spans from the tags of tokens: they begin and end where their tokens do, and what goes on has a beginning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reverie_indexer.embed.marks import TagLayer, marks_of, packed_tag_layer, read_tag_layer

LABELS = ("home", "name")
TEXT = "I am Ada Bell from Oslo"
PIECES = [(0, 1), (1, 4), (4, 8), (8, 13), (13, 18), (18, 23)]
NONE, HOME, HOME_ON, NAME, NAME_ON = range(5)


def shares(*tags: int, sure: float = 0.9) -> NDArray[np.float32]:
    rows = np.full((len(tags), 5), (1 - sure) / 4)
    rows[np.arange(len(tags)), tags] = sure
    return np.log(rows).astype(np.float32)


def test_a_mark_has_the_text_of_its_tokens_without_the_space_before_it() -> None:
    found = marks_of(TEXT, PIECES, shares(NONE, NONE, NAME, NAME_ON, NONE, HOME), LABELS)
    assert [(TEXT[mark.start : mark.end], mark.label) for mark in found] == [("Ada Bell", "name"), ("Oslo", "home")]
    assert [mark.probability for mark in found] == pytest.approx([0.9, 0.9])


def test_two_marks_of_one_label_side_by_side_are_two() -> None:
    found = marks_of(TEXT, PIECES, shares(NONE, NONE, NAME, NAME, NONE, NONE), LABELS)
    assert [TEXT[mark.start : mark.end] for mark in found] == ["Ada", "Bell"]


def test_what_goes_on_without_a_beginning_is_none() -> None:
    assert marks_of(TEXT, PIECES, shares(NONE, NONE, NAME_ON, NONE, NONE, NONE, sure=0.6), LABELS) == []
    # Where it surely goes on, something began.
    found = marks_of(TEXT, PIECES, shares(NONE, NONE, NAME_ON, NAME_ON, NAME_ON, NONE, sure=0.999), LABELS)
    assert [TEXT[mark.start : mark.end].split()[-1] for mark in found] == ["from"]


def test_a_text_without_tokens_has_no_marks() -> None:
    assert marks_of("", [], np.zeros((0, 5), np.float32), LABELS) == []


@given(st.lists(st.lists(st.floats(-20, 0), min_size=5, max_size=5), min_size=1, max_size=6))
def test_marks_of_anything_are_in_order_and_inside(rows: list[list[float]]) -> None:
    found = marks_of(TEXT, PIECES[: len(rows)], np.array(rows, np.float32), LABELS)
    ends = [0, *(mark.end for mark in found)]
    assert all(end <= mark.start < mark.end <= len(TEXT) for end, mark in zip(ends, found, strict=False))


def test_a_layer_is_read_as_it_was_written() -> None:
    generator = np.random.default_rng(20261130)
    layer = TagLayer(LABELS, generator.normal(size=(8, 5)).astype(np.float32), np.arange(5, dtype=np.float32))
    read = read_tag_layer(packed_tag_layer(layer))
    assert read.labels == LABELS
    np.testing.assert_allclose(read.weights, layer.weights, atol=2e-3)
    np.testing.assert_array_equal(read.offsets, layer.offsets)


def test_the_shares_of_a_token_are_one_together() -> None:
    layer = TagLayer(LABELS, np.eye(8, 5, dtype=np.float32), np.zeros(5, np.float32))
    found = layer.log_shares(np.random.default_rng(1).normal(size=(2, 3, 8)).astype(np.float32))
    np.testing.assert_allclose(np.exp(found).sum(-1), np.ones((2, 3)), rtol=1e-5)
