"""Fits how likely a message asks to remember or to forget something, by its sentences and by the answer to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from reverie_bench.recall import logistic
from reverie_bench.requests.talks import Talk, keeping, talks
from reverie_bench.requests.talks.cases import FOLDS, fold_of, messages_of_lives, ordinary_lines
from reverie_bench.sentence_fit import Floats, vectors_by
from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.requests import request_kinds
from reverie_server.heuristics.requests.likely_requests import parts_of
from reverie_server.heuristics.requests.memory_requests import Kind
from reverie_server.heuristics.requests.request_kinds import LEAST_ODDS, OF_ANSWER, opening
from reverie_server.heuristics.requests.request_model import KINDS, by_meaning, by_words, is_worth_a_vector

SEED = 20261127
# So many of the numbers are those without an answer.
_ALONE = 3
_LIMITS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
Odds = Mapping[str, Mapping[Kind, Mapping[str, float]]]
"""Log-odds by embedding model ("": by words), by what is asked for, and by text."""


@dataclass(frozen=True, slots=True)
class AnsweredMessage:
    """What a user says in one message, the answer to it, and what it asks for; `is_of_life`: it is of no talk."""

    texts: Sequence[str]
    answer: str
    asks: frozenset[Kind]
    fold: int
    is_of_life: bool = False


@cache
def answered_messages() -> list[AnsweredMessage]:
    """The messages of talks that are not held back, and of the lives of development."""
    found = []
    by_kind: dict[Kind, list[Talk]] = {"remember": keeping(), "forget": talks()}
    for kind, some in by_kind.items():
        for talk in some:
            if talk.is_held:
                continue
            for number, following in enumerate(talk.messages[1:]):
                own = [said for said in talk.said if said.message == number]
                if own and following.role == "assistant":
                    asks = frozenset[Kind]([kind] if any(said.asks for said in own) else [])
                    found.append(AnsweredMessage([said.text for said in own], following.text, asks, fold_of(talk)))
    for number, (text, answer) in enumerate(messages_of_lives()):
        asks = frozenset[Kind](["remember"] if asks_to_remember(text) else [])
        found.append(AnsweredMessage([text], answer, asks, number % FOLDS, is_of_life=True))
    return found


async def fit_asking(
    odds: Odds, of_answers: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> dict[Kind, dict[str, dict[str, list[float]]]]:
    """By kind and embedding model the weights of the log-odds of a request and of its answer, and the offset.

    Beside the talks stand ordinary lines, with answers of others, and messages of lives with their own: a request is
    seldom. `odds` and `of_answers` are by fits without the talk; what is of no talk is judged by the models as written.
    """
    rng = np.random.default_rng(SEED)
    messages = answered_messages()
    lines = ordinary_lines(fitted=False)
    found: dict[Kind, dict[str, dict[str, list[float]]]] = {kind: {} for kind in KINDS}
    for name, of_kind in odds.items():
        lived = [message for message in messages if message.is_of_life]
        of_lives = dict(
            zip((m.texts[0] for m in lived), await _odds_of(name, [m.texts[0] for m in lived]), strict=True)
        )
        of_lines = await _odds_of(name, lines)
        for kind in KINDS:
            rows, asks = [], []
            for message in messages:
                ends = [of_answers[each][name][opening(message.answer)] for each in OF_ANSWER]
                if name == "":
                    ends = [min(each, 0.0) for each in ends]
                if message.is_of_life:
                    text = message.texts[0]
                    both = of_lives[text][kind]
                else:
                    text = max(message.texts, key=of_kind[kind].__getitem__)
                    both = {each: of_kind[each][text] for each in KINDS}
                rows.append(request_kinds.numbers(kind, text, both, ends))
                asks.append(kind in message.asks)
            idle = [row[_ALONE:] for row, is_asking in zip(rows, asks, strict=True) if not is_asking]
            rows += [
                [*request_kinds.numbers(kind, line, each[kind], []), *idle[rng.integers(len(idle))]]
                for line, each in zip(lines, of_lines, strict=True)
            ]
            numbers = np.array(rows)
            outcomes = np.array([*asks, *[False] * len(of_lines)])
            answered, alone = logistic.fit(numbers, outcomes), logistic.fit(numbers[:, :_ALONE], outcomes)
            found[kind][name] = {
                "answered": [round(each, 4) for each in (*answered.slopes, answered.intercept)],
                "alone": [round(each, 4) for each in (*alone.slopes, alone.intercept)],
            }
            groups = {
                "talks": np.array([not message.is_of_life for message in messages] + [False] * len(lines)),
                "lives": np.array([message.is_of_life for message in messages] + [False] * len(lines)),
                "lines": np.array([False] * len(messages) + [True] * len(lines)),
            }
            print(f"{name or 'without vectors'}, whether it asks to {kind}")
            print(f"  answered: {_figures(numbers, outcomes, answered, groups)}")
            print(f"  alone: {_figures(numbers[:, :_ALONE], outcomes, alone, groups)}")
    return found


def _figures(
    numbers: Floats, outcomes: NDArray[np.bool_], fitted: logistic.Fit, groups: Mapping[str, NDArray[np.bool_]]
) -> str:
    """From some chances on the share of what asks in talks, and of the others by where they are from."""
    chances = logistic.sigmoid(numbers @ np.array(fitted.slopes) + fitted.intercept)
    parts = []
    for limit in _LIMITS:
        found = chances >= limit
        others = ", ".join(f"{name} {found[of & ~outcomes].mean():.4f}" for name, of in groups.items())
        parts.append(f"from {limit:g} {found[groups['talks'] & outcomes].mean():.2f}, others of {others}")
    return "; ".join(parts)


async def _odds_of(name: str, texts: Sequence[str]) -> list[dict[Kind, dict[Kind, float]]]:
    """Of texts the log-odds of the part that asks most, for each kind, as the server takes them."""
    parts = [list(parts_of(text)) for text in texts]
    flat = sorted({part for of_text in parts for part in of_text})
    asking = [part for part in flat if any(is_worth_a_vector(kind, part) for kind in KINDS)]
    if name:
        vectors = dict(zip(asking, np.asarray(await vectors_by(name, asking), np.float32), strict=True))
        odds = {part: {kind: by_meaning(kind, part, vectors[part], name) or 0.0 for kind in KINDS} for part in asking}
    else:
        odds = {part: {kind: by_words(kind, part) for kind in KINDS} for part in asking}
    least: dict[Kind, float] = dict.fromkeys(KINDS, LEAST_ODDS)
    rows = []
    for of_text in parts:
        row = {}
        for kind in KINDS:
            own = [odds[part] for part in of_text if part in odds and is_worth_a_vector(kind, part)]
            row[kind] = max(own, key=lambda each: each[kind], default=least)
        rows.append(row)
    return rows
