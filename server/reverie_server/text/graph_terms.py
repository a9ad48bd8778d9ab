"""The types of entities and the names of relations that the knowledge graph knows. Pure."""

from __future__ import annotations

from typing import Literal, get_args

EntityType = Literal[
    "person",
    "organization",
    "project",
    "product",
    "technology",
    "task",
    "event",
    "document",
    "concept",
    "location",
]
RelationName = Literal[
    "works_on",
    "manages",
    "reports_to",
    "collaborates_with",
    "belongs_to",
    "part_of",
    "depends_on",
    "blocks",
    "created",
    "completed",
    "assigned_to",
    "scheduled_for",
    "located_in",
    "based_at",
    "uses",
    "implements",
    "integrates_with",
    "authored",
    "references",
    "provides",
    "requires",
    "related_to",
]


ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)


RELATION_NAMES: tuple[RelationName, ...] = get_args(RelationName)
