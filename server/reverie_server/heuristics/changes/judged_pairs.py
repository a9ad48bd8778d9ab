"""How likely a sentence ends each of those that were said before it, by the model of pairs. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.changes.change_pairs import COLUMNS, Near, PairModel, pair_features, word_features

# From this cosine on two sentences say the same. Of pairs in tagged lives from .7 on without a word of change 56 of 136
# are changes ("Rory has two naps", "Rory's down to a single sleep").
_SAID_AGAIN = 0.85
_CUES = [COLUMNS.index(name) for name in ("tells", "over", "other_value")]
_SIMILARITY = COLUMNS.index("similarity")

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EarlierSentence:
    """A sentence that was said before, its vector, the best cosine of a part of it with a part of the new one, and
    when."""

    text: str
    vector: Vector
    nearness: float
    said_at: datetime


def nearness_of(parts: Vectors, others: Vectors) -> float:
    """The best cosine of a part of a sentence with a part of another, by rows of vectors."""
    return float((parts @ others.T).max())


@dataclass(frozen=True, slots=True)
class NewSentence:
    """A sentence in a language, its vector, its vector as a change, and when it was said."""

    text: str
    language: str
    vector: Vector
    as_change: Vector
    said_at: datetime


def pair_log_odds(new: NewSentence, earlier: Sequence[EarlierSentence], among: int, model: PairModel) -> list[float]:
    """The log-odds that a sentence ends each of those that were said before it, of `among` in all.

    What is all but the same, without a word of change or another value, is said again: -inf.
    """
    if not earlier:
        return []
    rows = pair_rows(new, earlier, among, model)
    is_said_again = (rows[:, _SIMILARITY] >= _SAID_AGAIN) & ~rows[:, _CUES].any(axis=1)
    odds: list[float] = np.where(is_said_again, -math.inf, model.in_life(rows)).tolist()
    return odds


def pair_rows(
    new: NewSentence, earlier: Sequence[EarlierSentence], among: int, model: PairModel
) -> NDArray[np.float32]:
    """What the trees weigh of a sentence and each of those that were said before it, of `among` in all: (earlier,
    columns)."""
    ends, aspects = model.ends(new.text, new.vector), model.aspects(new.vector)
    nearness = np.array([each.nearness for each in earlier])
    of_change = np.array([float(each.vector @ new.as_change) for each in earlier])
    in_order = np.sort(nearness)[::-1]
    rows = []
    for each, as_change in zip(earlier, of_change.tolist(), strict=True):
        similarity = float(each.vector @ new.vector)
        of_words = word_features(each.text, new.text, new.language, similarity)
        rank = int((nearness > each.nearness).sum())
        next_one = in_order[0] if rank else in_order[1] if len(earlier) > 1 else 0.0
        near = Near(each.nearness, rank, each.nearness - float(next_one), max(among, len(earlier)))
        own_aspects = model.aspects(each.vector)
        pair = pair_features(of_words, near, ends, model.endable(each.text, each.vector), aspects, own_aspects)
        of_pair = model.of_pair(pair, each.vector, new.vector, new.as_change)
        days = (new.said_at - each.said_at).days
        of_both = [of_pair, similarity, as_change, int((of_change > as_change).sum()), days]
        rows.append(np.concatenate([[*of_both, len(each.text), len(new.text)], pair, np.sqrt(aspects * own_aspects)]))
    return np.array(rows, np.float32)
