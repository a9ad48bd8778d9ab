"""The latency benchmark: searches over HTTP beside the floor under them, measured in turns on the same database."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pgvector import HalfVector

from reverie_bench import origin
from reverie_bench.latency import floor
from reverie_bench.latency.breakdown import breakdown
from reverie_bench.latency.figures import (
    EMBED,
    EXACT_SCAN,
    RAW_SQL,
    ROUND_TRIP,
    Cache,
    Cell,
    Round,
    Run,
    cell_figures,
    floor_figures,
    goals,
    spread,
)
from reverie_bench.latency.memory import AGENT, OWNER, text_pool, write_memory
from reverie_bench.latency.server import environment_of, served
from reverie_bench.latency.statements import NotingDatabase, Statement, noting
from reverie_bench.load.child import Child, child
from reverie_bench.load.client import Loaded, Target, client, drive, drive_general
from reverie_bench.load.host import cpu_seconds, postgres_processes
from reverie_bench.scratch import scratch_database
from reverie_bench.synthetic.rows import TENANT
from reverie_bench.synthetic.text import queries
from reverie_indexer.database.database import DatabaseReport, visible_slices
from reverie_indexer.index.vectors import MAX_COVERED_DIMENSION
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import Caller, Keys
from reverie_server.app.wiring import assemble, create_app, data_dir_of
from reverie_server.runtime import Runtime
from reverie_server.search.request import Mode, request_for, rules_for
from reverie_server.search.store import CHANNEL_LIMIT
from reverie_server.settings.server import Settings

PATH = f"/api/v1/agents/{AGENT}/memory/search"
MODES: tuple[Mode, ...] = ("hybrid", "text", "vector")
_ASKED: tuple[tuple[Mode, Cache | None], ...] = (
    ("hybrid", "cold"), ("hybrid", "warm"), ("vector", "cold"), ("vector", "warm"), ("text", None),
)  # fmt: skip
_REQUESTS_A_CLIENT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyOptions:
    """What to run. `requests` is how many a cell and round has at least; `load_embedder` must be picklable.

    `known_queries` is how many the warm cells ask, `rate_seconds` how long the rate of two cores is taken for.
    Without `data` the texts are made up. `progress` is told what is being done.
    """

    settings: Settings
    load_embedder: floor.LoadEmbedder
    chunks: int = 2000
    clients: tuple[int, ...] = (1, 8, 32)
    data: tuple[Path, ...] = ()
    database_url: str | None = None
    rounds: int = 5
    requests: int = 40
    known_queries: int = 24
    rate_seconds: float = 2.0
    seed: int = 20261122
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class LatencyReport:
    """A run's result, without any text or name of the data."""

    data: Sequence[Mapping[str, Any]]
    sizes: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    floor: Mapping[str, Any]
    http: Sequence[Mapping[str, Any]]
    http_alone: Mapping[str, Any]
    goals: Sequence[Mapping[str, Any]]
    client: Mapping[str, Any]
    breakdown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Stage:
    """What a run measures with: the system in this process, the served one, and the processes that measure."""

    runtime: Runtime
    connection: psycopg.AsyncConnection[Any]
    database: DatabaseReport
    floors: tuple[Child, Child]
    client: Child
    target: Target
    server: list[psutil.Process]
    queries: Iterator[str]
    searches: Mapping[Mode, Sequence[Sequence[Statement]]]
    warm: Sequence[str]
    options: LatencyOptions

    def take(self, number: int) -> list[str]:
        """Queries that nobody has asked yet."""
        return list(itertools.islice(self.queries, number))


async def run_latency(options: LatencyOptions) -> LatencyReport:
    """Fill a database, serve it, and measure; SetupError when model, database or server cannot be used."""
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    async with _staged(options) as (stage, sizes):
        rounds = []
        for number in range(options.rounds):
            options.progress(f"measuring, round {number + 1} of {options.rounds}")
            rounds.append(await _round(stage, backwards=number % 2 == 1))
        options.progress("looking into a request")
        cells = list(rounds[0].cells)
        return LatencyReport(
            data=[{"file": path.name, "sha256": origin.sha256_of(path)} for path in options.data],
            sizes=sizes,
            settings={
                "clients": list(options.clients),
                "rounds": options.rounds,
                "requests": options.requests,
                "seed": options.seed,
                "search": asdict(stage.runtime.search.rules),
                "pool_size": options.settings.pool_size,
                "embedder_threads": options.settings.embedder_threads,
                "exact_max_chunks": options.settings.exact_max_chunks,
            },
            origin=_origin(stage, code, started),
            floor=floor_figures(rounds),
            http=[cell_figures(rounds, cell) for cell in cells],
            http_alone=spread(second for each in rounds for second in each.http_alone),
            goals=goals(rounds),
            client=await _clients_compared(stage),
            breakdown=await _breakdowns(stage),
        )


