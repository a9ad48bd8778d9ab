"""The graph of a slice in PostgreSQL: keeps the statements of episodes, and derives entities and relations from them.

Every function works inside the caller's transaction, which holds the slice's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.text.analyse import analyse
from reverie_server.graph.derive import Derived, Mention, derive
from reverie_server.graph.model import Origin, Reading, StatedEntity
from reverie_server.graph.names import name_key
from reverie_server.graph.relations import Fact, derive_relations, load_clusters
from reverie_server.llm.generation import Generation

SQL = Queries(__file__)
# The weights of a term from the name, an alias and the description.
_NAME_WEIGHT, _ALIAS_WEIGHT, _DESCRIPTION_WEIGHT = 1.0, 0.8, 0.3


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a locked slice. `at` is the time of its changes; with `language` None entities keep theirs."""

    connection: Connection
    tenant_id: str
    slice_id: int
    at: datetime
    language: str | None = None

    @property
    def key(self) -> dict[str, Any]:
        """The parameters of the slice in the SQL statements."""
        return {"tenant_id": self.tenant_id, "slice_id": self.slice_id, "at": self.at}


@dataclass(frozen=True, slots=True)
class Stored:
    """The numbers of entities and relations of an episode."""

    entities: int
    relations: int


async def store_readings(graph: Graph, origin: Origin, readings: Sequence[Reading]) -> Stored:
    """Replace the statements of an episode by its readings, and derive entities and relations anew."""
    mentions, statements = await of_episodes(graph, [origin.episode_id])
    dropped = await _drop(graph, sorted(mentions), sorted(statements))
    entity_ids: set[int] = set()
    facts: set[Fact] = set()
    for reading in readings:
        ids = await _resolve(graph, origin, reading)
        await _add_mentions(graph, origin, reading, ids)
        stated_facts = await _add_statements(graph, origin, reading, ids)
        entity_ids |= set(ids.values())
        facts |= stated_facts
    await settle(graph, replace(dropped, entity_ids=dropped.entity_ids | entity_ids, facts=dropped.facts | facts))
    return Stored(len(entity_ids), len(facts))


@dataclass(frozen=True, slots=True)
class Touched:
    """The entities and facts to derive anew, and the relations that may have no statement left."""

    entity_ids: frozenset[int] | set[int] = frozenset()
    facts: frozenset[Fact] | set[Fact] = frozenset()
    relation_ids: frozenset[int] | set[int] = frozenset()


async def drop_episodes(graph: Graph, episode_ids: Sequence[int]) -> int:
    """Remove mentions and statements of some episodes, and what rests on them alone. Returns the number of both."""
    mentions, statements = await of_episodes(graph, episode_ids)
    await drop_mentions_and_statements(graph, sorted(mentions), sorted(statements))
    return len(mentions) + len(statements)


async def drop_mentions_and_statements(
    graph: Graph, mention_ids: Sequence[int], statement_ids: Sequence[int], *, also: Iterable[int] = ()
) -> None:
    """Remove mentions and statements, and what rests on them alone; derive the entities in `also` anew, too."""
    dropped = await _drop(graph, mention_ids, statement_ids)
    await settle(graph, replace(dropped, entity_ids={*dropped.entity_ids, *also}))


async def of_episodes(graph: Graph, episode_ids: Sequence[int]) -> tuple[set[int], set[int]]:
    """The mentions and the statements that the graph has from some episodes."""
    params = {**graph.key, "episode_ids": list(episode_ids)}
    rows = await (await graph.connection.execute(SQL["of_episodes"], params)).fetchall()
    mentions = {row["id"] for row in rows if row["kind"] == "mention"}
    return mentions, {row["id"] for row in rows if row["kind"] == "statement"}


async def settle(graph: Graph, touched: Touched) -> None:
    """Derive entities and relations anew, and remove entities without any mention.

    Entities that were merged into a removed one are then merged into its parent, else into the first of them.
    """
    entity_ids, facts, relation_ids = set(touched.entity_ids), set(touched.facts), set(touched.relation_ids)
    params = {**graph.key, "entity_ids": sorted(entity_ids)}
    gone = await (await graph.connection.execute(SQL["unmentioned"], params)).fetchall()
    if gone:
        on_gone = await statements_on(graph, [row["entity_id"] for row in gone])
        facts |= on_gone.facts
        relation_ids |= on_gone.relation_ids
        for row in gone:
            entity_ids |= await _drop_entity(graph, row)
    clusters = await load_clusters(graph.connection, graph.tenant_id, graph.slice_id, entity_ids)
    await _derive_entities(graph, clusters.members)
    # Entities that came apart shared relations with the cluster they were part of.
    shared = {**graph.key, "relation_ids": sorted(relation_ids)}
    facts |= _facts(await (await graph.connection.execute(SQL["facts_of"], shared)).fetchall())
    await derive_relations(graph.connection, graph.tenant_id, graph.slice_id, facts, relation_ids)


