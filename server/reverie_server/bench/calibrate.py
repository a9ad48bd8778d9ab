"""Fits `relevance`: what of a passage's cosine and word share tells that it is evidence for the question.

relevance = σ(a·similarity + b·idf_share + offset). The slopes are those of a logistic regression on the mix: the
questions asked of their own memory, and the same questions about the people of another conversation asked of that
one's memory, which cannot know. The offset moves the fitted probability so that FOUND_FROM (0.3) is where it equals
the share of evidence in the mix: logit(relevance) = logit(P) − logit(base rate) + logit(0.3).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.analyse import language_name
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_server.bench import origin
from reverie_server.bench.data import Collection, Corpus, load
from reverie_server.bench.logistic import RIDGE, Flags, Floats, auc, fit, logit, sigmoid
from reverie_server.bench.memory import Memory
from reverie_server.bench.recall import (
    SYSTEM,
    RecallOptions,
    language_of,
    open_collections,
    origin_of_run,
    sizes_of,
    write_collections,
)
from reverie_server.bench.relevance import BUCKETS, LOOKED_AT
from reverie_server.bench.variant import default_variant
from reverie_server.recall.rank import FOUND_FROM
from reverie_server.recall.request import Mode

Asking = Literal["own", "elsewhere", "swapped"]
"""Of its own memory; of the next conversation's; of that one with its people's names put into the question."""
ASKINGS: tuple[Asking, ...] = ("own", "elsewhere", "swapped")
WITH_VECTOR, WITHOUT_VECTOR = "with_vector", "without_vector"
_MODES: Mapping[str, Mode] = {WITH_VECTOR: "hybrid", WITHOUT_VECTOR: "text"}
# A fold needs two conversations that know nothing of the one left out.
_FEWEST_CONVERSATIONS = 3
_NONE = -1


@dataclass(frozen=True, slots=True)
class CalibrationOptions:
    """What to run, as of `RecallOptions`; `data` must be conversations."""

    data: Path
    load_embedder: Callable[[], Awaitable[Embedder]]
    language: str | None = None
    database_url: str | None = None
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Sample:
    """What search gave for every question asked in one way, the first LOOKED_AT results of each; a row is a result.

    `features` is (rows, 2), similarity clamped to 0..1 and IDF share, or (rows, 1), IDF share alone. `question`
    numbers the questions from 0 to `questions` − 1 (one may have no row), `asker` is the conversation it is of,
    `memory` the one that was searched. `shipped` is the relevance that the product gave.
    """

    features: Floats
    evidence: Flags
    shipped: Floats
    question: NDArray[np.int64]
    asker: NDArray[np.int64]
    memory: NDArray[np.int64]
    questions: int


@dataclass(frozen=True, slots=True)
class Formula:
    """relevance = σ(similarity · cosine + idf_share · share + offset); None: no cosine to go by."""

    similarity: float | None
    idf_share: float
    offset: float

    def relevance(self, features: Floats) -> Floats:
        """Of each row of a sample's features."""
        return sigmoid(self._log_odds(features))

    def probability(self, features: Floats, base_rate: float) -> Floats:
        """How likely each row is evidence where `base_rate` of all is; relevance FOUND_FROM gives `base_rate`."""
        return sigmoid(self._log_odds(features) - logit(FOUND_FROM) + logit(base_rate))

    def _log_odds(self, features: Floats) -> Floats:
        slopes = [self.idf_share] if self.similarity is None else [self.similarity, self.idf_share]
        return np.asarray(features @ np.array(slopes) + self.offset)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What FOUND_FROM decides by a formula.

    Shares of questions with a result from FOUND_FROM on: in their own memory, in another, in another about its own
    people. `evidence_kept`: of the evidence among the results of their own, the share from FOUND_FROM on.
    `precision`: of their own results from FOUND_FROM on, the share that is evidence; None when there are none.
    """

    found_own: float
    found_elsewhere: float
    found_swapped: float
    evidence_kept: float
    precision: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """Results of the mix with low ≤ relevance < high (the last: ≤): how many hold evidence, how many should."""

    low: float
    high: float
    results: int
    evidence: int
    expected: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A formula and what it is worth.

    `left_out`: the formula fitted without each conversation in turn. `auc_held_out`, `curve` and the verdict
    `held out` judge each conversation's questions by the formula that has not seen it. AUC is over the mix,
    `auc_own` over the results of the own memories alone.
    """

    formula: Formula
    base_rate: float
    results: int
    evidence: int
    left_out: Sequence[Formula]
    auc: float
    auc_own: float
    auc_held_out: float
    verdicts: Mapping[str, Verdict]
    curve: Sequence[Step]


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A run's result, without any text, id or name of the data. `calibrations`: WITH_VECTOR and WITHOUT_VECTOR."""

    data: Mapping[str, Any]
    sizes: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    calibrations: Mapping[str, Calibration]


