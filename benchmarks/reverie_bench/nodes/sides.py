"""The two databases of the benchmark, each with a server of its own, and what a load costs each of their nodes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psutil
import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from reverie_bench.load.child import Child
from reverie_bench.load.client import Load, Target
from reverie_bench.load.command import environment_of, is_ready, serve
from reverie_bench.load.host import cpu_seconds, postgres_processes
from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError
from reverie_server.access.keys import Keys
from reverie_server.app.embedders import data_dir_of
from reverie_server.settings.server import Settings

SQL = Queries(__file__)
COORDINATOR, ALONE = "coordinator", "one node"

Connection = psycopg.AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A load on one side: its times, CPU seconds by the server and by node, and what crossed between nodes."""

    load: Load
    cpu_seconds: Mapping[str, float]
    crossings: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Side:
    """A database and its server. `targets` by tenant; `nodes` has a connection to each node, whoever plans first."""

    server: list[psutil.Process]
    targets: Mapping[str, Target]
    nodes: Mapping[str, Connection]

    async def drive(self, client: Child, requests: Sequence[tuple[str, str, str, Any]], clients: int) -> Part:
        """What requests (tenant, method, path, body) cost, over so many connections at once."""
        data = [self.targets[tenant].request(method, path, body) for tenant, method, path, body in requests]
        cpu, crossed = await self._cpu_seconds(), await self._crossings()
        load: Load = await client.do("drive", next(iter(self.targets.values())), data, clients)
        cpu_after, crossed_after = await self._cpu_seconds(), await self._crossings()
        return Part(
            load,
            {name: cpu_after[name] - before for name, before in cpu.items()},
            {name: crossed_after[name] - before for name, before in crossed.items()},
        )

    async def placed(self) -> dict[str, int]:
        """How many of the tenants each node has, by the names of `nodes`."""
        first, *workers = self.nodes
        if not workers:
            return {first: len(self.targets)}
        found = await _rows(self.nodes[first], "placed", {"tenants": list(self.targets)})
        by_address = {(row["host"], row["port"]): row["tenants"] for row in found}
        addresses = [(row["host"], row["port"]) for row in await _rows(self.nodes[first], "workers")]
        return {name: by_address.get(address, 0) for name, address in zip(workers, addresses, strict=True)}

    async def _cpu_seconds(self) -> dict[str, float]:
        used = {"server": cpu_seconds(self.server)}
        for name, connection in self.nodes.items():
            # A connection between nodes ends with its transaction, and its process with it.
            if processes := await postgres_processes(connection):
                used[name] = cpu_seconds(processes, with_ended_children=True)
        return used

    async def _crossings(self) -> dict[str, int]:
        first = next(iter(self.nodes.values()))
        if len(self.nodes) == 1 or not (await _rows(first, "is_counting"))[0]["is_counting"]:
            return {}
        [row] = await _rows(first, "crossings")
        return dict(row)


@asynccontextmanager
async def open_side(conninfo: str, settings: Settings, tenants: Sequence[str]) -> AsyncIterator[Side]:
    """A server on a prepared database, with a key for each tenant; gone at the end.

    The server runs no jobs: what is measured is what somebody waits for.
    """
    async with AsyncExitStack() as stack:
        async with Database(conninfo) as database:
            keys = {tenant: (await Keys(database).create(tenant, "member"))[1] for tenant in tenants}
        first = await stack.enter_async_context(await _connect(conninfo))
        nodes = {ALONE: first}
        if await _is_distributed(first):
            nodes = {COORDINATOR: first}
            for number, row in enumerate(await _rows(first, "workers"), 1):
                address = make_conninfo(conninfo, host=row["host"], port=row["port"])
                nodes[f"worker {number}"] = await stack.enter_async_context(await _connect(address))
        environment = environment_of(
            settings,
            database_url=conninfo,
            data_dir=str(data_dir_of(settings)),
            log_level="warning",
            worker_enabled="false",
        )
        served = await asyncio.to_thread(stack.enter_context, serve(environment))
        await asyncio.to_thread(served.until, "readiness", is_ready)
        targets = {
            tenant: Target(served.host, served.port, {"authorization": f"Bearer {key}"}) for tenant, key in keys.items()
        }
        yield Side([psutil.Process(served.process.pid), *served.process.children()], targets, nodes)


async def check_is_new(conninfo: str) -> None:
    """SetupError where a database holds something of the program's already: it would be measured, too."""
    async with await _connect(conninfo) as connection:
        if not (await _rows(connection, "is_new"))[0]["is_new"]:
            raise SetupError("the database on several nodes is not empty: create one of its own for the benchmark")


async def _connect(conninfo: str) -> Connection:
    return await psycopg.AsyncConnection.connect(conninfo, autocommit=True, connect_timeout=15)


async def _is_distributed(connection: Connection) -> bool:
    return bool((await _rows(connection, "is_distributed"))[0]["is_distributed"])


async def _rows(connection: Connection, name: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        return await (await cursor.execute(SQL[name], params)).fetchall()
