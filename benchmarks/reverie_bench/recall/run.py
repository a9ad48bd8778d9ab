"""The recall benchmark: the system and the baselines beside it, on the same units, with the same embedder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_bench.data import Collection, Corpus, Kind, load
from reverie_bench.frame import Bench, Options, digests, open_bench, settle
from reverie_bench.recall import metrics
from reverie_bench.recall.baselines import Bm25, Grep, Recipe, by_chance, by_vector
from reverie_bench.recall.memory import Memory
from reverie_bench.recall.metrics import Depths, Found, Scores, estimate_tokens
from reverie_bench.recall.relevance import judge
from reverie_bench.recall.variant import Variant, default_variant, with_overrides
from reverie_bench.report import Report, file_name
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import EmbeddingRejected, SetupError, ValidationFailed
from reverie_indexer.text.analyse import language_name
from reverie_server.search.request import Mode

SYSTEM = "reverie"
UNCHANGED = "reverie without overrides"
QUERY_CACHE_SIZE = 10_000
_DEPTHS: Mapping[Kind, Depths] = {
    "conversations": Depths(recalls=(5, 10, 20), budgets=(500, 1000, 2000)),
    "paragraphs": Depths(hits=(1, 5, 10)),
}
_BATCH = 64

Way = Callable[[int, int, str], Awaitable[list[Found]]]
"""Answers a question: the collection's number, the question's number in it, its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions(Options):
    """A run on one data file. `overrides` are `name=value` of search or index rules; see `variant`.

    Without a `language`, that of the file's name (`….zh.json`), else English.
    """

    language: str | None = None
    overrides: tuple[str, ...] = ()
    seed: int = 20261121
    resamples: int = 10_000


@dataclass(frozen=True, slots=True)
class WayResult:
    """Means over questions, and the median time of one search where it is the system's."""

    overall: Scores
    by_category: Mapping[str, Scores]
    search_ms_p50: float | None


async def run_recall(options: RecallOptions) -> Report:
    """Load the data into a database of its own, ask every question in every way, and compare.

    The figure `differences` is the system's lead over the other ways. ValidationFailed for data or overrides that
    cannot be read, SetupError when the model or the database cannot be used.
    """
    [path] = options.data
    corpus = load(path)
    language = language_name(options.language) if options.language else language_of(path)
    default = default_variant(language)
    variant = with_overrides(default, options.overrides)
    variants = {SYSTEM: variant} | ({UNCHANGED: default} if options.overrides else {})
    async with open_bench(options, query_cache_size=QUERY_CACHE_SIZE) as bench:
        memories, chunks = await write_collections(bench, corpus, variants, options.progress)
        timings: dict[str, list[float]] = defaultdict(list)
        ways = _memory_ways(memories, timings) | await _baseline_ways(bench, corpus, options)
        scores = await _ask(corpus, ways, options.progress)
        options.progress("judging relevance")
        relevance = await judge(memories[SYSTEM], corpus)
        options.progress("comparing")
        draws = {"seed": options.seed, "resamples": options.resamples}
        return Report(
            name=file_name("recall", path.stem, *options.overrides),
            data={**digests([path])[0], "kind": corpus.kind, "language": language},
            sizes=sizes_of(corpus, chunks),
            settings={**variant.as_dict(), "overrides": list(options.overrides), **draws},
            origin=bench.origin(),
            figures={
                "ways": {name: _result(corpus, scores[name], timings.get(name)) for name in ways},
                "differences": {
                    name: metrics.paired_bootstrap(scores[SYSTEM], scores[name], **draws)
                    for name in ways
                    if name != SYSTEM
                },
                "relevance": relevance,
            },
        )


def language_of(data: Path) -> str:
    """The language named before the last suffix, `simple` where it has no analyser; English if none is named."""
    code = Path(data.stem).suffix.removeprefix(".")
    if not code:
        return "english"
    try:
        return language_name(code)
    except ValidationFailed:
        return "simple"


async def write_collections(
    bench: Bench, corpus: Corpus, variants: Mapping[str, Variant], progress: Callable[[str], None]
) -> tuple[dict[str, Memory], int]:
    """A memory for each variant, and the number of chunks of the system's."""
    memories = {}
    chunks = {}
    for position, (name, variant) in enumerate(variants.items()):
        memories[name] = Memory(bench, variant, f"variant{position}")
        chunks[name] = 0
        for number, collection in enumerate(corpus.collections):
            progress(f"writing collection {number + 1} of {len(corpus.collections)} ({name})")
            chunks[name] += await memories[name].load(number, collection)
    await settle(bench.connection)
    return memories, chunks[SYSTEM]


