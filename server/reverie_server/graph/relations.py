"""The relations of a graph, derived anew from their statements. Works inside the caller's transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, cast

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.graph.periods import DatedStatement, Period, periods
from reverie_server.graph.vocabulary import NESTING, End, unique_end
from reverie_server.text.graph_terms import EntityType, RelationName

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """A relation between two entities as it was stated, before any merge."""

    source_id: int
    name: str
    target_id: int


@dataclass(frozen=True, slots=True)
class Clusters:
    """Entities with those that were merged into them: `root_of` each, its `members` (itself first), and its `type`."""

    root_of: Mapping[int, int]
    members: Mapping[int, Sequence[int]]
    types: Mapping[int, EntityType]


@dataclass(frozen=True, slots=True)
class _Group:
    """Statements that are decided together: of one fact, or of a relation that an entity has only one of at a time."""

    end: End | None
    name: RelationName
    source_id: int | None
    target_id: int | None


@dataclass(slots=True)
class _Writing:
    """The changes to the relations of several groups; `taken` are the relations that a group already has."""

    changed: list[dict[str, Any]] = field(default_factory=list)
    added: list[tuple[dict[str, Any], Sequence[int]]] = field(default_factory=list)
    assigned: dict[int, int | None] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)


async def load_clusters(connection: Connection, tenant_id: str, slice_id: int, entity_ids: Iterable[int]) -> Clusters:
    """The clusters that some entities of a slice belong to; entities that are gone are left out."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "entity_ids": sorted(set(entity_ids))}
    rows = await (await connection.execute(SQL["clusters"], params)).fetchall()
    members: dict[int, list[int]] = {}
    for row in rows:
        members.setdefault(row["root_id"], []).append(row["entity_id"])
    return Clusters(
        {row["entity_id"]: row["root_id"] for row in rows}, members, {row["entity_id"]: row["type"] for row in rows}
    )


async def derive_relations(
    connection: Connection,
    tenant_id: str,
    slice_id: int,
    facts: Collection[Fact],
    relation_ids: Iterable[int] = (),
) -> None:
    """Derive the relations of some facts, and of the facts that these contradict, anew from all their statements.

    `relation_ids` are relations that may have no statement left. A relation that stays the same fact keeps its id.
    """
    key = {"tenant_id": tenant_id, "slice_id": slice_id}
    ends = {end for fact in facts for end in (fact.source_id, fact.target_id)}
    clusters = await load_clusters(connection, tenant_id, slice_id, ends)
    groups = sorted({group for fact in facts if (group := _group(fact, clusters))}, key=_order)
    statements = await _statements(connection, tenant_id, clusters, groups)
    others = {row[end] for rows in statements.values() for row in rows for end in ("source_id", "target_id")}
    clusters = await load_clusters(connection, tenant_id, slice_id, ends | others)
    before = {row["relation_id"] for rows in statements.values() for row in rows} | set(relation_ids)
    writing = _Writing()
    for group, rows in statements.items():
        coexist = await _nested(connection, key, clusters, group, rows)
        _derive_group(group, rows, clusters, coexist, writing)
    await _write(connection, key, writing)
    gone = sorted(before - {None})
    await connection.execute(SQL["drop_unsaid"], {**key, "relation_ids": gone})


def _group(fact: Fact, clusters: Clusters) -> _Group | None:
    source, target = clusters.root_of.get(fact.source_id), clusters.root_of.get(fact.target_id)
    name = cast("RelationName", fact.name)
    # Where an end of a relation is gone, relations that it contradicted may hold again.
    end = unique_end(name, clusters.types[source]) if source is not None else "target" if name == "manages" else None
    match end:
        case "source":
            return _Group(end, name, source, None)
        case "target":
            return None if target is None else _Group(end, name, None, target)
        case None:
            return None if source is None or target is None else _Group(end, name, source, target)


def _order(group: _Group) -> tuple[bool, str, int, int]:
    # Relations between places are derived before the relations of people to places.
    return (group.end is not None, group.name, group.source_id or 0, group.target_id or 0)


async def _statements(
    connection: Connection, tenant_id: str, clusters: Clusters, groups: Sequence[_Group]
) -> dict[_Group, list[DictRow]]:
    """The statements of each group."""
    found: dict[_Group, list[DictRow]] = {group: [] for group in groups}
    for end, query in ((None, "facts"), ("source", "sources"), ("target", "targets")):
        keys = [
            (source, group.name, target)
            for group in groups
            if group.end == end
            for source, target in product(
                clusters.members.get(group.source_id or 0, [0]), clusters.members.get(group.target_id or 0, [0])
            )
        ]
        if keys:
            sources, names, targets = (list(column) for column in zip(*keys, strict=True))
            params = {"tenant_id": tenant_id, "source_ids": sources, "names": names, "target_ids": targets}
            for row in await (await connection.execute(SQL[f"statements_of_{query}"], params)).fetchall():
                group = _Group(
                    cast("End | None", end),
                    row["name"],
                    clusters.root_of[row["source_id"]] if end != "target" else None,
                    clusters.root_of[row["target_id"]] if end != "source" else None,
                )
                found[group].append(row)
    return found


