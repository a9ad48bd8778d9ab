"""Fits the models of requests, and shows what they find in messages that they were not fitted to:
`python -m reverie_bench.requests`.

`remember`, `forget`, `neither` and `ordinary` are sentences by language; `unseen` are whole messages, written by
somebody who knew neither those nor the patterns, and nothing is fitted to them. All were written for this project.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_bench.recall import logistic
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.requests import request_model
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.requests.likely_requests import parts_of
from reverie_server.heuristics.requests.memory_requests import Kind
from reverie_server.heuristics.requests.request_model import (
    BUCKETS,
    KINDS,
    MODEL_FILE,
    features,
    is_han,
    packed,
    words_of,
)
from reverie_server.search.labelled_messages import Label, labelled_messages
from reverie_server.text.statement_spans import statements

_FOLDER = Path(__file__).parent
_OF_RELEVANCE: tuple[Label, ...] = ("personal", "others", "general", "neutral", "small_talk")
_FOLDS, _SEED = 5, 20261125
# Of the model of words: steps of AdaGrad over all sentences in random order.
_ROUNDS, _RATE, _SHRINKING = 25, 0.3, 0.01
_RIDGE, _CALIBRATION_RIDGE = 0.1, 1e-3
# A word is of the requests that so many of them have, and of other sentences a share that is so many times smaller.
_FEWEST, _TIMES_AS_OFTEN = 7, 2.5
# A word of so many other sentences is about nothing either.
_COMMON = 20
_THRESHOLDS = (0.5, 1.0, 1.5, 2.0)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Weights by feature or dimension, and an offset."""

    weights: Floats
    offset: float

    def of_features(self, found: Sequence[NDArray[np.int64]]) -> Floats:
        """The scores of sentences by their features."""
        return np.array([self.weights[each].sum() / np.sqrt(len(each)) for each in found]) + self.offset

    def of_rows(self, rows: Floats) -> Floats:
        """The scores of rows of numbers."""
        return np.asarray(rows @ self.weights + self.offset)


async def main() -> None:
    """Write the models beside the module that reads them, and print what they find."""
    texts, kinds = _sentences()
    vectors = {name: await _vectors(name, texts) for name in BUILT_IN}
    found = [features(text) for text in texts]
    folds = np.random.default_rng(_SEED).integers(0, _FOLDS, len(texts))
    words: dict[str, Any] = {}
    meaning: dict[str, dict[str, Any]] = {name: {} for name in BUILT_IN}
    for kind in KINDS:
        asks = np.array([each == kind for each in kinds], np.float64)
        by_words = _out_of_fold(folds, lambda some, asks=asks: _fit_words([found[i] for i in some], asks[some]), found)
        alone = _fit_rows(by_words[:, None], asks, np.ones(len(asks)), _CALIBRATION_RIDGE)
        whole = _fit_words(found, asks)
        words[kind] = {
            **packed(whole.weights),
            "offset": round(whole.offset, 4),
            "slope": round(float(alone.weights[0]), 4),
            "calibrated_offset": round(alone.offset, 4),
            "own_words": _own_words(texts, asks),
        }
        for name, rows in vectors.items():
            by_rows = _out_of_fold(
                folds,
                lambda some, rows=rows, asks=asks: _fit_rows(rows[some], asks[some], _even(asks[some]), _RIDGE),
                rows,
            )
            joint = _fit_rows(np.c_[by_words, by_rows], asks, np.ones(len(asks)), _CALIBRATION_RIDGE)
            direction = _fit_rows(rows, asks, _even(asks), _RIDGE)
            meaning[name][kind] = {
                **packed(direction.weights),
                "offset": round(direction.offset, 4),
                "of_words": round(float(joint.weights[0]), 4),
                "of_meaning": round(float(joint.weights[1]), 4),
                "joint_offset": round(joint.offset, 4),
            }
    MODEL_FILE.write_text(json.dumps({"words": words, "meaning": meaning}, ensure_ascii=False) + "\n")
    await _show()


def _sentences() -> tuple[list[str], list[str]]:
    """All sentences, each with what it asks for."""
    found: dict[str, str] = {}
    for name in ("ordinary", "neither", *KINDS):
        table = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        found.update((text, name if name in KINDS else "neither") for texts in table.values() for text in texts)
    found = {**{text: "neither" for label in _OF_RELEVANCE for text in labelled_messages(label)}, **found}
    return list(found), list(found.values())


def _own_words(texts: Sequence[str], asks: Floats) -> list[str]:
    """The words that do not say what a request is about: common in such requests and seldom elsewhere, or everywhere.

    Of Chinese characters only the former: a common one may be part of any word.
    """
    counts = Counter[str](), Counter[str]()
    for text, is_asking in zip(texts, asks, strict=True):
        counts[int(is_asking)].update(set(words_of(aligned(text))))
    others, asking = counts
    own = {
        word
        for word, count in asking.items()
        if count >= _FEWEST and count / asks.sum() >= _TIMES_AS_OFTEN * others[word] / (len(asks) - asks.sum())
    }
    return sorted(own | {word for word, count in others.items() if count >= _COMMON and not is_han(word)})


