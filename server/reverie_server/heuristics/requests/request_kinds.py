"""How likely a message with its answer asks to remember or to forget, and what a request says of what it means. Pure.

Learnt from talks by `python -m reverie_bench.requests` (`sentence_model`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.requests.memory_requests import Kind as Asked
from reverie_server.heuristics.requests.not_to_be_lost import is_not_to_be_lost
from reverie_server.heuristics.sentence_model import SentenceModel, read_model

MODEL_FILE = Path(__file__).with_suffix(".json")
# What an answer says of a request stands first in it.
_MAX_CHARS = 120
Kind = Literal["confirms", "keeps", "private", "ahead", "inside"]
"""The opening of an answer confirms that something is forgotten, or that it is kept; a statement is one that people ask
to forget; a request to forget is about what comes after it, or has in itself what is meant."""
OF_ANSWER: tuple[Kind, Kind] = ("keeps", "confirms")
"""What answers say, in the order of `request_model.KINDS`."""
LEAST_ODDS = -6.0
"""Those of a sentence without a word of such requests."""
_MOST_ODDS = 3.0
_END = re.compile(r"(?<=[.!?…])\s|(?<=[。！？])|\n")


def opening(answer: str) -> str:
    """The first sentence of an answer."""
    return _END.split(answer[: 2 * _MAX_CHARS].strip())[0][:_MAX_CHARS]


def odds(kind: Kind, text: str, vector: NDArray[np.float32] | None, name: str) -> float:
    """The log-odds that a text is of a kind, by its words and its vector of the embedding model `name`.

    Of answers and requests the vector is that of a query, of statements that of a passage.
    """
    found = None if vector is None else model().by_meaning(kind, text, vector, name)
    return model().by_words(kind, text) if found is None else found


def within(odds: float) -> float:
    """Log-odds that a request asks to remember something, as far as they count for whether it asks to forget."""
    return min(max(odds, -_MOST_ODDS), _MOST_ODDS)


def numbers(kind: Asked, sentence: str, odds: Mapping[Asked, float], answers: Sequence[float]) -> list[float]:
    """What tells whether a message asks for something: the odds of its sentence for that and for the contrary, whether
    that says of something that it must not be lost, and the odds of its answer by OF_ANSWER, where there is one.

    "Guardado." and "Borrado." answer much the same words, and "see that it doesn't slip" is near to "let it slip".
    """
    other: Asked = "remember" if kind == "forget" else "forget"
    return [odds[kind], within(odds[other]), float(is_not_to_be_lost(sentence)), *answers]


def asks(kind: Asked, sentence: str, odds: Mapping[Asked, float], answers: Sequence[float], name: str) -> float:
    """The log-odds that a message asks for something, by what `numbers` has.

    `answers` is empty where there is none yet; `name` is that of the embedding model by which all were judged.
    """
    found = source()["asks"][kind]
    weights = found.get(name, found[""])
    *slopes, offset = weights["answered" if answers else "alone"]
    return float(offset + sum(s * n for s, n in zip(slopes, numbers(kind, sentence, odds, answers), strict=True)))


@cache
def source() -> Mapping[str, Any]:
    """The file of the models."""
    found: Mapping[str, Any] = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return found


@cache
def model() -> SentenceModel:
    """The fitted model."""
    return read_model(MODEL_FILE)
