"""The latency benchmark: searches over HTTP beside the floor under them, measured in turns on the same database."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import psutil
from pgvector import HalfVector

from reverie_bench.frame import Bench, Options, digests, open_bench, settle
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
from reverie_bench.latency.floor import Floor, Timing
from reverie_bench.latency.memory import AGENT, OWNER, text_pool, write_memory
from reverie_bench.latency.statements import NotingDatabase, Statement, noting
from reverie_bench.load.child import Child, child
from reverie_bench.load.client import Load, LoadClient, Target
from reverie_bench.load.command import environment_of, is_ready, serve
from reverie_bench.load.host import cpu_seconds, postgres_processes, until_at_rest
from reverie_bench.report import Report
from reverie_bench.synthetic.rows import TENANT
from reverie_bench.synthetic.text import queries
from reverie_indexer.database.database import visible_slices
from reverie_indexer.index.vectors import MAX_COVERED_DIMENSION
from reverie_server.access.keys import Caller, Keys
from reverie_server.app.embedders import data_dir_of
from reverie_server.app.http_app import create_app
from reverie_server.runtime import Runtime
from reverie_server.search.request import Mode, request_for, rules_for
from reverie_server.search.store import CHANNEL_LIMIT

PATH = f"/api/v1/agents/{AGENT}/memory/search"
MODES: tuple[Mode, ...] = ("hybrid", "text", "vector")
_WAYS: tuple[tuple[Mode, Cache | None], ...] = (
    ("hybrid", "cold"), ("hybrid", "warm"), ("vector", "cold"), ("vector", "warm"), ("text", None),
)  # fmt: skip
_REQUESTS_A_CLIENT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyOptions(Options):
    """A run on `chunks` chunks. `requests` is the least number of a cell and round; `embedder` must be picklable.

    `known_queries` is the number of queries that warm cells ask, `rate_seconds` the time for the rate of two cores.
    """

    chunks: int = 2000
    clients: tuple[int, ...] = (1, 8, 32)
    rounds: int = 5
    requests: int = 40
    known_queries: int = 24
    rate_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class _Stage:
    """The means of the run: the system in this process, the served one, and the processes that measure."""

    bench: Bench
    runtime: Runtime
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


async def run_latency(options: LatencyOptions) -> Report:
    """Fill a database, serve it, and measure; SetupError when model, database or server cannot be used."""
    settings = options.settings
    async with _staged(options) as (stage, sizes):
        rounds = []
        for number in range(options.rounds):
            options.progress(f"measuring, round {number + 1} of {options.rounds}")
            rounds.append(await _round(stage, backwards=number % 2 == 1))
        options.progress("looking into a request")
        return Report(
            name=f"latency-{sizes['chunks']}",
            data=digests(options.data),
            sizes=sizes,
            settings={
                **{name: getattr(options, name) for name in ("clients", "rounds", "requests", "seed")},
                "search": asdict(stage.runtime.search.rules),
                **{name: getattr(settings, name) for name in ("pool_size", "embedder_threads", "exact_max_chunks")},
            },
            origin=stage.bench.origin(),
            figures={
                "floor": floor_figures(rounds),
                "http": [cell_figures(rounds, cell) for cell in rounds[0].cells],
                "http_alone": spread(second for each in rounds for second in each.http_alone),
                "goals": goals(rounds),
                "client": await _clients_compared(stage),
                "breakdown": await _breakdowns(stage),
            },
        )


@asynccontextmanager
async def _staged(options: LatencyOptions) -> AsyncIterator[tuple[_Stage, dict[str, Any]]]:
    pool = text_pool(options.data, options.seed)
    settings = options.settings
    async with AsyncExitStack() as stack:
        bench = await stack.enter_async_context(open_bench(options, make_database=NotingDatabase))
        runtime = bench.runtime(settings)
        options.progress(f"writing {options.chunks} chunks")
        chunks = await write_memory(bench, runtime, pool, options.chunks, options.seed)
        _, key = await Keys(bench.database).create(TENANT, "member")
        options.progress("starting the server and what measures it")
        environment = environment_of(
            settings, database_url=bench.conninfo, data_dir=str(data_dir_of(settings)), log_level="warning"
        )
        served = await asyncio.to_thread(stack.enter_context, serve(environment))
        await asyncio.to_thread(served.until, "readiness", is_ready)
        options.progress("waiting for what follows from the writes")
        await until_at_rest(served.process)
        # The facts have come since: what autovacuum does within a minute or two.
        await settle(bench.connection)
        family = [psutil.Process(served.process.pid), *served.process.children()]
        floors = [
            await stack.enter_async_context(child(Floor, bench.conninfo, options.load_embedder)) for _ in range(2)
        ]
        unused = queries(pool, options.seed)
        fresh = list(itertools.islice(unused, options.requests + options.known_queries))
        warm, noted = fresh[: options.known_queries], fresh[options.known_queries :]
        stage = _Stage(
            bench,
            runtime,
            (floors[0], floors[1]),
            await stack.enter_async_context(child(LoadClient)),
            Target(served.host, served.port, {"authorization": f"Bearer {key}"}),
            family,
            unused,
            {mode: [await _statements(runtime, query, mode) for query in noted] for mode in MODES},
            warm,
            options,
        )
        await _warm_up(stage)
        words = sum(len(query.split()) for query in fresh) / len(fresh)
        yield stage, {"chunks": chunks, "others_chunks": max(chunks, 20), "query_words": words}


async def _statements(runtime: Runtime, query: str, mode: Mode) -> list[Statement]:
    """The statements that one search sends, without those of the gate in front of it."""
    grant = await runtime.gate.read(Caller(TENANT, "member"), AGENT, OWNER)
    with noting() as statements:
        await runtime.search.search(request_for(grant, query, mode=mode), rules_for(grant, runtime.search.rules))
    return statements


async def _warm_up(stage: _Stage) -> None:
    """Connections, caches and lazy imports: their first use is not what is measured."""
    for each in stage.floors:
        await each.do("embed", stage.take(10))
    for mode in MODES:
        await stage.floors[0].do("replays", stage.searches[mode][:10])
        await _ask(stage, stage.take(20), mode, 4)


async def _ask(stage: _Stage, texts: Sequence[str], mode: Mode, clients: int) -> Run:
    requests = [stage.target.request("POST", PATH, _body(query, mode)) for query in texts]
    database = await postgres_processes(stage.bench.connection)
    server_before, database_before = cpu_seconds(stage.server), cpu_seconds(database)
    load: Load = await stage.client.do("drive", stage.target, requests, clients)
    used = {"server": cpu_seconds(stage.server) - server_before, "client": load.cpu_seconds}
    return Run(load.seconds, load.wall_seconds, used | await _database_cpu(stage, database, database_before))


async def _floor(stage: _Stage, method: str, argument: Any) -> Run:
    database = await postgres_processes(stage.bench.connection)
    before = cpu_seconds(database)
    timing: Timing = await stage.floors[0].do(method, argument)
    used = {"floor": timing.cpu_seconds} | await _database_cpu(stage, database, before)
    return Run(timing.seconds, sum(timing.seconds), used)


async def _database_cpu(stage: _Stage, before: Sequence[psutil.Process], used: float) -> dict[str, float]:
    """PostgreSQL's CPU seconds since; nothing where its processes cannot be seen."""
    # Looked up again: connections may have been opened.
    return {"postgresql": cpu_seconds(await postgres_processes(stage.bench.connection)) - used} if before else {}


