"""From what was said of a relation, and when, to the stretches of time in which it held. Pure.

The result depends on the statements alone and not on the order in which they arrived, so that a statement that arrives
late, is forgotten, or moves to another entity by a merge is just another set of statements.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Generic, TypeVar

Other = TypeVar("Other", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Said(Generic[Other]):
    """A statement: `other` is the end that may differ. It holds from `since` on, until `until` where that was said.

    Without `since` it says only that something ended; one of both is always there.
    """

    statement_id: int
    other: Other
    since: datetime | None
    until: datetime | None = None

    @property
    def at(self) -> datetime:
        """When it takes its place among the others."""
        at = self.since or self.until
        if at is None:
            raise ValueError("a statement says when something began or when it ended")
        return at


@dataclass(slots=True)
class Period(Generic[Other]):
    """A stretch of time, half-open, in which it held; `valid_to` None: until further notice."""

    other: Other
    valid_from: datetime
    valid_to: datetime | None
    statement_ids: list[int] = field(default_factory=list)

    def holds_at(self, at: datetime) -> bool:
        """Whether it holds at an instant that is not before its beginning."""
        return self.valid_to is None or at < self.valid_to


def periods(
    statements: Iterable[Said[Other]],
    *,
    one_at_a_time: bool,
    may_coexist: Callable[[Other, Other], bool] = lambda _a, _b: False,
) -> list[Period[Other]]:
    """The periods that statements of one subject and relation come to, by their beginning, then in the order given.

    The same again lengthens a period to the front or adds to it; after its end it begins a new one. With
    `one_at_a_time` a later statement of another ends what held before, at its own beginning; what begins at the same
    instant, or `may_coexist`, stands side by side. A statement that something ended ends the period that holds then, or
    says nothing where none does.
    """
    found: list[Period[Other]] = []
    # Those that may hold yet, by what they are of, so that nobody looks through what is over again and again.
    current: dict[Other, list[Period[Other]]] = {}
    # What only ends comes before what begins at the same time: "no longer there, there again".
    ordered = sorted(statements, key=lambda said: (said.at, said.since is not None, said.statement_id))
    for at, together in groupby(ordered, key=lambda said: said.at):
        said_now = list(together)
        begun = [said for said in said_now if said.since is not None]
        for said in (said for said in said_now if said.since is None):
            _end(current.get(said.other, ()), said, at)
        if one_at_a_time and begun:
            others = dict.fromkeys(said.other for said in begun)
            for other, own in list(current.items()):
                if _contradicted(other, others, may_coexist):
                    for period in own:
                        period.valid_to = at if period.holds_at(at) else period.valid_to
                    del current[other]
        for said in begun:
            own = current[said.other] = [p for p in current.get(said.other, ()) if p.holds_at(at)]
            if (begun_now := _begun(own, said, at)) is not None:
                own.append(begun_now)
                found.append(begun_now)
    return found


def _end(own: Sequence[Period[Other]], said: Said[Other], at: datetime) -> None:
    for period in own:
        if period.valid_from < at and period.holds_at(at):
            period.valid_to = at
            period.statement_ids.append(said.statement_id)


def _begun(own: Sequence[Period[Other]], said: Said[Other], at: datetime) -> Period[Other] | None:
    """The period that a statement begins; None where one goes on by it."""
    for period in own:
        if period.holds_at(at):
            period.statement_ids.append(said.statement_id)
            period.valid_to = said.until or period.valid_to
            return None
    return Period(said.other, at, said.until, [said.statement_id])


def _contradicted(other: Other, by: Collection[Other], may_coexist: Callable[[Other, Other], bool]) -> bool:
    return other not in by and not any(may_coexist(other, said) or may_coexist(said, other) for said in by)
