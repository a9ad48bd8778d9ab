"""The scale by which a search judges its passages: of the model, and of the memory where the model has no constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie_indexer.database.database import Connection, Slice
from reverie_server.search.calibration.scale import Learnt, has_constants, scale_at
from reverie_server.search.calibration.store import largest_nearness, learnt_of
from reverie_server.search.labelled_messages import Direction
from reverie_server.search.relevance import UNKNOWN, RelevanceScale, built_in_directions, scale_of
from reverie_server.search.store import QueryVector


@dataclass(frozen=True, slots=True)
class Measure:
    """A scale, and the direction that tells how personal a message is; None: nobody can tell."""

    scale: RelevanceScale = UNKNOWN
    direction: Direction | None = None


UNMEASURED = Measure()


class Measures:
    """Knows what was learnt of models, each read once."""

    def __init__(self) -> None:
        self._learnt: dict[int, Learnt] = {}

    async def of(
        self, connection: Connection, tenant_id: str, slices: Sequence[Slice], vector: QueryVector | None
    ) -> Measure:
        """The measure for a query by its vector. Nothing is read for a built-in model, and nothing embedded for any."""
        if vector is None:
            return UNMEASURED
        name = vector.identity.name
        if has_constants(vector.identity):
            return Measure(scale_of(name), built_in_directions().get(name))
        nearness = await largest_nearness(connection, tenant_id, slices, vector.model_id)
        if nearness is None:
            return UNMEASURED
        learnt = self._learnt.get(vector.model_id) or await learnt_of(connection, vector.model_id)
        if learnt is None:
            return UNMEASURED
        self._learnt[vector.model_id] = learnt
        return Measure(scale_at(nearness, learnt.usual_similarity), learnt.direction)
