"""Which pairs of facts are one conflict in several wordings: "I like it", "I really like it", and "I dislike it". Pure.

The text is part of a fact's identity, so that each wording is a fact of its own. A conflict is asked once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie_server.facts.resolve import Known, Pair
from reverie_server.heuristics.changes.fact_ledger import Compared, compared


@dataclass(frozen=True, slots=True)
class Statement:
    """What a fact states, in whatever words."""

    fact_id: int
    subject: str
    predicate: str
    object: str
    is_functional: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """A contradiction that a person decided on; with `is_ignored` both of its facts stand."""

    first: Statement
    second: Statement
    is_ignored: bool
    found_at: datetime
    resolved_at: datetime
    resolved_by: str | None


@dataclass(frozen=True, slots=True)
class Conflicts:
    """The pairs to ask about, one of each conflict.

    `inherited`: of ignored conflicts of which a fact is gone, the decision and the pair for which it holds now.
    """

    asked: frozenset[Pair] = frozenset()
    inherited: tuple[tuple[Decided, Pair], ...] = ()


def conflicts_of(known: Sequence[Known], pairs: Collection[Pair], decided: Sequence[Decided]) -> Conflicts:
    """What to ask about pairs that cannot both hold: the oldest wording of each conflict that nobody decided."""
    ids = {fact.fact_id for fact in known}
    paired = {fact_id for pair in pairs for fact_id in pair}
    of_fact = {fact.fact_id: _compared(fact) for fact in known if fact.fact_id in paired}
    of_conflict: dict[frozenset[Compared], Pair] = {}
    for first, second in sorted(pairs):
        of_conflict.setdefault(frozenset({of_fact[first], of_fact[second]}), (first, second))
    inherited = []
    closed: set[Pair] = set()
    for each in decided:
        pair = of_conflict.get(frozenset({_compared(each.first), _compared(each.second)}))
        if pair is None:
            continue
        closed.add(pair)
        if each.is_ignored and not ids.issuperset((each.first.fact_id, each.second.fact_id)):
            inherited.append((each, pair))
    return Conflicts(frozenset(of_conflict.values()) - closed, tuple(inherited))


def wordings_of(fact_ids: Sequence[int], facts: Sequence[Statement]) -> list[int]:
    """Some facts, and those of all that state the same as one of them, these last and by id."""
    by_id = {fact.fact_id: _compared(fact) for fact in facts}
    stated = {by_id[fact_id] for fact_id in fact_ids if fact_id in by_id}
    return [*fact_ids, *sorted(n for n, its in by_id.items() if its in stated and n not in fact_ids)]


def _compared(fact: Known | Statement) -> Compared:
    return compared(fact.subject, fact.predicate, fact.object, is_functional=fact.is_functional)
