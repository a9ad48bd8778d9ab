"""The system under test: writes a collection through the pipeline and finds its units by search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from reverie_bench.data import Collection, Unit
from reverie_bench.frame import Bench, write_embedded
from reverie_bench.recall.baselines import DEPTH
from reverie_bench.recall.metrics import Found, estimate_tokens
from reverie_bench.recall.variant import Variant
from reverie_indexer.errors import SetupError
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.search.request import Mode, SearchOutcome, SearchRequest
from reverie_server.search.search import UNFAMILIAR_SCRIPT, Search

TENANT = "bench"


class UnitsByLine:
    """The units that a range of a note's lines touches."""

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
    """One variant of the system, with an agent for each collection."""

    def __init__(self, bench: Bench, variant: Variant, name: str) -> None:
        self._pipeline = Pipeline(bench.database, bench.models, variant.index)
        self._search = Search(bench.database, bench.models, variant.search)
        self._name = name
        self._units: dict[int, UnitsByLine] = {}

    async def load(self, number: int, collection: Collection) -> int:
        """Write a collection's notes, and with them the agent's seed files; the number of chunks of the notes."""
        place = Place(TENANT, self._agent(number), "team")
        written = await write_embedded(self._pipeline, place, collection.notes)
        self._units[number] = UnitsByLine(collection.units)
        return sum(note.chunk_count for note in written)

    async def ask(
        self, number: int, query: str, mode: Mode, *, vector_query: str | None = None, is_unasked: bool = False
    ) -> SearchOutcome:
        """The outcome of a search, as a caller would get it. SetupError where the search warns of a failure."""
        outcome = await self._search.search(
            SearchRequest(
                TENANT,
                self._agent(number),
                query,
                max_results=DEPTH,
                mode=mode,
                vector_query=vector_query,
                is_unasked=is_unasked,
            )
        )
        check_warnings(outcome.warnings)
        return outcome

    def found(self, number: int, outcome: SearchOutcome) -> list[Found]:
        """The results as units; a chunk of a file that holds none (a seed file) keeps its rank."""
        units = self._units[number]
        return [
            Found(units.touched(c.path, c.start_line, c.end_line), estimate_tokens(c.text)) for c in outcome.results
        ]

    def _agent(self, number: int) -> str:
        return f"{self._name}-{number}"


def check_warnings(warnings: Sequence[str]) -> None:
    """SetupError for a warning of a search that failed in part. An unfamiliar script is no failure."""
    if failures := [warning for warning in warnings if warning != UNFAMILIAR_SCRIPT]:
        raise SetupError(f"search did not work as it is to be measured: {'; '.join(failures)}")