def _body(query: str, mode: Mode) -> dict[str, Any]:
    return {"query": query, "owner_key": OWNER, "mode": mode}


async def _round(stage: _Stage, *, backwards: bool) -> Round:
    """Everything once; every other round in the opposite order, so that a drift favours neither side."""
    count = stage.options.requests

    async def scans() -> Run:
        return await _floor(stage, "scans", await _scan_params(stage, stage.take(count)))

    async def rate() -> float:
        queries, seconds = stage.take(count), stage.options.rate_seconds
        timings = await asyncio.gather(*(each.do("embed", queries, seconds) for each in stage.floors))
        return float(sum(len(each.seconds) / sum(each.seconds) for each in timings))

    async def http_alone() -> Sequence[float]:
        requests = [stage.target.request("GET", "/healthz")] * (5 * count)
        load: Load = await stage.client.do("drive", stage.target, requests, 1)
        return load.seconds

    async def embed() -> Run:
        return await _floor(stage, "embed", stage.take(count))

    by_one, by_many = _cells(stage.options.clients)
    replays: dict[Any, Callable[[], Awaitable[Any]]] = {
        f"{RAW_SQL} {mode}": partial(_floor, stage, "replays", stage.searches[mode]) for mode in MODES
    }
    steps: dict[Any, Callable[[], Awaitable[Any]]] = {
        EMBED: embed,
        **replays,
        **{cell: partial(_cell, stage, cell) for cell in by_one},
        ROUND_TRIP: partial(_floor, stage, "round_trips", 5 * count),
        EXACT_SCAN: scans,
        "http alone": http_alone,
        "rate": rate,
        **{cell: partial(_cell, stage, cell) for cell in by_many},
    }
    results = {name: await steps[name]() for name in (reversed(steps) if backwards else steps)}
    return Round(
        {part: results[part] for part in (EMBED, *replays, ROUND_TRIP, EXACT_SCAN)},
        results["rate"],
        results["http alone"],
        {cell: results[cell] for cell in (*by_one, *by_many)},
    )


