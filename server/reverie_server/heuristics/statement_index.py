"""Indexes that find the statements worth comparing with a given one, in place of comparing all with all. Pure.

An index finds candidates, by number; `statements` decides. A look-up takes bounded time: of very many statements that
look the same it finds some and not all. To add a statement takes time in proportion to its length.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain

from reverie_server.heuristics.statements import SAME_SHARE, Statement, undenied

MAX_CANDIDATES = 32
# The limit of (term, statement) pairs that a look-up counts, those of the rarest terms first.
_MAX_POSTINGS = 1000


class TermIndex:
    """Finds statements that may equal another, entail it or be entailed: the two share most terms of one of them."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._sizes: list[int] = []
        self._first_of: dict[str, int] = {}
        self._numbers: dict[str, list[int]] = defaultdict(list)
        for statement in statements:
            self.add(statement)

    def add(self, statement: Statement) -> int:
        """Add a statement; its number, which counts from 0."""
        number = len(self._sizes)
        self._sizes.append(len(statement.terms))
        self._first_of.setdefault(statement.essence, number)
        for term in statement.terms:
            self._numbers[term].append(number)
        return number

    def alike(self, statement: Statement) -> list[int]:
        """The candidates: the first of the same essence, then those that share most terms with it, of equals the
        first."""
        postings: list[list[int]] = []
        budget = _MAX_POSTINGS
        for term in sorted(statement.terms & self._numbers.keys(), key=lambda term: (len(self._numbers[term]), term)):
            # Over the budget: the newest.
            numbers = self._numbers[term][-budget:]
            postings.append(numbers)
            budget -= len(numbers)
            if budget == 0:
                break
        shared = Counter(chain.from_iterable(postings))
        equal = self._first_of.get(statement.essence)
        shared.pop(-1 if equal is None else equal, None)
        # With the budget spent, the counts are too low: any share will do.
        share = SAME_SHARE if budget else 0.0
        most_of_it = share * len(statement.terms)
        best = sorted(
            (-count, number)
            for number, count in shared.items()
            if count >= most_of_it or count >= share * self._sizes[number]
        )
        return [*([] if equal is None else [equal]), *(number for _, number in best[:MAX_CANDIDATES])]


class FrameIndex:
    """Finds statements that may contradict another: equal but for a denial, one spot, or the order of words."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._by_key: dict[int, list[int]] = defaultdict(list)
        self._count = 0
        for statement in statements:
            self.add(statement)

    def add(self, statement: Statement) -> int:
        """Add a statement; its number, which counts from 0."""
        number, self._count = self._count, self._count + 1
        for key in (_denial(statement, denies=bool(statement.denials)), *statement.frames):
            self._by_key[key].append(number)
        return number

    def opposed(self, statement: Statement) -> list[int]:
        """The candidates, the newest first."""
        found: set[int] = set()
        denied = _denial(statement, denies=not statement.denials)
        for key in (denied, *(statement.frames & self._by_key.keys())):
            found.update(self._by_key.get(key, ())[-MAX_CANDIDATES:])
        return sorted(found, reverse=True)[:MAX_CANDIDATES]


def _denial(statement: Statement, *, denies: bool) -> int:
    """The hash that a statement shares with what denies it, or is denied by it."""
    return hash(("denied", denies, tuple(undenied(statement))))
