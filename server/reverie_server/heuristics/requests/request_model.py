"""How likely a sentence asks to remember or to forget something (`sentence_model`). Pure.

People ask for it in more ways than a list of phrases can have. The words of a sentence decide whether to ask for its
vector. Fitted by `python -m reverie_bench.requests`, which says what it finds of messages that it was not fitted to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.memory_requests import WORD, Kind
from reverie_server.heuristics.sentence_model import SentenceModel, read_model

MODEL_FILE = Path(__file__).with_suffix(".json")
KINDS: tuple[Kind, ...] = ("remember", "forget")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
# From these log-odds of the words on a vector is worth its cost.
_LEAST_BY_WORDS = -2.0


def by_words(kind: Kind, text: str) -> float:
    """The log-odds that a sentence asks for it, by its words alone."""
    return model().by_words(kind, text)


def is_worth_a_vector(kind: Kind, text: str) -> bool:
    """Whether a sentence may ask for it at all."""
    return by_words(kind, text) > _LEAST_BY_WORDS


def by_meaning(kind: Kind, text: str, vector: NDArray[np.float32], name: str) -> float | None:
    """The log-odds with the vector of the sentence as a query; None where nothing was fitted for the model."""
    return model().by_meaning(kind, text, vector, name)


def knows(name: str) -> bool:
    """Whether directions were fitted for an embedding model."""
    return model().knows(name)


def words_of(text: str) -> list[str]:
    """The words of a text, in order; a Chinese character is one."""
    return WORD.findall(text)


def is_han(word: str) -> bool:
    """Whether a word of `words_of` is a Chinese character."""
    return _HAN.match(word) is not None


def is_of_request(kind: Kind, word: str) -> bool:
    """Whether a word belongs to such requests, and so does not say what one is about."""
    return aligned(word) in _own_words()[kind]


@cache
def model() -> SentenceModel:
    """The fitted model."""
    return read_model(MODEL_FILE)


@cache
def _own_words() -> Mapping[str, frozenset[str]]:
    """The words, by kind, that are common in such requests, or everywhere."""
    data = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return {kind: frozenset(map(aligned, one["own_words"])) for kind, one in data["words"].items()}
