"""Reads the graphs that a principal sees: entities with their history and sources, merges, pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_server.access.principal import Principal
from reverie_server.graph import rows as graph_rows
from reverie_server.graph.model import Duplicate, DuplicateState, Entity, Merge, Relation, parse_id
from reverie_server.graph.rows import generation_of
from reverie_server.graph.search import SQL as SEARCH
from reverie_server.jobs.model import episode_name, message_source
from reverie_server.llm.generation import Generation
from reverie_server.text.graph_terms import EntityType

SQL = Queries(__file__)
MAX_RELATIONS = 200
MAX_SOURCES = 100
MAX_SOURCES_EACH = 10


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a statement: messages of a session, the episode, which may have expired, and how it was read."""

    source: Mapping[str, Any]
    said_at: datetime
    confidence: float
    generation: Generation


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity with its present and past relations, the newest first, and their sources.

    `more_relations`: there are more than these.
    """

    entity: Entity
    relations: Sequence[tuple[Relation, Sequence[Source]]]
    more_relations: bool
    sources: Sequence[Source]
    merges: Sequence[Merge]


class GraphView:
    """Reads the graphs of the owner, the team and the tenant; for a team member also what its leader shares."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entities(
        self, principal: Principal, *, entity_type: EntityType | None, after: tuple[str, int] | None, limit: int
    ) -> list[tuple[str, Entity]]:
        """A page of entities by name and id, each with the key of its name, after a cursor of both.

        NotFound for an unknown agent.
        """
        found: list[DictRow] = []
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            for each in _principals(principal):
                params = {
                    "tenant_id": principal.tenant_id,
                    "slice_ids": await _visible(connection, each, is_leader=each is not principal),
                    "type": entity_type,
                    "after_key": after[0] if after else "",
                    "after_id": after[1] if after else 0,
                    "limit": limit,
                }
                found += await (await connection.execute(SQL["entities"], params)).fetchall()
        found.sort(key=lambda row: (row["name_key"], row["entity_id"]))
        return [(row["name_key"], graph_rows.entity_of(row)) for row in found[:limit]]

    async def entity(self, principal: Principal, given_id: str) -> EntityView:
        """The entity with that id, or the one it was merged into, with all that is known of it. Raises NotFound."""
        entity_id = parse_id("entity", given_id)
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            for each in _principals(principal):
                slice_ids = await _visible(connection, each, is_leader=each is not principal)
                params = {"tenant_id": principal.tenant_id, "slice_ids": slice_ids, "entity_id": entity_id}
                row = await (await connection.execute(SEARCH["root"], params)).fetchone()
                if row is not None:
                    return await _entity(connection, {**params, "entity_id": row["entity_id"]})
        raise NotFound(f"there is no entity {given_id!r}")

    async def duplicates(
        self, principal: Principal, *, state: DuplicateState | None, before: int | None, limit: int
    ) -> list[Duplicate]:
        """A page of pairs that may be one entity, the newest first; of one state, or of all states."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            slice_ids = await _visible(connection, principal, is_leader=False)
            params = {
                "tenant_id": principal.tenant_id,
                "slice_ids": slice_ids,
                "state": state,
                "before": before,
                "limit": limit,
            }
            rows = await (await connection.execute(SQL["duplicates"], params)).fetchall()
            return await _pairs(connection, principal.tenant_id, rows)

    async def duplicate(self, principal: Principal, duplicate_id: int) -> Duplicate:
        """One pair; NotFound."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            slice_ids = await _visible(connection, principal, is_leader=False)
            params = {"tenant_id": principal.tenant_id, "slice_ids": slice_ids, "duplicate_id": duplicate_id}
            rows = await (await connection.execute(SQL["duplicate"], params)).fetchall()
            if not rows:
                raise NotFound(f"there is no pair {str(duplicate_id)!r}")
            return (await _pairs(connection, principal.tenant_id, rows))[0]


def _principals(principal: Principal) -> list[Principal]:
    """The principal, and for a team member the principal that reads what its leader shares."""
    if principal.leader_agent_id is None:
        return [principal]
    return [principal, Principal(principal.tenant_id, principal.leader_agent_id, None)]


async def _visible(connection: Connection, principal: Principal, *, is_leader: bool) -> list[int]:
    """The slices that a principal sees, opened to the transaction; of a leader the team's slice alone."""
    if not await store.agent_exists(connection, principal.tenant_id, principal.agent_id):
        raise NotFound(f"there is no agent {principal.agent_id!r}")
    visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
    return [s.slice_id for s in visible if s.agent_id is not None or not is_leader]


async def _entity(connection: Connection, params: Mapping[str, Any]) -> EntityView:
    tenant_id, entity_id = params["tenant_id"], params["entity_id"]
    values = {**params, "limit": MAX_RELATIONS + 1}
    rows = await (await connection.execute(SQL["relations_of"], values)).fetchall()
    relation_ids = [row["relation_id"] for row in rows][:MAX_RELATIONS]
    relations = await graph_rows.relations(connection, tenant_id, relation_ids)
    members = [row["entity_id"] for row in await (await connection.execute(SQL["members"], params)).fetchall()]
    values = {**params, "entity_ids": members, "relation_ids": relation_ids, "limit": MAX_SOURCES}
    mentions = await (await connection.execute(SQL["mentions"], values)).fetchall()
    statements = await (await connection.execute(SQL["statements"], {**values, "each": MAX_SOURCES_EACH})).fetchall()
    merges = await (await connection.execute(SQL["merges"], values)).fetchall()
    sources_of: dict[int, list[Source]] = {}
    for row in statements:
        sources_of.setdefault(row["relation_id"], []).append(_source(row))
    return EntityView(
        entity=(await graph_rows.entities(connection, tenant_id, [entity_id]))[entity_id],
        relations=[(relations[relation_id], sources_of.get(relation_id, [])) for relation_id in relation_ids],
        more_relations=len(rows) > MAX_RELATIONS,
        sources=[_source(row) for row in mentions],
        merges=[Merge(**row) for row in merges],
    )


def _source(row: DictRow) -> Source:
    messages = list(zip(row["seqs"], row["message_ids"], strict=True))
    source = {**message_source(row["session_id"], messages), "episode_id": episode_name(row["episode_id"])}
    return Source(source, row["said_at"], row["confidence"], generation_of(row))


async def _pairs(connection: Connection, tenant_id: str, rows: Sequence[DictRow]) -> list[Duplicate]:
    ids = {row[end] for row in rows for end in ("first_id", "second_id")}
    entities = await graph_rows.entities(connection, tenant_id, ids)
    return [
        Duplicate(
            duplicate_id=row["duplicate_id"],
            first=entities[row["first_id"]],
            second=entities[row["second_id"]],
            cosine=row["cosine"],
            jaro_winkler=row["jaro_winkler"],
            state=cast("DuplicateState", row["state"]),
            found_at=row["found_at"],
            decided_at=row["decided_at"],
            decided_by=row["decided_by"],
        )
        for row in rows
    ]
