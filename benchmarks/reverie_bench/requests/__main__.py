"""Fits the models of requests, and shows what they find in messages that they were not fitted to:
`python -m reverie_bench.requests` (needs `reverie[models]`). With `--asking` only what tells whether a message asks is
fitted anew, with `--forgetting NAME` only what tells what is to be forgotten, for that embedding model.

`remember`, `forget`, `neither`, `near` (what only sounds like a request to forget) and `ordinary` are sentences by
language; `unseen` are whole messages, written by somebody who knew neither those nor the patterns, and nothing is
fitted to them, nor to `near_held`. All were written for this project.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_bench.requests.asking import Odds
from reverie_bench.requests.talks import keeping, talks
from reverie_bench.requests.talks.cases import fold_of, ordinary_lines
from reverie_bench.requests.talks.fit import fit_forgetting, fit_talks, fit_whether_asked
from reverie_bench.sentence_fit import SEED, FittedKind, Floats, file_of, fit_kind, vectors_by, vectors_of
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.requests import request_model
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.requests.likely_requests import parts_of
from reverie_server.heuristics.requests.memory_requests import Kind
from reverie_server.heuristics.requests.request_model import KINDS, MODEL_FILE, is_han, words_of
from reverie_server.search.labelled_messages import Label, labelled_messages
from reverie_server.text.statement_spans import statements

_FOLDER = Path(__file__).parent
_OF_RELEVANCE: tuple[Label, ...] = ("personal", "others", "general", "neutral", "small_talk")
_FOLDS, _RIDGE = 5, 0.1
# A word is of the requests that so many of them have, and of other sentences a share that is so many times smaller.
_FEWEST, _TIMES_AS_OFTEN = 7, 2.5
# A word of so many other sentences is about nothing either.
_COMMON = 20
_THRESHOLDS = (0.5, 1.0, 1.5, 2.0)


async def main(*, only_asking: bool = False) -> None:
    """Write the models beside the module that reads them, and print what they find."""
    texts, kinds = _sentences()
    vectors = await vectors_of(texts)
    # What is said in one talk is in one fold.
    of_talks = {said.text: fold_of(talk) for talk in (*talks(), *keeping()) for said in talk.said}
    by_chance = np.random.default_rng(SEED).integers(0, _FOLDS, len(texts))
    folds = np.array([of_talks.get(text, fold) for text, fold in zip(texts, by_chance.tolist(), strict=True)])
    fitted: dict[str, FittedKind] = {}
    for kind in KINDS:
        asks = np.array([each == kind for each in kinds], np.float64)
        fitted[kind] = fit_kind(texts, vectors, asks, folds, _RIDGE)
        fitted[kind].words["own_words"] = _own_words(texts, asks)
    MODEL_FILE.write_text(json.dumps(file_of(fitted), ensure_ascii=False) + "\n")
    await _show()
    await (fit_whether_asked if only_asking else fit_talks)(_odds(fitted, texts))


def _odds(fitted: Mapping[str, FittedKind], texts: Sequence[str]) -> Odds:
    """The log-odds of each text by embedding model ("": by words) and by kind, by a fit without its fold."""
    of_kind = fitted.__getitem__
    names = [*of_kind("forget").by_meaning, ""]
    return {
        name: {
            kind: dict(zip(texts, map(float, of_kind(kind).by_meaning.get(name, of_kind(kind).by_words)), strict=True))
            for kind in KINDS
        }
        for name in names
    }


def _sentences() -> tuple[list[str], list[str]]:
    """All sentences, each with what it asks for."""
    found: dict[str, str] = {}
    for name in ("ordinary", "neither", "near", *KINDS):
        table = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        found.update((text, name if name in KINDS else "neither") for texts in table.values() for text in texts)
    found |= dict.fromkeys(ordinary_lines(fitted=True), "neither")
    for kind, some in (("forget", talks()), ("remember", keeping())):
        for talk in some:
            if not talk.is_held:
                found |= {said.text: kind if said.asks else "neither" for said in talk.said}
    found = {**{text: "neither" for label in _OF_RELEVANCE for text in labelled_messages(label)}, **found}
    return list(found), list(found.values())


def _own_words(texts: Sequence[str], asks: Floats) -> list[str]:
    """The words that do not say what a request is about: common in such requests and seldom elsewhere, or everywhere.

    Of Chinese characters only the former: a common one may be part of any word. Talks and ordinary lines, which are
    about something, say nothing of it.
    """
    lines = {*ordinary_lines(fitted=True), *(said.text for talk in (*talks(), *keeping()) for said in talk.said)}
    counts, totals = (Counter[str](), Counter[str]()), [0, 0]
    for text, is_asking in zip(texts, asks, strict=True):
        if text not in lines:
            counts[int(is_asking)].update(set(words_of(aligned(text))))
            totals[int(is_asking)] += 1
    others, asking = counts
    own = {
        word
        for word, count in asking.items()
        if count >= _FEWEST and count / totals[1] >= _TIMES_AS_OFTEN * others[word] / totals[0]
    }
    return sorted(own | {word for word, count in others.items() if count >= _COMMON and not is_han(word)})


async def _show() -> None:
    request_model.model.cache_clear()
    messages = tomllib.loads((_FOLDER / "unseen.toml").read_text(encoding="utf-8"))["message"]
    said = [[part for text in statements(each["text"]) for part in parts_of(text)] for each in messages]
    flat = [text for texts in said for text in texts]
    for name in BUILT_IN:
        vectors = iter(np.asarray(await vectors_by(name, flat), np.float32))
        of_message = [[(text, next(vectors)) for text in texts] for texts in said]
        for kind in KINDS:
            for half in ("dev", "held"):
                print(f"{name}, {kind}, {half}: {_figures(name, kind, half, messages, of_message)}")
        await _show_near(name)


async def _show_near(name: str) -> None:
    """What an embedding model takes for a request to forget of what only sounds like one."""
    table = tomllib.loads((_FOLDER / "near_held.toml").read_text(encoding="utf-8"))
    parts = [parts_of(text) for texts in table.values() for text in texts]
    vectors = iter(np.asarray(await vectors_by(name, [part for some in parts for part in some]), np.float32))
    odds = [max(_log_odds(name, "forget", part, next(vectors)) for part in some) for some in parts]
    found = [f"from {least:g} {sum(each > least for each in odds)}" for least in _THRESHOLDS]
    print(f"{name}, of {len(odds)} that only sound like a request to forget: {'; '.join(found)}")


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
    is_of_targets = sys.argv[1:2] == ["--forgetting"]
    asyncio.run(fit_forgetting(sys.argv[2]) if is_of_targets else main(only_asking=sys.argv[1:2] == ["--asking"]))
