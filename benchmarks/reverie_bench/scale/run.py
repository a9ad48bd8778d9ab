"""The scale benchmark: tables of growing sizes, side by side in one server, searched by the product's own search."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import median
from typing import Any

from reverie_bench.frame import Bench, Options, Start, digests, open_bench
from reverie_bench.latency.memory import text_pool
from reverie_bench.latency.statements import NotingDatabase, bare_connection
from reverie_bench.report import Report
from reverie_bench.scale.chosen import ChosenVectors
from reverie_bench.scale.layout import layout
from reverie_bench.scale.measure import build, footprint, latencies, recalls, round_trip
from reverie_bench.scale.table import Table
from reverie_bench.synthetic.fill import material_of
from reverie_bench.synthetic.text import Pool, queries
from reverie_server.search.request import SearchRules
from reverie_server.search.search import Search
from reverie_server.settings.server import Settings

DIMENSION = 384


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOptions(Options):
    """A run: `sizes` in chunks, `queries` a measurement, `rounds` of the comparison across sizes."""

    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    queries: int = 50
    rounds: int = 5


async def run_scale(options: ScaleOptions) -> Report:
    """Build a database a size, measure each, then the same owners on all of them in turns.

    ValidationFailed for sizes below 1,000 or data that cannot be read, SetupError when the database cannot be used.
    """
    settings = options.settings
    start = await asyncio.to_thread(Start)
    pool = text_pool(options.data, options.seed)
    words = list(itertools.islice(queries(pool, options.seed), options.queries))
    figures = []
    sizes = sorted(set(options.sizes))
    async with AsyncExitStack() as stack:
        tables: list[Table] = []
        database_url = options.database_url
        for chunks in sizes:
            # The first may start a server for all of them.
            beside = replace(options, database_url=database_url)
            bench, table = await stack.enter_async_context(open_table(beside, pool, chunks))
            database_url = bench.conninfo
            figures.append(await _measure(table, options, words))
            tables.append(table)
        options.progress("asking for the same memories in tables of every size")
        same = await _same_slices(tables, words, options.rounds)
        return Report(
            name="scale",
            data=digests(options.data),
            settings={
                "sizes": sizes,
                **{name: getattr(options, name) for name in ("queries", "rounds", "seed")},
                "dimension": DIMENSION,
                "sentences": len(pool.sentences),
                "search": asdict(_rules(settings)),
                **{name: getattr(settings, name) for name in ("exact_max_chunks", "max_partitions")},
            },
            origin=start.origin(None, bench.server),
            figures={"tables": figures, "same_slice": same},
        )


@asynccontextmanager
async def open_table(options: Options, pool: Pool, chunks: int) -> AsyncIterator[tuple[Bench, Table]]:
    """A table that is still empty, in a database of its own."""
    model = ChosenVectors(DIMENSION)

    async def load() -> ChosenVectors:
        return model

    # No query's vector is kept: the same words have another one when another owner asks.
    make_database = partial(NotingDatabase, statement_timeout_seconds=600)
    async with open_bench(replace(options, embedder=load), make_database=make_database, query_cache_size=0) as bench:
        with closing(await asyncio.to_thread(bare_connection, bench.conninfo)) as bare:
            material = material_of(pool, options.seed, bench.ready.model_id, DIMENSION)
            search = Search(bench.database, bench.models, _rules(options.settings))
            yield (
                bench,
                Table(chunks, layout(chunks), material, bench.database, model, bench.connection, bare, search),
            )


def _rules(settings: Settings) -> SearchRules:
    return SearchRules(hnsw_ef_search=settings.hnsw_ef_search)


async def _measure(table: Table, options: ScaleOptions, words: Sequence[str]) -> dict[str, Any]:
    def progress(doing: str) -> None:
        options.progress(f"{table.chunks} chunks: {doing}")

    built = await build(table, options.settings, progress)
    progress("latency")
    trip = await round_trip(table)
    found = await latencies(table, words)
    progress("recall")
    return {
        "chunks": table.chunks,
        "owners": len(table.layout.owners),
        "largest_slice": max(owner.chunks for owner in table.layout.owners),
        "build": built,
        "round_trip": trip,
        "latency": found,
        "recall": await recalls(table, words),
        **await footprint(table),
    }


async def _same_slices(tables: Sequence[Table], words: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """The owners of fixed sizes that every table has: a search's cost in each table, beside the smallest."""
    askers = [{asker.owner.chunks: asker for asker in table.layout.fixed} for table in tables]
    cells = []
    for size in sorted(set.intersection(*map(set, askers))):
        times: list[list[float]] = [[] for _ in tables]
        for _ in range(rounds):
            for table, by_size, of_table in zip(tables, askers, times, strict=True):
                texts = table.queries(by_size[size], words)
                of_table.append(median(await table.milliseconds(by_size[size], texts, "hybrid")))
        for table, by_size, of_table in zip(tables, askers, times, strict=True):
            read = await table.read(by_size[size], table.queries(by_size[size], words), "hybrid")
            ratios = [own / base for own, base in zip(of_table, times[0], strict=True)]
            cells.append(
                {
                    "slice_chunks": size,
                    "table_chunks": table.chunks,
                    "p50_ms": median(of_table),
                    "p50_to_smallest_table": {"median": median(ratios), "low": min(ratios), "high": max(ratios)},
                    **asdict(read),
                }
            )
    return cells
