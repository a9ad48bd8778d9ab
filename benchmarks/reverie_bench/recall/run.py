"""The recall benchmark: the system and the baselines beside it, on the same units, with the same embedder."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from reverie_bench import origin
from reverie_bench.data import Collection, Corpus, Kind, load
from reverie_bench.recall import metrics
from reverie_bench.recall.baselines import Bm25, Grep, by_chance, by_vector
from reverie_bench.recall.memory import Memory, settle
from reverie_bench.recall.metrics import Depths, Difference, Found, Scores, estimate_tokens
from reverie_bench.recall.recipe import Recipe
from reverie_bench.recall.relevance import Relevance, judge
from reverie_bench.recall.variant import Variant, default_variant, with_overrides
from reverie_bench.scratch import scratch_database
from reverie_indexer.database.database import Database, DatabaseReport
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import EmbeddingRejected, SetupError, ValidationFailed
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_indexer.text.analyse import language_name
from reverie_server.search.request import Mode

SYSTEM = "reverie"
UNCHANGED = "reverie without overrides"
_DEPTHS: Mapping[Kind, Depths] = {
    "conversations": Depths(recalls=(5, 10, 20), budgets=(500, 1000, 2000)),
    "paragraphs": Depths(hits=(1, 5, 10)),
}
_BATCH = 64

Way = Callable[[int, int, str], Awaitable[list[Found]]]
"""Answers a question: the collection's number, the question's number in it, its text."""


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """What to run. `overrides` are `name=value` of search or index rules; see `variant`.

    `load_embedder` makes the model that the system and the baselines use; the run closes it. Without a
    `language`, that of the file's name (`….zh.json`), else English. `progress` is told what is being done.
    """

    data: Path
    load_embedder: Callable[[], Awaitable[Embedder]]
    language: str | None = None
    database_url: str | None = None
    overrides: tuple[str, ...] = ()
    seed: int = 20261121
    resamples: int = 10_000
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class WayResult:
    """Means over questions, and the median time of one search where it is the system's."""

    overall: Scores
    by_category: Mapping[str, Scores]
    search_ms_p50: float | None


@dataclass(frozen=True, slots=True)
class RecallReport:
    """A run's result, without any text, id or name of the data. `differences` are the system's lead over others."""

    data: Mapping[str, Any]
    sizes: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    ways: Mapping[str, WayResult]
    differences: Mapping[str, Mapping[str, Difference]]
    relevance: Relevance


@dataclass(frozen=True, slots=True)
class Bench:
    """What is there once a database and a model are."""

    database: Database
    connection: psycopg.AsyncConnection[Any]
    report: DatabaseReport
    models: ModelSlot
    ready: Ready


