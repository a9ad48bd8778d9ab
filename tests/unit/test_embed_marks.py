"""Spans from the states of tokens: they begin and end where their tokens do, what goes on has a beginning, and each is
of the speaker, of nobody, or of another that is a being."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reverie_indexer.embed.marks import (
    BEINGS,
    MOST_STEPS,
    NOBODY,
    SPEAKER,
    MarkLayers,
    marks_of,
    packed_mark_layers,
    read_mark_layers,
)

TEXT = "I am Ada Bell from Oslo"
PIECES = [(0, 1), (1, 4), (4, 8), (8, 13), (13, 18), (18, 23)]
NONE, HOME, HOME_ON, PERSON, PERSON_ON = range(5)
# The first five parts of a state are the scores of the tags, the next three when it holds, the next two who somebody
# is, the next three whose it is: of the being, of the speaker, of nobody.
HIDDEN = 13


def _part(first: int, last: int) -> NDArray[np.float32]:
    return np.eye(HIDDEN, dtype=np.float32)[:, first:last]


LAYERS = MarkLayers(
    labels=("home", "person"),
    relation_names=("sister", "wife"),
    kinds=_part(0, 5),
    kind_offsets=np.zeros(5, np.float32),
    states=_part(5, 8),
    state_offsets=np.zeros(3, np.float32),
    relations=_part(8, 10),
    relation_offsets=np.zeros(2, np.float32),
    whose=_part(10, 13),
    whom=np.concatenate([np.zeros((3, 3)), np.tile([[9.0, 0, 0]], (HIDDEN - 3, 1))]).astype(np.float32),
    ends=np.array([[0, 9, 0], [0, 0, 9]], np.float32),
    steps=np.zeros(2 * MOST_STEPS + 1, np.float32),
    right=np.zeros(2, np.float32),
    right_by=np.array([1, 1, 1, -1, 0], np.float32),
)


def hidden(*tags: int, sure: float = 0.9, **rest: int) -> NDArray[np.float32]:
    """States of tokens of these tags; `rest` are further parts that are set, as `state=1`."""
    rows = np.zeros((len(tags), HIDDEN), np.float32)
    rows[:, :5] = np.log((1 - sure) / 4)
    rows[np.arange(len(tags)), list(tags)] = np.log(sure)
    for first, name in ((5, "state"), (8, "relation"), (10, "whose")):
        if name in rest:
            rows[:, first + rest[name]] = 9
    return rows


def marked(states: NDArray[np.float32]) -> list[tuple[str, str]]:
    found = marks_of(TEXT, PIECES[: len(states)], states, LAYERS)
    return [(TEXT[mark.start : mark.end], mark.label) for mark in found]


def test_a_mark_has_the_text_of_its_tokens_without_the_space_before_it() -> None:
    states = hidden(NONE, NONE, PERSON, PERSON_ON, NONE, HOME)
    assert marked(states) == [("Ada Bell", "person"), ("Oslo", "home")]
    assert [mark.probability for mark in marks_of(TEXT, PIECES, states, LAYERS)] == pytest.approx([0.9, 0.9])


def test_two_marks_of_one_label_side_by_side_are_two() -> None:
    assert marked(hidden(NONE, NONE, PERSON, PERSON, NONE, NONE)) == [("Ada", "person"), ("Bell", "person")]


def test_what_goes_on_without_a_beginning_is_none() -> None:
    assert marked(hidden(NONE, NONE, PERSON_ON, NONE, NONE, NONE, sure=0.6)) == []
    # Where it surely goes on, something began.
    [(text, _)] = marked(hidden(NONE, NONE, PERSON_ON, PERSON_ON, PERSON_ON, NONE, sure=0.999))
    assert text.split()[-1] == "from"


def test_a_text_without_tokens_has_no_marks() -> None:
    assert marks_of("", [], np.zeros((0, HIDDEN), np.float32), LAYERS) == []


@pytest.mark.parametrize(("whose", "of"), [(0, 0), (1, SPEAKER), (2, NOBODY)])
def test_a_value_is_of_a_being_of_the_speaker_or_of_nobody(whose: int, of: int) -> None:
    states = hidden(NONE, NONE, PERSON, PERSON_ON, NONE, HOME, whose=whose)
    mark = marks_of(TEXT, PIECES, states, LAYERS)[1]
    assert (mark.label, mark.of) == ("home", of)
    assert mark.of_probability > 0.99


def test_nothing_is_of_itself_or_of_what_is_no_being() -> None:
    states = hidden(NONE, NONE, HOME, HOME_ON, NONE, HOME, whose=0)
    assert {mark.of for mark in marks_of(TEXT, PIECES, states, LAYERS)} <= {SPEAKER, NOBODY}


def test_a_mark_says_when_it_holds() -> None:
    states = [marks_of(TEXT, PIECES[:2], hidden(NONE, HOME, state=state), LAYERS)[0].state for state in range(3)]
    assert states == ["holds", "over", "next"]


def test_who_somebody_is_is_said_of_their_word_where_that_is_sure() -> None:
    layers = replace(LAYERS, labels=("home", "rel"))
    [mark] = marks_of(TEXT, PIECES[:2], hidden(NONE, PERSON, relation=1), layers)
    assert (mark.label, mark.relation) == ("rel", "wife")
    assert marks_of(TEXT, PIECES[:2], hidden(NONE, PERSON), layers)[0].relation == ""
    assert marks_of(TEXT, PIECES[:2], hidden(NONE, HOME, relation=1), layers)[0].relation == ""


@given(st.lists(st.lists(st.floats(-20, 20), min_size=HIDDEN, max_size=HIDDEN), min_size=1, max_size=6))
def test_marks_of_anything_are_in_order_and_inside(rows: list[list[float]]) -> None:
    found = marks_of(TEXT, PIECES[: len(rows)], np.array(rows, np.float32), LAYERS)
    ends = [0, *(mark.end for mark in found)]
    assert all(end <= mark.start < mark.end <= len(TEXT) for end, mark in zip(ends, found, strict=False))
    for at, mark in enumerate(found):
        assert mark.of != at
        assert mark.of < 0 or found[mark.of].label in BEINGS
        assert all(0 <= each <= 1.00001 for each in (mark.probability, mark.state_probability, mark.of_probability))


def test_layers_are_read_as_they_were_written() -> None:
    read = read_mark_layers(packed_mark_layers(LAYERS))
    for field in fields(MarkLayers):
        np.testing.assert_array_equal(getattr(read, field.name), getattr(LAYERS, field.name))