def _memory_ways(memories: Mapping[str, Memory], timings: dict[str, list[float]]) -> dict[str, Way]:
    """The system as it is, by words alone, by meaning alone, and, with overrides, without them."""

    def way(name: str, memory: Memory, mode: Mode) -> Way:
        async def ask(number: int, _: int, query: str) -> list[Found]:
            outcome = await memory.ask(number, query, mode)
            timings[name].append(outcome.total_ms)
            return memory.found(number, outcome)

        return ask

    ways = {name: way(name, memory, "hybrid") for name, memory in memories.items()}
    for mode in ("text", "vector"):
        ways[f"{SYSTEM}, {mode} only"] = way(f"{SYSTEM}, {mode} only", memories[SYSTEM], mode)
    return ways


async def _baseline_ways(bench: Bench, corpus: Corpus, options: RecallOptions) -> dict[str, Way]:
    """The baselines, each on the unit's text alone."""
    texts = [[unit.text for unit in collection.units] for collection in corpus.collections]
    tokens = [[estimate_tokens(text) for text in each] for each in texts]
    greps = [Grep(each) for each in texts]
    bm25s = [Bm25(each) for each in texts]
    embed = bench.ready.queries.embed
    vectors = []
    recipe = Recipe(bench.connection)
    await recipe.create()
    for number, each in enumerate(texts):
        options.progress(f"embedding the units of collection {number + 1} for the baselines")
        vectors.append(await _embedded(bench.ready.embedder, each))
        await recipe.load(number, each, vectors[number])

    async def chance(number: int, index: int, _: str) -> list[int]:
        return by_chance(len(texts[number]), np.random.default_rng([options.seed, number, index]))

    async def grep(number: int, _: int, query: str) -> list[int]:
        return greps[number].search(query)

    async def bm25(number: int, _: int, query: str) -> list[int]:
        return bm25s[number].search(query)

    async def vector(number: int, _: int, query: str) -> list[int]:
        return by_vector(await embed(query), vectors[number])

    async def plain_recipe(number: int, _: int, query: str) -> list[int]:
        return await recipe.search(number, query, await embed(query))

    def way(search: Callable[[int, int, str], Awaitable[list[int]]]) -> Way:
        async def ask(number: int, index: int, query: str) -> list[Found]:
            return [Found((unit,), tokens[number][unit]) for unit in await search(number, index, query)]

        return ask

    baselines = {"random": chance, "grep": grep, "BM25": bm25, "vector": vector, "plain recipe": plain_recipe}
    return {name: way(search) for name, search in baselines.items()}


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """The i'th row is the vector of the i'th text."""
    rows = []
    for start in range(0, len(texts), _BATCH):
        for answer in await embedder.embed(texts[start : start + _BATCH]):
            if isinstance(answer, EmbeddingRejected):
                raise SetupError(f"the embedding model refuses a text of the data: {answer.detail}")
            rows.append(answer)
    return np.stack(rows)


async def _ask(corpus: Corpus, ways: Mapping[str, Way], progress: Callable[[str], None]) -> dict[str, list[Scores]]:
    """The scores of every question, in the corpus's order, by way."""
    depths = _DEPTHS[corpus.kind]
    scores: dict[str, list[Scores]] = {name: [] for name in ways}
    for number, collection in enumerate(corpus.collections):
        progress(f"asking the questions of collection {number + 1} of {len(corpus.collections)}")
        for index, question in enumerate(collection.questions):
            for name, way in ways.items():
                found = await way(number, index, question.text)
                scores[name].append(metrics.measure(found, question.relevant, depths))
    return scores


def _result(corpus: Corpus, scores: Sequence[Scores], timings: Sequence[float] | None) -> WayResult:
    by_category: dict[str, list[Scores]] = defaultdict(list)
    for question, each in zip(corpus.questions, scores, strict=True):
        if question.category is not None:
            by_category[question.category].append(each)
    return WayResult(
        metrics.mean(scores),
        {category: metrics.mean(by_category[category]) for category in sorted(by_category)},
        round(median(timings), 2) if timings else None,
    )


def sizes_of(corpus: Corpus, chunks: int) -> dict[str, Any]:
    """The sizes of a corpus and its number of questions, for the result file."""

    def total(count: Callable[[Collection], int]) -> int:
        return sum(count(collection) for collection in corpus.collections)

    categories = [question.category for question in corpus.questions if question.category is not None]
    return {
        "collections": len(corpus.collections),
        "notes": total(lambda c: len(c.notes)),
        "units": total(lambda c: len(c.units)),
        "chunks": chunks,
        "questions": total(lambda c: len(c.questions)),
        "questions_by_category": {category: categories.count(category) for category in sorted(set(categories))},
        "dropped_without_evidence": corpus.dropped,
        "left_out_unanswerable": corpus.left_out,
    }
