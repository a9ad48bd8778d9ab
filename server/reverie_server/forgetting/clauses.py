"""The clauses of a sentence that are forgotten, where what else it says stays. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from reverie_server.heuristics.independent_clauses import Clause, independent_clauses
from reverie_server.search.query_terms import meaning_of
from reverie_server.text.redact import STOPS, Targets, essence


@dataclass(frozen=True, slots=True)
class ForgottenClause:
    """What a clause says; `joined` is the same with the word that joins it to the rest of its sentence."""

    text: str
    joined: str


def clauses_to_forget(sentence: str, language: str) -> list[ForgottenClause]:
    """The clauses of a sentence that can go alone, each with those behind it that may go on with it."""
    clauses = independent_clauses(sentence, language)
    found = (_taken(sentence, clauses, number, _last_of(clauses, number)) for number in range(len(clauses)))
    return [each for each in found if each is not None]


def clauses_about(sentence: str, terms: Collection[str], language: str) -> list[ForgottenClause]:
    """Those of `clauses_to_forget` that share the most of some terms, or at least half as many.

    [] where the sentence goes whole: it has no others, none shares a term, or the rest repeats a number of these.
    """
    clauses = independent_clauses(sentence, language)
    of_clauses = [meaning_of(sentence[each.start : each.end], language).terms for each in clauses]
    shared = [len(of_clause.intersection(terms)) for of_clause in of_clauses]
    if not (most := max(shared, default=0)):
        return []
    chosen: list[ForgottenClause] = []
    gone: set[int] = set()
    for number, count in enumerate(shared):
        if number in gone or 2 * count < most:
            continue
        last = _last_of(clauses, number)
        taken = _taken(sentence, clauses, number, last)
        if taken is None:
            return []
        chosen.append(taken)
        gone.update(range(number, last + 1))
    numbers = {term for number in gone for term in of_clauses[number] if any(map(str.isdigit, term))}
    rest = [of_clause for number, of_clause in enumerate(of_clauses) if number not in gone]
    return chosen if all(map(numbers.isdisjoint, rest)) else []


def _last_of(clauses: Sequence[Clause], number: int) -> int:
    """The last of the clauses behind one that may go on with it."""
    while number + 1 < len(clauses) and not clauses[number + 1].stands_alone:
        number += 1
    return number


def _taken(sentence: str, clauses: Sequence[Clause], first: int, last: int) -> ForgottenClause | None:
    """Some clauses as they go; None where nothing else is left, or the sentence cannot be cut there."""
    text = sentence[clauses[first].start : clauses[last].end].strip()
    taken = Targets([text.rstrip(STOPS)]).stretches_in(sentence)
    if len(taken) != 1 or essence(taken[0]) == essence(sentence):
        return None
    return ForgottenClause(text, taken[0])