async def _nested(
    connection: Connection, key: Mapping[str, Any], clusters: Clusters, group: _Group, rows: Sequence[DictRow]
) -> set[tuple[int, int]]:
    """The pairs (inner, outer) of nested places of a group: being in one does not contradict being in the other."""
    if group.end != "source" or group.name not in ("located_in", "based_at"):
        return set()
    ids = sorted({root for row in rows if (root := clusters.root_of.get(row["target_id"])) is not None})
    params = {**key, "names": list(NESTING), "entity_ids": ids}
    found = await (await connection.execute(SQL["nested"], params)).fetchall()
    return {(row["source_id"], row["target_id"]) for row in found}


def _derive_group(
    group: _Group, rows: Sequence[DictRow], clusters: Clusters, coexist: set[tuple[int, int]], writing: _Writing
) -> None:
    by_id: dict[int, DictRow] = {row["statement_id"]: row for row in rows}
    statements = []
    for row in rows:
        source, target = clusters.root_of[row["source_id"]], clusters.root_of[row["target_id"]]
        writing.assigned[row["statement_id"]] = None
        # A relation between two entities that are merged now does not hold until the merge is undone.
        if source != target:
            other = source if group.end == "target" else target
            statements.append(DatedStatement(row["statement_id"], other, row["since"], row["until"]))
    # After an undone merge two groups may share one relation.
    free = {row["relation_id"] for row in rows} - {None} - writing.taken
    found = periods(statements, one_at_a_time=group.end is not None, may_coexist=lambda a, b: (a, b) in coexist)
    for period in found:
        period_rows = [by_id[statement_id] for statement_id in period.statement_ids]
        params = _relation(group, rows[0], period, period_rows, clusters)
        use_counts = Counter(row["relation_id"] for row in period_rows if row["relation_id"] in free)
        if use_counts:
            relation_id = min(use_counts, key=lambda candidate: (-use_counts[candidate], candidate))
            free.discard(relation_id)
            writing.taken.add(relation_id)
            writing.changed.append({**params, "relation_id": relation_id})
            writing.assigned.update(dict.fromkeys(period.statement_ids, relation_id))
        else:
            writing.added.append((params, period.statement_ids))


def _relation(
    group: _Group, any_row: DictRow, period: Period[int], rows: Sequence[DictRow], clusters: Clusters
) -> dict[str, Any]:
    begun = [row for row in rows if row["since"] is not None]
    best = max(begun, key=lambda row: (row["confidence"], row["recorded_at"], row["statement_id"]))
    source = period.other if group.end == "target" else clusters.root_of[any_row["source_id"]]
    target = clusters.root_of[any_row["target_id"]] if group.end == "target" else period.other
    return {
        "source_id": source,
        "name": group.name,
        "target_id": target,
        "confidence": best["confidence"],
        "valid_from": period.valid_from,
        "valid_to": period.valid_to,
        "recorded_at": min(row["recorded_at"] for row in begun),
        **{name: best[name] for name in ("method", "prompt", "prompt_version", "model")},
    }


async def _write(connection: Connection, key: Mapping[str, Any], writing: _Writing) -> None:
    cursor = connection.cursor()
    if writing.changed:
        await cursor.executemany(SQL["change_relation"], [{**key, **params} for params in writing.changed])
    if writing.added:
        await cursor.executemany(
            SQL["add_relation"], [{**key, **params} for params, _ in writing.added], returning=True
        )
        for _, statement_ids in writing.added:
            row = await cursor.fetchone()
            writing.assigned.update(dict.fromkeys(statement_ids, (row or {})["relation_id"]))
            cursor.nextset()
    params = {**key, "statement_ids": list(writing.assigned), "relation_ids": list(writing.assigned.values())}
    await connection.execute(SQL["assign"], params)
    touched = [*writing.changed, *(params for params, _ in writing.added)]
    ends = [(params[end], params["valid_from"]) for params in touched for end in ("source_id", "target_id")]
    ids, instants = [end for end, _ in ends], [instant for _, instant in ends]
    await connection.execute(SQL["known_since"], {**key, "entity_ids": ids, "instants": instants})
