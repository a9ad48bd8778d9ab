"""Fits decision trees to rows of numbers, and packs them for a file of models (`heuristics.trees`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from reverie_bench.recall import logistic
from reverie_bench.sentence_fit import Floats, packed_numbers
from reverie_server.heuristics.trees import Trees

_RATE, _SHARE, _COLUMNS = 0.06, 0.7, 0.3


@dataclass(frozen=True, slots=True)
class TreeSizes:
    """How many trees a fit has, how deep each is, and of how many rows a leaf has to be.

    Of several `fits`, which draw their rows and columns anew, the mean is taken: where few rows decide, it varies less.
    """

    trees: int
    depth: int
    fewest: int
    fits: int = 1


def fit_trees(
    rows: NDArray[np.float32], is_of_kind: NDArray[np.bool_], sizes: TreeSizes, weights: Floats | None = None
) -> Trees:
    """Trees that give the log-odds that a row is of a kind; each row weighs 1 without `weights`."""
    weights = np.ones(len(rows)) if weights is None else weights
    each = [tree for seed in range(sizes.fits) for tree in _fitted(rows, is_of_kind, sizes, weights, seed)]
    nodes = max(tree.node_count for tree in each)
    feature, below, above = (np.zeros((len(each), nodes), np.int16) for _ in range(3))
    threshold, value = (np.zeros((len(each), nodes), np.float32) for _ in range(2))
    for number, tree in enumerate(each):
        count, itself = tree.node_count, np.arange(tree.node_count)
        is_leaf = tree.children_left < 0
        feature[number, :count] = np.where(is_leaf, 0, tree.feature)
        threshold[number, :count] = np.where(is_leaf, 0, tree.threshold)
        below[number, :count] = np.where(is_leaf, itself, tree.children_left)
        above[number, :count] = np.where(is_leaf, itself, tree.children_right)
        value[number, :count] = np.where(is_leaf, _RATE / sizes.fits * tree.value[:, 0, 0], 0)
    offset = logistic.logit(float(np.average(is_of_kind, weights=weights)))
    return Trees(feature, threshold, below, above, value, sizes.depth, offset)


def _fitted(
    rows: NDArray[np.float32], is_of_kind: NDArray[np.bool_], sizes: TreeSizes, weights: Floats, seed: int
) -> list[Any]:
    """The trees of one fit, as scikit-learn has them."""
    made = GradientBoostingClassifier(
        n_estimators=sizes.trees, max_depth=sizes.depth, learning_rate=_RATE, min_samples_leaf=sizes.fewest,
        subsample=_SHARE, max_features=_COLUMNS, random_state=seed,
    )  # fmt: skip
    made.fit(rows, is_of_kind, weights)
    return [tree.tree_ for tree in made.estimators_[:, 0]]


def trees_file_of(trees: Trees) -> dict[str, object]:
    """What a file of models has of trees."""
    arrays = {"feature": trees.feature, "below": trees.below, "above": trees.above}
    numbers = {"threshold": trees.threshold, "value": trees.value}
    count, nodes = trees.feature.shape
    return {
        "trees": count,
        "nodes": nodes,
        "depth": trees.depth,
        "offset": round(trees.offset, 4),
        **{name: packed_numbers(each) for name, each in (arrays | numbers).items()},
    }
