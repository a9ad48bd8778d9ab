"""Answers of the routes of facts and contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from reverie_client.derived import Made
from reverie_client.model import Scope

FactCategory: TypeAlias = Literal[
    "preference", "profile", "project", "decision", "event", "reference", "request", "general"
]
FactState: TypeAlias = Literal["current", "superseded", "retracted"]
ContradictionState: TypeAlias = Literal["open", "resolved", "ignored", "closed"]
Keep: TypeAlias = Literal["a", "b", "merge", "ignore"]
Feedback: TypeAlias = Literal["helpful", "unhelpful", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Made):
    """What somebody said or wrote, and when it holds: `valid_to` is None while it does.

    `source` is its newest one: `path` with `start_line` and `end_line`, or `session_id` with `message_ids`.
    """

    id: str
    subject: str
    predicate: str
    object: str
    text: str
    category: FactCategory
    confidence: float
    trust: float
    helpful: int
    unhelpful: int
    use_count: int
    last_used_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    confirmed_by: str | None = None
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None
    state: FactState
    scope: Scope
    owner_key: str | None = None
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChain:
    """A fact, and with it those that took each other's place, the one that held first first."""

    fact: Fact
    chain: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPage:
    """A page of facts, the most trusted first."""

    facts: tuple[Fact, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Fact, ...]:
        """The items of the page."""
        return self.facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two facts that cannot both hold; `by` decided, `keep` is the answer."""

    id: str
    fact_a: Fact
    fact_b: Fact
    description: str
    state: ContradictionState
    keep: Keep | None = None
    found_at: datetime
    resolved_at: datetime | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionPage:
    """A page of contradictions, newest first."""

    contradictions: tuple[Contradiction, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[Contradiction, ...]:
        """The items of the page."""
        return self.contradictions
