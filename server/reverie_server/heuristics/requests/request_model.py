"""How likely a sentence asks to remember or to forget something, learnt from messages written for this project. Pure.

People ask for it in more ways than a list of phrases can have. Two logistic models say how much a sentence reads like
such a request: one of its words, their neighbours and the letters of long words (hashed, as of fastText), which needs
nothing else; and a direction in the space of an embedding model, which the first one alone decides to ask for. Both
are fitted by `python -m reverie_bench.requests`, which says what they find of messages that they were not fitted to.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.memory_requests import WORD, Kind

MODEL_FILE = Path(__file__).with_suffix(".json")
# Features are known by their hash: so many weights has a model.
BUCKETS = 1 << 14
KINDS: tuple[Kind, ...] = ("remember", "forget")
# Of a longer sentence the beginning counts.
_MAX_TOKENS = 60
_TOKEN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3400-\u4dbf\u4e00-\u9fff]+|[?？:：!！,，]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LONG_WORD, _LETTERS, _MAX_WORD = 5, (4, 5), 40
# From these log-odds of the words on a vector is worth its cost.
_LEAST_BY_WORDS = -2.0


@dataclass(frozen=True, slots=True)
class _Words:
    """Log-odds by words: weights of the features, by their hash, over the root of their number; and a calibration.

    `own_words` are common in such requests, or everywhere.
    """

    weights: NDArray[np.float32]
    offset: float
    slope: float
    calibrated_offset: float
    own_words: frozenset[str]

    def score(self, text: str) -> float:
        found = features(text)
        return float(self.weights[found].sum() / np.sqrt(len(found))) + self.offset

    def log_odds(self, score: float) -> float:
        return self.slope * score + self.calibrated_offset


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A direction in a model's space, and what its score and that of the words say together."""

    weights: NDArray[np.float32]
    offset: float
    of_words: float
    of_meaning: float
    joint_offset: float


def features(text: str) -> NDArray[np.int64]:
    """The hashes of what a text is known by, each once, in order; at least one."""
    tokens = [token[:_MAX_WORD] for token in _TOKEN.findall(aligned(text))[:_MAX_TOKENS]]
    hashes = {zlib.crc32(feature.encode()) % BUCKETS for feature in _features(["^", *tokens, "$"])}
    return np.array(sorted(hashes), np.int64)


def _features(tokens: list[str]) -> Iterator[str]:
    for token in tokens:
        yield f"w{token}"
        if len(token) >= _LONG_WORD:
            framed = f"<{token}>"
            yield from (f"c{framed[at : at + size]}" for size in _LETTERS for at in range(len(framed) - size + 1))
    for first, second in pairwise(tokens):
        yield f"b{first} {second}"
    for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
        yield f"s{first} {third}"
        if _HAN.match(first):
            yield f"t{first}{second}{third}"


def by_words(kind: Kind, text: str) -> float:
    """The log-odds that a sentence asks for it, by its words alone."""
    words = _model()[0][kind]
    return words.log_odds(words.score(text))


def is_worth_a_vector(kind: Kind, text: str) -> bool:
    """Whether a sentence may ask for it at all."""
    return by_words(kind, text) > _LEAST_BY_WORDS


def by_meaning(kind: Kind, text: str, vector: NDArray[np.float32], model: str) -> float | None:
    """The log-odds with the vector of the sentence as a query; None where nothing was fitted for the model."""
    words, meanings = _model()
    meaning = meanings.get(model, {}).get(kind)
    if meaning is None:
        return None
    by_direction = float(vector @ meaning.weights) + meaning.offset
    return meaning.of_words * words[kind].score(text) + meaning.of_meaning * by_direction + meaning.joint_offset


def knows(model: str) -> bool:
    """Whether directions were fitted for an embedding model."""
    return model in _model()[1]


def words_of(text: str) -> list[str]:
    """The words of a text, in order; a Chinese character is one."""
    return WORD.findall(text)


def is_han(word: str) -> bool:
    """Whether a word of `words_of` is a Chinese character."""
    return _HAN.match(word) is not None


def is_of_request(kind: Kind, word: str) -> bool:
    """Whether a word belongs to such requests, and so does not say what one is about."""
    return aligned(word) in _model()[0][kind].own_words


def packed(weights: NDArray[np.float64]) -> dict[str, Any]:
    """Weights in bytes, with what one step of them is, as the file has them."""
    step = float(np.abs(weights).max()) / 127 or 1.0
    data = np.round(weights / step).astype(np.int8).tobytes()
    return {"step": round(step, 8), "weights": base64.b64encode(zlib.compress(data, 9)).decode()}


@cache
def _model() -> tuple[Mapping[str, _Words], Mapping[str, Mapping[str, _Meaning]]]:
    data = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    words = {
        kind: _Words(_unpacked(one), one["offset"], one["slope"], one["calibrated_offset"], frozenset(one["own_words"]))
        for kind, one in data["words"].items()
    }
    meanings = {
        model: {
            kind: _Meaning(_unpacked(one), one["offset"], one["of_words"], one["of_meaning"], one["joint_offset"])
            for kind, one in kinds.items()
        }
        for model, kinds in data["meaning"].items()
    }
    return words, meanings


def _unpacked(one: Mapping[str, Any]) -> NDArray[np.float32]:
    data = zlib.decompress(base64.b64decode(one["weights"]))
    return np.frombuffer(data, np.int8).astype(np.float32) * np.float32(one["step"])