async def run_calibration(options: CalibrationOptions) -> CalibrationReport:
    """Load the conversations into a database of its own, ask, and fit both formulas. Nothing is drawn by chance.

    ValidationFailed for data that is not at least three conversations with evidence, SetupError when the model or
    the database cannot be used.
    """
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    corpus = load(options.data)
    if corpus.kind != "conversations" or len(corpus.collections) < _FEWEST_CONVERSATIONS:
        raise ValidationFailed(f"relevance is fitted on {_FEWEST_CONVERSATIONS} LoCoMo conversations or more")
    language = language_name(options.language) if options.language else language_of(options.data)
    variant = default_variant(language)
    recall_options = RecallOptions(
        options.data, options.load_embedder, database_url=options.database_url, progress=options.progress
    )
    async with open_collections(recall_options) as bench:
        memories, chunks = await write_collections(bench, corpus, {SYSTEM: variant}, options.progress)
        calibrations = {}
        for name, mode in _MODES.items():
            samples: dict[Asking, Sample] = {}
            for asking in ASKINGS:
                options.progress(f"asking every question ({name}, {asking})")
                samples[asking] = await _sample(memories[SYSTEM], corpus, mode, asking)
            calibrations[name] = calibrate(samples, len(corpus.collections))
        return CalibrationReport(
            data={
                "file": options.data.name,
                "sha256": origin.sha256_of(options.data),
                "kind": corpus.kind,
                "language": language,
            },
            sizes=sizes_of(corpus, chunks),
            settings={**variant.as_dict(), "looked_at": LOOKED_AT, "found_from": FOUND_FROM, "ridge": RIDGE},
            origin=origin_of_run(bench, code, time.perf_counter() - started),
            calibrations=calibrations,
        )


async def _sample(memory: Memory, corpus: Corpus, mode: Mode, asking: Asking) -> Sample:
    rows: list[tuple[float, ...]] = []
    features: list[list[float]] = []
    count = 0
    for asker, collection in enumerate(corpus.collections):
        searched = asker if asking == "own" else (asker + 1) % len(corpus.collections)
        swap = name_swapper(collection, corpus.collections[searched])
        for question in collection.questions:
            text = swap(question.text) if asking == "swapped" else question.text
            outcome = await memory.ask(searched, text, mode)
            found = memory.found(searched, outcome)
            for ranked, passage in zip(outcome.results[:LOOKED_AT], found, strict=False):
                is_evidence = asking == "own" and not question.relevant.isdisjoint(passage.units)
                features.append(_features(ranked.similarity, ranked.idf_share, mode))
                rows.append((is_evidence, ranked.relevance, count, asker, searched))
            count += 1
    columns = np.array(rows, np.float64).reshape(-1, 5).T
    return Sample(
        np.array(features, np.float64).reshape(-1, 1 if mode == "text" else 2),
        columns[0].astype(np.bool_),
        columns[1],
        columns[2].astype(np.int64),
        columns[3].astype(np.int64),
        columns[4].astype(np.int64),
        count,
    )


def _features(similarity: float | None, idf_share: float, mode: Mode) -> list[float]:
    if mode == "text":
        return [idf_share]
    if similarity is None:
        raise SetupError("a passage has no vector: what is to be fitted cannot be measured")
    return [max(0.0, min(1.0, similarity)), idf_share]


