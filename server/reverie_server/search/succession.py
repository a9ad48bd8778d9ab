"""What no longer holds comes after what replaced it. Pure.

A superseded statement that matches a query says what the query is about, and its successor is the answer: it gets the
score and the relevance of the old one where these are higher, and the old one comes just below it.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reverie_indexer.text.analyse import analyse
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.search.candidates import Floats
from reverie_server.search.rank import Scores
from reverie_server.search.superseded_text import StatedAt, Superseded

# A chain of successors is followed so far.
MAX_STEPS = 4


@dataclass(frozen=True, slots=True)
class KeyedPassage:
    """The keys of the sentences of a passage, with the number of the query's terms in each."""

    keys: tuple[bytes, ...]
    matches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """The fact that replaced what a sentence states, if any, and where it tells of somebody else what holds."""

    superseded_by: int | None
    elsewhere: Sequence[StatedAt] = ()


def keyed(text: str, terms: Collection[str], language: str) -> KeyedPassage:
    """The sentences of a passage as the query sees them."""
    spans = keyed_sentences(text)
    sought = set(terms)
    matches = tuple(len(sought.intersection(found)) for found in sentence_terms(text, language))
    return KeyedPassage(tuple(span.key for span in spans), matches)


def sentence_terms(text: str, language: str) -> list[list[str]]:
    """The terms of each sentence of a passage, in the order of `keyed_sentences`."""
    return [analyse(text[span.start : span.end], language) for span in keyed_sentences(text)]


def superseded_of(passage: KeyedPassage, superseded: Mapping[bytes, Superseded]) -> Superseded | None:
    """The superseded fact of a passage: of several that which matches the query best, then the first."""
    marked = [(-n, at, superseded[key]) for at, (key, n) in enumerate(_items(passage)) if key in superseded]
    return min(marked, key=lambda entry: entry[:2])[2] if marked else None


def is_matched_by_superseded(passage: KeyedPassage, superseded: Container[bytes]) -> bool:
    """Whether what matched the query is a superseded sentence: no other one of the passage has more of its terms."""
    old = [n for key, n in _items(passage) if key in superseded]
    other = [n for key, n in _items(passage) if key not in superseded]
    return bool(old) and max(old) >= max(other, default=0)


def with_succession(scores: Scores, replaced: Sequence[tuple[int, int]]) -> Scores:
    """The scores where each (old, new) pair of rows is in order: new before old, with at least the old one's scores."""
    score, base, relevance = scores.score.copy(), scores.base_score.copy(), scores.relevance.copy()
    put_in_order(score, replaced, also_raised=(base, relevance))
    values_of = {name: getattr(scores, name) for name in scores.__slots__}
    return Scores(**{**values_of, "score": score, "base_score": base, "relevance": relevance})


def put_in_order(score: Floats, replaced: Sequence[tuple[int, int]], *, also_raised: Sequence[Floats] = ()) -> None:
    """Change scores, none below 0, so that each (old, new) pair of rows is in order: new before old.

    The new one has at least the old one's score, and of the other values, too.
    """
    for _ in range(MAX_STEPS):
        before = score.copy()
        for old, new in replaced:
            for values in (score, *also_raised):
                values[new] = max(values[new], values[old])
            score[old] = min(score[old], np.nextafter(score[new], 0.0))
        if np.array_equal(before, score):
            break


def with_predecessors(scores: Scores, pairs: Sequence[tuple[int, int]]) -> Scores:
    """The scores for a query about the past.

    The old one of each (old, new) pair of rows is at least as relevant as the new one, and not far below it.
    """
    score, base, relevance = scores.score.copy(), scores.base_score.copy(), scores.relevance.copy()
    for old, new in pairs:
        relevance[old] = max(relevance[old], relevance[new])
        base[old] = max(base[old], base[new])
        score[old] = max(score[old], np.nextafter(score[new], 0.0))
    values_of = {name: getattr(scores, name) for name in scores.__slots__}
    return Scores(**{**values_of, "score": score, "base_score": base, "relevance": relevance})


def _items(passage: KeyedPassage) -> list[tuple[bytes, int]]:
    return list(zip(passage.keys, passage.matches, strict=True))
