"""The measurements of the scale benchmark on one table: building it, latency, recall, disk and memory."""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from statistics import mean
from typing import Any

import psycopg
from pgvector import HalfVector

from reverie_bench.frame import settle
from reverie_bench.latency.figures import spread
from reverie_bench.latency.floor import SQL as FLOOR_SQL
from reverie_bench.load.host import memory_mb, postgres_processes
from reverie_bench.scale.layout import Asker
from reverie_bench.scale.table import Query, Table
from reverie_bench.synthetic.fill import fill
from reverie_bench.synthetic.rows import TENANT
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import vectors
from reverie_server.search.rank import Weights
from reverie_server.search.request import Mode, SearchRules
from reverie_server.settings.server import Settings

SQL = Queries(__file__)
DEEP = 10
MODES: tuple[Mode, ...] = ("hybrid", "text", "vector")
# Neither boost nor context: who is nearest, and nothing else.
_BY_VECTOR_ALONE = SearchRules(weights=Weights(user_boost=1.0, context=0.0))
_PARTITION = re.compile(r"vectors_[1-9]\d*")


async def build(table: Table, settings: Settings, progress: Callable[[str], None]) -> dict[str, Any]:
    """Fill the table and give its large slices their indexes; seconds by step."""
    began = time.perf_counter()
    load = await fill(table.connection, table.material, table.layout.owners, progress)
    loaded = time.perf_counter()
    await settle(table.connection)
    settled = time.perf_counter()
    progress("giving large slices partitions and indexes of their own")
    await vectors.promote_large_slices(
        table.database, exact_max_chunks=settings.exact_max_chunks, max_partitions=settings.max_partitions
    )
    promoted = time.perf_counter()
    await settle(table.connection)
    ended = time.perf_counter()
    count, chunks = await _row(table.connection, "own_partitions")
    return {
        "load_seconds": loaded - began,
        "load_seconds_by_table": load,
        "hnsw_seconds": promoted - settled,
        "hnsw_partitions": count,
        "hnsw_chunks": chunks,
        "vacuum_seconds": settled - loaded + ended - promoted,
        "seconds": ended - began,
        "chunks_per_second": table.chunks / (ended - began),
    }


async def latencies(table: Table, words: Sequence[str]) -> list[dict[str, Any]]:
    """Search in process for every asker and mode, by the size of the asker's slice."""
    cells = []
    for asker in sorted((*table.layout.fixed, *table.layout.others), key=lambda a: (a.owner.chunks, a.owner.number)):
        queries = table.queries(asker, words)
        _, partition_id = await _slice(table, asker)
        for mode in MODES:
            figures = spread(ms / 1000 for ms in await table.milliseconds(asker, queries, mode))
            read = await table.read(asker, queries, mode)
            cells.append(
                {
                    "slice_chunks": asker.owner.chunks,
                    "why": asker.why,
                    "mode": mode,
                    "plan": "hnsw" if partition_id else "exact",
                    **figures,
                    **asdict(read),
                }
            )
    return cells


async def round_trip(table: Table, count: int = 200) -> dict[str, Any]:
    """The smallest statement, on the program's kind of connection, in this process."""
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        await (await table.connection.execute(FLOOR_SQL["round_trip"])).fetchall()
        seconds.append(time.perf_counter() - began)
    return spread(seconds)


async def recalls(table: Table, words: Sequence[str]) -> list[dict[str, Any]]:
    """Recall@10 of the product's search by meaning against the exact order, by share of the table.

    A slice with fewer than ten passages that are near has all of these to be found; a query without any is left out.
    """
    cells = []
    for asker in table.layout.others:
        queries = table.queries(asker, words)
        parts: list[tuple[str | None, float]] = [(None, 1.0), *asker.prefixes]
        for folder, share in parts:
            prefix = None if folder is None else f"{folder}/"
            cells.append(
                {
                    "share": share * asker.owner.chunks / table.chunks,
                    "slice_chunks": asker.owner.chunks,
                    "why": asker.why if prefix is None else f"{share * 100:g} % of those of {asker.why}, by path",
                    **await _recall(table, asker, queries, prefix),
                }
            )
    return cells


async def _recall(table: Table, asker: Asker, queries: Sequence[Query], prefix: str | None) -> dict[str, Any]:
    slice_id, partition_id = await _slice(table, asker)
    shares = []
    short = 0
    for query in queries:
        params = {
            "tenant_id": TENANT,
            "slice_id": slice_id,
            "partition_id": partition_id,
            "model_id": table.material.model_id,
            "prefix": prefix,
            "embedding": HalfVector(query.vector),
            "limit": DEEP,
        }
        expected = {row[0] for row in await asyncio.to_thread(_exact, table.bare, params)}
        if not expected:
            continue
        actual = await table.find(asker, query, "vector", _BY_VECTOR_ALONE, max_results=DEEP, path_prefix=prefix)
        short += len(actual) < len(expected)
        shares.append(len(expected & set(actual)) / len(expected))
    return {
        "plan": "hnsw" if partition_id else "exact",
        "queries": len(shares),
        "recall_at_10": mean(shares or [1.0]),
        "worst": min(shares, default=1.0),
        "too_few_results": short,
    }


def _exact(connection: psycopg.Connection[Any], params: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.transaction():
        connection.execute(FLOOR_SQL["as_owner_for_now"])
        return connection.execute(SQL["exact_nearest"], params).fetchall()


async def _slice(table: Table, asker: Asker) -> tuple[int, int]:
    owner = asker.owner
    params = {"tenant_id": TENANT, "agent_id": owner.agent_id, "owner_key": owner.owner_key}
    async with table.database.maintenance() as connection:
        row = await (await connection.execute(SQL["slice"], params)).fetchone()
    assert row is not None
    return row["slice_id"], row["partition_id"]


async def footprint(table: Table) -> dict[str, Any]:
    """Disk by table and index, and PostgreSQL's memory where it can be seen. MB are 10⁶ bytes."""
    buffers, whole = await _row(table.connection, "server")
    rows = await (await table.connection.execute(SQL["sizes"])).fetchall()
    return {
        "disk_mb": {"database": whole / 1e6, **by_relation(rows)},
        "shared_buffers": buffers,
        "postgresql_memory_mb": memory_mb(await postgres_processes(table.connection)),
    }


def by_relation(rows: Iterable[tuple[str, str, bool, int]]) -> dict[str, float]:
    """MB by relation from (name, table, is an index, bytes), the partitions of single slices together; from 0.1 on."""
    sizes: dict[str, float] = defaultdict(float)
    for name, table, is_index, size in rows:
        if _PARTITION.fullmatch(table):
            kind = "hnsw indexes" if "_embedding_" in name else "other indexes" if is_index else "tables"
            sizes[f"own partitions, {kind}"] += size / 1e6
        else:
            sizes[name] += size / 1e6
    return {name: round(size, 1) for name, size in sizes.items() if size >= 0.1}


async def _row(connection: psycopg.AsyncConnection[Any], name: str) -> Any:
    return await (await connection.execute(SQL[name])).fetchone()
