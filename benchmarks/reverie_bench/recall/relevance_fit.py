"""Fits `relevance` on what decides: for each message the passage that speaks loudest. Pure, nothing drawn by chance.

A logistic regression with one row a message: where memory has something, its best piece of evidence; where it has
nothing, its best passage. Which one is best depends on the formula, so fitting and choosing alternate. Groups of
messages weigh the same, however many they are. The offset is then set so that MIN_RELEVANCE (0.3) is where one in
twenty of the messages finds something that have nothing to do with the memory, the mean over their groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reverie_bench.recall.logistic import Flags, Floats, auc, fit, logit, sigmoid
from reverie_bench.recall.metrics import Bucket, bucketed
from reverie_server.search.relevance import MIN_RELEVANCE

Group = Literal["own", "elsewhere", "swapped", "should", "unrelated", "near miss"]
"""Questions of a conversation: to it, to another, to that one with its people's names. Turns: memory has something for
them, has nothing, has nothing though words or names are the same."""
WITH: tuple[Group, ...] = ("own", "should")
WITHOUT: tuple[Group, ...] = ("elsewhere", "unrelated", "near miss")
SET_BY: tuple[Group, ...] = ("elsewhere", "unrelated")
FALSE_SHARE = 0.05
_ROUNDS = 20
_COLUMNS = ("features", "evidence", "shipped", "message", "asker", "memory")
_FIRST_SLOPE = 4.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The search results for each message of a group; a row is a passage.

    `features` is (rows, 3), contrast, IDF share and named, or (rows, 2) without the first. `message` numbers the
    messages from 0 to `messages` - 1 (one may have no row), `asker` is the conversation or set that it is of, `memory`
    the one that was searched. `shipped` is the relevance that the product gave.
    """

    features: Floats
    evidence: Flags
    shipped: Floats
    message: NDArray[np.int64]
    asker: NDArray[np.int64]
    memory: NDArray[np.int64]
    messages: int


@dataclass(frozen=True, slots=True)
class Formula:
    """relevance = σ(contrast · x + idf_share · y + named · z + offset); None: no vectors to go by."""

    contrast: float | None
    idf_share: float
    named: float
    offset: float

    def relevance(self, features: Floats) -> Floats:
        """Of each row of a sample's features."""
        slopes = [self.idf_share, self.named] if self.contrast is None else [self.contrast, self.idf_share, self.named]
        return sigmoid(np.asarray(features @ np.array(slopes) + self.offset))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decisions by a formula and MIN_RELEVANCE: shares of the messages of each group.

    `found`: with a passage from MIN_RELEVANCE on; `right`: with evidence among those, of the groups that have any.
    """

    found: Mapping[Group, float]
    right: Mapping[Group, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A formula and what it is worth.

    `left_out`: the formula fitted without each conversation or set in turn. `auc_held_out`, `curve` and the verdict
    `held out` judge each message by the formula that has not seen what it is of. The AUCs tell evidence from other
    passages, over all passages of all messages.
    """

    formula: Formula
    messages: int
    auc: float
    auc_held_out: float
    left_out: Sequence[Formula]
    verdicts: Mapping[str, Verdict]
    curve: Sequence[Bucket]


def calibrate(samples: Mapping[Group, Sample], folds: int) -> Calibration:
    """Fit on all, and once without each of the `folds` askers. ValidationFailed where there is nothing to fit."""
    formula = fitted(samples)
    left_out = [fitted({g: _without(s, fold) for g, s in samples.items()}) for fold in range(folds)]
    by_all = {group: formula.relevance(sample.features) for group, sample in samples.items()}
    held_out = {group: np.zeros(len(sample.evidence)) for group, sample in samples.items()}
    for fold, without in enumerate(left_out):
        for group, sample in samples.items():
            rows = sample.asker == fold
            held_out[group][rows] = without.relevance(sample.features[rows])
    evidence = _joined({group: sample.evidence for group, sample in samples.items()})
    shipped = {group: sample.shipped for group, sample in samples.items()}
    return Calibration(
        formula=formula,
        messages=sum(sample.messages for sample in samples.values()),
        auc=auc(_joined(by_all), evidence),
        auc_held_out=auc(_joined(held_out), evidence),
        left_out=left_out,
        verdicts={name: _verdict(samples, by) for name, by in
                  (("fitted", by_all), ("held out", held_out), ("shipped", shipped))},
        curve=bucketed(zip(_joined(held_out).tolist(), evidence.tolist(), strict=True)),
    )  # fmt: skip