async def statements_on(graph: Graph, entity_ids: Sequence[int]) -> Touched:
    """The facts with one of the entities at either end."""
    params = {**graph.key, "entity_ids": list(entity_ids)}
    rows = await (await graph.connection.execute(SQL["statements_on"], params)).fetchall()
    return Touched(facts=_facts(rows), relation_ids={row["relation_id"] for row in rows} - {None})


async def point(graph: Graph, entity_ids: Sequence[int], merged_into: int | None) -> None:
    """Merge entities into another, or take that back, without deriving anything yet."""
    params = {**graph.key, "entity_ids": list(entity_ids), "merged_into": merged_into}
    await graph.connection.execute(SQL["point"], params)
    if merged_into is not None:
        await graph.connection.execute(SQL["unindex"], params)


async def _drop_entity(graph: Graph, row: DictRow) -> set[int]:
    """Remove an entity; those merged into it go to its parent, else to the first of them. Returns all of these."""
    params = {**graph.key, "entity_id": row["entity_id"]}
    merged = [r["entity_id"] for r in await (await graph.connection.execute(SQL["merged_in"], params)).fetchall()]
    # Not that of the row: it may have been pointed elsewhere since, when another one was removed.
    present = await (await graph.connection.execute(SQL["parent"], params)).fetchone()
    parent = present["merged_into"] if present else None
    if merged and parent is None:
        parent = merged[0]
        await point(graph, [parent], None)
    if rest := [entity_id for entity_id in merged if entity_id != parent]:
        await point(graph, rest, parent)
    await graph.connection.execute(SQL["detach"], params)
    await graph.connection.execute(SQL["drop_entity"], params)
    return {*merged, *([parent] if parent else [])}


async def _drop(graph: Graph, mention_ids: Sequence[int], statement_ids: Sequence[int]) -> Touched:
    params = {**graph.key, "mention_ids": list(mention_ids), "statement_ids": list(statement_ids)}
    mentions = await (await graph.connection.execute(SQL["drop_mentions"], params)).fetchall()
    statements = await (await graph.connection.execute(SQL["drop_statements"], params)).fetchall()
    return Touched(
        {row["entity_id"] for row in mentions},
        _facts(statements),
        {row["relation_id"] for row in statements} - {None},
    )


def _facts(rows: Iterable[DictRow]) -> set[Fact]:
    return {Fact(row["source_id"], row["name"], row["target_id"]) for row in rows}


async def _resolve(graph: Graph, origin: Origin, reading: Reading) -> dict[str, int]:
    """The entity of each external id of a reading; new ones are made.

    That is the known entity that the reading means, else the one with that type and id, else with that type and name.
    """
    connection, entities = graph.connection, reading.entities
    params = {
        **graph.key,
        "types": [entity.type for entity in entities],
        "external_ids": [entity.external_id for entity in entities],
        "name_keys": [name_key(entity.name) for entity in entities],
        "entity_ids": [entity.known_id for entity in entities if entity.known_id is not None],
    }
    rows = await (await connection.execute(SQL["by_external_id"], params)).fetchall()
    by_id = {(row["type"], row["external_id"]): row["entity_id"] for row in rows}
    by_name: dict[tuple[str, str], int] = {}
    for row in await (await connection.execute(SQL["by_name"], params)).fetchall():
        by_name.setdefault((row["type"], row["name_key"]), row["entity_id"])
    still = {row["entity_id"] for row in await (await connection.execute(SQL["by_id"], params)).fetchall()}
    found: dict[str, int] = {}
    for entity in entities:
        key = (entity.type, name_key(entity.name))
        known = entity.known_id if entity.known_id in still else None
        entity_id = known or by_id.get((entity.type, entity.external_id))
        if entity_id is None and not entity.is_distinct:
            entity_id = by_name.get(key)
        if entity_id is None:
            entity_id = await _add_entity(graph, origin, reading.generation, entity)
            by_name.setdefault(key, entity_id)
        found[entity.external_id] = entity_id
    return found


async def _add_entity(graph: Graph, origin: Origin, generation: Generation, entity: StatedEntity) -> int:
    params = {
        **graph.key,
        **asdict(generation),
        "external_id": entity.external_id,
        "type": entity.type,
        "name": entity.name,
        "name_key": name_key(entity.name),
        "confidence": entity.confidence,
        "said_at": _first(origin, entity.seqs),
        "language": graph.language,
    }
    row = await (await graph.connection.execute(SQL["add_entity"], params)).fetchone()
    return int((row or {})["entity_id"])