async def run_recall(options: RecallOptions) -> RecallReport:
    """Load the data into a database of its own, ask every question in every way, and compare.

    ValidationFailed for data or overrides that cannot be read, SetupError when the model or the database
    cannot be used.
    """
    started = time.perf_counter()
    # Now, while it is what was imported: somebody may commit during the run.
    code = await asyncio.to_thread(origin.commit)
    corpus = load(options.data)
    language = language_name(options.language) if options.language else language_of(options.data)
    default = default_variant(language)
    variant = with_overrides(default, options.overrides)
    variants = {SYSTEM: variant} | ({UNCHANGED: default} if options.overrides else {})
    async with open_collections(options) as bench:
        memories, chunks = await write_collections(bench, corpus, variants, options.progress)
        timings: dict[str, list[float]] = defaultdict(list)
        ways = _memory_ways(memories, timings) | await _baseline_ways(bench, corpus, options)
        scores = await _ask(corpus, ways, options.progress)
        options.progress("judging relevance")
        relevance = await judge(memories[SYSTEM], corpus)
        options.progress("comparing")
        return RecallReport(
            data={
                "file": options.data.name,
                "sha256": origin.sha256_of(options.data),
                "kind": corpus.kind,
                "language": language,
            },
            sizes=sizes_of(corpus, chunks),
            settings={
                **variant.as_dict(),
                "overrides": list(options.overrides),
                "seed": options.seed,
                "resamples": options.resamples,
            },
            origin=origin_of_run(bench, code, time.perf_counter() - started),
            ways={name: _result(corpus, scores[name], timings.get(name)) for name in ways},
            differences={
                name: metrics.paired_bootstrap(
                    scores[SYSTEM], scores[name], seed=options.seed, resamples=options.resamples
                )
                for name in ways
                if name != SYSTEM
            },
            relevance=relevance,
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


@asynccontextmanager
async def open_collections(options: RecallOptions) -> AsyncIterator[Bench]:
    """A scratch database with the model loaded; both gone at the end."""
    options.progress("starting the database and the model")
    async with scratch_database(options.database_url) as (conninfo, report), Database(conninfo) as database:
        models = ModelSlot(options.load_embedder, query_cache_size=10_000)
        try:
            await models.fill(database)
            if models.ready is None:
                raise SetupError(f"the benchmark needs an embedding model: {models.error}")
            async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
                yield Bench(database, connection, report, models, models.ready)
        finally:
            await models.aclose()


async def write_collections(
    bench: Bench, corpus: Corpus, variants: Mapping[str, Variant], progress: Callable[[str], None]
) -> tuple[dict[str, Memory], int]:
    """A memory for each variant, and how many chunks the system's has."""
    memories = {}
    chunks = {}
    for position, (name, variant) in enumerate(variants.items()):
        memories[name] = Memory(bench.database, bench.models, variant, f"variant{position}")
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
        return by_vector(await bench.ready.queries.embed(query), vectors[number])

    async def plain_recipe(number: int, _: int, query: str) -> list[int]:
        return await recipe.search(number, query, await bench.ready.queries.embed(query))

    def way(search: Callable[[int, int, str], Awaitable[list[int]]]) -> Way:
        async def ask(number: int, index: int, query: str) -> list[Found]:
            return [Found((unit,), tokens[number][unit]) for unit in await search(number, index, query)]

        return ask

    return {
        "random": way(chance),
        "grep": way(grep),
        "BM25": way(bm25),
        "vector": way(vector),
        "plain recipe": way(plain_recipe),
    }


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
    questions = (question for collection in corpus.collections for question in collection.questions)
    for question, each in zip(questions, scores, strict=True):
        if question.category is not None:
            by_category[question.category].append(each)
    return WayResult(
        metrics.mean(scores),
        {category: metrics.mean(by_category[category]) for category in sorted(by_category)},
        round(median(timings), 2) if timings else None,
    )


def sizes_of(corpus: Corpus, chunks: int) -> dict[str, Any]:
    """How much was asked of how much, for the result file."""

    def total(count: Callable[[Collection], int]) -> int:
        return sum(count(collection) for collection in corpus.collections)

    categories: dict[str, int] = defaultdict(int)
    for collection in corpus.collections:
        for question in collection.questions:
            if question.category is not None:
                categories[question.category] += 1
    return {
        "collections": len(corpus.collections),
        "notes": total(lambda c: len(c.notes)),
        "units": total(lambda c: len(c.units)),
        "chunks": chunks,
        "questions": total(lambda c: len(c.questions)),
        "questions_by_category": dict(sorted(categories.items())),
        "dropped_without_evidence": corpus.dropped,
        "left_out_unanswerable": corpus.left_out,
    }


def origin_of_run(bench: Bench, code: tuple[str | None, bool | None], duration_seconds: float) -> dict[str, Any]:
    """Where a result comes from: commit, versions, machine, model, duration."""
    commit, dirty = code
    return {
        "commit": commit,
        "dirty": dirty,
        "versions": {
            **origin.versions(),
            "postgresql": bench.report.server_version,
            "pgvector extension": bench.report.vector_version,
        },
        "machine": origin.machine(),
        "model": asdict(bench.ready.embedder.identity),
        "duration_seconds": round(duration_seconds, 1),
    }
