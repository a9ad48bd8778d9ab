"""The periods in which a relation held, from dated statements about it. Pure.

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
class DatedStatement(Generic[Other]):
    """A statement about a relation: `other` is the end that may differ. It holds from `since` to `until`, if set.

    Without `since` it says only that the relation ended; one of both is always set.
    """

    statement_id: int
    other: Other
    since: datetime | None
    until: datetime | None = None

    @property
    def at(self) -> datetime:
        """The instant by which statements are ordered."""
        at = self.since or self.until
        if at is None:
            raise ValueError("a statement says when something began or when it ended")
        return at


@dataclass(slots=True)
class Period(Generic[Other]):
    """A half-open period in which a relation held; `valid_to` None: until further notice."""

    other: Other
    valid_from: datetime
    valid_to: datetime | None
    statement_ids: list[int] = field(default_factory=list)

    def holds_at(self, at: datetime) -> bool:
        """Whether it holds at an instant that is not before its beginning."""
        return self.valid_to is None or at < self.valid_to


def periods(
    statements: Iterable[DatedStatement[Other]],
    *,
    one_at_a_time: bool,
    may_coexist: Callable[[Other, Other], bool] = lambda _a, _b: False,
) -> list[Period[Other]]:
    """The periods of one subject and relation, ordered by beginning, then by the id of the first statement.

    The same again lengthens a period to the front or adds to it; after its end it begins a new one. With
    `one_at_a_time` a later statement of another ends what held before, at its own beginning; what begins at the same
    instant, or `may_coexist`, stands side by side. A statement that something ended ends the period that holds then, or
    says nothing where none does.
    """
    found: list[Period[Other]] = []
    # The open periods by their other end, so that closed ones are not searched again.
    current: dict[Other, list[Period[Other]]] = {}
    # At the same instant an end comes before a beginning: "no longer there, there again".
    ordered = sorted(
        statements, key=lambda statement: (statement.at, statement.since is not None, statement.statement_id)
    )
    for at, together in groupby(ordered, key=lambda statement: statement.at):
        at_once = list(together)
        begun = [statement for statement in at_once if statement.since is not None]
        for statement in (statement for statement in at_once if statement.since is None):
            _end(current.get(statement.other, ()), statement, at)
        if one_at_a_time and begun:
            others = dict.fromkeys(statement.other for statement in begun)
            for other, periods_of_other in list(current.items()):
                if _contradicted(other, others, may_coexist):
                    for period in periods_of_other:
                        period.valid_to = at if period.holds_at(at) else period.valid_to
                    del current[other]
        for statement in begun:
            periods_of_other = current[statement.other] = [
                p for p in current.get(statement.other, ()) if p.holds_at(at)
            ]
            if (begun_now := _begun(periods_of_other, statement, at)) is not None:
                periods_of_other.append(begun_now)
                found.append(begun_now)
    return found


def _end(periods_of_other: Sequence[Period[Other]], statement: DatedStatement[Other], at: datetime) -> None:
    for period in periods_of_other:
        if period.valid_from < at and period.holds_at(at):
            period.valid_to = at
            period.statement_ids.append(statement.statement_id)


def _begun(
    periods_of_other: Sequence[Period[Other]], statement: DatedStatement[Other], at: datetime
) -> Period[Other] | None:
    """The period that a statement begins; None where it continues an open one."""
    for period in periods_of_other:
        if period.holds_at(at):
            period.statement_ids.append(statement.statement_id)
            period.valid_to = statement.until or period.valid_to
            return None
    return Period(statement.other, at, statement.until, [statement.statement_id])


def _contradicted(other: Other, by: Collection[Other], may_coexist: Callable[[Other, Other], bool]) -> bool:
    return other not in by and not any(
        may_coexist(other, statement) or may_coexist(statement, other) for statement in by
    )
