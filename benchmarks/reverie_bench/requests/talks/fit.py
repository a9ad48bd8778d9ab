"""Makes what tells whether a request to forget is one, by its answer too, and what it means.

From talks that are not held back. Printed is what is chosen in talks that nothing was fitted to: those of each fold by
the others, then those held back by all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reverie_bench.recall import logistic
from reverie_bench.requests.asking import Odds, answered_messages, fit_asking
from reverie_bench.requests.talks import LANGUAGES, Talk, keeping, matching, talks
from reverie_bench.requests.talks.cases import (
    FOLDS,
    SURROUNDINGS,
    Case,
    Nearest,
    Surroundings,
    by_message,
    cases_among,
    cases_of,
    fold_of,
    plain_requests,
    requests_in_lives,
    talks_of_lives,
)
from reverie_bench.sentence_fit import FittedKind, Floats, file_of, fit_kind, packed_numbers, vectors_by
from reverie_bench.tree_fit import TreeSizes, fit_trees, trees_file_of
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.heuristics.requests import request_kinds
from reverie_server.heuristics.requests.memory_requests import Kind as Asked
from reverie_server.heuristics.requests.request_kinds import OF_ANSWER, opening
from reverie_server.heuristics.requests.request_model import KINDS
from reverie_server.heuristics.trees import Trees
from reverie_server.search.asked import targets
from reverie_server.search.asked.features import Vectors, features, named_by
from reverie_server.search.asked.heard import WAITS
from reverie_server.search.asked.matching import Matching
from reverie_server.search.asked.targets import among

_RIDGE, SEED = 0.3, 20261127
_OF_SINGLE, _OF_AMONG = TreeSizes(trees=180, depth=4, fewest=6, fits=2), TreeSizes(trees=80, depth=3, fewest=6, fits=2)
_OF_REQUEST = ("ahead", "inside")
# Plain requests are of those to forget.
_OF_KEEPING: tuple[Surroundings, ...] = ("alone", "in a memory", "in a long talk", "not there", "asks for nothing")
# What brings out how what is meant is named: beside much that is not.
_OF_MATCHING: tuple[Surroundings, ...] = ("in a memory", "of another day")
_NO_FOLD = -1
# A request in a life weighs as many of talks: there is more beside it that is not meant, as where people live. So does
# one with next to nothing before it: without that weight a new memory would forget too little.
_WEIGHTS: Mapping[Surroundings, float] = {"briefly": 8.0}
_WEIGHT_IN_LIFE = 20.0
_LIMITS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


Rows = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one embedding model by text, as queries and as passages; none for the name ""."""

    name: str
    queries: Rows
    passages: Rows
    usual: NDArray[np.float32]

    def of(self, case: Case, asks: Asked = "forget") -> Vectors | None:
        """The vectors by which a case is judged."""
        if not self.name:
            return None
        request = case.request
        message = " ".join((*request.before, request.sentence, *request.after))
        own = self.queries[request.sentence]
        named = self.queries[named_by(request.sentence, case.talk.language, asks)]
        return Vectors(self.name, own, self.queries.get(message, own), named, self.passages)

    def asked(self, case: Case, asks: Asked) -> matching.Asked | None:
        """What is learnt of a case, where it means something of what was heard beside it."""
        vectors = self.of(case, asks)
        rows = [at for at, each in enumerate(case.heard) if each.where != "own" and each.text]
        if vectors is None or not case.is_meant[rows].any():
            return None
        statements = np.stack([self.passages[case.heard[at].text] for at in rows])
        request = vectors.request - (vectors.request @ self.usual) * self.usual
        return matching.Asked(request, vectors.named, statements, case.is_meant[rows])

    def nearest(self, request: str, texts: Sequence[str]) -> list[str]:
        """Texts, those first that are nearest to a request apart from what all requests have in common."""
        if not texts:
            return []
        query = self.queries[request]
        nearness = np.stack([self.passages[text] for text in texts]) @ (query - (query @ self.usual) * self.usual)
        return [texts[at] for at in np.argsort(-nearness, kind="stable")]


async def fit_talks(odds: Odds) -> None:
    """Write the models beside the modules that use them, and print how well they do.

    `odds` are those that a sentence of a talk asks for something, by a fit without the talk.
    """
    learnt, spaces, kinds = await fit_whether_asked(odds)
    to_forget = {space.name: learnt.targets(space, kinds, space.nearest) for space in spaces}
    to_forget[""] = learnt.targets(Space("", {}, {}, np.zeros(0, np.float32)), kinds, spaces[0].nearest)
    _write_targets({"forget": to_forget, "remember": await fit_keeping()})


