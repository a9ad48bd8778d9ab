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

_HYPHEN = re.compile(r"(?<=\w)[-‐‑](?=\w)")
# A shorter number, and a year, is in many statements.
_NUMBER = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{3,}")


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


def best_of(texts: Sequence[str], query: str, language: str) -> list[str]:
    """Of statements that are relevant to a query those to choose from, in order. Pure.

    Those that have all that it names; where none has, those with more than half of the most words that one has, and all
    where none has a word of it. What repeats a number of these is among them, in whatever words.
    """
    wanted = [meaning_of(each, language).terms for each in (query, _joined(query))]
    of_texts = [meaning_of(f"{text} {_joined(text)}", language).terms for text in texts]
    shared = [max(len(terms & of_text) / max(1, len(terms)) for terms in wanted) for of_text in of_texts]
    most = max(shared, default=0.0)
    if not most:
        return list(texts)
    chosen = [share == 1 if most == 1 else 2 * share > most for share in shared]
    numbers = {number for text, is_best in zip(texts, chosen, strict=True) if is_best for number in _numbers_of(text)}
    return [
        text
        for text, is_best in zip(texts, chosen, strict=True)
        if is_best or not numbers.isdisjoint(_numbers_of(text))
    ]


def _joined(text: str) -> str:
    """A text with words that a hyphen parts as one: "wifi", of "Wi-Fi"."""
    return _HYPHEN.sub("", text)


def _numbers_of(text: str) -> list[str]:
    return _NUMBER.findall(text)
