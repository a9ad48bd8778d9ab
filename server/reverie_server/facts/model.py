"""The values of facts: a fact as it is shown, its source, a contradiction; their public ids. Frozen, without I/O."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from reverie_indexer.errors import NotFound
from reverie_indexer.model import Scope
from reverie_server.heuristics.stated_fact import Category, StatedFact
from reverie_server.llm.generation import Generation, Method
from reverie_server.text.redact import essence

FactState = Literal["current", "superseded", "retracted"]
ContradictionState = Literal["open", "resolved", "ignored", "closed"]
Kept = Literal["a", "b", "merge", "ignore"]
Vote = Literal["helpful", "unhelpful", "none"]
Operation = Literal["add", "same", "replaces", "ends"]
ClosedBy = Literal["person", "model"]
_PREFIX = {"fact": "fact-", "contradiction": "con-"}
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a slice, as it is shown. `trust` is as of the time of the reading.

    `source` is its newest source: lines of a file, or messages of a session.
    """

    fact_id: int
    slice_id: int
    subject: str
    predicate: str
    object: str
    text: str
    category: Category
    confidence: float
    trust: float
    helpful: int
    unhelpful: int
    use_count: int
    last_used_at: datetime | None
    last_confirmed_at: datetime | None
    confirmed_by: str | None
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: int | None
    state: FactState
    scope: Scope
    owner_key: str | None
    source: Mapping[str, Any]
    method: Method
    prompt: str | None
    prompt_version: str | None
    model: str | None
    order_key: float = 0.0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two facts that cannot both hold. `kept` is what a person answered."""

    contradiction_id: int
    fact_a: Fact
    fact_b: Fact
    state: ContradictionState
    kept: Kept | None
    found_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None

    @property
    def description(self) -> str:
        """`subject: "a" vs "b"`."""
        return f'{self.fact_a.subject}: "{self.fact_a.object}" vs "{self.fact_b.object}"'


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact as it was read, where, and how: `line` or `messages` say where.

    `keys` are those of the copies of its sentence. `is_copy`: the server or a tool wrote the line, from what somebody
    said; `is_made`: the server did, of what was said before; `is_undated`: nothing tells when.
    `operation` and `of_fact_id` are what a model answered of it and a stored fact.
    """

    stated: StatedFact
    generation: Generation
    keys: frozenset[bytes]
    line: LineSource | None = None
    messages: MessageSource | None = None
    is_copy: bool = False
    is_made: bool = False
    is_undated: bool = False
    operation: Operation | None = None
    of_fact_id: int | None = None


@dataclass(frozen=True, slots=True)
class LineSource:
    """Lines of a file, 1-based and inclusive; `sha256` is the identity of the line."""

    document_id: int
    path: str
    start_line: int
    end_line: int
    sha256: bytes


@dataclass(frozen=True, slots=True)
class MessageSource:
    """Messages of a session, by number and by the caller's own id ("": it gave none)."""

    session_key: int
    session_id: str
    seqs: tuple[int, ...]
    message_ids: tuple[str, ...]


def fact_sha256(stated: StatedFact) -> bytes:
    """The identity of a fact: a hash of its subject, predicate, object and text, case and white space folded."""
    parts = (stated.subject, stated.predicate, stated.object, stated.text)
    return hashlib.sha256("\0".join(map(essence, parts)).encode()).digest()


def public_id(kind: Literal["fact", "contradiction"], number: int) -> str:
    """The id as it is shown: `fact-7`, `con-3`."""
    return f"{_PREFIX[kind]}{number}"


def parse_id(kind: Literal["fact", "contradiction"], given: str) -> int:
    """The number of a public id; NotFound for one that none can have."""
    number = given.removeprefix(_PREFIX[kind])
    if number == given or not _NUMBER.fullmatch(number):
        raise NotFound(f"there is no {kind} {given!r}")
    return int(number)


def trust_of(helpful: int, unhelpful: int, days_since: float, half_life_days: float) -> float:
    """clamp(0.5 + 0.1·helpful − 0.2·unhelpful, 0, 1) · 2^(−days / half-life); no decay for a half-life of 0. Pure."""
    base = min(1.0, max(0.0, 0.5 + 0.1 * helpful - 0.2 * unhelpful))
    return base if half_life_days <= 0 else base * 2.0 ** (-max(0.0, days_since) / half_life_days)
