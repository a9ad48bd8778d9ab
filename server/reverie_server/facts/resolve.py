"""Which of the facts of a slice hold, given all of them in the order in which they were said. Pure.

What the words of two facts say of each other is told by `heuristics.superseding`; what a model or a person decided goes
before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie_server.facts.model import ClosedBy, FactState, Operation
from reverie_server.heuristics.changes import superseding
from reverie_server.heuristics.changes.changed_facts import BY_MEANING, GUESSED, LIKELY
from reverie_server.heuristics.changes.fact_ledger import Closure, TimedFact
from reverie_server.heuristics.changes.paired_changes import can_change
from reverie_server.heuristics.marked_facts import CONFIDENCE
from reverie_server.heuristics.stated_fact import Category, Change
from reverie_server.llm.generation import Method

Pair = tuple[int, int]
# What one does as a rule or has before one, and several of.
_HABITS = frozenset({"habit", "drinks", "eats", "uses", "drives", "booked", "plans"})

# Confidences are stored as single precision.
_ROUNDED = 0.02


@dataclass(frozen=True, slots=True)
class Said:
    """One time at which a fact was stated, and what a model answered of it and another fact."""

    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    operation: Operation | None = None
    of_fact_id: int | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A stored fact, with each time it was said, the oldest first; `decided` is what a person made of it.

    One that `is_confirmed` by a person is not closed by a model. `outlived_at`: the beginning of a long silence, before
    which alone it was said, in talk that was imported. `model` is the one that read it: where no language model did,
    the embedding model that marked it, None for a pattern.
    """

    fact_id: int
    subject: str
    predicate: str
    object: str
    text: str
    category: Category
    confidence: float
    is_functional: bool
    is_request: bool
    about_user: bool
    change: Change | None
    said: tuple[Said, ...]
    decided: tuple[FactState, datetime | None, int | None] | None = None
    is_confirmed: bool = False
    outlived_at: datetime | None = None
    method: Method = "extractive"
    model: str | None = None

    @property
    def is_of_mark(self) -> bool:
        """Whether an embedding model marked it, and no pattern reads it."""
        return self.method == "extractive" and self.model is not None

    @property
    def counts_from(self) -> datetime | None:
        """When it was last said, or from when on it then holds, if that is later; None where nothing says it."""
        return max(map(_counts_from, self.said), default=None)


@dataclass(frozen=True, slots=True)
class State:
    """What holds of a fact: the newest time it was said, and the time in which it holds."""

    state: FactState
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: int | None = None
    closed_by: ClosedBy | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """The state of each fact by its id, and the pairs (smaller id first) that cannot both hold."""

    states: Mapping[int, State] = field(default_factory=dict)
    contradictions: frozenset[Pair] = frozenset()


def resolve(known: Sequence[Known], now: datetime) -> Resolution:
    """What holds of facts at `now`."""
    fallen_through = _fallen_through(known)
    timed = [
        replace(each, is_closed=True) if fact.fact_id in fallen_through else each
        for fact in known
        for each in _timed(fact)
    ]
    by_words = superseding.resolve(timed)
    closures = {closure.old: closure for closure in by_words.closures} | fallen_through
    closures |= _with_their_statement(known, closures)
    by_id = {fact.fact_id: fact for fact in known}
    # What a person confirmed, no mark ends that is not sure itself.
    closures = {
        old: closure
        for old, closure in closures.items()
        if not (by_id[old].is_confirmed and closure.new is not None and _is_unsure(by_id[closure.new]))
    }
    by_model = _closed_by_model(known)
    states = {fact.fact_id: _state(fact, closures.get(fact.fact_id), by_model, now) for fact in known}
    holds = {fact_id for fact_id, state in states.items() if state.state == "current"}
    pairs = {(each.a, each.b) for each in by_words.contradictions}
    return Resolution(states, frozenset(pair for pair in pairs if holds.issuperset(pair)))


def _is_unsure(fact: Known) -> bool:
    return fact.is_of_mark and fact.confidence <= CONFIDENCE - _ROUNDED


def _with_their_statement(known: Sequence[Known], closures: Mapping[int, Closure]) -> dict[int, Closure]:
    """What marks say, closed with the statement that they stand in, where a model judged that it is over."""
    by_id = {fact.fact_id: fact for fact in known}
    ends: dict[tuple[str, datetime], list[Closure | None]] = {}
    for fact in known:
        if fact.said and not fact.is_of_mark:
            ends.setdefault((fact.text, fact.said[-1].said_at), []).append(_judged_end(fact, by_id, closures))
    found: dict[int, Closure] = {}
    for fact in known:
        if not fact.said or not fact.is_of_mark or fact.fact_id in closures or fact.decided is not None:
            continue
        # "Pickle is nine and bites the postmen": she bites them no more, and is as old as before.
        if not can_change(fact.predicate) or fact.predicate == "age":
            continue
        of_sentence = ends.get((fact.text, fact.said[-1].said_at), [])
        judged = [closure for closure in of_sentence if closure is not None]
        if judged and len(judged) == len(of_sentence):
            found[fact.fact_id] = replace(max(judged, key=lambda each: each.at), old=fact.fact_id)
    return found


