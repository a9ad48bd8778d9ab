"""Measures of a ranked list, and the difference of two ways with its interval. Pure.

Ranks begin at 1. Every measure of one question is in 0..1, higher is better; an overall figure is the mean
over questions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = Mapping[str, float]
BUCKETS = 20
_CJK = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\uffef\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Passages with low ≤ relevance < high (the last: ≤), and how many of them hold evidence."""

    low: float
    high: float
    results: int
    evidence: int


@dataclass(frozen=True, slots=True)
class Found:
    """One retrieved passage: the units it holds, in order (none: nothing one could ask for), and its length."""

    units: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Depths:
    """Where the list is cut: `hits`, `recalls` and `ndcg` count units, `budgets` count tokens."""

    hits: tuple[int, ...] = ()
    recalls: tuple[int, ...] = ()
    ndcg: int = 10
    budgets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences and its 95 % interval."""

    mean: float
    low: float
    high: float


def estimate_tokens(text: str) -> int:
    """The length of a text in tokens, by script: CJK 1 a character, ASCII ⌈n/4⌉, other ⌈2n/3⌉."""
    ascii_chars = sum(character.isascii() for character in text)
    cjk_chars = len(_CJK.findall(text))
    other_chars = len(text) - ascii_chars - cjk_chars
    return cjk_chars + math.ceil(ascii_chars / 4) + math.ceil(2 * other_chars / 3)


def unit_ranking(found: Sequence[Found]) -> list[int | None]:
    """The units in the order they were first found; None where a passage without one takes a place."""
    ranking: dict[int | tuple[int], int | None] = {}
    for place, passage in enumerate(found):
        if not passage.units:
            ranking[(place,)] = None
        for unit in passage.units:
            ranking.setdefault(unit, unit)
    return list(ranking.values())


def measure(found: Sequence[Found], relevant: frozenset[int], depths: Depths) -> dict[str, float]:
    """Every measure of one question's list, best first; `relevant` has at least one unit.

    `hit@k`, `any@k`: 1 when a relevant unit is among the first k. `all@k`: when all are. `fraction@k`: the
    share of them that is. `within_n`: the share of them in the passages that fit into n tokens, taken in
    order and whole, up to the first that does not fit.
    """
    ranking = unit_ranking(found)
    scores: dict[str, float] = {}
    for k in depths.hits:
        scores[f"hit@{k}"] = float(not relevant.isdisjoint(ranking[:k]))
    for k in depths.recalls:
        share = len(relevant.intersection(ranking[:k])) / len(relevant)
        scores |= {f"any@{k}": float(share > 0), f"all@{k}": float(share == 1), f"fraction@{k}": share}
    scores[f"ndcg@{depths.ndcg}"] = ndcg(ranking, relevant, depths.ndcg)
    scores["mrr"] = reciprocal_rank(ranking, relevant)
    for budget in depths.budgets:
        fitting = {unit for passage in _fitting(found, budget) for unit in passage.units}
        scores[f"within_{budget}"] = len(relevant & fitting) / len(relevant)
    return scores


def _fitting(found: Sequence[Found], budget: int) -> Iterator[Found]:
    spent = 0
    for passage in found:
        spent += passage.tokens
        if spent > budget:
            return
        yield passage


def ndcg(ranking: Sequence[int | None], relevant: frozenset[int], k: int) -> float:
    """Binary nDCG@k (Järvelin and Kekäläinen 2002): Σ 1/log₂(rank + 1) of relevant ranks ≤ k, over its ideal."""
    gain = sum(1 / math.log2(rank + 1) for rank, unit in enumerate(ranking[:k], 1) if unit in relevant)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return gain / ideal


def reciprocal_rank(ranking: Sequence[int | None], relevant: frozenset[int]) -> float:
    """1 / the rank of the first relevant unit, 0 when there is none."""
    return next((1 / rank for rank, unit in enumerate(ranking, 1) if unit in relevant), 0.0)


def mean(questions: Sequence[Scores]) -> dict[str, float]:
    """The mean of each measure over questions, at least one, all with the same measures."""
    return {name: math.fsum(scores[name] for scores in questions) / len(questions) for name in questions[0]}


def paired_bootstrap(
    ours: Sequence[Scores], theirs: Sequence[Scores], *, seed: int, resamples: int
) -> dict[str, Difference]:
    """Ours minus theirs, measure by measure; the i'th scores of both are of the same question.

    The percentile interval over `resamples` draws of the questions with replacement (Efron and Tibshirani
    1993). The same seed gives the same draws.
    """
    names = list(ours[0])
    differences: NDArray[np.float64] = np.array(
        [[a[name] - b[name] for name in names] for a, b in zip(ours, theirs, strict=True)]
    )
    count = len(differences)
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    means = draws @ differences / count
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return {
        name: Difference(float(differences[:, i].mean()), float(low[i]), float(high[i])) for i, name in enumerate(names)
    }


def bucketed(judged: Iterable[tuple[float, bool]]) -> list[Bucket]:
    """Relevance in 0..1 and whether it was evidence, counted in BUCKETS equal steps; empty ones left out."""
    counts = [[0, 0] for _ in range(BUCKETS)]
    for relevance, is_evidence in judged:
        bucket = counts[min(BUCKETS - 1, int(relevance * BUCKETS))]
        bucket[0] += 1
        bucket[1] += bool(is_evidence)
    return [
        Bucket(step / BUCKETS, (step + 1) / BUCKETS, results, evidence)
        for step, (results, evidence) in enumerate(counts)
        if results
    ]
