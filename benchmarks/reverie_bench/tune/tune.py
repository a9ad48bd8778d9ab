"""`reverie doctor --tune`: from which size on HNSW costs less than the exact scan, on this machine and database."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import psycopg

from reverie_bench import origin
from reverie_bench.recall.memory import settle
from reverie_bench.recall.report import rounded
from reverie_bench.scratch import scratch_database
from reverie_bench.synthetic.fill import Material, Owner, fill, material_of
from reverie_bench.synthetic.rows import TENANT
from reverie_bench.synthetic.text import made_up_sentences, pool_of
from reverie_bench.tune.figures import Crossover, Measured, crossover, is_decided
from reverie_indexer.database.database import Connection, Database, DatabaseReport
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.vectors import activate_or_check, promote_slice
from reverie_indexer.model import ModelIdentity
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.text.analyse import QueryTerms
from reverie_server.app.wiring import data_dir_of
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
class TuneOptions:
    """What to measure. `progress` is told what is being done."""

    settings: Settings
    sizes: Sequence[int] = SIZES
    queries: int = QUERIES
    rounds: int = ROUNDS
    budget_seconds: float = BUDGET_SECONDS
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was measured, and the setting that follows."""

    measured: Sequence[Measured]
    crossover: Crossover
    settings: dict[str, Any]
    origin: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Stage:
    database: Database
    connection: psycopg.AsyncConnection[Any]
    material: Material
    identity: ModelIdentity
    options: TuneOptions


async def tune(options: TuneOptions) -> Tuned:
    """Measure in a scratch database beside the program's own, with the program's own tables and statements.

    Slices of growing size are searched both ways in turns, until HNSW is clearly cheaper or the time is up. Raises
    SetupError where no database may be made, DatabaseUnavailable where PostgreSQL does not answer.
    """
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    measured: list[Measured] = []
    async with _staged(options) as (stage, report):
        took = 0.0
        for number, chunks in enumerate(options.sizes):
            # The next size is twice as large or more, and an index of twice the size takes more than twice as long.
            if measured and time.perf_counter() - started + 2.5 * took > options.budget_seconds:
                options.progress(f"no time for {chunks} chunks")
                break
            options.progress(f"measuring slices of {chunks} chunks")
            began = time.perf_counter()
            measured.append(await _measure(stage, number, chunks))
            took = time.perf_counter() - began
            if is_decided(measured):
                break
        return Tuned(
            measured,
            crossover(measured),
            {
                "sizes": list(options.sizes),
                "queries": options.queries,
                "rounds": options.rounds,
                "seed": SEED,
                "dimension": stage.identity.dimension,
                "hnsw_ef_search": options.settings.hnsw_ef_search,
            },
            _origin(report, code, time.perf_counter() - started),
        )


def write_result(tuned: Tuned, directory: Path) -> Path:
    """Write the result as `tune.json`; an older one is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "tune.json"
    path.write_text(json.dumps(rounded(asdict(tuned)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


@asynccontextmanager
async def _staged(options: TuneOptions) -> AsyncIterator[tuple[_Stage, DatabaseReport]]:
    async with _server(options.settings) as url:
        dimension = await _dimension(url) or options.settings.embedder_dimension or _DEFAULT_DIMENSION
        identity = ModelIdentity("made-up", "clusters", str(SEED), dimension, True)
        async with scratch_database(url) as (conninfo, report), Database(conninfo) as database:
            model_id = await activate_or_check(database, identity)
            sentences = list(dict.fromkeys(made_up_sentences(SEED, _SENTENCES)))
            material = material_of(pool_of(sentences, []), SEED, model_id, dimension)
            async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
                yield _Stage(database, connection, material, identity, options), report


@asynccontextmanager
async def _server(settings: Settings) -> AsyncIterator[str]:
    """How to reach the server that the program uses; the embedded one is started if need be."""
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
    await fill(stage.connection, stage.material, owners, first_pair=first)
    # Before, so that the copy is quick; after, so that index-only scans need not look at what was moved away.
    await settle(stage.connection)
    await promote_slice(stage.database, TENANT, await _slice_of(stage.connection, owners[1].agent_id))
    await settle(stage.connection)
    points = stage.material.mixture.points(number, _ASKED, chunks, stage.options.queries)
    best: dict[str, list[float]] = {owner.agent_id: [np.inf] * len(points) for owner in owners}
    recalls: list[float] = []
    for turn in range(1 + stage.options.rounds):
        for query, point in enumerate(points):
            pools = []
            for owner in owners if turn % 2 else reversed(owners):
                seconds, candidates = await _propose(stage, owner.agent_id, point.astype(np.float32))
                # The first turn brings everything into memory.
                if turn:
                    best[owner.agent_id][query] = min(best[owner.agent_id][query], seconds)
                pools.append((owner.agent_id, candidates))
            if not turn:
                recalls.append(_recall(dict(pools)[owners[0].agent_id], dict(pools)[owners[1].agent_id]))
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
    """What a search by meaning sends for its candidates, timed without opening the slices, which both ways need."""
    request = SearchRequest(TENANT, agent_id, "", owner_key="user:1", mode="vector")
    rules = SearchRules(hnsw_ef_search=stage.options.settings.hnsw_ef_search)
    vector = QueryVector(point, stage.material.model_id, stage.identity)
    async with stage.database.tenant(TENANT, snapshot=True) as connection:
        corpus = await open_corpus(connection, request, QueryTerms((), ()), now=datetime.now(UTC))
        return await _timed(connection, request, rules, corpus, vector)


async def _timed(connection: Connection, *arguments: Any) -> tuple[float, Candidates]:
    started = time.perf_counter()
    candidates, _ = await propose(connection, *arguments)
    return time.perf_counter() - started, candidates


def _recall(exact: Candidates, found: Candidates) -> float:
    """Which share of the exact scan's nearest passages the other proposes; they have the same places in their files."""
    nearest, other = (
        {(p.path[row], int(p.ordinal[row])) for row in np.argsort(-p.similarity[: p.proposed_count])[:_NEAREST]}
        for p in (exact, found)
    )
    return len(nearest & other) / len(nearest)


def _origin(report: DatabaseReport, code: tuple[str | None, bool | None], seconds: float) -> dict[str, Any]:
    commit, dirty = code
    server = {"postgresql": report.server_version, "pgvector extension": report.vector_version}
    return {
        "commit": commit,
        "dirty": dirty,
        "versions": {**origin.versions(), **server},
        "machine": origin.machine(),
        "model": "none: clustered unit vectors",
        "duration_seconds": round(seconds, 1),
    }
