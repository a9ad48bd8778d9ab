"""The scale benchmark: tables of growing sizes, side by side in one server, searched by the product's own search."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from reverie_bench import origin
from reverie_bench.latency.memory import text_pool
from reverie_bench.latency.statements import NotingDatabase, bare_connection
from reverie_bench.scale.given import GivenVectors
from reverie_bench.scale.layout import layout
from reverie_bench.scale.measure import build, footprint, latencies, recalls, round_trip
from reverie_bench.scale.table import Table
from reverie_bench.scratch import scratch_database
from reverie_bench.synthetic.fill import material_of
from reverie_bench.synthetic.text import Pool, queries
from reverie_indexer.database.database import DatabaseReport
from reverie_indexer.model_slot import ModelSlot
from reverie_server.search.request import SearchRules
from reverie_server.search.search import Search
from reverie_server.settings.server import Settings

DIMENSION = 384


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOptions:
    """What to run: `sizes` in chunks, `queries` a measurement, `rounds` of the comparison across sizes.

    Without `data` the texts are made up. `progress` is told what is being done.
    """

    settings: Settings
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    data: tuple[Path, ...] = ()
    database_url: str | None = None
    queries: int = 50
    rounds: int = 5
    seed: int = 20261122
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class ScaleReport:
    """A run's result, without any text or name of the data."""

    data: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    tables: Sequence[Mapping[str, Any]]
    same_slice: Sequence[Mapping[str, Any]]


async def run_scale(options: ScaleOptions) -> ScaleReport:
    """Build a database a size, measure each, then the same owners on all of them in turns.

    ValidationFailed for sizes below 1,000 or data that cannot be read, SetupError when the database cannot be used.
    """
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    pool = text_pool(options.data, options.seed)
    words = list(itertools.islice(queries(pool, options.seed), options.queries))
    figures = []
    async with AsyncExitStack() as stack:
        tables: list[Table] = []
        conninfo = options.database_url
        for chunks in sorted(set(options.sizes)):
            conninfo, report, table = await stack.enter_async_context(open_table(options, pool, chunks, conninfo))
            figures.append(await _measure(table, options, words))
            tables.append(table)
        options.progress("asking for the same memories in tables of every size")
        same = await _same_slices(tables, words, options.rounds)
        return ScaleReport(
            data=[{"file": path.name, "sha256": origin.sha256_of(path)} for path in options.data],
            settings={
                "sizes": sorted(set(options.sizes)),
                "queries": options.queries,
                "rounds": options.rounds,
                "seed": options.seed,
                "dimension": DIMENSION,
                "sentences": len(pool.sentences),
                "search": asdict(_rules(options.settings)),
                "exact_max_chunks": options.settings.exact_max_chunks,
                "max_partitions": options.settings.max_partitions,
            },
            origin=_origin(report, code, started),
            tables=figures,
            same_slice=same,
        )


@asynccontextmanager
async def open_table(
    options: ScaleOptions, pool: Pool, chunks: int, beside: str | None
) -> AsyncIterator[tuple[str, DatabaseReport, Table]]:
    """A table that is still empty, in a database of its own; the first may start a server for all of them."""
    given = GivenVectors(DIMENSION)

    async def load() -> GivenVectors:
        return given

    # Nothing is kept: the same words have another vector when another owner asks.
    models = ModelSlot(load, query_cache_size=0)
    async with (
        scratch_database(beside) as (conninfo, report),
        NotingDatabase(conninfo, statement_timeout_seconds=600) as database,
        await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection,
    ):
        with closing(await asyncio.to_thread(bare_connection, conninfo)) as bare:
            await models.fill(database)
            assert models.ready is not None
            material = material_of(pool, options.seed, models.ready.model_id, DIMENSION)
            search = Search(database, models, _rules(options.settings))
            yield (
                conninfo,
                report,
                Table(chunks, layout(chunks), material, database, models, given, connection, bare, search),
            )
            await models.aclose()


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
    """The owners of fixed sizes that every table has: what a search costs them in each, beside the smallest table."""
    every = [{asker.owner.chunks for asker in table.layout.fixed} for table in tables]
    found = []
    for size in sorted(set.intersection(*every)):
        taken: dict[int, list[float]] = {table.chunks: [] for table in tables}
        for _ in range(rounds):
            for table in tables:
                [asker] = [asker for asker in table.layout.fixed if asker.owner.chunks == size]
                taken[table.chunks].append(median(await table.milliseconds(asker, table.ask(asker, words), "hybrid")))
        smallest = tables[0].chunks
        for table in tables:
            [asker] = [asker for asker in table.layout.fixed if asker.owner.chunks == size]
            read = await table.read(asker, table.ask(asker, words), "hybrid")
            ratios = [own / base for own, base in zip(taken[table.chunks], taken[smallest], strict=True)]
            found.append(
                {
                    "slice_chunks": size,
                    "table_chunks": table.chunks,
                    "p50_ms": median(taken[table.chunks]),
                    "p50_to_smallest_table": {"median": median(ratios), "low": min(ratios), "high": max(ratios)},
                    "buffers": read.buffers,
                    "rows": read.rows,
                }
            )
    return found


def _origin(report: DatabaseReport, code: tuple[str | None, bool | None], started: float) -> dict[str, Any]:
    commit, dirty = code
    return {
        "commit": commit,
        "dirty": dirty,
        "versions": {
            **origin.versions(),
            "postgresql": report.server_version,
            "pgvector extension": report.vector_version,
        },
        "machine": origin.machine(),
        "model": None,
        "duration_seconds": round(time.perf_counter() - started, 1),
    }
