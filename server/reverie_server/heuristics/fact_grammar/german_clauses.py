"""The order of words in German clauses. Pure."""

from __future__ import annotations

import itertools
import re

_HAS_DIGIT = re.compile(r"\d")
_PRONOUNS = frozenset({"ich", "wir", "er", "sie", "es", "man"})


def main_clause(subordinate: str) -> str:
    """A German subordinate clause without its `dass` as a main clause: the verb at its end goes behind the subject."""
    subordinate = subordinate.partition(", ")[0]
    words = subordinate.rstrip(" .!?").split(" ")
    if len(words) > 3 and _HAS_DIGIT.search(words[-2]):
        # `dass der Code vom Bootshaus 3862 ist`
        return " ".join([*words[:-2], words[-1], words[-2]]) + "."
    if words[0].lower() in _PRONOUNS:
        subject = 1
    else:
        # The first noun, and the names behind it.
        pairs = itertools.pairwise(words)
        subject = next((n for n, (a, b) in enumerate(pairs, 1) if a[:1].isupper() and not b[:1].isupper()), 0)
    if not 0 < subject < len(words) - 1:
        return subordinate
    return " ".join([*words[:subject], words[-1], *words[subject:-1]]) + "."
