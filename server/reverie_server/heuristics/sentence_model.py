"""How likely a sentence is of a kind, learnt from sentences written for this project. Pure.

Two logistic models say how much a sentence reads like one of the kind: one of its words, their neighbours and the
letters of long words (hashed, as of fastText), which needs nothing else; and a direction in the space of an embedding
model. Both are fitted by `reverie_bench.sentence_fit`, and are in one file beside the module that uses them.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.requests.fact_requests import aligned

# Features are known by their hash: so many weights has a model.
BUCKETS = 1 << 14
# Of a longer sentence the beginning counts.
_MAX_TOKENS = 60
_TOKEN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3400-\u4dbf\u4e00-\u9fff]+|[?？:：!！,，]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LONG_WORD, _LETTERS, _MAX_WORD = 5, (4, 5), 40


@dataclass(frozen=True, slots=True)
class Words:
    """Log-odds by words: weights of the features, by their hash, over the root of their number; and a calibration."""

    weights: NDArray[np.float32]
    offset: float
    slope: float
    calibrated_offset: float

    def score(self, text: str) -> float:
        """The score before its calibration."""
        found = features(text)
        return float(self.weights[found].sum() / np.sqrt(len(found))) + self.offset

    def log_odds(self, score: float) -> float:
        """The log-odds of a score."""
        return self.slope * score + self.calibrated_offset


@dataclass(frozen=True, slots=True)
class Meaning:
    """A direction in a model's space, and what its score and that of the words say together."""

    weights: NDArray[np.float32]
    offset: float
    of_words: float
    of_meaning: float
    joint_offset: float


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """What was fitted for some kinds of sentences: `words` by kind, `meanings` by embedding model and kind."""

    words: Mapping[str, Words]
    meanings: Mapping[str, Mapping[str, Meaning]]

    def by_words(self, kind: str, text: str) -> float:
        """The log-odds that a sentence is of the kind, by its words alone."""
        words = self.words[kind]
        return words.log_odds(words.score(text))

    def by_meaning(self, kind: str, text: str, vector: NDArray[np.float32], model: str) -> float | None:
        """The log-odds with the vector of the sentence as a query; None where nothing was fitted for the model."""
        meaning = self.meanings.get(model, {}).get(kind)
        if meaning is None:
            return None
        by_direction = float(vector @ meaning.weights) + meaning.offset
        score = self.words[kind].score(text)
        return meaning.of_words * score + meaning.of_meaning * by_direction + meaning.joint_offset

    def knows(self, model: str) -> bool:
        """Whether directions were fitted for an embedding model."""
        return model in self.meanings


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


def packed(weights: NDArray[np.float64]) -> dict[str, Any]:
    """Weights in bytes, with what one step of them is, as the file has them."""
    step = float(np.abs(weights).max()) / 127 or 1.0
    data = np.round(weights / step).astype(np.int8).tobytes()
    return {"step": round(step, 8), "weights": base64.b64encode(zlib.compress(data, 9)).decode()}


def read_model(path: Path) -> SentenceModel:
    """The model in a file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    words = {
        kind: Words(_unpacked(one), one["offset"], one["slope"], one["calibrated_offset"])
        for kind, one in data["words"].items()
    }
    meanings = {
        model: {
            kind: Meaning(_unpacked(one), one["offset"], one["of_words"], one["of_meaning"], one["joint_offset"])
            for kind, one in kinds.items()
        }
        for model, kinds in data["meaning"].items()
    }
    return SentenceModel(words, meanings)


def _unpacked(one: Mapping[str, Any]) -> NDArray[np.float32]:
    data = zlib.decompress(base64.b64decode(one["weights"]))
    return np.frombuffer(data, np.int8).astype(np.float32) * np.float32(one["step"])
