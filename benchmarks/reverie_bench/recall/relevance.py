"""The meaning of `relevance`: how often a passage of a given relevance is evidence for the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reverie_bench.data import Corpus
from reverie_bench.recall.memory import Memory
from reverie_bench.recall.metrics import Bucket, bucketed
from reverie_server.search.relevance import MIN_RELEVANCE

RESULTS_JUDGED = 10
"""The results of a question that are judged: about as many as a caller asks for or a prompt takes."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """The worth of the scale on a corpus.

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
    count = len(corpus.collections)
    for number, collection in enumerate(corpus.collections):
        for question in collection.questions:
            outcome = await memory.ask(number, question.text, "hybrid")
            relevances = [result.relevance for result in outcome.results[:RESULTS_JUDGED]]
            is_evidence = [not question.relevant.isdisjoint(each.units) for each in memory.found(number, outcome)]
            judged += zip(relevances, is_evidence, strict=False)
            own.append(_is_found(relevances))
            if count > 1:
                outcome = await memory.ask((number + 1) % count, question.text, "hybrid")
                elsewhere.append(_is_found(result.relevance for result in outcome.results[:RESULTS_JUDGED]))
    return Relevance(bucketed(judged), sum(own) / len(own), sum(elsewhere) / len(elsewhere) if count > 1 else None)


def _is_found(relevances: Iterable[float]) -> bool:
    return any(relevance >= MIN_RELEVANCE for relevance in relevances)