def fitted(samples: Mapping[Group, Sample]) -> Formula:
    """The formula for the samples; see the module. ValidationFailed where all or none have evidence."""
    width = next(iter(samples.values())).features.shape[1]
    slopes, chosen = np.full(width, _FIRST_SLOPE), np.zeros(0)
    for _ in range(_ROUNDS):
        features, outcomes, weights = _loudest(samples, slopes)
        if np.array_equal(features, chosen):
            break
        chosen = features
        slopes = np.array(fit(features, outcomes, weights).slopes)
    offset = logit(MIN_RELEVANCE) - _edge(samples, slopes)
    values = [float(slope) for slope in slopes]
    return Formula(values[0] if width == 3 else None, values[-2], values[-1], offset)


def _loudest(samples: Mapping[Group, Sample], slopes: Floats) -> tuple[Floats, Flags, Floats]:
    """One row a message, its outcome and its weight."""
    features, outcomes, weights = [], [], []
    for group in (*WITH, *WITHOUT):
        if group in samples:
            sample = samples[group]
            rows = np.flatnonzero(sample.evidence) if group in WITH else np.arange(len(sample.evidence))
            best = _best_rows(sample, rows, sample.features @ slopes)
            features.append(sample.features[best])
            outcomes.append(np.full(len(best), group in WITH))
            weights.append(np.full(len(best), 1 / max(1, len(best))))
    weight = np.concatenate(weights)
    return np.concatenate(features), np.concatenate(outcomes), weight / weight.sum() * len(weight)


def _best_rows(sample: Sample, rows: NDArray[Any], by: Floats) -> NDArray[Any]:
    """Of the rows of each message the one with the highest figure, the first of equal ones."""
    order = rows[np.lexsort((rows, -by[rows], sample.message[rows]))]
    return order[np.unique(sample.message[order], return_index=True)[1]]


def _edge(samples: Mapping[Group, Sample], slopes: Floats) -> float:
    """The figure that FALSE_SHARE of the messages that have nothing to do with the memory reach, by group."""
    figures, weights = [], []
    for group in SET_BY:
        if group in samples:
            sample = samples[group]
            by = sample.features @ slopes
            figures.append(by[_best_rows(sample, np.arange(len(by)), by)])
            weights.append(np.full(len(figures[-1]), 1 / max(1, sample.messages)))
    figure, weight = np.concatenate(figures), np.concatenate(weights)
    if not len(figure):
        # Nothing at all was found for any: whatever has something stands out.
        return 0.0
    order = np.argsort(-figure, kind="stable")
    reached = np.cumsum(weight[order]) / len(figures)
    at = int(np.searchsorted(reached, FALSE_SHARE, side="right"))
    # Just above the first that is one too many.
    return float(figure[order][min(at, len(order) - 1)]) + 1e-6


def _without(sample: Sample, fold: int) -> Sample:
    rows = (sample.asker != fold) & (sample.memory != fold)
    columns = {name: getattr(sample, name)[rows] for name in _COLUMNS}
    return replace(sample, **columns, messages=len(np.unique(columns["message"])))


def _joined(by_group: Mapping[Group, NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([by_group[group] for group in sorted(by_group)])


def _verdict(samples: Mapping[Group, Sample], relevance: Mapping[Group, Floats]) -> Verdict:
    def part(group: Group, rows: Flags) -> float:
        return len(np.unique(samples[group].message[rows])) / max(1, samples[group].messages)

    found: dict[Group, Flags] = {group: relevance[group] >= MIN_RELEVANCE for group in samples}
    return Verdict(
        {group: part(group, found[group]) for group in samples},
        {group: part(group, found[group] & samples[group].evidence) for group in WITH if group in samples},
    )
