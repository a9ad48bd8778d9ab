"""Relevance by a model without constants, from how near a memory comes to messages that it has nothing for. Pure.

The slopes of words, names and of how personal a message is are the means of the built-in models'. Contrasts differ
from model to model and are measured against the `nearness` of the memory: the contrast that 98 % of the neutral
messages do not exceed with any of its passages. `reverie bench inject --unfitted` measures the built-in models so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.built_in import BUILT_IN_PROVIDER
from reverie_indexer.model import ModelIdentity
from reverie_server.search.labelled_messages import Direction
from reverie_server.search.relevance import (
    MIN_RELEVANCE,
    SCALES,
    Plane,
    RelevanceScale,
    log_odds,
    usual_similarity,
)

State: TypeAlias = Literal["built_in", "learnt", "waiting", "refused", "none"]
"""Whose constants a model has: its own, or those of what it said of the labelled messages; these are not embedded yet,
or the model refuses them; there is no model."""
Matrix: TypeAlias = NDArray[np.float32]
NEUTRAL_SHARE = 0.98
"""The share of the neutral messages to which no passage of the memory is nearer than its `nearness`."""
# The slope of contrast, in units of the nearness. The built-in models' own are 1.1 and 1.2; with 2 fewer messages that
# have nothing to do with the memory find something, and as many others find what they need.
_CONTRAST_SLOPE = 2.0
# A passage without a word of the message helps from this contrast on, in the same units. At 1, a question that has
# nothing to do with the memory found something in one case of ten, since now and then a word is the same.
_ALONE_FROM = 1.3
# What is nearer by less than halves of floats tell apart is not near.
_LEAST_NEARNESS = 0.01


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a model makes of the labelled messages: which are personal, and how similar two are that have nothing to do
    with each other."""

    direction: Direction
    usual_similarity: float


def has_constants(identity: ModelIdentity) -> bool:
    """Whether constants were fitted for a model: the built-in ones. Another one of the same name is another one."""
    return identity.provider == BUILT_IN_PROVIDER and identity.name in SCALES


def scale_at(nearness: float, usual: float) -> RelevanceScale:
    """The scale for a memory of this nearness, of a model with this usual similarity."""
    scales = SCALES.values()
    return RelevanceScale(
        asked=_plane_at(nearness, (scale.asked for scale in scales)),
        unasked=_plane_at(nearness, (scale.unasked for scale in scales)),
        usual_similarity=usual,
    )


def _plane_at(nearness: float, planes: Iterable[Plane]) -> Plane:
    known = list(planes)
    mean = Plane(**{each.name: fmean(getattr(plane, each.name) for plane in known) for each in fields(Plane)})
    slope = _CONTRAST_SLOPE / max(nearness, _LEAST_NEARNESS)
    return replace(mean, contrast=slope, offset=log_odds(MIN_RELEVANCE) - _CONTRAST_SLOPE * _ALONE_FROM)


def usual_between(neutral: Matrix, others: Matrix) -> float:
    """The median cosine of neutral messages and others, `[messages, dimension]` each, at least one of each."""
    return float(np.median(neutral @ others.T))


def nearness_of(neutral: Matrix, passages: Matrix, usual: float, candidates: int) -> float:
    """The nearness of a memory, by the vectors of neutral messages and of passages, at least one of each.

    `candidates` is how many passages by vector a search compares with each other, of so many as are given.
    """
    similarity = neutral @ passages.T
    count = max(1, min(candidates, len(passages)))
    nearest = -np.partition(-similarity, count - 1, axis=1)[:, :count]
    contrasts = [float(np.clip(row.max(), 0.0, 1.0)) - usual_similarity(row, usual) for row in nearest]
    return max(float(np.quantile(contrasts, NEUTRAL_SHARE)), _LEAST_NEARNESS)
