"""Makes the model of changes: `python -m reverie_bench.changes.fit` (which needs `reverie[models]`), after the adapter
(`changes.adapter`) and before the trees that weigh what it says in whole lives (`changes.whole_lives`).

With how well it tells what is ended in lives that it was not made of: each of some folds is judged by the others, then
the held lives by all. Lives in which little changes are as people talk, and tell how often it is right.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from reverie_bench.changes.aspects import AspectSentence, aspect_sentences
from reverie_bench.changes.pairs import (
    FOLDS,
    LEFT_OUT,
    ChangeCase,
    cases_of_groups,
    cases_of_lives,
    fold_of,
    labelled_groups,
)
from reverie_bench.recall.logistic import Fit, fit
from reverie_bench.sentence_fit import Floats, file_of, fit_kind, vectors_by
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import load_local
from reverie_server.heuristics.changes.aspects import ASPECTS_FILE, aspect_models
from reverie_server.heuristics.changes.change_pairs import (
    FEATURES,
    OF_ASPECTS,
    OF_KINDS,
    OF_PLACE,
    OF_WORDS,
    SENTENCES_FILE,
    WEIGHTS_FILE,
    Near,
    Network,
    PairModel,
    pair_features,
    pair_models,
    sentence_kinds,
    units_of,
    word_features,
)

LEAST_ENDS = -3.5
"""Sentences that end something by less are not compared."""
_RIDGE = 0.3
# The strength of the prior, as the scale of what is fitted: `logistic.fit` has one ridge for all slopes.
_OF_WORDS, _OTHER, _ASPECTS, _DIRECTIONS = 0.03, 0.055, 0.3, 0.11
# The inverse strength of the prior of the model of aspects.
_INVERSE_RIDGE = 5.0
# Pairs of lives are as they come in a memory; those of groups are chosen.
_WEIGHT_OF_GROUPS = 0.5
_NEAREST, _NEAREST_AS_CHANGE = 10, 5
# A life of which fewer lines end something is one in which little changes.
_LITTLE = 0.15
# The network: so many are made, from different beginnings, and their mean is taken. Pairs of lower log-odds than
# `_LEAST_ODDS` by the sum are no changes, of which it would learn nothing else.
_NETWORKS, _UNITS, _DECAY, _ROUNDS, _LEAST_ODDS = 9, 24, 0.1, 40, -8.0
_RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)

Vectors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Row:
    """A new sentence with one that was said before, which it `ends` or not."""

    case: ChangeCase
    old: str
    near: Near
    of_words: list[float]
    ends: bool
    is_over: bool


async def main() -> None:
    """Write the models beside the module that uses them, and print how well they do."""
    cases = [*cases_of_lives(held=False), *cases_of_groups(labelled_groups())]
    held = cases_of_lives(held=True)
    of_aspects = aspect_sentences()
    vectors = await _vectors([*cases, *held], [each.text for each in of_aspects])
    as_changes = await _as_changes([*cases, *held])
    _fit_aspects(of_aspects, vectors)
    of_kinds = _fit_kinds(cases, vectors)
    rows = [row for each in cases for row in rows_of(each, vectors, as_changes)]
    columns = _scaled(_columns(rows, vectors, of_kinds))
    ends = np.array([row.ends for row in rows])
    weights = np.array([1.0 if row.case.is_of_life else _WEIGHT_OF_GROUPS for row in rows])
    folds = np.array([fold_of(row.case.of) for row in rows])
    sums, odds = np.zeros(len(rows)), np.zeros(len(rows))
    for fold in range(FOLDS):
        some = folds != fold
        sums[~some] = _log_odds(fit(columns[some], ends[some], weights[some]), columns[~some])
    numbers = np.c_[columns[:, : len(FEATURES)] / _scales(columns.shape[1])[: len(FEATURES)], sums]
    for fold in range(FOLDS):
        some = folds != fold
        odds[~some] = _fit_network(numbers[some], ends[some]).log_odds(numbers[~some])
    is_sparse = _of_little_change(rows)
    for name, chosen in (("much", ~is_sparse), ("little", is_sparse)):
        print(f"lives not seen, by fold, in which {name} changes: {how_well(*_only(rows, odds, chosen))}")
    print(f"  before the network: {how_well(*_only(rows, sums, is_sparse))}")
    of_change = np.array([float(vectors[row.old] @ as_changes[row.case.new]) for row in rows])
    joint = fit(np.c_[odds, of_change][folds == LEFT_OUT], ends[folds == LEFT_OUT], weights[folds == LEFT_OUT])
    print(f"the network's log-odds times {joint.slopes[0]:.2f}, the cosine of the change {joint.slopes[1]:.2f}")
    fitted, network = fit(columns, ends, weights), _fit_network(numbers, ends)
    WEIGHTS_FILE.write_text(json.dumps({E5.name: _weights(fitted, network, joint)}) + "\n", encoding="utf-8")
    pair_models.cache_clear()
    model = pair_models()[E5.name]
    rows = [row for each in held for row in rows_of(each, vectors, as_changes)]
    odds = np.array([_by_model(row, vectors, as_changes, model) for row in rows])
    is_sparse = _of_little_change(rows)
    for name, chosen in (("much", ~is_sparse), ("little", is_sparse)):
        print(f"held lives in which {name} changes: {how_well(*_only(rows, odds, chosen))}")


def rows_of(case: ChangeCase, vectors: Vectors, as_changes: Vectors) -> list[Row]:
    """A sentence with what is nearest to it, or to it as a change, of what was said before, and with what it ends."""
    if not case.earlier:
        return []
    own = np.stack([vectors[unit] for unit in units_of(case.new)])
    nearness = np.array(
        [float((own @ np.stack([vectors[unit] for unit in units_of(old)]).T).max()) for old in case.earlier]
    )
    order = np.argsort(-nearness, kind="stable")
    of_change = np.array([float(vectors[old] @ as_changes[case.new]) for old in case.earlier])
    ended = np.argsort(-of_change, kind="stable")[:_NEAREST_AS_CHANGE]
    best, second = nearness[order[0]], nearness[order[1]] if len(order) > 1 else 0.0
    found = []
    for at in dict.fromkeys([*order[:_NEAREST].tolist(), *ended.tolist(), *sorted(case.ends)]):
        rank = int((nearness > nearness[at]).sum())
        ahead = float(nearness[at] - (best if rank else second))
        old = case.earlier[at]
        of_words = word_features(old, case.new, case.language, float(vectors[old] @ vectors[case.new]))
        near = Near(float(nearness[at]), rank, ahead, len(case.earlier))
        found.append(Row(case, old, near, of_words, at in case.ends, at in case.is_over))
    return found


def how_well(rows: Sequence[Row], odds: Floats) -> str:
    """How many of what a sentence is found to end it does end, for how many of all that are found; of lives."""
    best: list[tuple[float, bool]] = []
    total = 0
    for _, group in groupby(zip(rows, odds, strict=True), key=lambda each: id(each[0].case)):
        open_ = [(float(log_odds), row.ends) for row, log_odds in group if row.case.is_of_life and not row.is_over]
        total += sum(ends for _, ends in open_)
        best += [max(open_)] if open_ else []
    best.sort(reverse=True)
    right = np.cumsum([ends for _, ends in best])
    parts = []
    for recall in _RECALLS:
        at = int(np.searchsorted(right, recall * total))
        if at < len(best):
            parts.append(f"{recall:.1f} found, right {right[at] / (at + 1):.2f} (from {best[at][0]:.1f} on)")
    for least in (0.0, -1.0):
        found = sum(log_odds >= least for log_odds, _ in best)
        parts.append(f"from {least:g} on {right[found - 1] / total:.2f} found, right {right[found - 1] / found:.2f}")
    return f"{total} changes among {len(best)} sentences; {'; '.join(parts)}"


def _fit_kinds(cases: Sequence[ChangeCase], vectors: Vectors) -> Mapping[tuple[str, str], float]:
    """Write the models of sentences; the log-odds of each sentence by kind, from fits without its fold."""
    ends = {each.new: bool(each.ends) for each in cases}
    endable = dict.fromkeys(ends, False) | {text: False for each in cases for text in each.earlier}
    endable |= {each.earlier[at]: True for each in cases for at in each.ends}
    folds = {text: fold_of(each.of) for each in cases for text in (*each.earlier, each.new)}
    folds |= {each.new: fold_of(each.of) for each in cases} | {
        each.earlier[at]: fold_of(each.of) for each in cases for at in each.ends
    }
    found: dict[tuple[str, str], float] = {}
    kinds = {}
    for kind, labels in (("ends", ends), ("endable", endable)):
        texts = sorted(labels)
        rows = {E5.name: np.stack([vectors[text] for text in texts]).astype(np.float64)}
        is_of_kind = np.array([labels[text] for text in texts], np.float64)
        kinds[kind] = fit_kind(texts, rows, is_of_kind, np.array([folds[text] for text in texts]), _RIDGE)
        odds = np.clip(kinds[kind].by_meaning[E5.name], -8.0, 8.0)
        found |= {(kind, text): float(each) for text, each in zip(texts, odds, strict=True)}
    SENTENCES_FILE.write_text(json.dumps(file_of(kinds)) + "\n", encoding="utf-8")
    sentence_kinds.cache_clear()

    return found


def _fit_aspects(sentences: Sequence[AspectSentence], vectors: Vectors) -> None:
    """Write the model of aspects, and print how often it names that of a sentence that it was not made of."""
    rows = np.stack([vectors[each.text] for each in sentences]).astype(np.float64)
    names = np.array([each.aspect for each in sentences])
    folds = np.array([fold_of(each.text) for each in sentences])
    right = np.zeros(len(names), bool)
    for fold in range(FOLDS):
        some = folds != fold
        right[~some] = _aspects_of(rows[some], names[some]).predict(rows[~some]) == names[~some]
    print(f"{len(names)} sentences of {len(set(names))} aspects, by fold: {right.mean():.2f} are given their own")
    fitted = _aspects_of(rows, names)
    source = {
        "names": fitted.classes_.tolist(),
        "directions": np.round(fitted.coef_, 3).tolist(),
        "offsets": np.round(fitted.intercept_, 3).tolist(),
    }
    ASPECTS_FILE.write_text(json.dumps({E5.name: source}) + "\n", encoding="utf-8")
    aspect_models.cache_clear()


def _aspects_of(rows: Floats, names: NDArray[np.str_]) -> LogisticRegression:
    return LogisticRegression(C=_INVERSE_RIDGE, max_iter=800).fit(rows, names)


def _columns(rows: Sequence[Row], vectors: Vectors, of_kinds: Mapping[tuple[str, str], float]) -> Floats:
    model = aspect_models()[E5.name]
    shares = {text: model.shares(vectors[text]) for row in rows for text in (row.case.new, row.old)}
    features = np.stack(
        [
            pair_features(
                row.of_words,
                row.near,
                of_kinds["ends", row.case.new],
                of_kinds["endable", row.old],
                shares[row.case.new],
                shares[row.old],
            )
            for row in rows
        ]
    )
    new, old = (
        np.stack([vectors[text] for text in texts])
        for texts in ([row.case.new for row in rows], [row.old for row in rows])
    )
    return np.hstack([features, new, old]).astype(np.float64)


def _scales(count: int) -> Floats:
    counts = (len(OF_WORDS), len(OF_PLACE) + len(OF_KINDS), len(OF_ASPECTS), count - len(FEATURES))
    return np.repeat([_OF_WORDS, _OTHER, _ASPECTS, _DIRECTIONS], counts)


def _scaled(columns: Floats) -> Floats:
    return columns * _scales(columns.shape[1])


def _log_odds(fitted: Fit, columns: Floats) -> Floats:
    return np.asarray(columns @ np.array(fitted.slopes) + fitted.intercept)


def _fit_network(numbers: Floats, ends: NDArray[np.bool_]) -> Network:
    """What weighs the features and the sum together; the numbers are scaled to be learnt from, and back."""
    chosen = numbers[:, -1] > _LEAST_ODDS
    mean, spread = numbers[chosen].mean(axis=0), numbers[chosen].std(axis=0) + 1e-6
    hidden, hidden_offset, output, offset = [], [], [], 0.0
    for seed in range(_NETWORKS):
        made = MLPClassifier(
            (_UNITS,), alpha=_DECAY, batch_size=256, learning_rate_init=2e-3, max_iter=_ROUNDS,
            early_stopping=True, n_iter_no_change=6, random_state=seed,
        )  # fmt: skip
        made.fit((numbers[chosen] - mean) / spread, ends[chosen])
        weights = made.coefs_[0] / spread[:, None]
        hidden.append(weights)
        hidden_offset.append(made.intercepts_[0] - mean @ weights)
        output.append(made.coefs_[1][:, 0] / _NETWORKS)
        offset += float(made.intercepts_[1][0]) / _NETWORKS
    hiddens, hidden_offsets, outputs = (
        np.concatenate(parts, axis=-1).astype(np.float32) for parts in (hidden, hidden_offset, output)
    )
    return Network(hiddens, hidden_offsets, outputs, offset)


def _of_little_change(rows: Sequence[Row]) -> NDArray[np.bool_]:
    """Which rows are of lives in which little changes."""
    lines: dict[str, dict[str, bool]] = {}
    for row in rows:
        lines.setdefault(row.case.of, {})[row.case.new] = bool(row.case.ends)
    little = {of for of, ends in lines.items() if sum(ends.values()) < _LITTLE * len(ends)}
    return np.array([row.case.of in little for row in rows])


def _only(rows: Sequence[Row], odds: Floats, chosen: NDArray[np.bool_]) -> tuple[list[Row], Floats]:
    return [row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen], odds[chosen]


def _by_model(row: Row, vectors: Vectors, as_changes: Vectors, model: PairModel) -> float:
    new, old = vectors[row.case.new], vectors[row.old]
    ends, endable = model.ends(row.case.new, new), model.endable(row.old, old)
    pair = pair_features(row.of_words, row.near, ends, endable, model.aspects(new), model.aspects(old))
    return model.of_pair(pair, old, new, as_changes[row.case.new])


def _weights(fitted: Fit, network: Network, joint: Fit) -> dict[str, object]:
    slopes = np.array(fitted.slopes) * _scales(len(fitted.slopes))
    features, new, old = np.split(slopes, [len(FEATURES), (len(FEATURES) + len(slopes)) // 2])
    return {
        "features": {name: round(float(weight), 4) for name, weight in zip(FEATURES, features, strict=True)},
        "new": [round(float(weight), 4) for weight in new],
        "old": [round(float(weight), 4) for weight in old],
        "offset": round(fitted.intercept, 4),
        "network": {
            "hidden": np.round(network.hidden.astype(np.float64), 4).tolist(),
            "hidden_offset": np.round(network.hidden_offset.astype(np.float64), 4).tolist(),
            "output": np.round(network.output.astype(np.float64), 4).tolist(),
            "offset": round(network.offset, 4),
        },
        "of_network": round(float(joint.slopes[0]), 4),
        "of_change": round(float(joint.slopes[1]), 4),
        "joint_offset": round(joint.intercept, 4),
        "least_ends": LEAST_ENDS,
    }


async def _vectors(cases: Sequence[ChangeCase], others: Sequence[str] = ()) -> Vectors:
    """The vectors of all sentences of cases and their parts, and of other sentences, as passages."""
    sentences = {text for each in cases for text in (*each.earlier, each.new)}
    ordered = sorted({*sentences, *others} | {unit for text in sentences for unit in units_of(text)})
    with tempfile.TemporaryDirectory() as directory:
        embedder = load_local(Path(directory), E5)
        found = await embedder.embed(ordered)
        await embedder.aclose()
    return {text: np.asarray(vector, np.float32) for text, vector in zip(ordered, found, strict=True)}


async def _as_changes(cases: Sequence[ChangeCase]) -> Vectors:
    """The vectors of new sentences as changes."""
    texts = sorted({each.new for each in cases})
    return dict(zip(texts, (await vectors_by(E5.name, texts, "change")).astype(np.float32), strict=True))


if __name__ == "__main__":
    asyncio.run(main())
