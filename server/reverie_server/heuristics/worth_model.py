"""How likely a sentence is of no use in a month, and how likely it says who the speaker is (`sentence_model`). Pure.

Learnt from the lives of `reverie_bench.tagged` by `python -m reverie_bench.worth`, which prints what it finds of lives
that it was not fitted to.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from reverie_server.heuristics.sentence_model import SentenceModel, read_model

MODEL_FILE = Path(__file__).with_suffix(".json")
WorthKind = Literal["passing", "person"]
KINDS: tuple[WorthKind, ...] = ("passing", "person")


@cache
def model() -> SentenceModel:
    """The fitted model."""
    return read_model(MODEL_FILE)
