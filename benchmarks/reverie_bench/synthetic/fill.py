"""Fills a database with a made memory of any size, in the tables that the product writes, as the product would.

Real or invented sentences, vectors of a seeded mixture; chunks, postings, statistics, versions, cache and hashes
agree with each other as after real writes (a test recounts them).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg

from reverie_bench.synthetic.rows import (
    CHUNKS_OF_FILE,
    TENANT,
    Batch,
    Lines,
    cache_of,
    vectors_of,
)
from reverie_bench.synthetic.text import Ints, Pairing, Pool
from reverie_bench.synthetic.vectors import Halves, Mixture
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.vectors import MAX_COVERED_DIMENSION

SQL = Queries(__file__)
# Passages in memory at once; whole files.
_BATCH = 2000 * CHUNKS_OF_FILE
Seconds = defaultdict[str, float]
Folder = tuple[str, float]
"""A folder and which share of an owner's files it holds."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory is made: `number` (distinct, 0-based) decides the vectors, `folders` where the files are."""

    number: int
    agent_id: str
    owner_key: str
    chunks: int
    folders: tuple[Folder, ...] = (("notes", 1.0),)


@dataclass(frozen=True, slots=True)
class Material:
    """The material of made-up memories: sentences and vectors."""

    pool: Pool
    lines: Lines
    pairing: Pairing
    mixture: Mixture
    model_id: int


def material_of(pool: Pool, seed: int, model_id: int, dimension: int) -> Material:
    """Material with vectors of a model's dimension, stored under the model's id."""
    return Material(pool, Lines(pool), Pairing(len(pool.sentences), seed), Mixture(seed, dimension), model_id)


async def fill(
    connection: psycopg.AsyncConnection[Any],
    material: Material,
    owners: Sequence[Owner],
    progress: Callable[[str], None] = lambda _: None,
    *,
    first_pair: int = 0,
) -> dict[str, float]:
    """Write the memories of owners that have none yet; seconds by table, and of making the rows (`rows`).

    Needs a connection in autocommit, as the owner of the tables. Afterwards visibility and statistics are still to
    be brought up to date. The same material and owners give the same memory, but for its numbers.
    `first_pair` is how many pairs of sentences are used already: no passage is written twice.
    """
    seconds: Seconds = defaultdict(float)
    await connection.execute(SQL["let_owner_load"])
    row = await (await connection.execute(SQL["first_free"])).fetchone()
    assert row is not None
    slice_id, document_id, chunk_id = row
    pair = first_pair
    for place, owner in enumerate(owners):
        progress(f"filling: owner {place + 1} of {len(owners)}, {pair - first_pair} chunks so far")
        left, right = material.pairing.pairs(pair, owner.chunks)
        terms = int((material.pool.lengths[left] + material.pool.lengths[right]).sum())
        await connection.execute(SQL["add_agent"], {"tenant_id": TENANT, "agent_id": owner.agent_id})
        line = f"{TENANT}\t{slice_id}\t{owner.agent_id}\t{owner.owner_key}\t{owner.chunks}\t{terms}\n"
        await _copy(connection, "slices", line.encode(), seconds)
        for batch, paths in _batches(owner, left, right, (slice_id, document_id, chunk_id)):
            start = batch.first_chunk_id - chunk_id
            points = material.mixture.points(owner.number, start, owner.chunks, len(batch.left))
            await _write(connection, material, batch, paths, points, seconds)
        slice_id += 1
        document_id += -(-owner.chunks // CHUNKS_OF_FILE)
        chunk_id += owner.chunks
        pair += owner.chunks
    last = {"slice_id": slice_id, "document_id": document_id, "chunk_id": chunk_id}
    await connection.execute(SQL["move_sequences"], last)
    await connection.execute(SQL["guard_again"])
    return dict(seconds)


def _batches(owner: Owner, left: Ints, right: Ints, first: tuple[int, int, int]) -> Iterator[tuple[Batch, list[str]]]:
    """An owner's passages in batches of whole files, each with the paths of its files."""
    slice_id, document_id, chunk_id = first
    files = -(-owner.chunks // CHUNKS_OF_FILE)
    paths = _paths(owner.folders, files)
    for start in range(0, owner.chunks, _BATCH):
        end = min(start + _BATCH, owner.chunks)
        documents = document_id + np.arange(start, end, dtype=np.int64) // CHUNKS_OF_FILE
        batch = Batch(slice_id, chunk_id + start, left[start:end], right[start:end], documents)
        yield batch, paths[start // CHUNKS_OF_FILE : -(-end // CHUNKS_OF_FILE)]


def _paths(folders: Sequence[Folder], files: int) -> list[str]:
    """The path of every file; the folders one after another, the last takes what rounding leaves."""
    bounds = np.rint(np.cumsum([share for _, share in folders]) * files).astype(int)
    bounds[-1] = files
    return [f"{folders[int(np.searchsorted(bounds, n, 'right'))][0]}/{n:06d}.md" for n in range(files)]


async def _write(
    connection: psycopg.AsyncConnection[Any],
    material: Material,
    batch: Batch,
    paths: Sequence[str],
    points: Halves,
    seconds: Seconds,
) -> None:
    began = time.perf_counter()
    files = material.lines.files(batch, paths)
    postings = material.lines.postings(batch)
    covered = points.shape[1] <= MAX_COVERED_DIMENSION
    vectors = vectors_of(batch, points, material.model_id, covered=covered)
    cache = cache_of(files.hashes, points, material.model_id)
    seconds["rows"] += time.perf_counter() - began
    for table, data in (
        ("documents", files.documents),
        ("versions", files.versions),
        ("chunks", files.chunks),
        ("postings", postings),
        ("vectors", vectors),
        ("cache", cache),
    ):
        await _copy(connection, table, data, seconds)


async def _copy(connection: psycopg.AsyncConnection[Any], table: str, data: bytes, seconds: Seconds) -> None:
    began = time.perf_counter()
    async with connection.cursor() as cursor, cursor.copy(SQL[f"copy_{table}"]) as copy:
        await copy.write(data)
    seconds[table] += time.perf_counter() - began
