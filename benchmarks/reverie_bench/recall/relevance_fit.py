"""Fits the formulas of `relevance` on what decides: for each message the passage that speaks loudest. Pure.

A logistic regression with one row a message: where memory has something, its best piece of evidence; where it has
nothing, its best passage. Which one is best depends on the formula, so fitting and choosing alternate. Groups of
messages weigh what the rules of the formula say, however many messages they have. The offset is then set so that
MIN_RELEVANCE (0.3) is where a share of the messages finds something that memory has nothing for, the mean over groups.
Nothing is drawn by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
Feature = Literal["contrast", "idf_share", "named", "personal", "unknown_name"]
"""The parts of relevance, by the names of the constants: see `search/relevance`."""
_ROUNDS = 20
_COLUMNS = ("features", "evidence", "shipped", "message", "asker", "memory")
_FIRST_SLOPE = 4.0


@dataclass(frozen=True, slots=True)
class FormulaRules:
    """The features of a formula and what it is fitted to.

    A group weighs 1, or what `weights` say. The offset is where `false_share` of the messages of `set_by` find
    something, the mean over these groups.
    """

    features: tuple[Feature, ...]
    set_by: tuple[Group, ...]
    false_share: float
    weights: Mapping[Group, float] = field(default_factory=dict)


# A question of LoCoMo always concerns somebody's life. Half the weight in all keeps that from deciding what an
# assistant is told. One message in ten of those that need nothing may find something, most of them near misses.
ASKED = FormulaRules(("contrast", "idf_share", "named", "unknown_name"), ("unrelated",), 0.055)
UNASKED = FormulaRules((*ASKED.features, "personal"), ("unrelated", "near miss"), 0.1, {"own": 0.3, "elsewhere": 0.5})
WORDS = FormulaRules(("idf_share", "named"), ("elsewhere", "unrelated"), 0.05)


@dataclass(frozen=True, slots=True)
class Sample:
    """The search results for each message of a group; a row is a passage.

    `features` is (rows, features), in the order of the rules. `message` numbers the messages from 0 to `messages` - 1
    (one may have no row), `asker` is the conversation or set that it is of, `memory` the one that was searched.
    `shipped` is the relevance that the product gave. `categories` has that of each message, and is empty for questions.
    """

    features: Floats
    evidence: Flags
    shipped: Floats
    message: NDArray[np.int64]
    asker: NDArray[np.int64]
    memory: NDArray[np.int64]
    messages: int
    categories: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """relevance = σ(Σ slope · feature + offset), the slopes in the order of the features of the rules."""

    slopes: Mapping[Feature, float]
    offset: float

    def relevance(self, features: Floats) -> Floats:
        """Of each row of a sample's features."""
        return sigmoid(np.asarray(features @ np.array(list(self.slopes.values())) + self.offset))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decisions by a formula and MIN_RELEVANCE: shares of the messages of each group.

    `found`: with a passage from MIN_RELEVANCE on; `right`: with evidence among those, of the groups that have any.
    """

    found: Mapping[Group, float]
    right: Mapping[Group, float]


@dataclass(frozen=True, slots=True)
class CategoryVerdict:
    """The decisions on the messages of one category: as a `Verdict`; `right` is None where memory has nothing."""

    messages: int
    found: float
    right: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A formula and what it is worth.

    `left_out`: the formula fitted without each conversation or set in turn. `auc_held_out`, `curve` and the verdict
    `held out` judge each message by the formula that has not seen what it is of. The AUCs tell evidence from other
    passages, over all passages of all messages. `by_category` is held out, of the turns.
    """

    formula: Formula
    messages: int
    auc: float
    auc_held_out: float
    left_out: Sequence[Formula]
    verdicts: Mapping[str, Verdict]
    by_category: Mapping[Group, Mapping[str, CategoryVerdict]]
    curve: Sequence[Bucket]


