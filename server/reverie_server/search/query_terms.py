"""Which terms of a query carry its meaning, and which of them name something. Pure.

Search looks for every term. In a large memory BM25 knows by its statistics which of them are empty words. In a memory
of fifty passages it does not: "bekommt" stands in one of them like the name of a town.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, analyse, analyse_query, written
from reverie_server.heuristics.small_talk import bare, content_runs, meaningless_words

_RUN = re.compile(f"[{CJK}{SOUTH_EAST}]")
_SENTENCE_END = re.compile(r"[.!?…:¿¡\n]")
_APOSTROPHE = re.compile("['’]")
# A letter by itself, or a number that stands anywhere.
_SLIGHT = re.compile("[A-Za-z]|[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The terms of a query that carry a meaning, and the names among them.

    No meaning: the stop words of the agent's language and of the query's own; asking words at the beginning of a
    sentence; single letters and small numbers; in a run without spaces, particles, asking words and the n-grams that
    they are part of. A name is an identifier, or a word with a capital inside a sentence. A text all in capitals names
    nothing.
    """

    terms: frozenset[str]
    names: frozenset[str]


def meaning_of(query: str, language: str = "english") -> Meaning:
    """The meaning of a query for an agent with that language. Both sets may be empty."""
    meaningless = meaningless_words(query, language)
    exact = frozenset(analyse_query(query, language).exact)
    tokens = list(written(query))
    has_lower_case = any(token[0].islower() for token, _ in tokens)
    terms: set[str] = set()
    names: set[str] = set()
    for number, (token, before) in enumerate(tokens):
        is_first = number == 0 or _SENTENCE_END.search(before) is not None
        empty = meaningless.anywhere | meaningless.at_start if is_first else meaningless.anywhere
        token_terms = _terms(token, language, empty)
        terms |= token_terms
        if token.casefold() in exact or (token[0].isupper() and has_lower_case and not is_first):
            names |= token_terms
    return Meaning(frozenset(terms), frozenset(names))


def _terms(token: str, language: str, empty: frozenset[str]) -> set[str]:
    """The terms of one token that carry a meaning."""
    if _RUN.match(token):
        pieces = content_runs(bare(token))
        # A single character between two particles is the rest of a word that was cut.
        return {term for piece in pieces if len(piece) > 1 or piece == bare(token) for term in analyse(piece, language)}
    parts = [part for part in _APOSTROPHE.split(token) if part and (bare(part) in empty or _SLIGHT.fullmatch(part))]
    if parts == [token]:
        return set()
    return set(analyse(token, language)).difference(*(analyse(part, language) for part in parts))
