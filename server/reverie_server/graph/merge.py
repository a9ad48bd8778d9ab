"""Merging entities of a graph, taking merges back, and pairs that may be one.

Every function works inside the caller's transaction, which holds the slice's lock. Statements about
the merged entity stay as they are; entity and relations are derived from those of both, and anew from each on undo.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, NotFound, ValidationFailed
from reverie_server.graph.model import public_id
from reverie_server.graph.names import name_similarity
from reverie_server.graph.relations import load_clusters
from reverie_server.graph.store import Graph, Touched, point, settle, statements_on

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities that are to be one, and their similarity; None where they were not compared."""

    kept_id: int
    absorbed_id: int
    cosine: float | None = None
    jaro_winkler: float | None = None

    @property
    def ordered(self) -> dict[str, int]:
        """The pair as it is stored, the smaller id first."""
        return {"first_id": min(self.kept_id, self.absorbed_id), "second_id": max(self.kept_id, self.absorbed_id)}


async def merge(graph: Graph, pair: Pair, *, by: str) -> int:
    """Merge one entity into another. Returns the id of the merge.

    Raises ValidationFailed for an entity and itself, NotFound where one is not in the graph or was merged already.
    """
    if pair.kept_id == pair.absorbed_id:
        raise ValidationFailed("keep and absorb are the same entity")
    params = {**graph.key, "entity_ids": [pair.kept_id, pair.absorbed_id]}
    rows = await (await graph.connection.execute(SQL["roots"], params)).fetchall()
    names = {row["entity_id"]: row["name"] for row in rows}
    for entity_id in (pair.kept_id, pair.absorbed_id):
        if entity_id not in names:
            name = public_id("entity", entity_id)
            raise NotFound(f"there is no entity {name!r} in this memory, or it is part of another one")
    jaro_winkler = pair.jaro_winkler
    if jaro_winkler is None:
        jaro_winkler = name_similarity(names[pair.kept_id], names[pair.absorbed_id])
    clusters = await load_clusters(graph.connection, graph.tenant_id, graph.slice_id, [pair.absorbed_id])
    touched = await statements_on(graph, clusters.members[pair.absorbed_id])
    await point(graph, [pair.absorbed_id], pair.kept_id)
    values = {
        **graph.key,
        **pair.ordered,
        "kept_id": pair.kept_id,
        "absorbed_id": pair.absorbed_id,
        "cosine": pair.cosine,
        "jaro_winkler": jaro_winkler,
        "by": by,
        "state": "merged",
    }
    await graph.connection.execute(SQL["decide"], values)
    await graph.connection.execute(SQL["drop_pairs_of"], values)
    row = await (await graph.connection.execute(SQL["add_merge"], values)).fetchone()
    await settle(graph, Touched({pair.kept_id}, touched.facts, touched.relation_ids))
    return int((row or {})["merge_id"])


async def undo(graph: Graph, merge_id: int, *, by: str) -> tuple[int, int]:
    """Take a merge back, and keep the stage from merging the pair again. Returns the ids of the kept and the absorbed.

    Raises NotFound, and Conflict where it was taken back before.
    """
    values = {**graph.key, "merge_id": merge_id, "by": by}
    row = await (await graph.connection.execute(SQL["merge"], values)).fetchone()
    if row is None:
        raise NotFound(f"there is no merge {public_id('merge', merge_id)!r} in this memory")
    if row["undone_at"] is not None:
        raise Conflict("the merge was taken back before")
    kept_id, absorbed_id = row["kept_id"], row["absorbed_id"]
    clusters = await load_clusters(graph.connection, graph.tenant_id, graph.slice_id, [absorbed_id])
    root_id = clusters.root_of[absorbed_id]
    await point(graph, [absorbed_id], None)
    apart = await load_clusters(graph.connection, graph.tenant_id, graph.slice_id, [absorbed_id])
    touched = await statements_on(graph, apart.members[absorbed_id])
    pair = Pair(kept_id, absorbed_id)
    values = {**values, **pair.ordered, "jaro_winkler": 0.0}
    await graph.connection.execute(SQL["undo_merge"], values)
    await graph.connection.execute(SQL["set_apart"], values)
    await settle(graph, Touched({root_id, absorbed_id}, touched.facts, touched.relation_ids))
    return kept_id, absorbed_id


async def dismiss(graph: Graph, duplicate_id: int, *, by: str) -> None:
    """Decide that a pair is two entities; a second time changes nothing. Raises NotFound, Conflict after a merge."""
    params = {**graph.key, "duplicate_id": duplicate_id}
    row = await (await graph.connection.execute(SQL["duplicate"], params)).fetchone()
    if row is None:
        raise NotFound(f"there is no pair {public_id('duplicate', duplicate_id)!r} in this memory")
    if row["state"] == "merged":
        raise Conflict("the two were merged: take that back first")
    if row["state"] == "open":
        ends = {"first_id": row["first_id"], "second_id": row["second_id"]}
        await graph.connection.execute(SQL["decide"], {**params, **ends, "state": "dismissed", "by": by})
