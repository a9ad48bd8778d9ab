"""Paths of names to the entities that a walk through the graph reached. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reverie_server.graph.model import Entity, Relation


@dataclass(frozen=True, slots=True)
class Step:
    """How an entity was reached: from where, by which relation, after how many hops."""

    parent_id: int
    relation_id: int
    depth: int


def way_to(entity_id: int, steps: Mapping[int, Step]) -> list[int]:
    """The entities on the way to an entity, from the start to it; for a start, itself alone."""
    way = [entity_id]
    while way[-1] in steps:
        way.append(steps[way[-1]].parent_id)
    return way[::-1]


def path_of(
    entity_id: int, steps: Mapping[int, Step], entities: Mapping[int, Entity], relations: Mapping[int, Relation]
) -> str:
    """The way to an entity by names: `Ada -works_on-> Reverie <-part_of- Pipeline`."""
    way = way_to(entity_id, steps)
    parts = [entities[way[0]].name]
    for here in way[1:]:
        relation = relations[steps[here].relation_id]
        is_forward = relation.target_id == here
        parts += f" -{relation.name}-> " if is_forward else f" <-{relation.name}- ", entities[here].name
    return "".join(parts)


def needed(entity_ids: Collection[int], steps: Mapping[int, Step]) -> tuple[set[int], set[int]]:
    """The entities and the relations that lie on the ways to some entities."""
    on_ways = {entity_id for reached in entity_ids for entity_id in way_to(reached, steps)}
    return on_ways, {steps[entity_id].relation_id for entity_id in on_ways if entity_id in steps}


def in_order(starts: Sequence[int], steps: Mapping[int, Step]) -> list[int]:
    """The starts, the best first, then the reached entities, the nearest first, of equals in the order of the walk."""
    return [*starts, *sorted(steps, key=lambda entity_id: steps[entity_id].depth)]
