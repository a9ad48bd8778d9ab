"""Whether a sentence says of something that it is otherwise now than an earlier sentence said. Pure.

Two models of sentences (`sentence_model`) say how much one reads as if it ended something, and another as what may be
ended. A logistic model judges the pair by these, by how near the two are among all that was said, whether they are of
one aspect of a life (`aspects`), by the words that they share, the words for a change, whether they give different
values, and by their vectors; a small network weighs its judgement with what it is made of. Beside it stands how near
the new sentence as a change (`embed.adapter`) is to the old one. All are made of tagged lives and labelled groups in
four languages (`python -m reverie_bench.changes.fit`), for each embedding model its own; there is none for another.

In a whole life most of what is near to a sentence is no change, and much is said in passing. Decision trees weigh all
of this once more, with the days between the two and how likely both are of each aspect (`changes.whole_lives`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.changes.aspects import aspect_models, same_aspect
from reverie_server.heuristics.changes.change_words import change_words
from reverie_server.heuristics.changes.values import is_other_value, values_of
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import content_terms, is_unspaced
from reverie_server.heuristics.sentence_model import SentenceModel, read_model
from reverie_server.heuristics.trees import Trees, read_trees

WEIGHTS_FILE = Path(__file__).with_name("change_pairs.json")
TREES_FILE = Path(__file__).with_name("change_trees.json")
SENTENCES_FILE = Path(__file__).with_name("change_kinds.json")
OF_WORDS = (
    *("similarity", "tells", "over", "hedged", "old_tells", "old_hedged"),
    *("other_value", "same_values", "shared", "is_shared", "shared_name", "similarity_if_tells", "similarity_if_over"),
    "shared_part",
)
OF_PLACE = ("nearest", "rank", "ahead", "nearness", "alone")
OF_KINDS = ("ends", "endable", "ends_near", "ends_nearest", "ends_endable", "surely_ends_near")
OF_ASPECTS = ("same_aspect", "of_aspect", "old_of_aspect")
FEATURES = (*OF_WORDS, *OF_PLACE, *OF_KINDS, *OF_ASPECTS)
"""The features of a pair, in the order of their weights; each is about -3 to 3."""
OF_BOTH = ("of_pair", "similarity", "of_change", "rank_of_change", "days", "old_chars", "new_chars")
COLUMNS = (*OF_BOTH, *FEATURES)
"""What the trees weigh, in their order; behind it comes how likely both are of each aspect."""
MAX_UNITS = 6
# A part of a sentence that is shorter says nothing by itself, and a short sentence is compared as a whole, too.
_FEWEST_WORDS, _FEWEST_CHARS, _SHORT = 3, 5, 90
_FEWEST_OF_PART, _FEWEST_ALIKE, _MOST_TERMS = 5, 8, 80
_MOST_SHARED, _LOWEST_RANK, _MOST_ODDS = 3, 6, 8.0
_CUT = re.compile(
    r"[,;:–—] |[，；：]|(?<=[\w'’)]) (?=(?:and|but|because|so|und|aber|weil|denn|y|pero|porque) )", re.IGNORECASE
)

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Near:
    """How near an earlier sentence is: `nearness` is the best cosine of a part of it with a part of the new one.

    `rank` counts those that are nearer; `ahead` is by how much it is nearer than the next, or (negative) farther than
    the nearest; `among` is how many were said.
    """

    nearness: float
    rank: int
    ahead: float
    among: int


@dataclass(frozen=True, slots=True)
class Network:
    """Log-odds from numbers: a layer of units that are 0 where they would be negative, and their weighted sum.

    `hidden` is (numbers, units), `hidden_offset` and `output` have one for each unit.
    """

    hidden: NDArray[np.float32]
    hidden_offset: NDArray[np.float32]
    output: NDArray[np.float32]
    offset: float

    def log_odds(self, numbers: NDArray[np.floating]) -> NDArray[np.floating]:
        """Of each row of numbers, which are in the order of the rows of `hidden`."""
        return np.asarray(np.maximum(numbers @ self.hidden + self.hidden_offset, 0.0) @ self.output + self.offset)


@dataclass(frozen=True, slots=True)
class PairModel:
    """The log-odds that the second sentence of a pair says otherwise what the first said; it does from `limit` on.

    `features` weighs FEATURES; `old` and `new` are directions in the space of the embedding model `name`. `network` has
    FEATURES and what comes of these three. `of_network` weighs what it says, `of_change` the cosine of the new sentence
    as a change with the old one, and `joint_offset` is added. `trees` weigh that with COLUMNS, and it counts
    `share_of_pair` beside what they say. From `likely` on four of five changes that are found are some, from `certain`
    on nine of ten. A sentence that ends something by less than `least_ends` is compared with none.
    """

    name: str
    features: NDArray[np.float32]
    old: Vector
    new: Vector
    offset: float
    network: Network
    of_network: float
    of_change: float
    joint_offset: float
    trees: Trees
    share_of_pair: float
    limit: float
    likely: float
    certain: float
    least_ends: float

    def in_life(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The log-odds of pairs in a whole life, by rows of COLUMNS and how likely both are of each aspect."""
        of_trees = self.trees.log_odds(rows)
        return self.share_of_pair * rows[:, COLUMNS.index("of_pair")] + (1 - self.share_of_pair) * of_trees

    def of_pair(self, pair: NDArray[np.float32], old: Vector, new: Vector, as_change: Vector) -> float:
        """The log-odds of a pair by itself: by its features (`pair_features`), the vectors of both sentences, and that
        of the new one as a change."""
        by_network = float(self.network.log_odds(np.append(pair, np.float32(self.of_sum(pair, old, new)))))
        return self.of_network * by_network + self.of_change * float(old @ as_change) + self.joint_offset

    def of_sum(self, pair: NDArray[np.float32], old: Vector, new: Vector) -> float:
        """The log-odds of a pair by the sum of all that speaks for it and against it."""
        return float(self.features @ pair + self.old @ old + self.new @ new) + self.offset

    def aspects(self, vector: Vector) -> Vector:
        """How likely a sentence is of each aspect of a life."""
        return aspect_models()[self.name].shares(vector)

    def ends(self, sentence: str, vector: Vector) -> float:
        """The log-odds that a sentence ends something that was said before."""
        return self._of_kind("ends", sentence, vector)

    def endable(self, sentence: str, vector: Vector) -> float:
        """The log-odds that what a sentence says is ended one day."""
        return self._of_kind("endable", sentence, vector)

    def _of_kind(self, kind: str, sentence: str, vector: Vector) -> float:
        found = sentence_kinds().by_meaning(kind, sentence, vector, self.name)
        assert found is not None
        return min(max(found, -_MOST_ODDS), _MOST_ODDS)


