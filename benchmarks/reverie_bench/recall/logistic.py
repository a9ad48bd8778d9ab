"""A logistic regression small enough to read, and how well its order holds. Pure, and nothing is drawn by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.errors import ValidationFailed

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RIDGE = 0.01
"""A Gaussian prior of standard deviation 10 on every slope: nothing on thousands of rows (it moves a slope of 5 by
some ten-thousandths), but it keeps slopes finite where a few rows are cleanly divided."""
_MAX_STEPS = 100
# Half the Newton decrement, which is how much the loss can still fall: so near, the next full step is the last.
_LITTLE = 1e-8


@dataclass(frozen=True, slots=True)
class Fit:
    """P(outcome) = σ(intercept + Σ slope · feature)."""

    intercept: float
    slopes: tuple[float, ...]


def sigmoid(log_odds: Floats) -> Floats:
    """σ(z) = 1 / (1 + e^−z), written with tanh so that no z overflows."""
    return 0.5 * (1 + np.tanh(0.5 * log_odds))


def logit(probability: float) -> float:
    """ln(p / (1 − p)), the inverse of σ; for 0 < p < 1."""
    return math.log(probability / (1 - probability))


def fit(features: Floats, outcomes: Flags, weights: Floats | None = None) -> Fit:
    """The maximum of the likelihood with RIDGE on the slopes, by Newton's method with halved steps.

    `features` is (rows, features); `weights` says how many rows each counts for, 1 by default. ValidationFailed where
    all outcomes are the same, which says nothing.
    """
    y = outcomes.astype(np.float64)
    if len(y) == 0 or y.min() == y.max():
        raise ValidationFailed("there is nothing to fit: among the results all or none are evidence")
    x = np.column_stack([np.ones(len(features)), features])
    penalty = np.full(x.shape[1], RIDGE)
    penalty[0] = 0.0
    counts = np.ones(len(y)) if weights is None else weights

    def loss(betas: Floats) -> float:
        z = x @ betas
        return float(np.sum(counts * (np.logaddexp(0, z) - y * z)) + 0.5 * np.sum(penalty * betas * betas))

    at = np.zeros(x.shape[1])
    for _ in range(_MAX_STEPS):
        probabilities = sigmoid(x @ at)
        gradient = x.T @ (counts * (probabilities - y)) + penalty * at
        hessian = (x.T * (counts * probabilities * (1 - probabilities))) @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        if 0.5 * float(gradient @ step) < _LITTLE:
            intercept, *slopes = (float(weight) for weight in at - step)
            return Fit(intercept, tuple(slopes))
        before, size = loss(at), 1.0
        while size > _LITTLE and loss(at - size * step) > before:
            size /= 2
        at = at - size * step
    raise ValidationFailed(f"the fit does not settle within {_MAX_STEPS} steps")


def auc(scores: Floats, outcomes: Flags) -> float:
    """The chance that a row with the outcome scores above one without it, ties counting half (Mann and Whitney).

    Both kinds of row must be there.
    """
    values, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    # The mean rank, from 1, of each value's rows.
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positives = int(outcomes.sum())
    negatives = len(values[place]) - positives
    return float((ranks[outcomes].sum() - positives * (positives + 1) / 2) / (positives * negatives))
