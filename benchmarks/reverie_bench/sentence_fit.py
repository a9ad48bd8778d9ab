"""Fits a `heuristics.sentence_model`: for each kind a model of words, and a direction for each embedding model.

The file is `{"words": {kind: …}, "meaning": {embedding model: {kind: …}}}`. Each sentence has a fold: how likely it is
of a kind, and the calibration of that, come from fits without its fold.
"""

from __future__ import annotations

import base64
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_bench.recall import logistic
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_indexer.embed.protocol import Role
from reverie_server.heuristics.sentence_model import BUCKETS, features, packed

SEED = 20261125
# Of the model of words: steps of AdaGrad over all sentences in random order.
_ROUNDS, _RATE, _SHRINKING = 25, 0.3, 0.01
_CALIBRATION_RIDGE = 1e-3

Floats = NDArray[np.float64]
Folds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights by feature or dimension, and an offset."""

    weights: Floats
    offset: float

    def of_features(self, found: Sequence[NDArray[np.int64]]) -> Floats:
        """The scores of sentences by their features."""
        return np.array([self.weights[each].sum() / np.sqrt(len(each)) for each in found]) + self.offset

    def of_rows(self, rows: Floats) -> Floats:
        """The scores of rows of numbers."""
        return np.asarray(rows @ self.weights + self.offset)


@dataclass(frozen=True, slots=True)
class FittedKind:
    """What the file has of one kind (`meaning` by embedding model), and the log-odds of each sentence without its fold.

    These are by the words alone, and by embedding model.
    """

    words: dict[str, Any]
    meaning: Mapping[str, dict[str, Any]]
    by_words: Floats
    by_meaning: Mapping[str, Floats]


def fit_kind(
    texts: Sequence[str], vectors: Mapping[str, Floats], is_of_kind: Floats, folds: Folds, ridge: float
) -> FittedKind:
    """The models of one kind. `vectors` has for an embedding model the rows of the texts."""
    found = [features(text) for text in texts]
    ones = np.ones(len(texts))
    by_words = _without_fold(folds, lambda some: _fit_words([found[i] for i in some], is_of_kind[some]), found)
    alone = _fit_rows(by_words[:, None], is_of_kind, ones, _CALIBRATION_RIDGE)
    whole = _fit_words(found, is_of_kind)
    words = {
        **packed(whole.weights),
        "offset": round(whole.offset, 4),
        "slope": round(float(alone.weights[0]), 4),
        "calibrated_offset": round(alone.offset, 4),
    }
    meaning: dict[str, dict[str, Any]] = {}
    by_meaning: dict[str, Floats] = {}
    for name, rows in vectors.items():
        fit = partial(_fit_some, rows, is_of_kind, ridge)
        by_rows = _without_fold(folds, fit, rows)
        both = np.c_[by_words, by_rows]
        joint = _fit_rows(both, is_of_kind, ones, _CALIBRATION_RIDGE)
        direction = _fit_rows(rows, is_of_kind, _even(is_of_kind), ridge)
        by_meaning[name] = joint.of_rows(both)
        meaning[name] = {
            **packed(direction.weights),
            "offset": round(direction.offset, 4),
            "of_words": round(float(joint.weights[0]), 4),
            "of_meaning": round(float(joint.weights[1]), 4),
            "joint_offset": round(joint.offset, 4),
        }
    return FittedKind(words, meaning, alone.of_rows(by_words[:, None]), by_meaning)


def file_of(kinds: Mapping[str, FittedKind]) -> dict[str, Any]:
    """The content of the file."""
    names = dict.fromkeys(name for one in kinds.values() for name in one.meaning)
    return {
        "words": {kind: one.words for kind, one in kinds.items()},
        "meaning": {name: {kind: one.meaning[name] for kind, one in kinds.items()} for name in names},
    }


async def vectors_of(texts: Sequence[str]) -> dict[str, Floats]:
    """The rows of texts, as queries, by each of the built-in models."""
    return {name: await vectors_by(name, texts) for name in BUILT_IN}


def packed_numbers(array: NDArray[np.generic]) -> str:
    """Numbers as a file of models has them (`heuristics.trees.read_floats`)."""
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()


async def vectors_by(name: str, texts: Sequence[str], role: Role = "query") -> Floats:
    """The rows of texts, as queries unless said, by a built-in model."""
    with tempfile.TemporaryDirectory() as directory:
        embedder = load_local(Path(directory), BUILT_IN[name])
        vectors = await _embedded(embedder, texts, role)
        await embedder.aclose()
    return vectors


async def _embedded(embedder: LocalEmbedder, texts: Sequence[str], role: Role) -> Floats:
    vectors = await embedder.embed(list(texts), role)
    return np.stack([np.asarray(vector, np.float64) for vector in vectors])


def _even(is_of_kind: Floats) -> Floats:
    """Weights by which both classes weigh alike."""
    count, positive = len(is_of_kind), is_of_kind.sum()
    return np.asarray(np.where(is_of_kind == 1, count / 2 / positive, count / 2 / (count - positive)), np.float64)


def _without_fold(folds: Folds, fit: Callable[[NDArray[np.int64]], Fitted], inputs: Any) -> Floats:
    """The score of each sentence by a fit without its fold."""
    scores = np.zeros(len(folds))
    for fold in np.unique(folds):
        fitted, left = fit(np.flatnonzero(folds != fold)), np.flatnonzero(folds == fold)
        if isinstance(inputs, list):
            scores[left] = fitted.of_features([inputs[i] for i in left])
        else:
            scores[left] = fitted.of_rows(inputs[left])
    return scores


def _fit_words(found: Sequence[NDArray[np.int64]], is_of_kind: Floats) -> Fitted:
    """A logistic regression over hashed features, each sentence's scaled to length one, by AdaGrad."""
    weights, squares = np.zeros(BUCKETS), np.full(BUCKETS, 1e-6)
    offset, offset_square = 0.0, 1e-6
    importance = _even(is_of_kind)
    order = np.random.default_rng(SEED)
    for _ in range(_ROUNDS):
        for i in order.permutation(len(is_of_kind)):
            at = found[i]
            scale = 1 / np.sqrt(len(at))
            error = importance[i] * (1 / (1 + np.exp(-(weights[at].sum() * scale + offset))) - is_of_kind[i])
            gradient = error * scale + _SHRINKING * weights[at]
            squares[at] += gradient * gradient
            weights[at] -= _RATE * gradient / np.sqrt(squares[at])
            offset_square += error * error
            offset -= _RATE * error / np.sqrt(offset_square)
    return Fitted(weights, float(offset))


def _fit_some(rows: Floats, is_of_kind: Floats, ridge: float, some: NDArray[np.int64]) -> Fitted:
    return _fit_rows(rows[some], is_of_kind[some], _even(is_of_kind[some]), ridge)


def _fit_rows(rows: Floats, is_of_kind: Floats, importance: Floats, ridge: float) -> Fitted:
    """A logistic regression of rows of numbers; `logistic.fit` has one ridge, so the rows are scaled to have theirs."""
    scale = np.sqrt(logistic.RIDGE / ridge)
    fitted = logistic.fit(rows * scale, is_of_kind == 1, importance)
    return Fitted(np.array(fitted.slopes) * scale, fitted.intercept)
