"""Which spans of a text say what, of whom and when, by layers on the last hidden states of a model's tokens.

Kinds: a linear layer, by BIO tags. A kind has two tags, for its first token and for those behind it, and one tag is of
no kind. The tags of a text are the likeliest that make spans (Viterbi): what goes on stands behind what it goes on
with. A span is the mean of its tokens' states. By it a second layer says whether what it says holds, is over or is to
come; a third who somebody is, in any language; and whose it is the bilinear score of it with each span of a being, with
the speaker, and with nobody (as heads are chosen in a parser by dependencies). How likely all of that is right is a
logistic function of how likely each is, fitted to marks that nothing was learnt of. All of it, and the adapter under
it, is learnt from marked sentences (`python -m reverie_bench.marks.learn`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

_FOLDER = Path(__file__).parent / "adapters"
Floats: TypeAlias = NDArray[np.float32]
State: TypeAlias = Literal["holds", "over", "next"]
STATES: tuple[State, ...] = ("holds", "over", "next")
SPEAKER, NOBODY = -1, -2
"""Whose a span is that is of no other span: the speaker's, or of somebody of whom no span is."""
BEINGS = frozenset({"rel", "person", "pet", "petname", "kids"})
"""The kinds that say of whom others are."""
NAMES = frozenset({"person", "petname"})
"""Those of them that are names."""
MOST_STEPS = 4
"""So many spans away is as far as any more."""
RIGHT_BY = 5
"""So many features (`features_of`) tell, beside its kind, how likely a mark is right."""
_OF_WORDS = ("labels", "relation_names")
_LITTLE = 1e-4
NO_RELATION = "none"
"""Who somebody is that is none of the others."""
_SURE_OF_RELATION = 0.8


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of a text, in characters, the kind of what it says, and how likely it is that it says that, from 0 to 1.

    `of` is whose it is: the number of another mark of the text, `SPEAKER` or `NOBODY`; of a name, the mark that says
    who that is. `relation` is who somebody is, in English, where that is known: `wife` of "moglie". `confidence` is how
    likely the kind, the state and, but of a being, whose it is are right together.
    """

    start: int
    end: int
    label: str
    probability: float
    state: State = "holds"
    state_probability: float = 1.0
    of: int = SPEAKER
    of_probability: float = 1.0
    relation: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class MarkLayers:
    """The layers, by hidden states `[…, hidden]`.

    `kinds` is `[hidden, 1 + 2 · labels]`, `states` `[hidden, 3]`, `relations` `[hidden, relation_names]`, each with
    offsets. `whose` and `whom` are `[hidden, width]`; `ends` `[2, width]` is what stands for the speaker and for
    nobody, `steps` `[2 · MOST_STEPS + 1]` what is added by how many spans further on whose it is stands. `right` is
    `[labels]`, and `right_by` `[RIGHT_BY]`, for how likely a mark is right (`features_of`).
    """

    labels: tuple[str, ...]
    relation_names: tuple[str, ...]
    kinds: Floats
    kind_offsets: Floats
    states: Floats
    state_offsets: Floats
    relations: Floats
    relation_offsets: Floats
    whose: Floats
    whom: Floats
    ends: Floats
    steps: Floats
    right: Floats
    right_by: Floats


def mark_layers_file(model: str) -> Path:
    """Where the layers of a built-in model are."""
    return _FOLDER / f"{model}.marks.layers.npz"


def read_mark_layers(content: bytes) -> MarkLayers:
    """The layers that `packed_mark_layers` made the content of."""
    with np.load(io.BytesIO(content), allow_pickle=False) as source:
        labels, relations = (tuple(map(str, source[key])) for key in _OF_WORDS)
        arrays = {key: source[key].astype(np.float32) for key in source.files if key not in _OF_WORDS}
    return MarkLayers(labels, relations, **arrays)


def packed_mark_layers(layers: MarkLayers) -> bytes:
    """Layers as the content of a file, their weights as halves."""
    content = io.BytesIO()
    arrays: dict[str, NDArray[Any]] = {each.name: np.asarray(getattr(layers, each.name)) for each in fields(MarkLayers)}
    halves = {key: array.astype(np.float16) if array.ndim == 2 else array for key, array in arrays.items()}
    np.savez_compressed(content, allow_pickle=False, **halves)
    return content.getvalue()


def marks_of(text: str, pieces: Sequence[tuple[int, int]], hidden: Floats, layers: MarkLayers) -> list[Mark]:
    """The marks of a text, in its order: of its tokens' places and of their states `[tokens, hidden]`."""
    if not pieces:
        return []
    log_shares = _log_shares(hidden @ layers.kinds + layers.kind_offsets)
    found: list[Mark] = []
    spans: list[Floats] = []
    tags = _likeliest(log_shares)
    at = 0
    while at < len(tags):
        tag, first = tags[at], at
        at += 1
        if tag == 0:
            continue
        while at < len(tags) and tags[at] == tag + 1:
            at += 1
        start, end = pieces[first][0], pieces[at - 1][1]
        start += len(text[start:end]) - len(text[start:end].lstrip())
        share = float(np.exp(np.mean([log_shares[place, tags[place]] for place in range(first, at)])))
        if start < end:
            found.append(Mark(start, end, layers.labels[(tag - 1) // 2], share))
            spans.append(hidden[first:at].mean(axis=0))
    return _with_the_rest(found, np.array(spans, np.float32), layers) if found else []


def _with_the_rest(marks: Sequence[Mark], spans: Floats, layers: MarkLayers) -> list[Mark]:
    """Marks with when they hold, whose they are, and who somebody is, of their states `[marks, hidden]`."""
    states = np.exp(_log_shares(spans @ layers.states + layers.state_offsets))
    relations = np.exp(_log_shares(spans @ layers.relations + layers.relation_offsets))
    whose = shares_of_whose(marks, spans, layers)
    found = []
    for at, mark in enumerate(marks):
        shares = whose[at]
        best, state, relation = int(shares.argmax()), int(states[at].argmax()), int(relations[at].argmax())
        name = layers.relation_names[relation]
        is_said = mark.label == "rel" and relations[at, relation] >= _SURE_OF_RELATION and name != NO_RELATION
        whole = replace(
            mark,
            state=STATES[state],
            state_probability=float(states[at, state]),
            of=best if best < len(marks) else len(marks) - 1 - best,
            of_probability=float(shares[best]),
            relation=name if is_said else "",
        )
        logit = layers.right[layers.labels.index(mark.label)] + features_of(whole) @ layers.right_by
        found.append(replace(whole, confidence=float(1 / (1 + np.exp(-logit)))))
    return found


def features_of(mark: Mark) -> Floats:
    """By what a mark is judged beside its kind `[RIGHT_BY]`: the log-odds of its kind, its state, and, but of a being,
    of whose it is; whether it is over, or to come."""
    of_probability = 0.5 if mark.label in BEINGS else mark.of_probability
    probabilities = np.array([mark.probability, mark.state_probability, of_probability])
    shares = np.clip(probabilities, _LITTLE, 1 - _LITTLE)
    return np.array([*np.log(shares / (1 - shares)), mark.state == "over", mark.state == "next"], np.float32)


def _whose(spans: Floats, layers: MarkLayers) -> Floats:
    """How well each span goes with each, with the speaker, and with nobody, `[marks, marks + 2]`."""
    count = len(spans)
    whom = np.concatenate([spans @ layers.whom, layers.ends])
    scores = (spans @ layers.whose) @ whom.T / np.sqrt(layers.ends.shape[1])
    steps = np.clip(np.arange(count)[None] - np.arange(count)[:, None], -MOST_STEPS, MOST_STEPS) + MOST_STEPS
    scores[:, :count] += layers.steps[steps]
    return np.asarray(scores, np.float32)


def shares_of_whose(marks: Sequence[Mark], spans: Floats, layers: MarkLayers) -> Floats:
    """How likely each mark is of each being, of the speaker, of nobody, `[marks, marks + 2]`, by the marks' states.

    What is said of somebody may be said of the word for them or of their name. Where these are one, either has both
    their shares, and the one of the larger share a little more.
    """
    count = len(marks)
    is_none = np.array([mark.label not in BEINGS for mark in marks] + [False, False])
    scores = np.where(is_none[None] | np.eye(count, count + 2, dtype=bool), -np.inf, _whose(spans, layers))
    shares = np.exp(_log_shares(scores))
    whose = shares.argmax(axis=1)
    named: dict[int, list[int]] = {}
    for at, mark in enumerate(marks):
        if mark.label in NAMES and whose[at] < count:
            named.setdefault(int(whose[at]), []).append(at)
    together = shares.copy()
    is_value = np.array([mark.label not in NAMES for mark in marks])
    for being, names in named.items():
        if len(names) == 1:
            pair = [being, names[0]]
            both = shares[:, pair].sum(axis=1, keepdims=True)
            together[:, pair] = np.where(is_value[:, None], both - _LITTLE * (both - shares[:, pair]), shares[:, pair])
    return together


def _log_shares(scores: Floats) -> Floats:
    """The logarithm of how likely each is, of scores `[…, each]`."""
    scores = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)), np.float32)


def _likeliest(log_shares: Floats) -> list[int]:
    """The likeliest tags of which each inner one stands behind the first or an inner one of its label."""
    count = log_shares.shape[1]
    inner = np.arange(2, count, 2)
    best = log_shares[0].copy()
    best[inner] = -np.inf
    back = np.zeros(log_shares.shape, np.int64)
    for place in range(1, len(log_shares)):
        back[place] = best.argmax()
        begun = best[inner - 1] >= best[inner]
        back[place, inner] = np.where(begun, inner - 1, inner)
        best = best[back[place]] + log_shares[place]
    tags = [int(best.argmax())]
    for place in range(len(log_shares) - 1, 0, -1):
        tags.append(int(back[place, tags[-1]]))
    return tags[::-1]