def _judged_end(fact: Known, by_id: Mapping[int, Known], closures: Mapping[int, Closure]) -> Closure | None:
    """The end of what patterns read of a sentence, or of a statement as a whole, where a model found it."""
    closure = closures.get(fact.fact_id)
    if closure is not None:
        new = by_id.get(closure.new) if closure.new is not None else None
        is_judged = new is not None and new.change is not None and new.change.cue in (BY_MEANING, LIKELY, GUESSED)
        return closure if is_judged or _is_statement(fact) else None
    end = fact.said[-1].valid_to
    return Closure(fact.fact_id, None, end) if end is not None and _is_statement(fact) else None


def _is_statement(fact: Known) -> bool:
    """Whether a fact is a sentence as a whole, which is one only because another says otherwise (`unread.Unread`)."""
    kind = (fact.predicate, fact.category, fact.confidence, fact.method)
    return kind == ("is", "general", 0.5, "extractive") and fact.change is None


def _timed(fact: Known) -> list[TimedFact]:
    """A fact each time it was said: what had ended holds again when it is said again."""
    return [
        TimedFact(
            fact_id=fact.fact_id,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            text=fact.text,
            at=_counts_from(said),
            is_functional=fact.is_functional,
            change=fact.change,
            about_user=fact.about_user,
            is_closed=fact.decided is not None and fact.decided[0] != "current",
            is_sure=not _is_unsure(fact),
        )
        for said in fact.said
    ]


def _counts_from(said: Said) -> datetime:
    """What is said of a later time counts from then on; what is said of an earlier one, since it was said."""
    return max(said.said_at, said.valid_from)


def _fallen_through(known: Sequence[Known]) -> dict[int, Closure]:
    """What was said of a later time and taken back before it came, each closed at that time: it never held."""
    planned = {}
    for fact in known:
        newest = max(fact.said, key=_counts_from, default=None)
        if newest is not None and newest.valid_from > newest.said_at:
            planned[fact.fact_id] = newest
    if not planned:
        return {}
    by_id = {fact.fact_id: fact for fact in known}
    as_said = [
        replace(each, at=said.said_at) for fact in known for said, each in zip(fact.said, _timed(fact), strict=True)
    ]
    return {
        closure.old: Closure(closure.old, closure.new, said.valid_from)
        for closure in superseding.resolve(as_said).closures
        if (said := planned.get(closure.old)) is not None
        and closure.at < said.valid_from
        and closure.new is not None
        and by_id[closure.new].change is not None
    }


def _closed_by_model(known: Sequence[Known]) -> dict[int, Closure]:
    """What a model said of which facts have ended or were replaced; of several answers the last one."""
    closures: dict[int, Closure] = {}
    confirmed = {fact.fact_id for fact in known if fact.is_confirmed}
    for fact in known:
        for said in fact.said:
            if said.operation in ("replaces", "ends") and said.of_fact_id is not None:
                if said.of_fact_id in confirmed:
                    continue
                at = _counts_from(said)
                if said.of_fact_id not in closures or closures[said.of_fact_id].at < at:
                    closures[said.of_fact_id] = Closure(said.of_fact_id, fact.fact_id, at)
    return closures


def _state(fact: Known, by_words: Closure | None, by_model: Mapping[int, Closure], now: datetime) -> State:
    newest = max(fact.said, key=_counts_from, default=Said(now, now))
    # What closed it before it was said again closes it no more.
    closers: list[tuple[Closure | None, ClosedBy | None]] = [
        (by_words, None),
        (by_model.get(fact.fact_id), "model"),
    ]
    still = [
        (closure, closed_by)
        for closure, closed_by in closers
        if closure is not None and closure.new != fact.fact_id and closure.at >= _counts_from(newest)
    ]
    since = [said.valid_from for said in fact.said] if not _was_closed(by_words, newest) else [newest.valid_from]
    valid_from = min(since, default=now)
    if fact.decided is not None:
        state, valid_to, superseded_by = fact.decided
        return State(state, newest.said_at, valid_from, valid_to, superseded_by, "person")
    if not still and fact.outlived_at is not None and _may_have_changed(fact):
        return State("superseded", newest.said_at, valid_from, max(valid_from, fact.outlived_at))
    if not still:
        is_over = newest.valid_to is not None and newest.valid_to <= now
        return State("superseded" if is_over else "current", newest.said_at, valid_from, newest.valid_to)
    closure, closed_by = min(still, key=lambda each: each[0].at)
    # What was taken back before it began has never held.
    by_now: FactState = "superseded" if closure.at <= max(now, valid_from) else "current"
    return State(by_now, newest.said_at, valid_from, max(closure.at, valid_from), closure.new, closed_by)


def _may_have_changed(fact: Known) -> bool:
    """Whether nobody can know that what was said years ago holds, since nobody was told otherwise in between."""
    # What a mark says ends with its statement, which a model judges.
    is_of_a_time = (fact.is_functional or fact.predicate in _HABITS) and not fact.is_of_mark
    return is_of_a_time and not fact.is_confirmed and not fact.is_request and can_change(fact.predicate)


def _was_closed(closure: Closure | None, newest: Said) -> bool:
    return closure is not None and closure.at < _counts_from(newest)
