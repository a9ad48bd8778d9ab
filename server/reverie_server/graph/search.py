"""Searches the graph: finds entities by words and by meaning, and walks from them along relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import structlog
from pgvector import HalfVector
from psycopg.errors import QueryCanceled

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Vector
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected, NotFound, SearchTimeout, ValidationFailed
from reverie_indexer.index import store
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.text.analyse import analyse_query
from reverie_server.access.principal import Principal
from reverie_server.graph import rows as graph_rows
from reverie_server.graph.model import Entity, Relation, parse_id
from reverie_server.graph.names import windows
from reverie_server.graph.paths import Step, in_order, needed, path_of
from reverie_server.search.query_vector import query_vector
from reverie_server.search.rank import Weights, effective_weights, idf
from reverie_server.text.graph_terms import EntityType
from reverie_server.text.query import check_query

log = structlog.get_logger()
SQL = Queries(__file__)
MAX_STARTS = 10
MAX_DEPTH = 5
_CHANNEL_LIMIT = 50
# An entity that shares no word with a question needs this cosine; a start that the question does not name needs this
# share of the best score.
_NEAR_FROM = 0.4
_SHARE_OF_BEST = 0.5
_FAMILIAR_FROM = 0.5


@dataclass(frozen=True, slots=True)
class GraphRules:
    """The most relations that a search may read, and the time limit of each of its statements."""

    max_rows: int = 2000
    timeout_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """A search for a question, an entity by its id, or entities of a type; `as_of` None is now.

    With a question, `entity_type` is that of the entities where the search begins; with an id, of those it leads to.
    """

    query: str | None = None
    entity_id: str | None = None
    entity_type: EntityType | None = None
    max_depth: int = 2
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity, the hops to it, and its score for the question (None: reached by relations, or no question)."""

    entity: Entity
    depth: int
    score: float | None


@dataclass(frozen=True, slots=True)
class GraphFound:
    """Entities, those where the search began first and the best of them first; relations, the newest first; a path of
    names to each entity that was reached.

    `truncated`: there is more than may be read at once. `fallback` is `leader` where that one's memory was searched.
    """

    entities: Sequence[FoundEntity]
    relations: Sequence[Relation]
    paths: Sequence[str]
    truncated: bool = False
    fallback: Literal["leader"] | None = None
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _SearchInputs:
    """A request with its time, language, weights and vector."""

    request: GraphRequest
    as_of: datetime
    language: str
    weights: Weights
    vector: Vector | None
    model_id: int | None


