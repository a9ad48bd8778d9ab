"""The facts of a slice beside the newest that later ones may still close: those that hold, of the same subjects. Pure.

What is settled is bounded, while what a person said once holds for as long as nobody says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie_server.facts.resolve import Known, Resolution, State
from reverie_server.heuristics.changes.fact_ledger import compared_key


@dataclass(frozen=True, slots=True)
class OlderFacts:
    """The facts of one subject and predicate that hold and are not among the newest, the newest of them first."""

    subject: str
    predicate: str
    is_functional: bool
    fact_ids: Sequence[int]


def related(known: Sequence[Known], older: Iterable[OlderFacts], limit: int) -> list[int]:
    """The ids of at most `limit` older facts that the `known` may close.

    First those that a model named, then those of the same subject and predicate, then others of the same subject.
    """
    of_known = {compared_key(each.subject, each.predicate, is_functional=each.is_functional) for each in known}
    subjects = {subject for subject, _ in of_known}
    newest = {each.fact_id for each in known}
    named = [said.of_fact_id for each in known for said in each.said if said.of_fact_id is not None]
    same: list[int] = []
    near: list[int] = []
    for each in older:
        key = compared_key(each.subject, each.predicate, is_functional=each.is_functional)
        if key in of_known:
            same += each.fact_ids
        elif key[0] in subjects:
            near += each.fact_ids
    return [fact_id for fact_id in dict.fromkeys([*named, *same, *near]) if fact_id not in newest][:limit]


def with_stored(resolution: Resolution, stored: Mapping[int, State], now: datetime) -> Resolution:
    """The resolution in which older facts, with their `stored` states, are ended and otherwise stay as they are: what
    was said of them in between is not all known."""
    states = dict(resolution.states)
    for fact_id, state in stored.items():
        found = states[fact_id]
        if found.state == "current" and found.superseded_by is None:
            is_over = state.valid_to is not None and state.valid_to <= now and state.closed_by != "person"
            states[fact_id] = replace(state, state="superseded") if is_over else state
        else:
            states[fact_id] = replace(found, valid_from=state.valid_from)
    holds = {fact_id for fact_id, state in states.items() if state.state == "current"}
    return Resolution(states, frozenset(pair for pair in resolution.contradictions if holds.issuperset(pair)))
