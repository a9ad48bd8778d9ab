"""Messages to an assistant, labelled by whether somebody's memory could help with them. Pure.

They are written for this project, in English, German, Spanish, Chinese, Japanese and Arabic, and are part of no test of
it. From them an embedding model learns which messages concern somebody's life (`direction_of`), and a memory how near
what has nothing to do with it comes to its passages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Label: TypeAlias = Literal["personal", "others", "general", "neutral", "small_talk"]
"""About the life of the one who writes; about people and work that they know; about everyday matters in general; about
what nobody's memory has; chat."""
PERSONAL: tuple[Label, ...] = ("personal", "others")
IMPERSONAL: tuple[Label, ...] = ("general", "neutral", "small_talk")
_FOLDER = Path(__file__).with_name("messages")
# The strength of the prior that keeps a direction from fitting single messages: half the squared length times this.
_RIDGE = 1.0
_MAX_STEPS, _SMALL_STEP = 30, 1e-6


@dataclass(frozen=True, slots=True)
class Direction:
    """The log-odds of a message to be personal, by a model: weights · vector + offset."""

    weights: NDArray[np.float32]
    offset: float

    def log_odds(self, vector: NDArray[np.float32]) -> float:
        """Of one message, by its vector as a message."""
        return float(vector @ self.weights) + self.offset


def labelled_messages(label: Label) -> tuple[str, ...]:
    """The messages with a label, language by language."""
    return tuple(message for messages in _by_language(label).values() for message in messages)


def messages_in(label: Label, language: str) -> tuple[str, ...]:
    """The messages with a label in one of the languages."""
    return _by_language(label)[language]


@cache
def _by_language(label: Label) -> Mapping[str, tuple[str, ...]]:
    source = tomllib.loads((_FOLDER / f"{label}.toml").read_text(encoding="utf-8"))
    return {language: tuple(messages) for language, messages in source.items()}


def direction_of(personal: NDArray[np.float32], impersonal: NDArray[np.float32]) -> Direction:
    """The direction that tells the vectors of messages apart, `[messages, dimension]` each; both classes weigh alike.

    A logistic regression with a ridge, by Newton's method. In as many dimensions as there are messages or more, it is
    solved for the messages: weights = vectorsᵀ · a (the representer theorem), so that the cost is in their number.
    """
    vectors = np.concatenate([personal, impersonal]).astype(np.float64)
    is_personal = np.arange(len(vectors)) < len(personal)
    share = np.where(is_personal, len(vectors) / 2 / len(personal), len(vectors) / 2 / len(impersonal))
    gram = vectors @ vectors.T
    duals, offset = np.zeros(len(vectors)), 0.0
    for _ in range(_MAX_STEPS):
        odds = gram @ duals + offset
        probability = 1 / (1 + np.exp(-odds))
        curvature = np.maximum(share * probability * (1 - probability), 1e-9)
        # Iteratively reweighted least squares: (gram + ridge / curvature) · duals + offset = working response.
        response = odds + share * (is_personal - probability) / curvature
        system = gram + np.diag(_RIDGE / curvature)
        solved = np.linalg.solve(system, np.column_stack([response, np.ones(len(vectors))]))
        new_offset = float(solved[:, 0].sum() / solved[:, 1].sum())
        new_duals = solved[:, 0] - new_offset * solved[:, 1]
        change = float(np.abs(gram @ (new_duals - duals)).max()) + abs(new_offset - offset)
        duals, offset = new_duals, new_offset
        if change < _SMALL_STEP:
            break
    return Direction((vectors.T @ duals).astype(np.float32), offset)
