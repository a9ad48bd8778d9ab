"""Which statements are about a query or a topic, by their words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.search.query_terms import meaning_of
from reverie_server.text.statement_spans import statements

# A topic of so many words need not have all of them in a statement, but this share.
_FEWEST_OF_LONG_TOPIC, _MOST_OF_TOPIC = 3, 0.6
# In a topic, which is a part of a sentence, a word with a capital is a name; in German any noun has one.
_CAPITALISED = re.compile(r"(?<!\w)[^\W\d_a-zß-öø-ÿ]\w+")


def having(topic: str, texts: Sequence[str], language: str) -> list[str]:
    """The texts that have every word of a topic. Pure.

    Where none has, those that have its names, if it has some, and most of its words: of "Orla's allergy to sesame" also
    "Orla can't have sesame".
    """
    terms = meaning_of(topic, language).terms
    of_texts = [(text, meaning_of(text, language).terms) for text in texts]
    whole = [text for text, of_text in of_texts if terms <= of_text]
    names = meaning_of(" ".join(_CAPITALISED.findall(topic)), language).terms
    if whole or not names or len(terms) < _FEWEST_OF_LONG_TOPIC:
        return whole
    least = _MOST_OF_TOPIC * len(terms)
    return [text for text, of_text in of_texts if names <= of_text and len(terms & of_text) >= least]


def relevant_statements(passage: str, terms: frozenset[str], language: str) -> list[str]:
    """The statements of a passage that share the most terms with a query, or nearly: at least half as many. Pure.

    All of them where none shares one: the passage was found by its meaning.
    """
    found = statements(passage)
    shared = [len(terms & meaning_of(text, language).terms) for text in found]
    most = max(shared, default=0)
    if not most:
        return found
    return [text for text, count in zip(found, shared, strict=True) if 2 * count >= most]
