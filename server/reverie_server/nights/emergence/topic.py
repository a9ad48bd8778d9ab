"""Whether a statement is about the topic of a focused run. Pure.

The search for the topic finds passages, and a passage may hold statements about other things, too. So the statement
itself has to have more than half of the topic's words, the rare ones above all, and one of the topic's names, if it has
any. By meaning alone a statement is about the topic only where the search is sure of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from reverie_server.heuristics.statements import Statement, statement, terms_of

# By meaning alone: from this relevance on. At the usual threshold one passage in twenty is about something else.
SURE_RELEVANCE = 0.5
_MOST = 0.5


class Topic:
    """A topic as it is compared with statements, of which `statements` are all that may be about it."""

    def __init__(self, text: str, statements: Sequence[Statement], language: str) -> None:
        self._language = language
        terms = [terms_of(each.text, language) for each in statements]
        count_of = Counter(term for each in terms for term in each)
        # Words that no statement has tell nothing apart.
        known = terms_of(text, language) & count_of.keys()
        self._weights = {term: math.log1p(len(statements) / count_of[term]) for term in known}
        self._total = sum(self._weights.values())
        values = frozenset[str]().union(*(each.values for each in statements))
        self._names = _values_in(statement(text, language).words, values)

    def covers(self, candidate: Statement, relevances: Iterable[float] = ()) -> bool:
        """Whether a statement is about the topic; `relevances` are those of the passages of it alone."""
        if self._names and not self._names & {*candidate.values, *_stems(candidate.words)}:
            return False
        if any(relevance >= SURE_RELEVANCE for relevance in relevances):
            return True
        shared = [self._weights[term] for term in terms_of(candidate.text, self._language) & self._weights.keys()]
        is_whole = len(self._weights) == 1 and bool(shared)
        return is_whole or sum(shared) > _MOST * self._total > 0


def _values_in(words: Sequence[str], values: frozenset[str]) -> frozenset[str]:
    """The words of a topic that are names or numbers in the statements."""
    return _stems(words) & (values | _stems(tuple(values)))


def _stems(words: Sequence[str]) -> frozenset[str]:
    """Words, and what is left of each without the ending of a possessive."""
    return frozenset(words) | {word.removesuffix("'s") for word in words}