async def fit_whether_asked(odds: Odds) -> tuple[_Learnt, list[Space], Mapping[str, FittedOdds]]:
    """Write what tells whether a message asks, with its answer too, and print how well it does; see `fit_talks`. Also
    what was learnt from, and what came of it."""
    learnt = _Learnt()
    spaces = [await learnt.space(name) for name in BUILT_IN]
    kinds = _fit_kinds(learnt.fitted, spaces)
    source = file_of({name: kind.fitted for name, kind in kinds.items()})
    _write(source)
    source["asks"] = await fit_asking(odds, {name: kinds[name].odds for name in OF_ANSWER})
    _write(source)
    return learnt, spaces, kinds


async def fit_forgetting(name: str) -> None:
    """Write anew what the file has of an embedding model for what is to be forgotten, and print how well it does."""
    learnt = _Learnt()
    space = await learnt.space(name)
    models = json.loads(targets.MODEL_FILE.read_text(encoding="utf-8"))
    models["forget"][name] = learnt.targets(space, _fit_kinds(learnt.fitted, [space]), space.nearest)
    _write_targets(models)


def _write_targets(models: Mapping[str, object]) -> None:
    targets.MODEL_FILE.write_text(json.dumps(models) + "\n", encoding="utf-8")


class _Learnt:
    """The talks and the lives from which it is learnt what is to be forgotten, and those that tell how well."""

    def __init__(self) -> None:
        self._talks = talks()
        self.fitted = [talk for talk in self._talks if not talk.is_held]
        self._lives, self._left_out = requests_in_lives(), requests_in_lives(left_out=True)

    async def space(self, name: str) -> Space:
        """The vectors of an embedding model."""
        return await _space(name, self._talks, "forget", [*self._lives, *self._left_out])

    def targets(self, space: Space, kinds: Mapping[str, FittedOdds], near: Nearest) -> dict[str, object]:
        """What the file has of a space; of what was said on other days that is heard which is `near`."""
        cases = {name: cases_among(self.fitted, near, name) for name in SURROUNDINGS}
        held = [case for talk in self._talks if talk.is_held for case in cases_of(talk, near)]
        in_lives, left_out = (
            [case for life in some for case in cases_of(life, near)] for some in (self._lives, self._left_out)
        )
        return _fit_targets(space, "forget", cases, kinds, held, in_lives, left_out)


async def fit_keeping() -> dict[str, object]:
    """What the file has by embedding model of what is to be remembered."""
    everything = [*keeping(), *talks_of_lives()]
    fitted = [talk for talk in everything if not talk.is_held]
    spaces = [await _space(name, everything, "remember") for name in BUILT_IN]
    spaces.append(Space("", {}, {}, np.zeros(0, np.float32)))
    near = spaces[0].nearest
    cases = {name: cases_among(fitted, near, name) for name in _OF_KEEPING}
    held = [case for talk in everything if talk.is_held for case in cases_of(talk, near)]
    return {space.name: _fit_targets(space, "remember", cases, None, held) for space in spaces}


