"""`reverie doctor --tune`: from which size on HNSW costs less than the exact scan, on this machine and database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import mean, median
from typing import Any

import numpy as np
import psycopg

from reverie_bench.frame import Bench, Options, open_bench, settle
from reverie_bench.report import Report
from reverie_bench.scale.chosen import ChosenVectors
from reverie_bench.synthetic.fill import Material, Owner, fill, material_of
from reverie_bench.synthetic.rows import TENANT
from reverie_bench.synthetic.text import made_up_sentences, pool_of
from reverie_bench.tune.figures import Measured, crossover, is_decided
from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.vectors import promote_slice
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.text.analyse import QueryTerms
from reverie_server.app.embedders import data_dir_of
from reverie_server.search.candidates import Candidates
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.store import QueryVector, open_corpus, propose
from reverie_server.settings.server import Settings

SQL = Queries(__file__)
SIZES = (1000, 2000, 5000, 10_000, 20_000, 40_000)
QUERIES = 20
ROUNDS = 3
BUDGET_SECONDS = 110.0
SEED = 20261122
_DEFAULT_DIMENSION = 384
_SENTENCES = 1000
# Other points of an owner's clusters than those that were written.
_ASKED = 1_000_000_007
_NEAREST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions(Options):
    """A run over sizes of slices, until the time is up."""

    sizes: Sequence[int] = SIZES
    queries: int = QUERIES
    rounds: int = ROUNDS
    budget_seconds: float = BUDGET_SECONDS
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class _Stage:
    bench: Bench
    material: Material
    options: TuneOptions


async def tune(options: TuneOptions) -> Report:
    """Measure in a scratch database beside the program's own, with the program's own tables and statements.

    Slices of growing size are searched both ways in turns, until HNSW is clearly cheaper or the time is up: `measured`
    by size, and the `crossover` that follows. Raises SetupError where no database may be made, DatabaseUnavailable
    where PostgreSQL does not answer.
    """
    started = time.perf_counter()
    measured: list[Measured] = []
    async with _staged(options) as stage:
        seconds = 0.0
        for number, chunks in enumerate(options.sizes):
            # The next size is twice as large or more, and an index of twice the size takes more than twice as long.
            if measured and time.perf_counter() - started + 2.5 * seconds > options.budget_seconds:
                options.progress(f"no time for {chunks} chunks")
                break
            options.progress(f"measuring slices of {chunks} chunks")
            began = time.perf_counter()
            measured.append(await _measure(stage, number, chunks))
            seconds = time.perf_counter() - began
            if is_decided(measured):
                break
        return Report(
            name="tune",
            settings={
                **{name: getattr(options, name) for name in ("sizes", "queries", "rounds", "seed")},
                "dimension": stage.bench.ready.embedder.identity.dimension,
                "hnsw_ef_search": options.settings.hnsw_ef_search,
            },
            origin=stage.bench.start.origin("none: clustered unit vectors", stage.bench.server),
            figures={"measured": measured, "crossover": crossover(measured)},
        )


@asynccontextmanager
async def _staged(options: TuneOptions) -> AsyncIterator[_Stage]:
    async with _server(options.settings) as url:
        dimension = await _dimension(url) or options.settings.embedder_dimension or _DEFAULT_DIMENSION

        async def load() -> ChosenVectors:
            return ChosenVectors(dimension)

        async with open_bench(replace(options, database_url=url, embedder=load)) as bench:
            sentences = list(dict.fromkeys(made_up_sentences(options.seed, _SENTENCES)))
            material = material_of(pool_of(sentences, []), options.seed, bench.ready.model_id, dimension)
            yield _Stage(bench, material, options)


@asynccontextmanager
async def _server(settings: Settings) -> AsyncIterator[str]:
    """The URL of the server that the program uses; the embedded one is started if need be."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    server = EmbeddedPostgres(data_dir_of(settings))
    try:
        yield await asyncio.to_thread(server.start)
    finally:
        await asyncio.to_thread(server.stop)


