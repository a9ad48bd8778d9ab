"""The stage `dedup`: entities that are one are merged, and pairs that may be are put before a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import lock_slice, own_slices
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_server.access.gate import Grant
from reverie_server.graph.merge import SQL as MERGING
from reverie_server.graph.merge import Pair, merge
from reverie_server.graph.names import differ_in_number, name_similarity
from reverie_server.graph.store import Graph
from reverie_server.graph.vectors import embed_waiting
from reverie_server.jobs.model import Outcome, Work

log = structlog.get_logger()
SQL = Queries(__file__)
# Entities that are compared in one transaction, each with its nearest few.
_PAGE = 100
# The entity that others were merged into changes, and is compared again: not for ever.
_ROUNDS = 1000
_BY_STAGE = "server"


@dataclass(frozen=True, slots=True)
class DedupRules:
    """The cosine and Jaro-Winkler similarity from which two are one, and the cosine from which a person decides."""

    merge_cosine: float = 0.98
    merge_jaro_winkler: float = 0.85
    candidate_cosine: float = 0.90
    nearest: int = 3


@dataclass(frozen=True, slots=True)
class DedupDependencies:
    """The parts that the stage works with. `now` gives the time, with its zone.

    A loading model is waited for `wait_seconds`.
    """

    database: Database
    models: ModelSlot
    rules: DedupRules
    wait_seconds: float = 30.0
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(slots=True)
class _Done:
    """The counts of a run."""

    compared: int = 0
    merged: int = 0
    proposed: int = 0


class Dedup:
    """The stage `dedup`."""

    def __init__(self, dependencies: DedupDependencies) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:  # noqa: ARG002  # a stage's form
        """Embed the entities of a slice that have no vector, then compare those that were not compared yet.

        Without an embedding model nothing is compared: names alone say too little. The back-fill of vectors
        defers this stage again. Raises EmbedderUnavailable, and what the database raises.
        """
        ready = await self._dependencies.models.wait(self._dependencies.wait_seconds)
        if ready is None:
            return Outcome("skipped", "there is no embedding model, and names alone do not tell what is one")
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
        if not slice_ids:
            return Outcome("skipped", "the agent is gone")
        done = _Done()
        try:
            for _ in range(_ROUNDS):
                await embed_waiting(
                    self._database, ready, tenant_id=place.tenant_id, slice_ids=slice_ids, defer_dedup=False
                )
                if not await self._compare_page(place, ready, done):
                    break
        except NotFound:
            return Outcome("skipped", "the agent is gone")
        log.info("graph_deduplicated", compared=done.compared, merged=done.merged, proposed=done.proposed)
        reason = f"{done.compared} compared, {done.merged} merged, {done.proposed} for a person to decide"
        return Outcome("completed", reason, "extractive")

    async def _compare_page(self, place: Place, ready: Ready, done: _Done) -> bool:
        """Compare a page of entities in one transaction. Returns whether there may be more."""
        now = self._dependencies.now()
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            graph = Graph(connection, place.tenant_id, slice_.slice_id, now)
            params = {
                **graph.key,
                "model_id": ready.model_id,
                "after": 0,
                "limit": _PAGE,
                "nearest": self._dependencies.rules.nearest,
            }
            rows = await (await connection.execute(SQL["neighbours"], params)).fetchall()
            entity_ids = sorted({row["entity_id"] for row in rows})
            if not entity_ids:
                return False
            apart = await (await connection.execute(MERGING["apart"], {**params, "entity_ids": entity_ids})).fetchall()
            await self._decide(graph, rows, {(row["first_id"], row["second_id"]) for row in apart}, done)
            # What was merged has another text by now, and is compared once that is embedded.
            await connection.execute(SQL["mark"], {**params, "entity_ids": entity_ids})
            done.compared += len(entity_ids)
        return True

    async def _decide(self, graph: Graph, rows: Sequence[DictRow], apart: set[tuple[int, int]], done: _Done) -> None:
        rules = self._dependencies.rules
        merged: set[int] = set()
        for row in rows:
            if row["other_id"] is None or row["cosine"] < rules.candidate_cosine:
                continue
            # The older one is kept: others may know it by its id.
            pair = Pair(
                min(row["entity_id"], row["other_id"]),
                max(row["entity_id"], row["other_id"]),
                row["cosine"],
                name_similarity(row["name"], row["other_name"]),
            )
            if (pair.kept_id, pair.absorbed_id) in apart or merged & {pair.kept_id, pair.absorbed_id}:
                continue
            if self._is_one(pair, row):
                await merge(graph, pair, by=_BY_STAGE)
                merged |= {pair.kept_id, pair.absorbed_id}
                done.merged += 1
            else:
                values = {**graph.key, **pair.ordered, "cosine": pair.cosine, "jaro_winkler": pair.jaro_winkler}
                await graph.connection.execute(MERGING["propose"], values)
                done.proposed += 1

    def _is_one(self, pair: Pair, row: DictRow) -> bool:
        rules = self._dependencies.rules
        return (
            (pair.cosine or 0.0) >= rules.merge_cosine
            and (pair.jaro_winkler or 0.0) >= rules.merge_jaro_winkler
            and not differ_in_number(row["name"], row["other_name"])
        )