def _fit_targets(
    space: Space,
    asks: Asked,
    by_surroundings: Mapping[Surroundings, Sequence[Case]],
    kinds: Mapping[str, FittedOdds] | None,
    held: Sequence[Case],
    in_lives: Sequence[Case] = (),
    left_out: Sequence[Case] = (),
) -> dict[str, object]:
    """What the file has of one embedding model. `kinds` are those that were fitted to the same talks, if any were.

    Cases `in_lives` are learnt from, too; what is found of those `left_out` is printed, as of those `held`.
    """
    of_talks = [case for some in by_surroundings.values() for case in some]
    cases = [*of_talks, *in_lives]
    weights = [_WEIGHTS.get(name, 1.0) for name, some in by_surroundings.items() for _ in some]
    weights += [_WEIGHT_IN_LIFE] * len(in_lives)
    folds = np.array([fold_of(case.talk) for case in cases])
    # To what is to be remembered, which mostly stands close by, it adds nothing: .77 of the held back ones are found
    # with it, .78 before, and a life lost a line that it asks for.
    named = [each for name in _OF_MATCHING for each in by_surroundings[name]] if asks == "forget" else []
    matchings = {
        fold: _matching(space, asks, [case for case in named if fold_of(case.talk) != fold])
        for fold in (*range(FOLDS), _NO_FOLD)
    }
    rows = [
        _features(case, space, asks, matchings[fold], kinds if at < len(of_talks) else None)
        for at, (case, fold) in enumerate(zip(cases, folds.tolist(), strict=True))
    ]
    labels = [case.is_meant for case in cases]
    odds = _without_fold(rows, labels, folds, _OF_SINGLE, weights)
    beside = [among(each) for each in odds]
    chances = [
        logistic.sigmoid(each.astype(np.float64)) for each in _without_fold(beside, labels, folds, _OF_AMONG, weights)
    ]
    print(f"{space.name or 'without vectors'}, what is meant")
    start = 0
    for name, some in (*by_surroundings.items(), ("in a life", in_lives)):
        if not some:
            continue
        print(f"  by fold, {name}: {how_well(some, chances[start : start + len(some)])}")
        start += len(some)
    single, beside_others = (
        _fit_trees(of_cases, labels, sizes, weights) for of_cases, sizes in ((rows, _OF_SINGLE), (beside, _OF_AMONG))
    )
    short, long = ([case for case in held if case.talk.is_long == is_long] for is_long in (False, True))
    for which, some in (("held, short", short), ("held, long", long), ("lives left out", left_out)):
        if not some:
            continue
        found = [
            beside_others.log_odds(among(single.log_odds(_features(case, space, asks, matchings[_NO_FOLD]))))
            for case in some
        ]
        print(f"  {which}: {how_well(some, [logistic.sigmoid(each.astype(np.float64)) for each in found])}")
    models: dict[str, object] = {"single": trees_file_of(single), "among": trees_file_of(beside_others)}
    if (whole := matchings[_NO_FOLD]) is not None:
        models["matching"] = _matching_file_of(whole)
    return {**models, "usual": packed_numbers(space.usual)}


def _matching(space: Space, asks: Asked, cases: Sequence[Case]) -> Matching | None:
    """What is learnt from cases of how statements answer; None without vectors."""
    some = [asked for case in cases if (asked := space.asked(case, asks)) is not None]
    return matching.fit_matching(some) if some else None


def _without_fold(
    rows: Sequence[NDArray[np.float32]],
    labels: Sequence[NDArray[np.bool_]],
    folds: NDArray[np.int64],
    sizes: TreeSizes,
    weights: Sequence[float],
) -> list[NDArray[np.float32]]:
    """The log-odds of each case by trees that have not seen its fold."""
    found = [np.zeros(0, np.float32)] * len(rows)
    for fold in range(FOLDS):
        others = np.flatnonzero(folds != fold).tolist()
        some, of_some = [rows[at] for at in others], [labels[at] for at in others]
        trees = _fit_trees(some, of_some, sizes, [weights[at] for at in others])
        for at in np.flatnonzero(folds == fold).tolist():
            found[at] = trees.log_odds(rows[at])
    return found


def how_well(cases: Sequence[Case], chances: Sequence[Floats]) -> str:
    """What is chosen from some chances on: the share of what is meant, and how many others go for a request."""
    parts = []
    for limit in _LIMITS:
        found = total = wrong = 0
        for case, chance in zip(cases, chances, strict=True):
            chosen = chance >= limit
            found += int((chosen & case.is_meant).sum())
            total += int(case.is_meant.sum())
            is_other = np.array([each.where != "own" and each.text != WAITS for each in case.heard])
            wrong += int((chosen & ~case.is_meant & is_other).sum())
        parts.append(f"from {limit:g} {found / max(total, 1):.2f} of {total}, wrong {wrong / len(cases):.2f} a request")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class FittedOdds:
    """What was fitted of a kind, and the log-odds of each text by a fit without its talk, by embedding model."""

    fitted: FittedKind
    odds: Mapping[str, Mapping[str, float]]


def _fit_kinds(some: Sequence[Talk], spaces: Sequence[Space]) -> dict[str, FittedOdds]:
    """Of openings of answers, of what is said, and of requests."""
    labelled: dict[str, dict[str, tuple[bool, int]]] = {name: {} for name in (*OF_ANSWER, "private", *_OF_REQUEST)}
    for message in answered_messages():
        for name, kind in zip(OF_ANSWER, KINDS, strict=True):
            labelled[name].setdefault(opening(message.answer), (kind in message.asks, message.fold))
    for talk in some:
        for said in talk.said:
            if said.asks:
                is_ahead = any("next" in mark.split() for mark in said.marks)
                labelled["ahead"].setdefault(said.text, (is_ahead, fold_of(talk)))
                labelled["inside"].setdefault(said.text, (bool(said.means & set(said.marks)), fold_of(talk)))
            elif "none" in said.marks:
                for of_request in _OF_REQUEST:
                    labelled[of_request].setdefault(said.text, (False, fold_of(talk)))
            else:
                labelled["private"].setdefault(said.text, (bool(said.marks), fold_of(talk)))
    rows = {name: {space.name: space.queries for space in spaces} for name in labelled}
    rows["private"] = {space.name: space.passages for space in spaces}
    return {name: _fit_kind(labels, rows[name]) for name, labels in labelled.items()}


