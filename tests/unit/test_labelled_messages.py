"""The labelled messages, and the direction that is learnt from the vectors of such messages."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from reverie_server.search import labelled_messages as module
from reverie_server.search.labelled_messages import IMPERSONAL, PERSONAL, Direction, Label, direction_of
from reverie_server.search.labelled_messages import labelled_messages as messages_of

LABELS: tuple[Label, ...] = get_args(Label)
LANGUAGES = {"english", "german", "spanish", "chinese", "japanese", "arabic"}
TURNS = Path(__file__).parents[2] / "benchmarks/inject"
Vectors = NDArray[np.float32]


def drawn(seed: int, count: int, mean: list[float]) -> Vectors:
    return np.random.default_rng(seed).normal(mean, 1.0, (count, len(mean))).astype(np.float32)


def primal(personal: Vectors, impersonal: Vectors, ridge: float = 1.0) -> tuple[NDArray[np.float64], float]:
    """Weights and offset by Newton's method on the loss itself: Σ share · log loss + ridge / 2 · |weights|²."""
    x = np.column_stack(
        [np.concatenate([personal, impersonal]).astype(np.float64), np.ones(len(personal) + len(impersonal))]
    )
    y = np.arange(len(x)) < len(personal)
    share = np.where(y, len(x) / 2 / len(personal), len(x) / 2 / len(impersonal))
    penalty = np.append(np.full(x.shape[1] - 1, ridge), 0.0)
    at = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ at))
        gradient = x.T @ (share * (p - y)) + penalty * at
        hessian = (x.T * (share * p * (1 - p))) @ x + np.diag(penalty)
        at = at - np.linalg.solve(hessian, gradient)
    assert np.abs(gradient).max() < 1e-9
    return at[:-1], float(at[-1])


def odds(direction: Direction, vectors: Vectors) -> NDArray[np.float64]:
    return np.array([direction.log_odds(vector) for vector in vectors])


def test_the_log_odds_of_a_message_by_hand() -> None:
    """2 · 0.5 − 1 · 3 + 0.25."""
    direction = Direction(np.array([2.0, -1.0], np.float32), 0.25)
    assert direction.log_odds(np.array([0.5, 3.0], np.float32)) == pytest.approx(-1.75)


def test_a_direction_tells_two_classes_apart_also_in_messages_that_it_has_not_seen() -> None:
    direction = direction_of(drawn(1, 60, [3, 0, 0]), drawn(2, 60, [-3, 0, 0]))
    assert (odds(direction, drawn(3, 50, [3, 0, 0])) > 0).all()
    assert (odds(direction, drawn(4, 50, [-3, 0, 0])) < 0).all()
    assert abs(direction.weights[0]) > 3 * np.abs(direction.weights[1:]).max()


@pytest.mark.parametrize("counts", [(30, 30), (12, 45)])
def test_a_direction_is_the_ridge_logistic_solved_in_its_own_dimensions(counts: tuple[int, int]) -> None:
    personal, impersonal = drawn(5, counts[0], [0.7, 0, 0.2, 0]), drawn(6, counts[1], [-0.4, 0.1, 0, 0])
    weights, offset = primal(personal, impersonal)
    found = direction_of(personal, impersonal)
    assert found.weights == pytest.approx(weights, abs=1e-4)
    assert found.offset == pytest.approx(offset, abs=1e-4)


def test_both_classes_weigh_alike_however_many_messages_they_have() -> None:
    """Two messages a class, and the same with one class nine times: the middle stays where it was."""
    personal, impersonal = np.array([[1.0], [2.0]], np.float32), np.array([[-1.0], [-2.0]], np.float32)
    even = direction_of(personal, impersonal)
    uneven = direction_of(np.repeat(personal, 9, axis=0), impersonal)
    assert even.offset == pytest.approx(0, abs=1e-6)
    assert uneven.offset == pytest.approx(0, abs=1e-6)
    assert uneven.log_odds(np.zeros(1, np.float32)) == pytest.approx(0, abs=1e-6)
    turned = direction_of(impersonal, np.repeat(personal, 9, axis=0))
    assert turned.weights == pytest.approx(-uneven.weights, abs=1e-6)


def test_more_dimensions_than_messages_have_a_direction_too_and_the_same_as_solved_in_them() -> None:
    personal, impersonal = drawn(7, 6, [0.3] * 40), drawn(8, 9, [-0.3] * 40)
    weights, offset = primal(personal, impersonal)
    found = direction_of(personal, impersonal)
    assert found.weights.shape == (40,)
    assert found.weights == pytest.approx(weights, abs=1e-4)
    assert found.offset == pytest.approx(offset, abs=1e-4)
    assert (odds(found, personal) > 0).all()
    assert (odds(found, impersonal) < 0).all()


def test_every_label_is_of_one_class() -> None:
    assert sorted([*PERSONAL, *IMPERSONAL]) == sorted(LABELS)


@pytest.mark.parametrize("label", LABELS)
def test_each_label_has_as_many_messages_in_each_of_six_languages(label: Label) -> None:
    by_language = source(label)
    assert set(by_language) == LANGUAGES
    assert len({len(messages) for messages in by_language.values()}) == 1
    assert messages_of(label) == tuple(message for messages in by_language.values() for message in messages)
    assert all(message.strip() == message != "" for message in messages_of(label))


def test_no_message_is_there_twice() -> None:
    counts = Counter(message.casefold() for label in LABELS for message in messages_of(label))
    assert [message for message, count in counts.items() if count > 1] == []


def test_no_message_is_a_turn_of_the_benchmark_nor_one_before_it() -> None:
    turns = {text.casefold() for path in TURNS.rglob("*.json") for text in said(json.loads(path.read_text()))}
    assert len(turns) > 500
    assert [m for label in LABELS for m in messages_of(label) if m.casefold() in turns] == []


def said(turns: dict[str, Any]) -> list[str]:
    return [text for turn in turns["turns"] for text in (turn["message"], *turn.get("recent", ()))]


def source(label: Label) -> dict[str, list[str]]:
    path = Path(module.__file__).with_name("messages") / f"{label}.toml"
    found: dict[str, list[str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return found