async def _add_mentions(graph: Graph, origin: Origin, reading: Reading, ids: Mapping[str, int]) -> None:
    rows = [
        {
            **_source_params(graph, origin, reading.generation),
            "entity_id": ids[entity.external_id],
            "seqs": list(entity.seqs),
            "said_at": _first(origin, entity.seqs),
            "name": entity.name,
            "description": entity.description,
            "aliases": list(entity.aliases),
            "properties": Jsonb(dict(entity.properties)),
            "confidence": entity.confidence,
        }
        for entity in reading.entities
    ]
    await graph.connection.cursor().executemany(SQL["add_mention"], rows)


async def _add_statements(graph: Graph, origin: Origin, reading: Reading, ids: Mapping[str, int]) -> set[Fact]:
    rows = [
        {
            **_source_params(graph, origin, reading.generation),
            "source_id": ids[relation.source],
            "name": relation.name,
            "target_id": ids[relation.target],
            "since": relation.since,
            "until": relation.until,
            "seqs": list(relation.seqs),
            "said_at": relation.said_at,
            "confidence": relation.confidence,
        }
        for relation in reading.relations
        # Two external ids may turn out to mean one entity.
        if ids[relation.source] != ids[relation.target]
    ]
    await graph.connection.cursor().executemany(SQL["add_statement"], rows)
    return {Fact(row["source_id"], row["name"], row["target_id"]) for row in rows}


def _source_params(graph: Graph, origin: Origin, generation: Generation) -> dict[str, Any]:
    ids = {name: getattr(origin, name) for name in ("episode_id", "session_key", "session_id")}
    return {**graph.key, **asdict(generation), **ids}


def _first(origin: Origin, seqs: Sequence[int]) -> datetime:
    return min(origin.said_at[seq] for seq in seqs)


async def _derive_entities(graph: Graph, members: Mapping[int, Sequence[int]]) -> None:
    """Derive entities, each with those merged into it, and the terms and names by which search finds them."""
    every = [entity_id for of_one in members.values() for entity_id in of_one]
    of_every = {**graph.key, "entity_ids": every}
    rows = await (await graph.connection.execute(SQL["mentions_of"], of_every)).fetchall()
    mentions: dict[int, list[Mention]] = {}
    for row in rows:
        generation = Generation(*(row.pop(name) for name in ("method", "prompt", "prompt_version", "model")))
        mentions.setdefault(row["entity_id"], []).append(Mention(**row, generation=generation))
    written: list[tuple[DictRow, Derived]] = []
    # A merged entity is derived from its own mentions: the history shows it, and it may come apart again.
    for member in (member for of_one in members.values() for member in of_one[1:]):
        derived = derive([member], mentions[member])
        await graph.connection.execute(SQL["write_entity"], _entity(graph, member, derived))
    for root_id, of_one in members.items():
        derived = derive(of_one, [mention for member in of_one for mention in mentions.get(member, ())])
        changed = await graph.connection.execute(SQL["write_entity"], _entity(graph, root_id, derived))
        written += [(as_written, derived) for as_written in await changed.fetchall()]
    await graph.connection.execute(SQL["unindex"], {**graph.key, "entity_ids": list(members)})
    pipe = graph.connection.cursor()
    await pipe.executemany(SQL["index_terms"], [{**graph.key, **_terms(row, derived)} for row, derived in written])
    names = [
        {
            **graph.key,
            "entity_id": row["entity_id"],
            "name_keys": sorted({name_key(name) for name in (derived.name, *derived.aliases)}),
        }
        for row, derived in written
    ]
    await pipe.executemany(SQL["index_names"], names)


def _entity(graph: Graph, entity_id: int, derived: Derived) -> dict[str, Any]:
    return {
        **graph.key,
        **asdict(derived.generation),
        "entity_id": entity_id,
        "name": derived.name,
        "name_key": name_key(derived.name),
        "description": derived.description,
        "aliases": list(derived.aliases),
        "properties": Jsonb(dict(derived.properties)),
        "confidence": derived.confidence,
        "since": derived.since,
        "language": graph.language,
    }


def _terms(row: DictRow, derived: Derived) -> dict[str, Any]:
    """The terms by which an entity is found, each with its highest weight."""
    weights: dict[str, float] = {}
    for weight, text in (
        (_NAME_WEIGHT, derived.name),
        (_ALIAS_WEIGHT, "\n".join(derived.aliases)),
        (_DESCRIPTION_WEIGHT, derived.description),
    ):
        for term in analyse(text, row["language"]):
            weights.setdefault(term, weight)
    terms = sorted(weights)
    return {"entity_id": row["entity_id"], "terms": terms, "weights": [weights[term] for term in terms]}
