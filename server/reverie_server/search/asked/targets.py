"""Which statement a request to forget is about, or one to remember: how likely each that was heard is meant. Pure.

"That about the cards, could you not hang on to it?" shares a word with what is meant or none, and stands right behind
it or days later. Decision trees weigh the numbers of `features`. They are learnt from talks in which what is meant is
marked (`python -m reverie_bench.requests`), for each embedding model their own, and others for what is to be
remembered; those of the name "" do without vectors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from reverie_server.heuristics.requests.forget_requests import ForgetRequest
from reverie_server.heuristics.requests.memory_requests import Kind as Asked
from reverie_server.heuristics.requests.request_kinds import LEAST_ODDS
from reverie_server.heuristics.trees import Trees, read_floats, read_trees
from reverie_server.search.asked.features import Vectors, features
from reverie_server.search.asked.heard import Heard
from reverie_server.search.asked.matching import Matching, Vector, read_matching

MODEL_FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class TargetModel:
    """The trees of one embedding model: `single` judges each statement, `among` weighs that with those of the others.

    `usual` is what all requests have in common in its space; without vectors there is no `matching`.
    """

    single: Trees
    among: Trees
    usual: Vector
    matching: Matching | None


def log_odds(
    request: ForgetRequest, heard: Sequence[Heard], language: str, vectors: Vectors | None, asks: Asked = "forget"
) -> Vector:
    """How likely a request means each of some statements, given that it `asks` for that; in their order.

    Vectors are of a model that it `knows`.
    """
    model = models()[asks]["" if vectors is None else vectors.name]
    single = model.single.log_odds(features(request, heard, language, vectors, model.usual, model.matching))
    return model.among.log_odds(among(single))


def nearest_first(texts: Sequence[str], vectors: Vectors) -> list[str]:
    """Texts by how well they answer to a request to forget, best first; those without a vector are left out."""
    model = models()["forget"][vectors.name]
    known = [text for text in dict.fromkeys(texts) if text in vectors.statements]
    if not known or model.matching is None:
        return known
    request = vectors.request - (vectors.request @ model.usual) * model.usual
    scores = model.matching.scores(request, vectors.named, np.stack([vectors.statements[text] for text in known]))
    return [known[at] for at in np.argsort(-scores, kind="stable")]


def knows(name: str) -> bool:
    """Whether there are trees for an embedding model."""
    return bool(name) and name in models()["forget"]


def among(odds: Vector) -> Vector:
    """The numbers by which statements are judged beside each other, from the log-odds of each: (statements, 5).

    They are its own, the best and the second best of the others, how many are better, and how many are expected.
    """
    order = np.sort(odds)[::-1]
    best, second, third = ([*order.tolist(), LEAST_ODDS, LEAST_ODDS, LEAST_ODDS])[:3]
    expected = float((1 / (1 + np.exp(-odds))).sum())
    rows = []
    for own in odds.tolist():
        better = int((odds > own).sum())
        others = (second, third) if better == 0 else (best, third) if better == 1 else (best, second)
        rows.append([own, *others, min(better, 6), expected])
    return np.array(rows, np.float32).reshape(len(odds), 5)


def _read(source: Mapping[str, Any]) -> TargetModel:
    matching = read_matching(source["matching"]) if "matching" in source else None
    return TargetModel(
        read_trees(source["single"]), read_trees(source["among"]), read_floats(source["usual"]), matching
    )


@cache
def models() -> Mapping[Asked, Mapping[str, TargetModel]]:
    """The fitted models, by what is asked for and by the name of the embedding model."""
    source = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return {asks: {name: _read(each) for name, each in by_name.items()} for asks, by_name in source.items()}
