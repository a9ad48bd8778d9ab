"""Indexes that find the statements worth comparing with a given one, in place of comparing all with all. Pure.

An index finds candidates, by number; `statements` decides. A look-up takes bounded time: of very many statements that
look the same it finds some and not all. To add a statement takes time in proportion to its length.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate

from reverie_server.heuristics.statements import FRAME_WORDS, SAME_SHARE, SPOT_WORDS, Statement, undenied

MAX_CANDIDATES = 32
# The limit of (term, statement) pairs that a look-up counts, those of the rarest terms first.
_MAX_POSTINGS = 1000
# A longer statement is found by one half of the words around a spot.
_MAX_FRAMED_WORDS = 32


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
        shared: Counter[int] = Counter()
        budget = _MAX_POSTINGS
        for term in sorted(statement.terms & self._numbers.keys(), key=lambda term: (len(self._numbers[term]), term)):
            # Over the budget: the newest.
            numbers = self._numbers[term][-budget:]
            shared.update(numbers)
            budget -= len(numbers)
            if budget == 0:
                break
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
        for key in _keys(statement, denies=bool(statement.denials)):
            self._by_key[key].append(number)
        return number

    def opposed(self, statement: Statement) -> list[int]:
        """The candidates, the newest first."""
        found: set[int] = set()
        for key in _keys(statement, denies=not statement.denials):
            found.update(self._by_key.get(key, ())[-MAX_CANDIDATES:])
        return sorted(found, reverse=True)[:MAX_CANDIDATES]


def _keys(statement: Statement, *, denies: bool) -> Iterator[int]:
    """Hashes of a statement. Two statements that contradict each other share one: see `statements.contradicts`."""
    words = statement.words
    yield hash(("denied", denies, tuple(undenied(statement))))
    yield hash(("order", *sorted(words)))
    if len(words) <= _MAX_FRAMED_WORDS:
        # A frame is known by what stands before its spot and what stands behind it, each hashed word by word.
        before = list(accumulate(words, _hashed, initial=0))
        behind = list(accumulate(reversed(words), _hashed, initial=0))[::-1]
        for length in range(1, min(SPOT_WORDS, len(words) - FRAME_WORDS) + 1):
            yield from map(_hashed, before[: len(words) - length + 1], behind[length:])
    if len(words) + SPOT_WORDS > _MAX_FRAMED_WORDS:
        # The longer one of both has up to three words more; the longer part around the spot has half of the rest.
        for half in {-(-(len(words) + more - SPOT_WORDS) // 2) for more in range(SPOT_WORDS)}:
            yield hash(("head", words[:half]))
            yield hash(("tail", words[-half:]))


def _hashed(known: int, word: object) -> int:
    return hash((known, word))