@cache
def pair_models() -> Mapping[str, PairModel]:
    """The models, by the names of the embedding models that they were made for."""
    source = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    trees = json.loads(TREES_FILE.read_text(encoding="utf-8"))
    return {
        name: PairModel(
            name=name,
            features=np.array([each["features"][feature] for feature in FEATURES], np.float32),
            old=np.array(each["old"], np.float32),
            new=np.array(each["new"], np.float32),
            offset=float(each["offset"]),
            network=_network(each["network"]),
            of_network=float(each["of_network"]),
            of_change=float(each["of_change"]),
            joint_offset=float(each["joint_offset"]),
            trees=read_trees(trees[name]),
            share_of_pair=float(trees[name]["share_of_pair"]),
            limit=float(trees[name]["limit"]),
            likely=float(trees[name]["likely"]),
            certain=float(trees[name]["certain"]),
            least_ends=float(each["least_ends"]),
        )
        for name, each in source.items()
    }


def _network(source: Mapping[str, Any]) -> Network:
    hidden, hidden_offset, output = (
        np.array(source[part], np.float32) for part in ("hidden", "hidden_offset", "output")
    )
    return Network(hidden, hidden_offset, output, float(source["offset"]))


@cache
def sentence_kinds() -> SentenceModel:
    """The models of the kinds `ends` and `endable`."""
    return read_model(SENTENCES_FILE)


def word_features(old: str, new: str, language: str, similarity: float) -> list[float]:
    """What the words of two sentences say, in the order of OF_WORDS; `similarity` is the cosine of their vectors."""
    words, plain, old_plain = change_words()[language], folded(new), folded(old)
    tells = words["tells"].search(plain) is not None
    over = words["over"].search(plain) is not None
    values, old_values = values_of(new, language), values_of(old, language)
    is_other = is_other_value(values, old_values, tells=tells)
    has_both = not values.is_empty and not old_values.is_empty
    names = values.names | old_values.names
    terms, old_terms = content_terms(new), content_terms(old)
    both = old_terms & terms
    shared = len(both - names)
    return [
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
        min(shared_parts(terms, old_terms, language), 2) / 2,
    ]


def shared_parts(terms: frozenset[str], others: frozenset[str], language: str) -> int:
    """How many pairs of German words are a compound and a part of it, or begin alike: "Umzugswagen" and "Umzug",
    "Stationsleiter" and "Stationsleitung". Of more words than a sentence has the first are compared."""
    if language != "german":
        return 0
    both = [sorted(words)[:_MOST_TERMS] for words in (terms, others)]
    return sum(
        _has_part(term, other) or _has_part(other, term) for term in both[0] for other in both[1] if term != other
    )


def _has_part(word: str, part: str) -> bool:
    if len(part) < _FEWEST_OF_PART or len(part) > len(word):
        return False
    return (
        word.startswith(part)
        or word.endswith(part)
        or (len(part) >= _FEWEST_ALIKE and word[:_FEWEST_ALIKE] == part[:_FEWEST_ALIKE])
    )


def pair_features(
    of_words: list[float], near: Near, ends: float, endable: float, new_shares: Vector, old_shares: Vector
) -> NDArray[np.float32]:
    """The features of a pair, in the order of FEATURES; `ends` is of the new sentence, `endable` of the old one. The
    shares are those of `AspectModel.shares`."""
    is_nearest = near.rank == 0
    seen = [
        *of_words,
        is_nearest,
        min(near.rank, _LOWEST_RANK) / _LOWEST_RANK,
        4 * near.ahead,
        4 * near.nearness,
        near.among**-0.5,
        ends,
        endable,
        ends * near.nearness,
        ends * is_nearest,
        ends * endable / 4,
        max(ends, 0.0) * near.nearness,
        3 * same_aspect(new_shares, old_shares),
        new_shares.sum(),
        old_shares.sum(),
    ]
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