def _fit_kind(labelled: Mapping[str, tuple[bool, int]], spaces: Mapping[str, Rows]) -> FittedOdds:
    texts = list(labelled)
    rows = {name: np.stack([of[text] for text in texts]).astype(np.float64) for name, of in spaces.items()}
    is_of_kind = np.array([labelled[text][0] for text in texts], np.float64)
    fitted = fit_kind(texts, rows, is_of_kind, np.array([labelled[text][1] for text in texts]), _RIDGE)
    odds = {**fitted.by_meaning, "": fitted.by_words}
    return FittedOdds(fitted, {name: dict(zip(texts, map(float, each), strict=True)) for name, each in odds.items()})


def _write(source: Mapping[str, object]) -> None:
    request_kinds.MODEL_FILE.write_text(json.dumps(source) + "\n", encoding="utf-8")
    request_kinds.source.cache_clear()
    request_kinds.model.cache_clear()


def _features(
    case: Case,
    space: Space,
    asks: Asked,
    fitted_matching: Matching | None,
    kinds: Mapping[str, FittedOdds] | None = None,
) -> NDArray[np.float32]:
    """The numbers of a case; with `kinds`, what these say by fits without its talk."""
    parts = (case.request, case.heard, case.talk.language, space.of(case, asks), space.usual, fitted_matching)
    if kinds is None:
        return features(*parts)
    return features(*parts, lambda kind, text, _vector, name: kinds[kind].odds[name].get(text, 0.0))


def _fit_trees(
    rows: Sequence[NDArray[np.float32]],
    is_meant: Sequence[NDArray[np.bool_]],
    sizes: TreeSizes,
    weights: Sequence[float],
) -> Trees:
    """Trees for the statements of some cases, each of which weighs as its case does."""
    of_rows = np.repeat(np.array(weights), [len(each) for each in rows])
    return fit_trees(np.vstack(rows), np.concatenate(is_meant), sizes, of_rows)


def _matching_file_of(fitted: Matching) -> dict[str, object]:
    arrays = {"request": fitted.request, "statement": fitted.statement, "kind": fitted.kind}
    weights = [round(weight, 3) for weight in fitted.weights]
    return {"rank": matching.RANK, "weights": weights, **{name: packed_numbers(each) for name, each in arrays.items()}}


async def _space(name: str, some: Sequence[Talk], asks: Asked, lives: Sequence[Talk] = ()) -> Space:
    """The vectors of what is said in some talks, and in lives; of these as queries only what asks for something."""
    of_talks = {said.text for talk in some for said in talk.said}
    passages = sorted(of_talks.union(said.text for life in lives for said in life.said))
    answers = {opening(message.answer) for message in answered_messages()}
    messages = {" ".join(said.text for said in of_one) for talk in some for of_one in by_message(talk).values()}
    plain = {text for language in LANGUAGES for text in plain_requests(language)}
    named = {named_by(text, talk.language, asks) for talk in some for text in (said.text for said in talk.said)}
    named |= {named_by(text, language, asks) for language in LANGUAGES for text in plain_requests(language)}
    for life in lives:
        asking = [of_one for of_one in by_message(life).values() if any(said.asks for said in of_one)]
        messages |= {" ".join(said.text for said in of_one) for of_one in asking}
        requests = {said.text for of_one in asking for said in of_one if said.asks}
        plain |= requests
        named |= {named_by(text, life.language, asks) for text in requests}
    queries = sorted({*answers, *of_talks, *messages, *plain, *named})
    as_queries = dict(zip(queries, (await vectors_by(name, queries)).astype(np.float32), strict=True))
    rows = (await vectors_by(name, passages, "passage")).astype(np.float32)
    requests = {said.text for talk in some if not talk.is_held for said in talk.said if said.asks}
    usual = np.mean([as_queries[text] for text in sorted(requests)], axis=0)
    usual /= np.linalg.norm(usual)
    return Space(name, as_queries, dict(zip(passages, rows, strict=True)), usual.astype(np.float32))