@asynccontextmanager
async def _staged(options: LatencyOptions) -> AsyncIterator[tuple[_Stage, dict[str, Any]]]:
    pool = text_pool(options.data, options.seed)
    settings = options.settings
    async with AsyncExitStack() as stack:
        options.progress("starting the database and the model")
        conninfo, report = await stack.enter_async_context(scratch_database(options.database_url))
        database = await stack.enter_async_context(NotingDatabase(conninfo, pool_size=settings.pool_size))
        models = ModelSlot(options.load_embedder)
        stack.push_async_callback(models.aclose)
        await models.fill(database)
        runtime = assemble(settings, database, models, embed_wait_seconds=24 * 3600)
        connection = await stack.enter_async_context(await psycopg.AsyncConnection.connect(conninfo, autocommit=True))
        options.progress(f"writing {options.chunks} chunks")
        chunks = await write_memory(runtime, connection, pool, options.chunks, options.seed)
        _, key = await Keys(database).create(TENANT, "member")
        options.progress("starting the server and what measures it")
        environment = environment_of(
            settings, database_url=conninfo, data_dir=str(data_dir_of(settings)), log_level="warning"
        )
        process, host, port = await stack.enter_async_context(served(environment))
        floors = [
            await stack.enter_async_context(child(floor.Floor, conninfo, options.load_embedder)) for _ in range(2)
        ]
        asked = queries(pool, options.seed)
        fresh = list(itertools.islice(asked, options.requests + options.known_queries))
        warm, noted = fresh[: options.known_queries], fresh[options.known_queries :]
        stage = _Stage(
            runtime,
            connection,
            report,
            (floors[0], floors[1]),
            await stack.enter_async_context(child(client)),
            Target(host, port, {"authorization": f"Bearer {key}"}),
            [psutil.Process(process.pid), *psutil.Process(process.pid).children()],
            asked,
            {mode: [await _statements(runtime, query, mode) for query in noted] for mode in MODES},
            warm,
            options,
        )
        await _warm_up(stage)
        words = sum(len(query.split()) for query in fresh) / len(fresh)
        yield stage, {"chunks": chunks, "others_chunks": max(chunks, 20), "query_words": words}


async def _statements(runtime: Runtime, query: str, mode: Mode) -> list[Statement]:
    """What one search sends, without the statements of the gate in front of it."""
    grant = await runtime.gate.read(Caller(TENANT, "member"), AGENT, OWNER)
    with noting() as statements:
        await runtime.search.search(request_for(grant, query, mode=mode), rules_for(grant, runtime.search.rules))
    return statements


async def _warm_up(stage: _Stage) -> None:
    """Connections, caches and lazy imports: their first use is not what is measured."""
    for each in stage.floors:
        await each.do(floor.Embedding(stage.take(10)))
    for mode in MODES:
        await stage.floors[0].do(floor.Replays(stage.searches[mode][:10]))
        await _ask(stage, stage.take(20), mode, 4)


async def _ask(stage: _Stage, asked: Sequence[str], mode: Mode, clients: int) -> Run:
    requests = [stage.target.request("POST", PATH, _body(query, mode)) for query in asked]
    database = await postgres_processes(stage.connection)
    server_before, database_before = cpu_seconds(stage.server), cpu_seconds(database)
    loaded: Loaded = await stage.client.do((drive, stage.target, requests, clients))
    used = {"server": cpu_seconds(stage.server) - server_before, "client": loaded.cpu_seconds}
    return Run(loaded.seconds, loaded.wall_seconds, used | await _database_cpu(stage, database, database_before))


async def _floor(stage: _Stage, job: floor.Job) -> Run:
    database = await postgres_processes(stage.connection)
    before = cpu_seconds(database)
    taken: floor.Taken = await stage.floors[0].do(job)
    used = {"floor": taken.cpu_seconds} | await _database_cpu(stage, database, before)
    return Run(taken.seconds, sum(taken.seconds), used)


async def _database_cpu(stage: _Stage, before: Sequence[psutil.Process], used: float) -> dict[str, float]:
    """PostgreSQL's CPU seconds since; nothing where its processes cannot be seen."""
    # Looked up again: connections may have been opened.
    return {"postgresql": cpu_seconds(await postgres_processes(stage.connection)) - used} if before else {}


def _body(query: str, mode: Mode) -> dict[str, Any]:
    return {"query": query, "owner_key": OWNER, "mode": mode}


