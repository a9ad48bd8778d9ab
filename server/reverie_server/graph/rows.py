"""Entities and relations from their rows. Works inside the caller's transaction, in which the slices are open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import scope_of
from reverie_server.graph.model import Entity, Relation
from reverie_server.llm.generation import Generation

SQL = Queries(__file__)


async def entities(connection: Connection, tenant_id: str, entity_ids: Iterable[int]) -> dict[int, Entity]:
    """The entities with these ids, by id; unknown ids are left out."""
    params = {"tenant_id": tenant_id, "entity_ids": sorted(set(entity_ids))}
    rows = await (await connection.execute(SQL["entities"], params)).fetchall()
    return {row["entity_id"]: entity_of(row) for row in rows}


async def relations(connection: Connection, tenant_id: str, relation_ids: Iterable[int]) -> dict[int, Relation]:
    """The relations with these ids, by id; unknown ids are left out."""
    params = {"tenant_id": tenant_id, "relation_ids": sorted(set(relation_ids))}
    rows = await (await connection.execute(SQL["relations"], params)).fetchall()
    return {row["relation_id"]: relation_of(row) for row in rows}


def entity_of(row: Mapping[str, Any]) -> Entity:
    """The entity of a row that has its columns and those of its slice."""
    names = ("entity_id", "external_id", "type", "name", "description", "aliases", "properties", "confidence", "since")
    return Entity(
        **{name: row[name] for name in (*names, "created_at", "updated_at")},
        generation=generation_of(row),
        scope=scope_of(row["agent_id"], row["owner_key"]),
        owner_key=row["owner_key"],
    )


def relation_of(row: Mapping[str, Any]) -> Relation:
    """The relation of a row that has its columns and the names of its ends."""
    generation_columns = {"method", "prompt", "prompt_version", "model"}
    return Relation(
        **{name: value for name, value in row.items() if name not in generation_columns}, generation=generation_of(row)
    )


def generation_of(row: Mapping[str, Any]) -> Generation:
    """How the thing of a row was made."""
    return Generation(row["method"], row["prompt"], row["prompt_version"], row["model"])
