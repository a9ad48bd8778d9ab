"""The fixed vocabulary of the knowledge graph, and which relations a subject has one of at a time. Pure."""

from __future__ import annotations

from typing import Literal

from reverie_server.text.graph_terms import ENTITY_TYPES, RELATION_NAMES, EntityType, RelationName

End = Literal["source", "target"]

# Relations that lie within one another: somebody in Lisbon is in Portugal too.
NESTING: tuple[RelationName, ...] = ("located_in", "part_of")


def entity_type(word: str) -> EntityType | None:
    """The type with that name; None for an unknown name."""
    return next((known for known in ENTITY_TYPES if known == word.strip().lower()), None)


def relation_name(word: str) -> RelationName | None:
    """The relation with that name, also with spaces or hyphens for underscores; None for an unknown name."""
    normalised = word.strip().lower().replace(" ", "_").replace("-", "_")
    return next((known for known in RELATION_NAMES if known == normalised), None)


def unique_end(name: RelationName, source_type: EntityType) -> End | None:
    """The end that has one such relation at a time, so that a later statement contradicts an earlier; None: neither.

    A relation is functional only where two at a time would be a mistake or a rare exception, since a wrong
    contradiction hides what nobody took back, while a missed one leaves two dated statements to choose from:

    - `reports_to`: one superior. `manages`: whoever is managed has one manager, who manages many.
    - `located_in`, `based_at`: one is in one place and works at one. A place itself lies in many that contain each
      other (Berlin in Germany and in Europe) and does not move.
    - `scheduled_for`: one time. `assigned_to`: a task has one assignee; a person has many tasks.
    - `belongs_to`: a thing has one owner; a person is a member of many groups.

    All others hold side by side: one works on, uses, depends on, authored, is part of … many.
    """
    match name:
        case "reports_to" | "scheduled_for":
            return "source"
        case "manages":
            return "target"
        case "located_in" | "based_at":
            return None if source_type == "location" else "source"
        case "assigned_to" | "belongs_to":
            return None if source_type == "person" else "source"
        case _:
            return None