async def _dimension(url: str) -> int | None:
    """The dimension of the vectors the program has there, if it has any."""
    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=15) as connection:
            row = await (await connection.execute(SQL["active_dimension"])).fetchone()
    except psycopg.Error:
        # No schema yet. Whatever else is wrong, making the scratch database says it better.
        return None
    return int(row[0]) if row else None


async def _measure(stage: _Stage, number: int, chunks: int) -> Measured:
    """The same vectors twice, as a slice that is scanned and as one with a partition of its own, asked in turns."""
    owners = [Owner(number, f"{plan}-{chunks}", "user:1", chunks) for plan in ("exact", "hnsw")]
    first = 2 * sum(stage.options.sizes[:number])
    await fill(stage.bench.connection, stage.material, owners, first_pair=first)
    # Before, so that the copy is quick; after, so that index-only scans need not look at what was moved away.
    await settle(stage.bench.connection)
    await promote_slice(stage.bench.database, TENANT, await _slice_of(stage.bench.connection, owners[1].agent_id))
    await settle(stage.bench.connection)
    points = stage.material.mixture.points(number, _ASKED, chunks, stage.options.queries)
    best: dict[str, list[float]] = {owner.agent_id: [np.inf] * len(points) for owner in owners}
    recalls: list[float] = []
    for turn in range(1 + stage.options.rounds):
        for query, point in enumerate(points):
            proposed: dict[str, Candidates] = {}
            for owner in owners if turn % 2 else reversed(owners):
                seconds, candidates = await _propose(stage, owner.agent_id, point.astype(np.float32))
                # The first turn brings everything into memory.
                if turn:
                    best[owner.agent_id][query] = min(best[owner.agent_id][query], seconds)
                proposed[owner.agent_id] = candidates
            if not turn:
                recalls.append(_recall(*(proposed[owner.agent_id] for owner in owners)))
    exact, hnsw = (1000 * median(best[owner.agent_id]) for owner in owners)
    return Measured(chunks, exact, hnsw, mean(recalls))


async def _slice_of(connection: psycopg.AsyncConnection[Any], agent_id: str) -> int:
    async with connection.transaction():
        await connection.execute(SQL["as_owner"])
        cursor = await connection.execute(SQL["slice_of"], {"tenant_id": TENANT, "agent_id": agent_id})
        row = await cursor.fetchone()
    if row is None:
        raise LookupError("a slice that was just written is not there")
    return int(row[0])


async def _propose(
    stage: _Stage, agent_id: str, point: np.ndarray[Any, np.dtype[np.float32]]
) -> tuple[float, Candidates]:
    """The candidates of a search by meaning, and their seconds without opening the slices, which both ways need."""
    request = SearchRequest(TENANT, agent_id, "", owner_key="user:1", mode="vector")
    rules = SearchRules(hnsw_ef_search=stage.options.settings.hnsw_ef_search)
    vector = QueryVector(point, stage.material.model_id, stage.bench.ready.embedder.identity)
    async with stage.bench.database.tenant(TENANT, snapshot=True) as connection:
        corpus = await open_corpus(connection, request, rules, QueryTerms((), ()), now=datetime.now(UTC))
        return await _timed(connection, request, rules, corpus, vector)


async def _timed(connection: Connection, *arguments: Any) -> tuple[float, Candidates]:
    started = time.perf_counter()
    candidates, _ = await propose(connection, *arguments)
    return time.perf_counter() - started, candidates


def _recall(exact: Candidates, found: Candidates) -> float:
    """The share of the exact scan's nearest passages that the other way proposes, matched by path and ordinal."""
    nearest, other = (
        {(p.path[row], int(p.ordinal[row])) for row in np.argsort(-p.similarity[: p.proposed_count])[:_NEAREST]}
        for p in (exact, found)
    )
    return len(nearest & other) / len(nearest)