class GraphSearch:
    """Searches the graphs that a principal sees: the owner's, the team's and the tenant's. `now` gives the time."""

    def __init__(
        self,
        database: Database,
        models: ModelSlot,
        rules: GraphRules,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._models = models
        self._rules = rules
        self._now = now

    async def search(
        self, principal: Principal, request: GraphRequest, *, language: str, weights: Weights
    ) -> GraphFound:
        """Search the graph. A team member that finds nothing gets results of what its leader shares.

        Raises ValidationFailed for a request that names nothing to look for, NotFound for an unknown agent or entity,
        SearchTimeout.
        """
        if request.query is None and request.entity_id is None and request.entity_type is None:
            raise ValidationFailed("give a query, an entity_id or an entity_type")
        if request.query is not None:
            request = replace(request, query=check_query(request.query))
        warnings: list[str] = []
        vector, model_id = await self._embed(request, warnings)
        inputs = _SearchInputs(request, request.as_of or self._now(), language, weights, vector, model_id)
        found, error = await self._attempt(principal, inputs)
        if (found is None or not found.entities) and principal.leader_agent_id is not None:
            # What the leader shares; never what is personal there.
            shared, _ = await self._attempt(Principal(principal.tenant_id, principal.leader_agent_id, None), inputs)
            if shared is not None and shared.entities:
                found = replace(shared, fallback="leader")
        if found is None:
            raise error or NotFound("there is no such entity")
        return replace(found, warnings=warnings)

    async def _attempt(self, principal: Principal, inputs: _SearchInputs) -> tuple[GraphFound | None, NotFound | None]:
        try:
            async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
                return await self._find(connection, principal, inputs), None
        except NotFound as error:
            return None, error

    async def _embed(self, request: GraphRequest, warnings: list[str]) -> tuple[Vector | None, int | None]:
        if request.query is None or request.entity_id is not None:
            return None, None
        ready = self._models.ready
        if ready is None:
            warnings.append("there is no embedding model at the moment: searched by words")
            return None, None
        if ready.embedder.familiarity(request.query) < _FAMILIAR_FROM:
            warnings.append("the embedding model does not know the script of the query: searched by words")
            return None, None
        try:
            return await query_vector(ready, request.query), ready.model_id
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            warnings.append(f"the query could not be embedded ({error.detail}): searched by words")
            return None, None

    async def _find(self, connection: Connection, principal: Principal, inputs: _SearchInputs) -> GraphFound:
        timeout_ms = f"{round(self._rules.timeout_seconds * 1000)}ms"
        await connection.execute(SQL["limit_time"], {"timeout_ms": timeout_ms})
        visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
        if not any(s.agent_id == principal.agent_id for s in visible) and not await store.agent_exists(
            connection, principal.tenant_id, principal.agent_id
        ):
            raise NotFound(f"there is no agent {principal.agent_id!r}")
        params = {
            "tenant_id": principal.tenant_id,
            "slice_ids": [s.slice_id for s in visible],
            "type": inputs.request.entity_type,
            "as_of": inputs.as_of,
        }
        try:
            starts = await _starts(connection, params, inputs)
            return await self._walk(connection, params, inputs, starts)
        except QueryCanceled as error:
            raise SearchTimeout(
                f"the search took longer than {self._rules.timeout_seconds:g} seconds: ask for fewer hops, or begin at "
                "one entity"
            ) from error

    async def _walk(
        self,
        connection: Connection,
        params: Mapping[str, Any],
        inputs: _SearchInputs,
        starts: Mapping[int, float | None],
    ) -> GraphFound:
        depth = inputs.request.max_depth
        values = {
            **params,
            "start_ids": list(starts),
            "max_depth": depth,
            "max_rows": self._rules.max_rows,
            "fanout": max(1, self._rules.max_rows // depth),
        }
        rows = await (await connection.execute(SQL["walk"], values)).fetchall()
        steps: dict[int, Step] = {}
        relation_ids: set[int] = set()
        for row in rows:
            relation_ids.update(row["relation_ids"])
            for reached, parent, relation in zip(row["frontier"], row["parents"], row["via"], strict=False):
                steps[reached] = Step(parent, relation, row["depth"])
        if inputs.request.entity_id is not None and inputs.request.entity_type is not None:
            kept = await graph_rows.entities(connection, params["tenant_id"], steps)
            of_type = [e for e in kept if kept[e].type == inputs.request.entity_type]
            on_ways, relation_ids = needed(of_type, steps)
            steps = {entity_id: step for entity_id, step in steps.items() if entity_id in on_ways}
        entities = await graph_rows.entities(connection, params["tenant_id"], [*starts, *steps])
        relations = await graph_rows.relations(connection, params["tenant_id"], relation_ids)
        return GraphFound(
            entities=[
                FoundEntity(entities[e], steps[e].depth if e in steps else 0, starts.get(e))
                for e in in_order(list(starts), steps)
            ],
            relations=sorted(relations.values(), key=lambda r: (r.valid_from, r.relation_id), reverse=True),
            paths=[path_of(e, steps, entities, relations) for e in in_order([], steps)],
            truncated=any(row["is_cut"] for row in rows),
        )


async def _starts(connection: Connection, params: Mapping[str, Any], inputs: _SearchInputs) -> dict[int, float | None]:
    """The entities at which the walk begins, the best first, each with its score."""
    request = inputs.request
    if request.entity_id is not None:
        values = {**params, "entity_id": parse_id("entity", request.entity_id)}
        row = await (await connection.execute(SQL["root"], values)).fetchone()
        if row is None:
            raise NotFound(f"there is no entity {request.entity_id!r}")
        return {row["entity_id"]: None}
    if request.query is None:
        rows = await (await connection.execute(SQL["newest"], {**params, "limit": MAX_STARTS})).fetchall()
        return {row["entity_id"]: None for row in rows}
    terms = analyse_query(request.query, inputs.language).terms
    counted = await connection.execute(SQL["term_frequencies"], {**params, "terms": list(terms)})
    frequencies = {row["term"]: (row["df"], row["total"]) for row in await counted.fetchall()}
    active = await (await connection.execute(SQL["active_model_id"])).fetchone()
    has_vector = inputs.vector is not None and active is not None and active["model_id"] == inputs.model_id
    values = {
        **params,
        "name_keys": sorted(windows(request.query)),
        "terms": list(frequencies),
        "idfs": [idf(df, total) for df, total in frequencies.values()],
        "model_id": inputs.model_id if has_vector else None,
        "embedding": HalfVector(inputs.vector) if has_vector and inputs.vector is not None else None,
        "limit": _CHANNEL_LIMIT,
    }
    rows = await (await connection.execute(SQL["starts"], values)).fetchall()
    return ranked(rows, effective_weights(inputs.weights, has_text=bool(frequencies), has_vector=has_vector))


def ranked(rows: Sequence[Mapping[str, Any]], weights: Weights) -> dict[int, float | None]:
    """The best candidates with their scores, best first; entities that the question names come before all others. Pure.

    score = text_weight · text / largest text + vector_weight · cosine, of equals the older entity first.
    """
    most = max((row["text"] for row in rows), default=0.0) or 1.0
    scored = [
        (
            row["is_named"],
            weights.text * row["text"] / most + weights.vector * min(1.0, max(0.0, row["cosine"] or 0.0)),
            row["entity_id"],
        )
        for row in rows
        if row["is_named"] or row["text"] > 0 or (row["cosine"] or 0.0) >= _NEAR_FROM
    ]
    best = max((score for _, score, _ in scored), default=0.0)
    fitting = [item for item in scored if item[0] or item[1] >= _SHARE_OF_BEST * best]
    fitting.sort(key=lambda item: (not item[0], -item[1], item[2]))
    return {entity_id: round(score, 6) for _, score, entity_id in fitting[:MAX_STARTS]}
