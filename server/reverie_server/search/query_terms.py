"""Which terms of a query carry its meaning, and which of them name something. Pure.

Search looks for every term, and BM25 knows by its statistics which of them are empty words. In a memory of fifty
passages it does not: "bekommt" stands in one of them like the name of a town.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie_indexer.analyse import CJK, SOUTH_EAST, analyse, analyse_query, written
from reverie_server.heuristics.small_talk import bare, content_runs, unmeant

_RUN = re.compile(f"[{CJK}{SOUTH_EAST}]")
_SENTENCE_END = re.compile(r"[.!?…:¿¡\n]")
_APOSTROPHE = re.compile("['’]")
# A letter by itself, or a number that stands anywhere.
_SLIGHT = re.compile("[A-Za-z]|[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Meaning:
    """Of the terms of a query those that carry a meaning, and of these the names.

    Without one are the stop words of the agent's language and of the query's own, what a sentence begins with that only
    asks, letters and small numbers by themselves, and of a run without spaces particles, asking words and the n-grams
    that they are part of. A name is an identifier, or written with a capital inside a sentence; a text all in capitals
    names nothing.
    """

    terms: frozenset[str]
    names: frozenset[str]


def meaning_of(query: str, language: str = "english") -> Meaning:
    """The meaning of a query for an agent with that language. Both sets may be empty."""
    empty, asking = unmeant(query, language)
    exact = frozenset(analyse_query(query, language).exact)
    tokens = list(written(query))
    is_written_out = any(token[0].islower() for token, _ in tokens)
    terms: set[str] = set()
    names: set[str] = set()
    for number, (token, before) in enumerate(tokens):
        is_first = number == 0 or _SENTENCE_END.search(before) is not None
        found = _terms(token, language, empty | asking if is_first else empty)
        terms |= found
        if token.casefold() in exact or (token[0].isupper() and is_written_out and not is_first):
            names |= found
    return Meaning(frozenset(terms), frozenset(names))


def _terms(token: str, language: str, empty: frozenset[str]) -> set[str]:
    """The terms of one token that carry a meaning."""
    if _RUN.match(token):
        pieces = content_runs(bare(token))
        # A single character between two particles is the rest of a word that was cut.
        return {term for piece in pieces if len(piece) > 1 or piece == bare(token) for term in analyse(piece, language)}
    found = set(analyse(token, language))
    for part in filter(None, _APOSTROPHE.split(token)):
        if bare(part) in empty or _SLIGHT.fullmatch(part):
            found -= set(analyse(part, language))
    return found
