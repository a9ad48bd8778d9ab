"""Searches and writes of many tenants on a database of several nodes, beside the same on one node.

Where all nodes are on one machine they share its cores: what the figures say then is the work on each node, and what
distributing costs, not how much faster several machines would be.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.console import RenderableType

from reverie_bench.frame import Options, Start, digests
from reverie_bench.latency.figures import spread
from reverie_bench.latency.memory import AGENT, notes, text_pool
from reverie_bench.load.child import Child, child
from reverie_bench.load.client import LoadClient
from reverie_bench.nodes.sides import Part, Side, check_is_new, open_side
from reverie_bench.report import Report, number, spread_of, table
from reverie_bench.scratch import scratch_database
from reverie_bench.synthetic.text import Pairing, Pool, queries
from reverie_indexer.database.distributing import distribute
from reverie_indexer.database.faults import start_errors

ONE, SEVERAL = "one node", "several nodes"
SEARCH, WRITE = "search", "write"
_PATH = f"/api/v1/agents/{AGENT}"
# A note that is written while it is measured has so many passages.
_WRITTEN_CHUNKS = 2

Request = tuple[str, str, str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesOptions(Options):
    """A run of `tenants`, each with a memory of `chunks` passages, asked and written by `clients` at once.

    `nodes_url` is an empty database on a coordinator of Citus with its workers; the run distributes and fills it, and
    leaves it. `requests` is the number of searches, and of writes, of a round on each side.
    """

    nodes_url: str
    tenants: int = 16
    chunks: int = 200
    clients: int = 8
    requests: int = 160
    rounds: int = 5


@dataclass(slots=True)
class _Requests:
    """Makes requests that nobody has made yet, of all tenants in turn."""

    pool: Pool
    tenants: Sequence[str]
    queries: Iterator[str]
    written: int = 0

    def memory(self, chunks: int, seed: int) -> list[Request]:
        """What each tenant writes first: notes of so many passages."""
        found: list[Request] = []
        for place, tenant in enumerate(self.tenants):
            found += [self._put(tenant, path, text) for path, text in self._notes(seed + place, chunks)]
        return found

    def searches(self, count: int) -> list[Request]:
        """New queries."""
        return [
            (tenant, "POST", f"{_PATH}/memory/search", {"query": query})
            for tenant, query in zip(itertools.cycle(self.tenants), itertools.islice(self.queries, count), strict=False)
        ]

    def writes(self, count: int, seed: int) -> list[Request]:
        """New notes of a few passages."""
        found: list[Request] = []
        for tenant in itertools.islice(itertools.cycle(self.tenants), count):
            self.written += 1
            # Other passages than those of the memories, which have the first ones of their seeds.
            [(_, text)] = self._notes(seed - self.written, _WRITTEN_CHUNKS)
            found.append(self._put(tenant, f"notes/new-{self.written:05d}.md", text))
        return found

    def _notes(self, seed: int, chunks: int) -> Iterator[tuple[str, str]]:
        return notes(self.pool, Pairing(len(self.pool.sentences), seed), chunks)

    @staticmethod
    def _put(tenant: str, path: str, text: str) -> Request:
        return (tenant, "PUT", f"{_PATH}/files/{path}", {"content": text})


async def run_nodes(options: NodesOptions) -> Report:
    """Fill both databases, serve them, and measure them in turns. SetupError when model, database or server fails."""
    start = await asyncio.to_thread(Start)
    settings = options.settings
    pool = text_pool(options.data, options.seed)
    tenants = [f"tenant-{place}" for place in range(options.tenants)]
    async with AsyncExitStack() as stack:
        with start_errors():
            await check_is_new(options.nodes_url)
        options.progress("distributing the database on several nodes")
        await distribute(options.nodes_url)
        conninfo, server = await stack.enter_async_context(scratch_database(options.database_url))
        sides = {
            ONE: await stack.enter_async_context(open_side(conninfo, settings, tenants)),
            SEVERAL: await stack.enter_async_context(open_side(options.nodes_url, settings, tenants)),
        }
        client = await stack.enter_async_context(child(LoadClient))
        requests = _Requests(pool, tenants, queries(pool, options.seed))
        options.progress(f"writing {options.chunks} passages for each of {options.tenants} tenants, twice")
        await _fill(sides, client, requests, options)
        rounds = []
        for place in range(options.rounds):
            options.progress(f"measuring, round {place + 1} of {options.rounds}")
            rounds.append(await _round(sides, client, requests, options, backwards=place % 2 == 1))
        placed = await sides[SEVERAL].placed()
        embedder = await options.load_embedder()
        model = asdict(embedder.identity)
        await embedder.aclose()
    figures = {kind: _figures([each[kind] for each in rounds]) for kind in (SEARCH, WRITE)}
    return Report(
        name="nodes",
        data=digests(options.data),
        sizes={"tenants": options.tenants, "chunks": options.chunks, "workers": len(placed), "tenants_on": placed},
        settings={name: getattr(options, name) for name in ("clients", "requests", "rounds", "seed")},
        origin=start.origin(model, server),
        figures=figures,
    )


async def _fill(sides: Mapping[str, Side], client: Child, requests: _Requests, options: NodesOptions) -> None:
    memory = requests.memory(options.chunks, options.seed)
    warm_up = [*requests.searches(4 * options.tenants), *requests.writes(options.tenants, options.seed)]
    for side in sides.values():
        # A client at a time: the queue of the model is bounded, and this is not measured.
        await side.drive(client, memory, 1)
        await side.drive(client, warm_up, options.clients)


async def _round(
    sides: Mapping[str, Side], client: Child, requests: _Requests, options: NodesOptions, *, backwards: bool
) -> dict[str, dict[str, Part]]:
    """Each kind of request on each side, by turns; every other round in the opposite order."""
    of_kinds = {SEARCH: requests.searches(options.requests), WRITE: requests.writes(options.requests, options.seed)}
    turns = [(kind, name) for kind in of_kinds for name in sides]
    found: dict[str, dict[str, Part]] = {kind: {} for kind in of_kinds}
    for kind, name in reversed(turns) if backwards else turns:
        found[kind][name] = await sides[name].drive(client, of_kinds[kind], options.clients)
    return found


def _figures(rounds: Sequence[Mapping[str, Part]]) -> dict[str, Any]:
    """Of one kind of request: each side's times and CPU a request by program and node, and the ratios of a round."""

    def ratio(of: Callable[[Part], float]) -> dict[str, float]:
        values = [of(each[SEVERAL]) / of(each[ONE]) for each in rounds]
        return {"median": median(values), "low": min(values), "high": max(values)}

    return {
        "sides": {name: _side_figures([each[name] for each in rounds]) for name in (ONE, SEVERAL)},
        "rate_to_one_node": ratio(lambda part: len(part.load.seconds) / part.load.wall_seconds),
        "cpu_to_one_node": ratio(lambda part: sum(part.cpu_seconds.values()) / len(part.load.seconds)),
        "database_cpu_to_one_node": ratio(
            lambda part: (sum(part.cpu_seconds.values()) - part.cpu_seconds["server"]) / len(part.load.seconds)
        ),
    }


