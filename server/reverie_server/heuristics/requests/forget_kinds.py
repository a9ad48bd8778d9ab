"""How likely a sentence with its answer is a request to forget, and what it says of what it means. Pure.

Learnt from talks by `python -m reverie_bench.requests` (`sentence_model`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.sentence_model import SentenceModel, read_model

MODEL_FILE = Path(__file__).with_suffix(".json")
# What an answer says of a request stands first in it.
_MAX_CHARS = 120
Kind = Literal["confirms", "private", "ahead", "inside"]
"""The opening of an answer confirms that something is forgotten; a statement is one that people ask to forget; a
request is about what comes after it, or has in itself what is meant."""
LEAST_ODDS = -6.0
"""Those of a sentence without a word of such requests."""
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


def asks(request: float, answer: float | None, name: str) -> float:
    """The log-odds that a message asks to forget something, by those of its sentence and of the answer to it.

    `answer` is None where there is none yet; `name` is that of the embedding model by which both were judged.
    """
    found = source()["asks"]
    weights = found.get(name, found[""])
    if answer is None:
        of_request, offset = weights["alone"]
        return float(of_request * request + offset)
    of_request, of_answer, offset = weights["answered"]
    return float(of_request * request + of_answer * answer + offset)


@cache
def source() -> Mapping[str, Any]:
    """The file of the models."""
    found: Mapping[str, Any] = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return found


@cache
def model() -> SentenceModel:
    """The fitted model."""
    return read_model(MODEL_FILE)