async def _vectors(name: str, texts: Sequence[str]) -> Floats:
    with tempfile.TemporaryDirectory() as directory:
        embedder = load_local(Path(directory), BUILT_IN[name])
        vectors = await _embedded(embedder, texts)
        await embedder.aclose()
    return vectors


async def _embedded(embedder: LocalEmbedder, texts: Sequence[str]) -> Floats:
    vectors = await embedder.embed(list(texts), "query")
    return np.stack([np.asarray(vector, np.float64) for vector in vectors])


def _even(asks: Floats) -> Floats:
    """Weights by which both classes weigh alike."""
    count, positive = len(asks), asks.sum()
    return np.asarray(np.where(asks == 1, count / 2 / positive, count / 2 / (count - positive)), np.float64)


def _out_of_fold(folds: NDArray[np.int64], fit: Any, inputs: Any) -> Floats:
    """The score of each sentence by a fit without its fold."""
    scores = np.zeros(len(folds))
    for fold in range(_FOLDS):
        fitted, left = fit(np.flatnonzero(folds != fold)), np.flatnonzero(folds == fold)
        if isinstance(inputs, list):
            scores[left] = fitted.of_features([inputs[i] for i in left])
        else:
            scores[left] = fitted.of_rows(inputs[left])
    return scores


def _fit_words(found: Sequence[NDArray[np.int64]], asks: Floats) -> _Fitted:
    """A logistic regression over hashed features, each sentence's scaled to length one, by AdaGrad."""
    weights, squares = np.zeros(BUCKETS), np.full(BUCKETS, 1e-6)
    offset, offset_square = 0.0, 1e-6
    importance = _even(asks)
    order = np.random.default_rng(_SEED)
    for _ in range(_ROUNDS):
        for i in order.permutation(len(asks)):
            at = found[i]
            scale = 1 / np.sqrt(len(at))
            error = importance[i] * (1 / (1 + np.exp(-(weights[at].sum() * scale + offset))) - asks[i])
            gradient = error * scale + _SHRINKING * weights[at]
            squares[at] += gradient * gradient
            weights[at] -= _RATE * gradient / np.sqrt(squares[at])
            offset_square += error * error
            offset -= _RATE * error / np.sqrt(offset_square)
    return _Fitted(weights, float(offset))


def _fit_rows(rows: Floats, asks: Floats, importance: Floats, ridge: float) -> _Fitted:
    """A logistic regression of rows of numbers; `logistic.fit` has one ridge, so the rows are scaled to have theirs."""
    scale = np.sqrt(logistic.RIDGE / ridge)
    fitted = logistic.fit(rows * scale, asks == 1, importance)
    return _Fitted(np.array(fitted.slopes) * scale, fitted.intercept)


async def _show() -> None:
    request_model._model.cache_clear()
    messages = tomllib.loads((_FOLDER / "unseen.toml").read_text(encoding="utf-8"))["message"]
    said = [[part for text in statements(each["text"]) for part in parts_of(text)] for each in messages]
    flat = [text for texts in said for text in texts]
    for name in BUILT_IN:
        vectors = iter(np.asarray(await _vectors(name, flat), np.float32))
        of_message = [[(text, next(vectors)) for text in texts] for texts in said]
        for kind in KINDS:
            for half in ("dev", "held"):
                print(f"{name}, {kind}, {half}: {_figures(name, kind, half, messages, of_message)}")


def _figures(name: str, kind: Kind, half: str, messages: Sequence[Mapping[str, Any]], of_message: Sequence[Any]) -> str:
    """What patterns find, and both together from some log-odds on: the share of requests, and of other messages."""
    rows = [
        (
            each["kind"],
            bool(forget_requests(each["text"])) if kind == "forget" else asks_to_remember(each["text"]),
            max(_log_odds(name, kind, text, vector) for text, vector in sentences),
        )
        for each, sentences in zip(messages, of_message, strict=True)
        if each["half"] == half
    ]

    def share(of: Sequence[bool]) -> str:
        return f"{sum(of) / len(of):.2f}"

    def both(test: Any) -> str:
        asked = share([test(*row[1:]) for row in rows if row[0] == kind])
        return f"{asked} ({share([test(*row[1:]) for row in rows if row[0] == 'neither'])} of others)"

    parts = [f"patterns {both(lambda plain, _: plain)}"]
    parts += [f"from {least:g} {both(lambda plain, odds, least=least: plain or odds > least)}" for least in _THRESHOLDS]
    return "; ".join(parts)


def _log_odds(name: str, kind: Kind, text: str, vector: NDArray[np.float32]) -> float:
    if not request_model.is_worth_a_vector(kind, text):
        return request_model.by_words(kind, text)
    found = request_model.by_meaning(kind, text, vector, name)
    assert found is not None
    return found


if __name__ == "__main__":
    asyncio.run(main())