def calibrate(samples: Mapping[Group, Sample], rules: FormulaRules, folds: int) -> Calibration:
    """Fit on all, and once without each of the `folds` askers. ValidationFailed where there is nothing to fit."""
    formula = fitted(samples, rules)
    left_out = [fitted({g: _without(s, fold) for g, s in samples.items()}, rules) for fold in range(folds)]
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
        by_category={group: _by_category(group, sample, held_out[group])
                     for group, sample in samples.items() if sample.categories},
        curve=bucketed(zip(_joined(held_out).tolist(), evidence.tolist(), strict=True)),
    )  # fmt: skip


def fitted(samples: Mapping[Group, Sample], rules: FormulaRules) -> Formula:
    """The formula for the samples; see the module. ValidationFailed where all or none have evidence."""
    slopes, chosen = np.full(len(rules.features), _FIRST_SLOPE), np.zeros(0)
    for _ in range(_ROUNDS):
        features, outcomes, weights = _loudest(samples, rules, slopes)
        if np.array_equal(features, chosen):
            break
        chosen = features
        slopes = np.array(fit(features, outcomes, weights).slopes)
    offset = logit(MIN_RELEVANCE) - _edge(samples, rules, slopes)
    return Formula(dict(zip(rules.features, slopes.tolist(), strict=True)), offset)


def _loudest(samples: Mapping[Group, Sample], rules: FormulaRules, slopes: Floats) -> tuple[Floats, Flags, Floats]:
    """One row a message, its outcome and its weight."""
    features, outcomes, weights = [], [], []
    for group in (*WITH, *WITHOUT):
        if group in samples:
            sample = samples[group]
            rows = np.flatnonzero(sample.evidence) if group in WITH else np.arange(len(sample.evidence))
            best = _best_rows(sample, rows, sample.features @ slopes)
            features.append(sample.features[best])
            outcomes.append(np.full(len(best), group in WITH))
            weights.append(np.full(len(best), rules.weights.get(group, 1.0) / max(1, len(best))))
    weight = np.concatenate(weights)
    return np.concatenate(features), np.concatenate(outcomes), weight / weight.sum() * len(weight)


def _best_rows(sample: Sample, rows: NDArray[Any], by: Floats) -> NDArray[Any]:
    """Of the rows of each message the one with the highest figure, the first of equal ones."""
    order = rows[np.lexsort((rows, -by[rows], sample.message[rows]))]
    return order[np.unique(sample.message[order], return_index=True)[1]]


def _edge(samples: Mapping[Group, Sample], rules: FormulaRules, slopes: Floats) -> float:
    """The figure that `false_share` of the messages of `set_by` reach, the mean over these groups."""
    figures, weights = [np.zeros(0)], [np.zeros(0)]
    for group in rules.set_by:
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
    reached = np.cumsum(weight[order]) / (len(figures) - 1)
    at = int(np.searchsorted(reached, rules.false_share, side="right"))
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
        return int(_messages(samples[group], rows).sum()) / max(1, samples[group].messages)

    found: dict[Group, Flags] = {group: relevance[group] >= MIN_RELEVANCE for group in samples}
    return Verdict(
        {group: part(group, found[group]) for group in samples},
        {group: part(group, found[group] & samples[group].evidence) for group in WITH if group in samples},
    )


def _by_category(group: Group, sample: Sample, relevance: Floats) -> dict[str, CategoryVerdict]:
    category = np.array(sample.categories)
    found = _messages(sample, relevance >= MIN_RELEVANCE)
    right = _messages(sample, (relevance >= MIN_RELEVANCE) & sample.evidence)
    of_category = {name: category == name for name in dict.fromkeys(sample.categories)}
    return {
        name: CategoryVerdict(
            int(of.sum()), float(found[of].mean()), float(right[of].mean()) if group in WITH else None
        )
        for name, of in of_category.items()
    }


def _messages(sample: Sample, rows: Flags) -> Flags:
    """Which messages have one of the rows."""
    found = np.zeros(sample.messages, np.bool_)
    found[sample.message[rows]] = True
    return found