def name_swapper(from_: Collection, to: Collection) -> Callable[[str], str]:
    """Puts the speakers of one conversation in the place of another's, first for first, as whole words, all at once."""
    names = dict(zip(_speakers(from_), _speakers(to), strict=False))
    if not names:
        return lambda text: text
    pattern = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})\b")
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def _speakers(collection: Collection) -> list[str]:
    """Who speaks, in the order of their first words; a unit of a conversation is `Speaker: text`."""
    return list(dict.fromkeys(unit.text.partition(":")[0] for unit in collection.units))


def calibrate(samples: Mapping[Asking, Sample], conversations: int) -> Calibration:
    """Fit on the own and the swapped results, once on all and once without each conversation. Pure."""
    formula, base_rate = _fitted(samples)
    left_out = [_fitted(samples, without=number) for number in range(conversations)]
    fitted = {asking: formula.relevance(sample.features) for asking, sample in samples.items()}
    held_out = {asking: np.zeros(len(sample.evidence)) for asking, sample in samples.items()}
    expected = {asking: np.zeros(len(sample.evidence)) for asking, sample in samples.items()}
    for number, (without, rate) in enumerate(left_out):
        for asking, sample in samples.items():
            rows = sample.asker == number
            held_out[asking][rows] = without.relevance(sample.features[rows])
            expected[asking][rows] = without.probability(sample.features[rows], rate)
    evidence = _mixed({asking: sample.evidence for asking, sample in samples.items()})
    shipped = {asking: sample.shipped for asking, sample in samples.items()}
    return Calibration(
        formula=formula,
        base_rate=base_rate,
        results=len(evidence),
        evidence=int(evidence.sum()),
        left_out=[without for without, _ in left_out],
        auc=auc(_mixed(fitted), evidence),
        auc_own=auc(fitted["own"], samples["own"].evidence),
        auc_held_out=auc(_mixed(held_out), evidence),
        verdicts={
            "fitted": _verdict(samples, fitted),
            "held out": _verdict(samples, held_out),
            "shipped": _verdict(samples, shipped),
        },
        curve=curve(_mixed(held_out), evidence, _mixed(expected)),
    )


def _fitted(samples: Mapping[Asking, Sample], *, without: int = _NONE) -> tuple[Formula, float]:
    """The formula and the base rate of the rows in which the conversation `without` neither asks nor is searched."""
    rows = {asking: (each.asker != without) & (each.memory != without) for asking, each in samples.items()}
    features = _mixed({asking: each.features[rows[asking]] for asking, each in samples.items()})
    evidence = _mixed({asking: each.evidence[rows[asking]] for asking, each in samples.items()})
    result = fit(features, evidence)
    base_rate = float(evidence.mean())
    offset = result.intercept - logit(base_rate) + logit(FOUND_FROM)
    similarity = result.slopes[0] if len(result.slopes) == 2 else None
    return Formula(similarity, result.slopes[-1], offset), base_rate


def _mixed(by_asking: Mapping[Asking, NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([by_asking["own"], by_asking["swapped"]])


def _verdict(samples: Mapping[Asking, Sample], relevance: Mapping[Asking, Floats]) -> Verdict:
    def found(asking: Asking) -> float:
        sample = samples[asking]
        return len(np.unique(sample.question[relevance[asking] >= FOUND_FROM])) / sample.questions

    evidence, kept = samples["own"].evidence, relevance["own"] >= FOUND_FROM
    return Verdict(
        found("own"),
        found("elsewhere"),
        found("swapped"),
        float(kept[evidence].mean()),
        float(evidence[kept].mean()) if kept.any() else None,
    )


def curve(relevance: Floats, evidence: Flags, expected: Floats) -> list[Step]:
    """The rows counted in BUCKETS equal steps of relevance, empty ones left out; `expected` sums the probabilities."""
    buckets = np.minimum(BUCKETS - 1, (relevance * BUCKETS).astype(np.int64))
    return [
        Step(
            int(bucket) / BUCKETS,
            (int(bucket) + 1) / BUCKETS,
            int((buckets == bucket).sum()),
            int(evidence[buckets == bucket].sum()),
            float(expected[buckets == bucket].sum()),
        )
        for bucket in np.unique(buckets)
    ]