async def _round(stage: _Stage, *, backwards: bool) -> Round:
    """Everything once; every other round in the opposite order, so that a drift favours neither side."""
    parts: dict[str, Run] = {}
    cells: dict[Cell, Run] = {}
    rates: list[float] = []
    alone: list[float] = []
    count = stage.options.requests

    async def embed() -> None:
        parts[EMBED] = await _floor(stage, floor.Embedding(stage.take(count)))

    async def round_trips() -> None:
        parts[ROUND_TRIP] = await _floor(stage, floor.RoundTrips(5 * count))

    async def scans() -> None:
        parts[EXACT_SCAN] = await _floor(stage, floor.Scans(await _scan_params(stage, stage.take(count))))

    def replays(mode: Mode) -> Callable[[], Awaitable[None]]:
        async def measure() -> None:
            parts[f"{RAW_SQL} {mode}"] = await _floor(stage, floor.Replays(stage.searches[mode]))

        return measure

    async def rate() -> None:
        job = floor.Rate(stage.take(count), stage.options.rate_seconds)
        took = await asyncio.gather(*(each.do(job) for each in stage.floors))
        rates.append(sum(len(each.seconds) / sum(each.seconds) for each in took))

    async def http_alone() -> None:
        requests = [stage.target.request("GET", "/healthz")] * (5 * count)
        alone.extend((await stage.client.do((drive, stage.target, requests, 1))).seconds)

    def http(cell: Cell) -> Callable[[], Awaitable[None]]:
        async def measure() -> None:
            cells[cell] = await _cell(stage, cell)

        return measure

    by_one, by_many = _cells(stage.options.clients)
    steps = [embed, *(replays(mode) for mode in MODES), *map(http, by_one), round_trips, scans, http_alone]
    steps += [rate, *map(http, by_many)]
    for step in reversed(steps) if backwards else steps:
        await step()
    return Round(parts, rates[0], alone, {cell: cells[cell] for cell in (*by_one, *by_many)})


def _cells(clients: Sequence[int]) -> tuple[list[Cell], list[Cell]]:
    """What is asked over HTTP: by the fewest clients, and by more."""
    every = [[Cell(mode, cache, number) for mode, cache in _ASKED] for number in sorted(set(clients))]
    return every[0], [cell for cells in every[1:] for cell in cells]


async def _cell(stage: _Stage, cell: Cell) -> Run:
    number = max(stage.options.requests, _REQUESTS_A_CLIENT * cell.clients)
    if cell.cache != "warm":
        return await _ask(stage, stage.take(number), cell.mode, cell.clients)
    # Known again before each measurement: new queries have pushed them out of the server's cache.
    await _ask(stage, stage.warm, "vector", 1)
    return await _ask(stage, list(itertools.islice(itertools.cycle(stage.warm), number)), cell.mode, cell.clients)


async def _scan_params(stage: _Stage, asked: Sequence[str]) -> list[dict[str, Any]]:
    """What the exact scan reads: all that a search of OWNER sees, for as many rows as a channel proposes."""
    ready = stage.runtime.models.ready
    assert ready is not None
    async with stage.runtime.database.tenant(TENANT) as connection:
        slices = await visible_slices(connection, TENANT, AGENT, OWNER)
    return [
        {
            "tenant_id": TENANT,
            "slice_ids": [s.slice_id for s in slices],
            "partition_ids": sorted({s.partition_id for s in slices}),
            "model_id": ready.model_id,
            "covered": ready.embedder.identity.dimension <= MAX_COVERED_DIMENSION,
            "embedding": HalfVector(await ready.queries.embed(query)),
            "limit": CHANNEL_LIMIT,
        }
        for query in asked
    ]


async def _clients_compared(stage: _Stage) -> dict[str, Any]:
    """What the client of this benchmark costs beside a general one, for the same searches, one at a time."""
    bodies = [_body(query, "hybrid") for query in stage.warm] * 3
    requests = [stage.target.request("POST", PATH, body) for body in bodies]
    lean: Loaded = await stage.client.do((drive, stage.target, requests, 1))
    general: Loaded = await stage.client.do((drive_general, stage.target, PATH, bodies))
    return {
        name: {**spread(took.seconds), "cpu_ms_per_request": 1000 * took.cpu_seconds / len(took.seconds)}
        for name, took in (("this", lean), ("httpx", general))
    }


async def _breakdowns(stage: _Stage) -> dict[str, Any]:
    app = create_app(stage.runtime)
    number = 3 * len(stage.warm)

    async def of(asked: Sequence[str]) -> dict[str, Any]:
        bodies = [stage.target.request("POST", PATH, _body(q, "hybrid")).partition(b"\r\n\r\n")[2] for q in asked]
        return await breakdown(app, stage.target, PATH, bodies)

    await of(stage.warm)
    return {"warm": await of(list(stage.warm) * 3), "cold": await of(stage.take(number)), "requests": number}


def _origin(stage: _Stage, code: tuple[str | None, bool | None], started: float) -> dict[str, Any]:
    commit, dirty = code
    ready = stage.runtime.models.ready
    assert ready is not None
    return {
        "commit": commit,
        "dirty": dirty,
        "versions": {
            **origin.versions(),
            "postgresql": stage.database.server_version,
            "pgvector extension": stage.database.vector_version,
        },
        "machine": origin.machine(),
        "model": asdict(ready.embedder.identity),
        "duration_seconds": round(time.perf_counter() - started, 1),
    }
