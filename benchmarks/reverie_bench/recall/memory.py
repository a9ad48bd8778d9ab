"""The system under test: writes a collection through the pipeline and finds its units by search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import psycopg

from reverie_bench.data import Collection, Unit
from reverie_bench.recall.baselines import DEPTH
from reverie_bench.recall.metrics import Found, estimate_tokens
from reverie_bench.recall.variant import Variant
from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.search.request import Mode, SearchOutcome, SearchRequest
from reverie_server.search.search import UNFAMILIAR_SCRIPT, Search

SQL = Queries(__file__)
_TENANT = "bench"


class UnitsByLine:
    """Which units a stretch of a note touches."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._by_path: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for index, unit in enumerate(units):
            self._by_path[unit.path].append((unit.start_line, unit.end_line, index))

    def touched(self, path: str, start_line: int, end_line: int) -> tuple[int, ...]:
        """The units with a line in start_line..end_line (inclusive), in order; none for another file."""
        return tuple(
            index for start, end, index in self._by_path.get(path, ()) if start <= end_line and end >= start_line
        )


class Memory:
    """One variant of the system, with a collection an agent, in a database of its own."""

    def __init__(self, database: Database, models: ModelSlot, variant: Variant, name: str) -> None:
        self._pipeline = Pipeline(database, models, variant.index)
        self._search = Search(database, models, variant.search)
        self._name = name
        self._units: dict[int, UnitsByLine] = {}

    async def load(self, number: int, collection: Collection) -> int:
        """Write a collection's notes, and with them the agent's seed files; how many chunks the notes gave."""
        changes = [overwrite(path, text, by="bench", reason="bench") for path, text in collection.notes.items()]
        written = await self._pipeline.write_many(Place(_TENANT, self._agent(number), "team"), changes)
        if not all(note.embedded for note in written):
            raise SetupError("not everything was embedded: the embedding model failed or was too slow")
        self._units[number] = UnitsByLine(collection.units)
        return sum(note.chunk_count for note in written)

    async def ask(self, number: int, query: str, mode: Mode) -> SearchOutcome:
        """What search answers, as a caller would get it."""
        outcome = await self._search.search(
            SearchRequest(_TENANT, self._agent(number), query, max_results=DEPTH, mode=mode)
        )
        # That one is no failure: it is what search does with such a query.
        if failures := [warning for warning in outcome.warnings if warning != UNFAMILIAR_SCRIPT]:
            raise SetupError(f"search did not work as it is to be measured: {'; '.join(failures)}")
        return outcome

    def found(self, number: int, outcome: SearchOutcome) -> list[Found]:
        """The answer as units; a chunk of a file that holds none (a seed) keeps its place."""
        units = self._units[number]
        return [
            Found(units.touched(c.path, c.start_line, c.end_line), estimate_tokens(c.text)) for c in outcome.results
        ]

    def _agent(self, number: int) -> str:
        return f"{self._name}-{number}"


async def settle(connection: psycopg.AsyncConnection[Any]) -> None:
    """Bring visibility and statistics up to date, as autovacuum would in time. Needs autocommit."""
    await connection.execute(SQL["settle"])
