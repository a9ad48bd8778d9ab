"""How far a passage helps with a message, on one scale for every message, memory and embedding model. Pure.

    relevance = σ(contrast · c + idf_share · i + named · n + personal · p + unknown_name · u + offset),
    σ(z) = 1 / (1 + e^−z)

`contrast` is the passage's similarity minus the usual one of this memory. `idf_share` is the IDF-weighted share of the
message's terms that the passage has, `named` grows with the IDF of the names among them. `personal` says how much the
message is like those that concern the life of the one who writes, or people whom they know, and not like those that any
encyclopaedia answers. `unknown_name` is 1 where the message names somebody or something that the memory never does. All
but the words depend on the embedding model, so the constants are the model's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_server.search.candidates import Floats
from reverie_server.search.labelled_messages import Direction

# A passage of at least this relevance helps with the message.
MIN_RELEVANCE = 0.3
# Added for what the one who searches owns, where the query asks about their own life: memory alone can answer it.
OWN_PRIOR = 1.2
# A memory of few passages says little of its usual similarity: a prior of USUAL_COUNT passages of the model's usual
# similarity is added to it.
USUAL_COUNT = 10
# The IDF of the names that a passage has, in nats, at which they count 1 - 1/e.
NAMED_IDF = 3.0
# Beyond this a message is as personal, or as little, as one can be.
_MOST_PERSONAL = 3.0
DIRECTIONS_FILE = Path(__file__).with_name("personal_directions.json")


@dataclass(frozen=True, slots=True)
class Plane:
    """The constants of the formula; `contrast` is not used where there is no vector."""

    contrast: float
    idf_share: float
    named: float
    offset: float
    personal: float = 0.0
    unknown_name: float = 0.0

    def prior(self, personal: float, *, has_unknown_name: bool) -> float:
        """What the message itself adds to the sum, whatever the passage."""
        return self.personal * personal + (self.unknown_name if has_unknown_name else 0.0)


@dataclass(frozen=True, slots=True)
class RelevanceScale:
    """The planes of one embedding model.

    `asked` is for a query that is put to memory. `unasked` is for a message to an assistant, which may have nothing to
    do with memory. `usual_similarity` is that of two texts that have nothing to do with each other.
    """

    asked: Plane
    unasked: Plane
    usual_similarity: float


# By words alone, for a passage without a vector. Fitted by `reverie bench relevance`, as all planes.
WORDS = Plane(0.0, idf_share=5.89, named=2.17, offset=-3.67)
MINILM = Plane(contrast=6.30, idf_share=3.82, named=0.67, offset=-3.03, unknown_name=-3.47)
SCALES: Mapping[str, RelevanceScale] = {
    "multilingual-e5-small": RelevanceScale(
        asked=Plane(contrast=8.08, idf_share=2.76, named=1.33, offset=-3.61, unknown_name=-3.20),
        unasked=Plane(contrast=6.76, idf_share=2.25, named=2.25, offset=-2.74, personal=1.16, unknown_name=-4.62),
        usual_similarity=0.1,
    ),
    "all-MiniLM-L6-v2": RelevanceScale(
        asked=MINILM,
        unasked=Plane(contrast=5.15, idf_share=3.38, named=1.09, offset=-2.93, personal=1.04, unknown_name=-3.67),
        usual_similarity=0.1,
    ),
}
# Of a model that nothing is known of, and that has no adapters: MiniLM as it is.
UNKNOWN = RelevanceScale(
    asked=Plane(contrast=4.52, idf_share=4.18, named=0.68, offset=-2.81, unknown_name=-2.88),
    unasked=Plane(contrast=4.72, idf_share=3.18, named=1.19, offset=-2.76, personal=1.05, unknown_name=-2.55),
    usual_similarity=0.1,
)


def scale_of(model_name: str | None) -> RelevanceScale:
    """The scale of an embedding model; UNKNOWN for one without constants, and without a model."""
    return SCALES.get(model_name or "", UNKNOWN)


def personal_score(direction: Direction | None, vector: NDArray[np.float32]) -> float:
    """How personal a message is by its vector as a message, from -3 to 3; 0 without a direction."""
    if direction is None:
        return 0.0
    return float(np.clip(direction.log_odds(vector), -_MOST_PERSONAL, _MOST_PERSONAL))


@cache
def built_in_directions() -> Mapping[str, Direction]:
    """The directions of the built-in models, by their names."""
    source = json.loads(DIRECTIONS_FILE.read_text())
    return {
        name: Direction(np.array(each["weights"], np.float32), float(each["offset"])) for name, each in source.items()
    }


def relevance(contrast: Floats, idf_share: Floats, named: Floats, plane: Plane, prior: Floats | float = 0.0) -> Floats:
    """The relevance of passages, 0..1. Where `contrast` is NaN, there is no vector, and words alone decide.

    `prior` is added to the sum: what is known of the message, and of whose memory the passage is.
    It is no probability. At MIN_RELEVANCE (0.3), one in twenty of the messages that have nothing to do with the memory
    finds something.
    """
    both = plane.contrast * contrast + plane.idf_share * idf_share + plane.named * named + plane.offset
    words = WORDS.idf_share * idf_share + WORDS.named * named + WORDS.offset
    return np.asarray(1 / (1 + np.exp(-(np.where(np.isnan(contrast), words, both) + prior))))


def usual_similarity(similarity: Floats, usual: float) -> float:
    """The similarity to the query of a passage that has nothing to do with it.

    The median of the candidates' known cosines, drawn to the model's `usual` one by a prior of USUAL_COUNT passages.
    All texts in a language that a model hardly knows, or about the same few things, are near to each other and to any
    query in it. Only a passage that stands out from them is near.
    """
    known = similarity[~np.isnan(similarity)]
    if not len(known):
        return usual
    return (USUAL_COUNT * usual + len(known) * float(np.median(known))) / (USUAL_COUNT + len(known))


def named_score(idf: Floats) -> Floats:
    """1 − e^(−IDF / NAMED_IDF) of the IDF of the names that passages have."""
    return np.asarray(1 - np.exp(-idf / NAMED_IDF))


def log_odds(probability: float) -> float:
    """ln(p / (1 − p)), the inverse of σ; for 0 < p < 1."""
    return math.log(probability / (1 - probability))
