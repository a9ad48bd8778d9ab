"""Whether a sentence says of something that it is otherwise now than an earlier sentence said. Pure.

A logistic model judges it, made of labelled pairs in four languages (`python -m reverie_bench.changes.fit`). It sees
how near the two are by the vectors of an embedding model, the words that they share, the words for a change, whether
they give different values, and what the vector of each says: some sentences state how things are, some what has become
of them. There is one for each embedding model for which it was made; `pair_models` has none for another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.changes.change_words import change_words
from reverie_server.heuristics.changes.values import is_other_value, values_of
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import content_terms, is_unspaced

WEIGHTS_FILE = Path(__file__).with_name("change_pairs.json")
FEATURES = (
    *("similarity", "tells", "over", "hedged", "old_tells", "old_hedged"),
    *("other_value", "same_values", "shared", "is_shared", "shared_name", "similarity_if_tells", "similarity_if_over"),
)
"""The features of a pair, in the order of their weights; each is about 0 to 3."""
MAX_UNITS = 6
# A part of a sentence that is shorter says nothing by itself, and a short sentence is compared as a whole, too.
_FEWEST_WORDS, _FEWEST_CHARS, _SHORT = 3, 5, 90
_MOST_SHARED = 3
_CUT = re.compile(
    r"[,;:–—] |[，；：]|(?<=[\w'’)]) (?=(?:and|but|because|so|und|aber|weil|denn|y|pero|porque) )", re.IGNORECASE
)

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PairModel:
    """The log-odds that the second sentence of a pair says otherwise what the first said; it does from `limit` on.

    `features` weighs FEATURES; `old` and `new` are directions in the space of the embedding model.
    """

    features: NDArray[np.float32]
    old: Vector
    new: Vector
    offset: float
    limit: float

    def log_odds(self, pair: NDArray[np.float32], old: Vector, new: Vector) -> float:
        """Of a pair, by its features (`pair_features`) and vectors."""
        return float(self.features @ pair + self.old @ old + self.new @ new) + self.offset


@cache
def pair_models() -> Mapping[str, PairModel]:
    """The models, by the names of the embedding models that they were made for."""
    source = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return {
        name: PairModel(
            features=np.array([each["features"][feature] for feature in FEATURES], np.float32),
            old=np.array(each["old"], np.float32),
            new=np.array(each["new"], np.float32),
            offset=float(each["offset"]),
            limit=float(each["limit"]),
        )
        for name, each in source.items()
    }


def pair_features(old: str, new: str, language: str, similarity: float) -> NDArray[np.float32]:
    """What is seen of a pair, in the order of FEATURES; `similarity` is the cosine of their vectors."""
    words, plain, old_plain = change_words()[language], folded(new), folded(old)
    tells = words["tells"].search(plain) is not None
    over = words["over"].search(plain) is not None
    values, old_values = values_of(new, language), values_of(old, language)
    is_other = is_other_value(values, old_values, tells=tells)
    has_both = not values.is_empty and not old_values.is_empty
    names = values.names | old_values.names
    both = content_terms(old) & content_terms(new)
    shared = len(both - names)
    seen = (
        4 * similarity,
        tells,
        over,
        words["hedged"].search(plain) is not None,
        words["tells"].search(old_plain) is not None,
        words["hedged"].search(old_plain) is not None,
        1.5 * is_other,
        has_both and not is_other,
        min(shared, _MOST_SHARED) / _MOST_SHARED,
        shared > 0,
        bool(both & names),
        2 * similarity * tells,
        2 * similarity * over,
    )
    return np.array(seen, np.float32)


def units_of(sentence: str) -> list[str]:
    """The parts of a sentence that say something each; a short sentence is one as a whole, too.

    "Got on the scales, 97 kilos, down seven": of each part the vector says what it is about, of a long sentence a mean.
    """
    found: list[str] = []
    waiting = ""
    for part in _CUT.split(sentence):
        waiting = f"{waiting}, {part.strip(' ,;')}" if waiting else part.strip(" ,;")
        if _says_something(waiting):
            found.append(waiting)
            waiting = ""
    if waiting:
        found[-1:] = [f"{found[-1]}, {waiting}"] if found else [waiting]
    if len(found) > 1 and len(sentence) <= _SHORT:
        found.append(sentence)
    return found[:MAX_UNITS]


def _says_something(part: str) -> bool:
    return len(part) >= _FEWEST_CHARS if is_unspaced(part) else len(part.split()) >= _FEWEST_WORDS
