"""One table of the scale benchmark: a filled database, and the program's own search on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import psycopg

from reverie_bench.latency.statements import noting
from reverie_bench.scale.chosen import ChosenVectors
from reverie_bench.scale.explain import Read, explain
from reverie_bench.scale.layout import Asker, Layout
from reverie_bench.synthetic.fill import Material
from reverie_bench.synthetic.rows import TENANT
from reverie_indexer.database.database import Database
from reverie_server.search.request import Mode, SearchRequest, SearchRules
from reverie_server.search.search import Search

# Points of an owner's clusters that are no passage's: streams are numbered by first passages.
_ASKED = 2**40
_WARM_UP = 3
_EXPLAINED = 5


@dataclass(frozen=True, slots=True)
class Query:
    """A query of an owner, and the vector that the model has for it."""

    text: str
    vector: Any


@dataclass(frozen=True, slots=True)
class Table:
    """A filled database, the program's own search on it, and a bare connection beside."""

    chunks: int
    layout: Layout
    material: Material
    database: Database
    model: ChosenVectors
    connection: psycopg.AsyncConnection[Any]
    bare: psycopg.Connection[Any]
    search: Search

    def queries(self, asker: Asker, texts: Iterable[str]) -> list[Query]:
        """Queries of an owner with these words, near the owner's passages; the same for the same table and words."""
        words = list(texts)
        owner = asker.owner
        points = self.material.mixture.points(owner.number, _ASKED, owner.chunks, len(words))
        self.model.choose(dict(zip(words, points, strict=True)))
        return [Query(text, point) for text, point in zip(words, points, strict=True)]

    async def find(
        self, asker: Asker, query: Query, mode: Mode, rules: SearchRules | None = None, **more: Any
    ) -> list[int]:
        """The chunks that the product's search finds, best first."""
        owner = asker.owner
        request = SearchRequest(TENANT, owner.agent_id, query.text, owner.owner_key, mode=mode, **more)
        outcome = await self.search.search(request, rules)
        return [result.chunk_id for result in outcome.results]

    async def milliseconds(self, asker: Asker, queries: Sequence[Query], mode: Mode) -> list[float]:
        """The time of each search in process, its vector known; a few searches before them are not counted."""
        for query in queries[-_WARM_UP:]:
            await self.find(asker, query, mode)
        times = []
        for query in queries:
            began = time.perf_counter()
            await self.find(asker, query, mode)
            times.append(1000 * (time.perf_counter() - began))
        return times

    async def read(self, asker: Asker, queries: Sequence[Query], mode: Mode) -> Read:
        """The pages and rows that a search reads, the mean of the first few queries."""
        reads = []
        for query in queries[:_EXPLAINED]:
            with noting() as statements:
                await self.find(asker, query, mode)
            reads.append(await asyncio.to_thread(explain, self.bare, statements))
        return Read(round(mean(r.buffers for r in reads)), round(mean(r.rows for r in reads)))