def _cells(clients: Sequence[int]) -> tuple[list[Cell], list[Cell]]:
    """The ways of asking over HTTP: by the fewest clients, and by more."""
    every = [[Cell(mode, cache, number) for mode, cache in _WAYS] for number in sorted(set(clients))]
    return every[0], [cell for cells in every[1:] for cell in cells]


async def _cell(stage: _Stage, cell: Cell) -> Run:
    number = max(stage.options.requests, _REQUESTS_A_CLIENT * cell.clients)
    if cell.cache != "warm":
        return await _ask(stage, stage.take(number), cell.mode, cell.clients)
    # Known again before each measurement: new queries have pushed them out of the server's cache.
    await _ask(stage, stage.warm, "vector", 1)
    return await _ask(stage, list(itertools.islice(itertools.cycle(stage.warm), number)), cell.mode, cell.clients)


async def _scan_params(stage: _Stage, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The parameters of the exact scan: all that a search of OWNER sees, for as many rows as a channel proposes."""
    ready = stage.bench.ready
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
        for query in texts
    ]


async def _clients_compared(stage: _Stage) -> dict[str, Any]:
    """The cost of this benchmark's client beside a general one, for the same searches, one at a time."""
    bodies = [_body(query, "hybrid") for query in stage.warm] * 3
    requests = [stage.target.request("POST", PATH, body) for body in bodies]
    lean: Load = await stage.client.do("drive", stage.target, requests, 1)
    general: Load = await stage.client.do("drive_general", stage.target, PATH, bodies)
    return {
        name: {**spread(load.seconds), "cpu_ms_per_request": 1000 * load.cpu_seconds / len(load.seconds)}
        for name, load in (("this", lean), ("httpx", general))
    }


async def _breakdowns(stage: _Stage) -> dict[str, Any]:
    app = create_app(stage.runtime)
    number = 3 * len(stage.warm)

    async def of(texts: Sequence[str]) -> dict[str, Any]:
        bodies = [stage.target.request("POST", PATH, _body(q, "hybrid")).partition(b"\r\n\r\n")[2] for q in texts]
        return await breakdown(app, stage.target, PATH, bodies)

    await of(stage.warm)
    return {"warm": await of(list(stage.warm) * 3), "cold": await of(stage.take(number)), "requests": number}
