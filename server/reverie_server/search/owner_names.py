"""A query that names its owner: "Where does Kofi work?" asks for what Kofi says of himself. Pure.

Whoever tells an assistant about their life hardly ever says their own name in it. Where it stands it is in the letters
that they had translated and signed, so that a query with the name finds these. With "I" in its place it finds more than
without anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reverie_indexer.text.analyse import analyse_query
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.people import TITLES
from reverie_server.heuristics.fact_grammar.terms import content_terms, is_unspaced
from reverie_server.search.request import SearchRequest

_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}")
_FEWEST_CHARS = 2
# What one says of oneself, and of what is one's own.
_OWN = {"english": ("I", "my"), "german": ("ich", "mein"), "spanish": ("yo", "mi"), "chinese": ("我", "我")}


def given_names(names: Sequence[str]) -> list[str]:
    """What people are called by their names, the longest first: "Volker Hentschel", "Volker"; 何雯琪, 雯琪."""
    found = set()
    for name in names:
        plain = " ".join(name.casefold().split())
        found |= {plain, plain.split(" ")[0]}
        if _HAN_NAME.fullmatch(plain) is not None and len(plain) > _FEWEST_CHARS:
            found.add(plain[1:])
    return sorted((name for name in found if len(name) >= _FEWEST_CHARS), key=lambda name: (-len(name), name))


def without_names(query: str, names: Sequence[str], language: str) -> str:
    """A query with what its owner says in place of their names (`given_names`), in time linear in it: "Where does I
    work?", "my dog". In another language than these four it is without them.

    It stays as it is where nothing else would be looked for, and where a name is to be found to the letter.
    """
    if not names or (rest := _pattern(names).sub(" ", query)) == query:
        return query
    is_to_the_letter = any(_pattern(names).search(exact) for exact in analyse_query(query, language).exact)
    if is_to_the_letter or not content_terms(rest):
        return query
    spoken = cues_of(folded(rest), all_cues().get(language))
    one, ones = _OWN.get(spoken.language if spoken is not None else language, ("", ""))
    space = "" if is_unspaced(one) else " "
    own = _pattern(names).sub(lambda name: f"{space}{ones if name['of'] else one}{space}", query)
    return " ".join(own.split())


def named_in(query: str, names: Sequence[str]) -> list[str]:
    """Those of the names that stand in a query."""
    plain = query.casefold()
    return [name for name in names if name.rsplit(" ", 1)[-1] in plain and _pattern([name]).search(query) is not None]


def of_owner(request: SearchRequest, names: Sequence[str], language: str) -> SearchRequest:
    """The request as its owner would ask."""
    query = without_names(request.query, names, language)
    vector_query = request.vector_query and without_names(request.vector_query, names, language)
    return replace(request, query=query, vector_query=vector_query)


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    plain = [name for name in names if _HAN_NAME.fullmatch(name) is None]
    # "Herr Hentschel", and not "Hentschel & Sons".
    titled = [rf"(?:(?:la |el )?(?:{TITLES}))\.? {re.escape(name.rsplit(' ', 1)[1])}" for name in plain if " " in name]
    spaced = "|".join([*(re.escape(name) for name in plain), *titled])
    han = "|".join(re.escape(name) for name in names if _HAN_NAME.fullmatch(name) is not None)
    parts = [rf"(?<!\w)(?:{spaced})(?P<of>['’]s|s)?(?!\w)" if spaced else r"(?P<of>(?!))", *([han] if han else [])]
    return re.compile("|".join(parts), re.IGNORECASE)