def _side_figures(parts: Sequence[Part]) -> dict[str, Any]:
    count = sum(len(part.load.seconds) for part in parts)
    return {
        **spread(second for part in parts for second in part.load.seconds),
        "requests_per_second": count / sum(part.load.wall_seconds for part in parts),
        "cpu_ms_per_request": {
            name: 1000 * sum(part.cpu_seconds[name] for part in parts) / count for name in parts[0].cpu_seconds
        },
        "crossings_per_request": {
            name: sum(part.crossings[name] for part in parts) / count for name in parts[0].crossings
        },
    }


def nodes_content(report: Report) -> Iterator[RenderableType]:
    """What a request costs each node, and what crosses between them."""
    sizes = report.sizes
    on = ", ".join(f"{name} {tenants}" for name, tenants in sizes["tenants_on"].items())
    yield f"{sizes['tenants']} tenants of {sizes['chunks']} passages, on {sizes['workers']} workers ({on})"
    for kind in (SEARCH, WRITE):
        sides = report[kind]["sides"]
        programs = list(dict.fromkeys(name for side in sides.values() for name in side["cpu_ms_per_request"]))
        yield table(
            f"{kind}, CPU ms a request",
            ("a second", "p50 ms", *programs),
            (
                (
                    name,
                    f"{side['requests_per_second']:.0f}",
                    f"{side['p50_ms']:.1f}",
                    *(number(side["cpu_ms_per_request"].get(program), 1) for program in programs),
                )
                for name, side in sides.items()
            ),
            caption="; ".join(
                f"{what} {spread_of(report[kind][figure])}"
                for what, figure in (
                    ("rate to one node", "rate_to_one_node"),
                    ("CPU", "cpu_to_one_node"),
                    ("of the database alone", "database_cpu_to_one_node"),
                )
            ),
        )
        crossed = sides[SEVERAL]["crossings_per_request"]
        if crossed:
            counts = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in crossed.items())
            yield f"statements and connections between nodes, a {kind}: {counts}"
