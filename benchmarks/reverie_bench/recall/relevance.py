"""Whether `relevance` means what it says: how often a passage of a given relevance is evidence for the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reverie_bench.data import Corpus
from reverie_bench.recall.memory import Memory
from reverie_server.search.rank import MIN_RELEVANCE

BUCKETS = 20
LOOKED_AT = 10
"""How many results of a question are judged: about what a caller asks for or a prompt takes."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Results with low ≤ relevance < high (the last: ≤), and how many of them hold evidence."""

    low: float
    high: float
    results: int
    evidence: int


@dataclass(frozen=True, slots=True)
class Relevance:
    """What the scale is worth on a corpus.

    `found` is the share of questions with a result from MIN_RELEVANCE on. `found_elsewhere` is the same for the
    memory of another collection, which cannot know: the lower, the better; None where there is no other.
    """

    buckets: Sequence[Bucket]
    found: float
    found_elsewhere: float | None


async def judge(memory: Memory, corpus: Corpus) -> Relevance:
    """Ask every question of its own collection and of the next one."""
    judged: list[tuple[float, bool]] = []
    own: list[bool] = []
    elsewhere: list[bool] = []
    others = len(corpus.collections) > 1
    for number, collection in enumerate(corpus.collections):
        for question in collection.questions:
            outcome = await memory.ask(number, question.text, "hybrid")
            found = memory.found(number, outcome)[:LOOKED_AT]
            judged += [
                (ranked.relevance, not question.relevant.isdisjoint(passage.units))
                for ranked, passage in zip(outcome.results, found, strict=False)
            ]
            own.append(_is_found(r.relevance for r in outcome.results[:LOOKED_AT]))
            if others:
                outcome = await memory.ask((number + 1) % len(corpus.collections), question.text, "hybrid")
                elsewhere.append(_is_found(r.relevance for r in outcome.results[:LOOKED_AT]))
    return Relevance(bucketed(judged), _share(own), _share(elsewhere) if others else None)


def bucketed(judged: Iterable[tuple[float, bool]]) -> list[Bucket]:
    """Relevance in 0..1 and whether it was evidence, counted in BUCKETS equal steps; empty ones left out."""
    counts = [[0, 0] for _ in range(BUCKETS)]
    for relevance, is_evidence in judged:
        bucket = counts[min(BUCKETS - 1, int(relevance * BUCKETS))]
        bucket[0] += 1
        bucket[1] += is_evidence
    return [
        Bucket(step / BUCKETS, (step + 1) / BUCKETS, results, evidence)
        for step, (results, evidence) in enumerate(counts)
        if results
    ]


def _is_found(relevances: Iterable[float]) -> bool:
    return any(relevance >= MIN_RELEVANCE for relevance in relevances)


def _share(answers: Sequence[bool]) -> float:
    return sum(answers) / len(answers)
